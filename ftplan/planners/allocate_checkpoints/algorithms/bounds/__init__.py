"""Proven bounds of allocations, and prices of the limits that guide the search.

``lagrangian`` is the dual, ``subgradient`` climbs it, ``ascent_at_scale`` does so for millions of pairs of unit and
node by ``candidates``, the few nodes that matter to each unit; ``proven_bound`` takes the best for any rules.
"""
