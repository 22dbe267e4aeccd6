"""Output fidelity as a circuit of tasks, and the best value at each cost: exact, or a proven bound.

``circuit.py`` joins tasks that are fed alike; ``reduction.py`` reduces a circuit to the ``tables.py`` of best values
at each cost, exactly for parts in series and joins, by copies (a bound) where a part feeds several. Replicas are
chosen by it, and what a recovery can restore at most is bounded by it.
"""
