"""Lower bounds on priority × seconds down, proven with every failure that is stated known in advance.

``repair_bound.py``, above this folder, takes the best of four relaxations in the time there is: ``step_function.py``
(the most priority at each time, by minimum cuts), ``single_machine.py`` (one time, each task on a host, CP-SAT),
``aggregated.py`` (all times, cores summed) and ``time_expanded.py`` with its linear program in
``time_expanded_program.py``.
"""
