"""Planners of ``drain-schedule``: the fewest rounds in which nodes can be restarted.

``greedy`` and ``exact`` are the named planners. Which nodes may restart together is an independence system
(``allowed_sets``); a schedule covers the nodes by its sets, as a colouring covers a graph.

- Rounds: ``first_fit`` (DSATUR), improved in ``greedy``.
- Bounds: ``bounds`` (cliques, zones, numbers), ``covering`` (column generation, priced by ``heaviest_set``).
- Proofs: branch and bound of few nodes in ``exact``; ``assignment_model`` (CP-SAT) asks for one round less.
- ``largest_set`` is how many nodes may stop now; ``outcome`` makes the result, or says what would let a node restart.
"""
