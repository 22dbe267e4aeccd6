"""Output fidelity × time as priority × time of sets of tasks: each set that runs as a whole adds what it weighs.

``paths.py`` writes fidelity as that sum ([SuZhou2016], section III), ``instance.py`` is the repair with these sets as
queries, ``search.py`` plans it. ``bound.py`` limits it over the ``segments.py`` of a clairvoyant, by ``program.py``
(HiGHS), minimum cuts, or tables where there are too many sets.
"""
