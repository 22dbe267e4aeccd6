"""One recovery step: a set-union knapsack ([SuZhouTR], definition 2), its bounds and its searches.

``instance.py`` has the arrays: queries with priorities, elements (*bundles* of tasks in the same queries) with
weights, which query needs which. What is chosen pays for each element once.

- Bounds: ``bounds.py`` (fractional [Dantzig1957]) and ``project_selection.py``: the minimum cut for one price per core
  [Picard1976], and the prices for all capacities at once.
- Smaller knapsacks: ``reduction.py``; choices that fit: ``completion.py``; kernels of best density:
  ``density_growth.py``.
- Tabu search: ``tabu_rounds.py`` on the moves of ``tabu_moves.py``.
- Proof: compiled ``deep_tree.py`` with ``residual_nodes.py`` and ``residual_flow.py``, a maximum flow that is kept from
  node to node; ``integer_program.py`` by HiGHS, where the relaxation is nearly tight.

Every bound holds by weak duality, whatever the prices; searches promise nothing.
"""
