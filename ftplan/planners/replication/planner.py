"""What every replication planner takes beside its problem, and what it returns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ftplan.model.topology import BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Replication:
    """The answer of every replication planner: the tasks to replicate, shape (T,)."""

    replicated: BoolArray


@dataclass(frozen=True, slots=True)
class ReplicationOptions:
    """How to plan: shared by all replication planners. ``ends``: when the command has to, see :class:`Budget`."""

    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    ends: float = math.inf
