"""Rebalances: moving key groups over the checkpoints that are already there."""
