"""Output fidelity and replicas as integer programs.

``joint_program.py`` chooses replicas and nodes at once (HiGHS), over the products of ``monomials.py``, the
``candidate_nodes.py`` and the sites that join nodes alike. ``downtime_relaxation.py`` bounds priority ×
seconds down with any replicas.
"""
