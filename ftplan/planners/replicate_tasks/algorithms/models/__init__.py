"""Output fidelity as circuits, tables and integer programs.

``circuit.py`` joins tasks that are fed alike; ``reduction.py`` reduces a circuit to the ``tables.py`` of best values
at each cost, exactly for parts in series and joins, by copies (a bound) where a part feeds several.
``joint_program.py`` chooses replicas and nodes at once (HiGHS), over the products of ``monomials.py``, the
``candidate_nodes.py`` and the ``sites.py`` that join nodes alike. ``downtime_relaxation.py`` bounds priority ×
seconds down with any replicas.
"""
