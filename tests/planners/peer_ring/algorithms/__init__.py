"""Planners of peer rings."""
