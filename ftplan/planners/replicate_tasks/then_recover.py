"""Replicas by what they save in the recovery afterwards: the schedules that follow, and the plan that makes them short.

The recoveries are those of :mod:`ftplan.planners.recovery_schedule.following`; replication planners know none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE, ReplicaHosts
from ftplan.model.plan import Assumption, Warn
from ftplan.model.problem import Problem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.deployed import Replica
from ftplan.planners.recovery_schedule.following import priority_time, relaxed_recovery, steps_of_recovery
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import RecoveryQuestion, question_of
from ftplan.planners.replicate_tasks.algorithms.deployment import deployed
from ftplan.planners.replicate_tasks.algorithms.models.downtime_relaxation import CaseRelaxation, Outages
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.algorithms.recovery_savings import DowntimeModel, levels, recovery_savings
from ftplan.planners.replicate_tasks.algorithms.shortage import too_few_changes
from ftplan.planners.replicate_tasks.metrics import figures_of, with_recovery
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.problem import NodeByTask, ReplicationProblem
from ftplan.planners.replicate_tasks.recovery_cases import RecoveryCase, recovery_cases
from ftplan.planners.result import Result

#: Parts of the time: for all but the schedules that the plan keeps; of this for bounds of single steps, and for the
#: choice by fidelity.
PLANNED, BOUNDING, BY_FIDELITY = 0.8, 0.1, 0.2
#: The warning of arrivals that nobody gave; options of the other command that it names are not here.
ASSUMED = "DEFAULT_ARRIVALS"
NO_BANDWIDTH = (
    "no bandwidth is known: restores count as taking no time, and replicas save none; give network.bandwidth_mb_s in "
    "the cluster file, or --costs"
)


@dataclass(frozen=True, eq=False)
class FollowingRecovery:
    """The recoveries after each case, for any replicas. Replicas are given by task, with their nodes."""

    cases: tuple[RecoveryCase, ...]
    questions: tuple[RecoveryQuestion | None, ...]  # None where nothing fails
    most_fidelity: list[NodeByTask] = field(default_factory=list)  # the plan by fidelity that was compared
    _known: dict[Any, float] = field(default_factory=dict)

    @staticmethod
    def of(prepared: PreparedReplication, problem: Problem, options: TaskReplicationOptions) -> FollowingRecovery:
        """Ask for the recovery after each case.

        Raises :class:`FtplanError` if an input is missing, or a node arrives that is still there.
        """
        cases = recovery_cases(prepared, problem, options)
        questions = []
        for case in cases:
            asked = RecoveryScheduleOptions.of(RECOVERY_SCHEDULE.name, case.options())
            questions.append(None if case.problem is None else question_of(case.problem, asked))
        return FollowingRecovery(cases, tuple(questions))

    @property
    def warnings(self) -> tuple[Warn, ...]:
        """What is to be said of the failures and arrivals, once."""
        said = [w for question in self.questions if question is not None for w in question.warnings]
        better = " (arrivals in a failure file say better)"
        shown = [replace(w, message=w.message.split(" (")[0] + better) if w.code == ASSUMED else w for w in said]
        questions = [question for question in self.questions if question is not None]
        restored = [question.with_replicas(()) for question in questions]
        if any(item.state_bytes is not None and item.bandwidth_bytes_s is None for item in restored):
            shown.append(Assumption("RESTORE_TIME_UNKNOWN", NO_BANDWIDTH, 0.0))
        return tuple(dict.fromkeys(shown))

    @cached_property
    def shares(self) -> list[float]:
        """Probability of each case over the sum of all."""
        total = sum(case.probability for case in self.cases)
        return [case.probability / total for case in self.cases]

    def expected(self, node: NodeByTask) -> float:
        """Return the expected priority x seconds down of the schedules afterwards."""
        return sum(share * self.value(place, node) for place, share in enumerate(self.shares))

    def roughly(self, node: NodeByTask) -> float:
        """Return the same of schedules that decide step by step, never less."""
        return sum(share * self.value(place, node, rough=True) for place, share in enumerate(self.shares))

    def value(self, place: int, node: NodeByTask, rough: bool = False) -> float:
        """Return priority x seconds down in one case; only replicas on nodes that do not fail at once matter."""
        question = self.questions[place]
        if question is None:
            return 0.0
        standing = tuple(
            (task, name) for task, name in sorted(node.items()) if name not in question.situation.failed.nodes
        )
        key = (place, rough, standing)
        if key not in self._known:
            asked = question.with_replicas(Replica(task, name) for task, name in standing)
            self._known[key] = priority_time(asked, rough=rough)
        return self._known[key]

    def figures(
        self, summary: Mapping[str, Any], prepared: PreparedReplication, before: NodeByTask, node: NodeByTask | None
    ) -> dict[str, Any]:
        """Return a summary with priority x seconds down, before and after, and the plan of most fidelity beside it."""
        after = None if node is None else [self.value(place, node) for place in range(len(self.cases))]
        figures = with_recovery(summary, prepared.problem.cases, after, self.expected(before))
        for other in self.most_fidelity[-1:]:
            figures["most_fidelity"] = {
                **figures_of(prepared, other),
                "priority_time": self.expected(other),
                "shared": len(set(other) & set(node or ())),
            }
        return figures

    def schedules(self, node: NodeByTask) -> list[dict[str, Any]]:
        """Return the schedule of each case as a plan keeps it."""
        rows = []
        for place, (case, question) in enumerate(zip(self.cases, self.questions, strict=True)):
            row: dict[str, Any] = {"id": case.id, "probability": case.probability, "priority_time": 0.0}
            row |= {"horizon_s": None, "steps": []}
            if question is not None:
                asked = question.with_replicas(Replica(task, name) for task, name in sorted(node.items()))
                row |= {"priority_time": self.value(place, node), "horizon_s": asked.horizon_s}
                row["steps"] = steps_of_recovery(asked)
            rows.append(row)
        return rows

    def relaxations(self, ids: Sequence[str], beyond: float, clock: Budget) -> tuple[CaseRelaxation, ...]:
        """Return the cases as the bound sees them, on the nodes of the replication problem.

        *beyond* are the cores of replicas that take no room which restores could take.
        """
        pairs = [pair for pair in zip(self.shares, self.questions, strict=True) if pair[1] is not None]
        made = []
        for number, (share, question) in enumerate(pairs):
            part = clock.part(1.0 / (len(pairs) - number))
            assert question is not None
            made.append(_relaxed(share, question, ids, beyond, part))
            clock.cut |= part.cut
        return tuple(made)


def _relaxed(
    weight: float, question: RecoveryQuestion, ids: Sequence[str], beyond: float, clock: Budget
) -> CaseRelaxation:
    """Return a case as the bound sees it: cores in sums, and restores that wait for nothing.

    *weight* is its probability over that of all; the others are as in :meth:`FollowingRecovery.relaxations`.
    """
    problem = question.with_replicas(())
    priority = problem.graph.per_task("priority")
    relaxed = relaxed_recovery(problem, beyond, clock)
    fails_s = np.array([0.0 if name in question.situation.failed.nodes else np.inf for name in ids])
    for event in problem.failures:
        fails_s[[name in event.nodes and np.isinf(at_s) for name, at_s in zip(ids, fails_s, strict=True)]] = event.at_s
    return CaseRelaxation(
        weight=weight,
        start=Outages(0.0, relaxed.queries, priority[relaxed.queries.query]),
        later=tuple(Outages(at_s, queries, priority[queries.query]) for at_s, queries in relaxed.later),
        fails_s=fails_s,
        restore_s=relaxed.restore_s,
        release=relaxed.release,
        usable=relaxed.usable,
        free=relaxed.free,
        most=relaxed.most,
        span_s=relaxed.span_s,
        lasting=relaxed.lasting,
    )


def by_recovery(
    problem: ReplicationProblem, planner: ReplicationPlanner, settings: ReplicationOptions, following: FollowingRecovery
) -> Result[NodeByTask]:
    """Return the replicas that save most in the recoveries that follow (:func:`recovery_savings`).

    They are no worse than the planner's own choice by fidelity. ``greedy`` only grows; the others search besides.
    """
    refused = too_few_changes(problem)
    if refused is not None:
        return Result("infeasible", None, (), None, refused.reason, refused)
    settings = replace(settings, time_limit_s=PLANNED * settings.time_limit_s)
    hosts, clock = problem.hosts, Budget.of(settings)
    assert hosts is not None
    assert planner.plans is not None
    budgets = [b for b in levels(problem) if too_few_changes(replace(problem, budget=b)) is None]
    by_fidelity = planner.plans(problem, budgets, replace(settings, time_limit_s=BY_FIDELITY * clock.left_s))
    chosen = dict(zip(budgets, by_fidelity, strict=False))

    @cache
    def most_fidelity(budget: float) -> IntArray | None:
        if budget not in chosen:
            return None
        result = Result("feasible", Replication.on(problem, chosen[budget]), ("budget",), 1.0)
        known = replace(planner, plan=lambda _, __: result)
        answer = deployed(replace(problem, budget=budget), known, settings).answer
        return None if answer is None else _nodes(answer, hosts)

    part = clock.part(BOUNDING)
    model = DowntimeModel(
        expected=lambda node: following.expected(_names(node, hosts)),
        roughly=lambda node: following.roughly(_names(node, hosts)),
        most_fidelity=most_fidelity,
        cases=following.relaxations(hosts.ids, _beyond_room(problem), part),
    )
    search = planner.name != "greedy"
    result = recovery_savings(problem, model, replace(settings, time_limit_s=clock.left_s), search)
    warnings = (*result.warnings, *part.warnings())
    assert result.answer is not None
    fidelity = most_fidelity(problem.budget)
    if fidelity is not None:
        following.most_fidelity.append(_names(fidelity, hosts))
    return Result(result.status, _names(result.answer, hosts), ("budget",), result.bound, result.reason, None, warnings)


def _beyond_room(problem: ReplicationProblem) -> float:
    """Return the cores of replicas that may stay in place where no task could be restored: full nodes, or closed ones.

    All others take cores that restores could take.
    """
    hosts, current = problem.hosts, problem.current
    if hosts is None or current is None:
        return 0.0
    here = current >= 0
    taken = np.bincount(current[here], hosts.cpu[here], len(hosts.ids))
    beyond = ~hosts.accepting | (taken >= hosts.residual_cpu * (1.0 - ROUNDING) - ROUNDING)
    return float(taken[beyond].sum())


def _names(node: IntArray, hosts: ReplicaHosts) -> dict[int, str | None]:
    """Return replicas by task with the ids of their nodes."""
    placed = np.flatnonzero(node != NOWHERE)
    return hosts.names(placed, node[placed])


def _nodes(plan: NodeByTask, hosts: ReplicaHosts) -> IntArray:
    """Return the node of each task's replica, shape (T,)."""
    node = np.full(len(hosts.cpu), NOWHERE, dtype=np.int64)
    for task, name in plan.items():
        node[task] = ANYWHERE if name is None else hosts.position[name]
    return node
