"""What every replication planner takes beside its problem, and what it returns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ftplan.model.topology import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Replication:
    """The answer of every replication planner: the tasks to replicate, shape (T,), and where there are hosts on which.

    ``node`` is (T,), NOWHERE where there is no replica; None where the problem has no hosts.
    """

    replicated: BoolArray
    node: IntArray | None = None


@dataclass(frozen=True, slots=True)
class ReplicationOptions:
    """How to plan: shared by all replication planners. ``ends``: when the command has to, see :class:`Budget`."""

    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    ends: float = math.inf
