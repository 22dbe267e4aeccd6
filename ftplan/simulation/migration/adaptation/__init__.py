"""How much do checkpoints help a job that adapts to its load, depending on where they are stored?

Period by period of a load trace: where nodes are above their ceiling key groups move away, cheaper to hosts of their
checkpoints; copies follow, and upkeep may move them. Moves of a period are made at once, at the costs that formulas
give. [Madsen2015], section 7.2.

``simulate`` lets each way to allocate checkpoints (``allocations``) and each preference of targets meet the same
scene, the load of the statistics; ``run`` plays one, with the trace, the policy, and what is counted.

Held against: an independent replay, and load traces followed by hand.
"""
