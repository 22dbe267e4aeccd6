"""Placements made feasible and cheaper, move by move.

``working_placement.py``, above this folder, is a placement that is being changed, ``repair.py`` brings it within the
limits of load, ``local_search.py`` makes it cheaper within them. ``improved_placements.py`` puts these together, and
searches large neighbourhoods.
"""
