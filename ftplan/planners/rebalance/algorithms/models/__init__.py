"""Integer programs over key groups: what each may do as columns, what couples them as rows, and what solves these.

``choices.py`` makes the columns (stay, go to a node, go to any node of a class), ``rows.py`` the rows of a
``program.py``, ``node_model.py`` the model in which each choice is a node, ``solving.py`` runs GLOP and SCIP.
``least_cost.py``, above this folder, is the whole without phases, with a bound; where it is too large
``neighbourhoods.py`` improves it. ``choice_model.py`` places some groups while others stay (CP-SAT). ``phase_cuts.py``
proves that moves have no phases.
"""
