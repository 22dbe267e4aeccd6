"""Random inputs: what can be asked of the generators, and the call that asks them."""
