"""Integer programs over key groups: what each may do as columns, what couples them as rows, and what solves these.

``choices.py`` makes the columns (stay, go to a node, go to any node of a class), ``rows.py`` the rows of a
``program.py``, and ``solving.py`` has GLOP, SCIP and CP-SAT solve it. In ``node_model.py`` each choice is a node; it
also places some groups while others stay. ``least_cost.py``, above this folder, is the whole without phases, with a
bound; where it is too large ``neighbourhoods.py`` improves it. ``phase_cuts.py`` proves that moves have no phases.
"""
