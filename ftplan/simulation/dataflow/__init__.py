"""Batches on their way through a job: what runs, and two implementations of how batches flow, one to read, one fast.

``job`` and ``plane`` say what runs and what a flow of batches does. The one to read: ``message``, ``input_order``,
``task_state``, ``output_buffer``, ``task``, ``stream``, ``source_log``, ``checkpoint``, put together in ``record_flow``
and ordered about through ``reference``; ``ledger`` and ``audit`` say what became of every record. The fast one:
``compiled``, on ``kernel``.
"""
