"""Placements made feasible and cheaper, move by move."""
