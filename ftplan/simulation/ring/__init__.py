"""A peer ring at work: records, queues, copies, checkpoints, failures, and load that moves ([Kumbhare2015], V to VII).

``setting`` (what is simulated), ``mapper`` (who sends records, and to whom), ``peer`` (a node: its queue, what it keeps
for others), ``copies`` (who holds what of each position), ``checkpoints``, ``membership`` (the ring, and what a change
of it makes nodes do), ``failures``, ``balance``, ``audit`` (whether every record counts), ``simulate``.
"""
