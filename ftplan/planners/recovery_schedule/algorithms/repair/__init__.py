"""The whole repair as one scheduling problem: which task starts where, and in which order state is fetched.

Tasks are jobs on machines that arrive and fail; a restore takes a slot of its node, and a query counts from when its
last task has caught up (``instance.py``). ``whole_repair.py`` plans it for an objective of ``objectives.py``: list
schedules, ``interval_model.py`` (CP-SAT, in the ``whole_numbers.py``), ``search/`` and ``bounds/``, where a gap is
left. ``fidelity/`` turns output fidelity into queries, so that the same search serves it.

``policy.py`` carries a placement into a schedule, ``placements.py`` takes one from it; ``pausing.py`` lets running
queries give way; ``clairvoyant.py`` with ``rollbacks.py`` is what is certain whatever is planned, for the bounds;
``host_groups.py`` joins hosts that are interchangeable.
"""
