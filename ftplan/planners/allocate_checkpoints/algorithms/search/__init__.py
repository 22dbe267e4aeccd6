"""Allocations made and improved: greedy, moves, swaps, neighbourhoods, rounding."""
