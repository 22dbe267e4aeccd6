"""What every replication planner takes beside its problem, and what it returns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.replicate_tasks.problem import ReplicationProblem


@dataclass(frozen=True, slots=True, eq=False)
class Replication:
    """The answer of every replication planner: the tasks to replicate, shape (T,), and where there are hosts on which.

    ``node`` is (T,), NOWHERE where there is no replica; None where the problem has no hosts.
    """

    replicated: BoolArray
    node: IntArray | None = None

    @staticmethod
    def on(problem: ReplicationProblem, node: IntArray) -> Replication:
        """Return replicas by the node of each, shape (T,), NOWHERE for none."""
        return Replication(node != NOWHERE, None if problem.hosts is None else node)

    def nodes(self) -> IntArray:
        """Return the node of each task's replica, shape (T,); 0 where there are no hosts."""
        return np.where(self.replicated, 0, NOWHERE) if self.node is None else self.node


@dataclass(frozen=True, slots=True)
class ReplicationOptions:
    """How to plan: shared by all replication planners. ``ends``: when the command has to, see :class:`Budget`."""

    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    ends: float = math.inf
