"""Batches on their way through a job: what runs, and two implementations of how batches flow, one to read, one fast.

``job`` and ``plane`` say what runs and what a flow of batches does. The one to read: ``streams`` (messages, what is
kept of them, the order of input), ``task_state``, ``task``, ``storage`` (logs and checkpoints), put together in
``record_flow`` and ordered about through ``reference``, which also audits what became of every record. The fast one:
``compiled``, on ``kernel`` and ``rows``. Whatever is ordered, both observe the same.
"""
