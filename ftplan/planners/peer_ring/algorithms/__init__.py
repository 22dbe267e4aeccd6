"""Planners of peer rings: which tokens nodes get on the circle of consistent hashing."""
