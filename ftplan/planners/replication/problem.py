"""What a replication plan is asked about: what may fail, what a replica costs, and what counts as good."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ftplan.metrics.fidelity import FidelityModel
from ftplan.model.rates import Rates
from ftplan.model.task_graph import BoolArray, TaskGraph
from ftplan.model.topology import FloatArray

#: A cost above the budget by less than this share of it still fits: rounding errors of sums of cores.
SLACK = 1e-9


class Score(Protocol):
    """What is maximised: a number in [0, 1] for a set of live tasks, never less when more tasks live."""

    def __call__(self, live: BoolArray) -> float:
        """Return the score where only some tasks live, shape (tasks,)."""


@dataclass(frozen=True, slots=True, eq=False)
class FailureCase:
    """One way to fail: its weight against the others, the tasks that go down and the nodes that do."""

    id: str
    weight: float
    failed: BoolArray  # (T,)
    nodes: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class ReplicationProblem:
    """Choose tasks to replicate; T tasks, numbered as in :class:`TaskGraph`.

    In the worst case (Su & Zhou, ICDE 2016, section III-B: some task of every MC-tree fails, nobody knows which) there
    is one case in which all tasks fail. ``model`` is the fidelity model with the weights of the outputs that were
    asked for; ``score`` is what is maximised and may be another metric: where ``score`` is ``model.fidelity`` itself,
    planners may use its structure.
    """

    graph: TaskGraph
    rates: Rates
    model: FidelityModel
    score: Score
    cases: tuple[FailureCase, ...]
    weight: FloatArray  # (T,) what a replica costs: 1, cores, or units of 2^20 bytes; >= 0
    budget: float
    metric: str = "output-fidelity"

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self.graph.tasks

    @property
    def fails(self) -> BoolArray:
        """Which tasks fail in some case, shape (T,): only these are worth a replica."""
        return np.asarray(np.any([case.failed for case in self.cases], axis=0), dtype=np.bool_)

    @property
    def worst_case(self) -> bool:
        """Whether there is one case only, in which every task fails."""
        return len(self.cases) == 1 and bool(self.cases[0].failed.all())

    def value(self, replicated: BoolArray) -> float:
        """Return the expected score where some tasks have a live replica, shape (T,)."""
        total = sum(case.weight for case in self.cases)
        return sum(case.weight * self.score(~case.failed | replicated) for case in self.cases) / total

    def cost(self, replicated: BoolArray) -> float:
        """Return what a set of replicas costs, in units of the budget."""
        return float(self.weight[replicated].sum())

    def fits(self, cost: float) -> bool:
        """Return whether a cost is within the budget, up to a rounding error."""
        return cost <= self.budget + SLACK * max(1.0, abs(self.budget))


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
