"""What couples the key groups, the least limits that can be kept, and why none can be.

``feasibility`` is where planners begin: the balance that ``auto`` stands for, and an allocation to start from.
``limits``, above this folder, are the rules as arrays; ``smallest_limits`` finds the least balance and failover limit
by bisection and a proof; ``infeasibility`` names the limit that binds and the smallest fix.
"""
