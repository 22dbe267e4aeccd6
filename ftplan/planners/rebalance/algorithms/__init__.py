"""Planners of rebalances, and what they share."""
