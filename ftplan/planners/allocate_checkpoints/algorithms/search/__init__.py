"""Allocations made and improved.

All work on a ``working_allocation``. ``greedy`` is Algorithm 3; ``repair`` (with ``node_repair``) brings an allocation
within its limits; ``local_search`` and, at scale, ``rounding`` and ``ejection_chains`` make it cheaper. From copies in
place: ``migration`` counts the moves, ``restoration`` and ``partial_restoration`` keep rules again with few moves,
``best_first`` makes those that improve most.
"""
