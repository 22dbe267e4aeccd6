"""Planners of ``drain-schedule``: the fewest rounds in which nodes can be restarted.

``greedy`` and ``exact`` are the named planners. Which nodes may restart together is an independence system
(``allowed_sets``); a schedule covers the nodes by its sets, as a colouring covers a graph.

- Rounds: ``first_fit`` (DSATUR), improved in ``greedy``.
- Bounds: ``bounds``, from cliques, zones and numbers, and from prices of nodes (``heaviest_set``).
- Proofs: ``exact`` asks an integer program (CP-SAT) for one round less.
- ``largest_set`` is how many nodes may stop now; ``outcome`` makes the result, or says what would let a node restart.
"""
