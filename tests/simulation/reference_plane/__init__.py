"""The flow of batches with every record sent as a message: the oracle of the compiled plane, made to be read.

``streams`` (messages, what is kept of them, the order of input), ``task_state``, ``task`` on a ``processor`` and
``storage`` (logs and checkpoints) are put together in ``record_flow`` and ordered about through ``reference``, which
also audits what became of every record.
"""
