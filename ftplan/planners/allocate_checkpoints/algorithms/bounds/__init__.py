"""Proven bounds of allocations, and prices of the limits that guide the search.

``lagrangian`` is the dual, ``subgradient`` climbs it, ``candidates`` are the few nodes that matter to each unit where
pairs of unit and node are millions. Above this folder, ``ascent_at_scale`` climbs by these, and ``proven_bound`` takes
the best bound for any rules.
"""
