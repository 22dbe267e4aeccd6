"""From moves to phases in which no node is too full."""
