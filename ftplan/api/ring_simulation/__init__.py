"""A peer ring that is simulated: from a plan, or from nodes in place."""
