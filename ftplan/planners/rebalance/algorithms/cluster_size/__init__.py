"""How many nodes to add or to remove, and which."""
