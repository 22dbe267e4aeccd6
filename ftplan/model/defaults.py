"""Defaults that several rooms share; those of one kind of plan stand with its options."""

from __future__ import annotations

#: Share of a node's cores that tasks may use.
MAX_CPU = 0.8
#: Utilisation above which a node is overloaded.
OVERLOAD = 0.85
#: Mean utilisation of the cluster that the default capacity of a core stands for.
MEAN_UTILISATION = 0.7
#: Seconds after the failure up to which a recovery counts at least, where no node arrives.
HORIZON_S = 600.0
#: Cores that the coordinator of a recovery takes on the first node that arrives.
COORDINATOR_CPU = 0.5
#: Measured substreams that an edge of a starter file lists at most; a hundred thousand take seconds to read.
MAX_SUBSTREAMS = 10_000
#: Seconds that a node takes to restart: the reboot of a machine and the start of what runs on it.
RESTART_S = 120.0
#: Bandwidth between two nodes, in units of 2^20 bytes per second, where nothing states one.
BANDWIDTH_MB_S = 100.0
#: Delay of a message between two nodes in seconds, where nothing states one.
DELAY_S = 0.001
