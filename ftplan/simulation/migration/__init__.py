"""How long are key groups paused while they move, and does every record count once and in order?

The moves of a plan of kind rebalance, phase by phase, in messages: upstream instances send records, buffer them since
the last checkpoint and synchronise with the old and the new node, by the protocols of [Madsen2015], section 5. A key
group's state is a fold over its records, so that what is lost, doubled or out of order shows in it. Moves of a phase
share the links of nodes.

``simulate`` takes a ``scene`` (the moves, what formulas say of them, and their timing) run by run: ``run`` gives each
``setting`` to a protocol. ``protocol`` is checkpoint-assisted migration (algorithm 1), ``protocols`` what others do
differently, ``parts`` who sends and processes, ``group`` the state; ``run`` also has times and faults. Adaptation over
time, without a plan, is ``adaptation``.

Held against: the formulas of ``ftplan.planners.rebalance.migration_costs``, in messages as in Table 2 of the paper and
in seconds; exactly-once under random timing, with protocols that are broken on purpose.
"""
