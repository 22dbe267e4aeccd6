"""Replicas by what they save in the recovery afterwards: the schedules that follow, and the plan that makes them short.

Recovery planners are asked here, on behalf of those of replication: neither knows the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.failed_queries import failed_queries
from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE, ReplicaHosts
from ftplan.model.plan import Objective, Warn
from ftplan.model.problem import Problem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners import registry
from ftplan.planners.budget import Budget
from ftplan.planners.deployed import Replica
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density, best_density_step
from ftplan.planners.recovery_schedule.algorithms.schedule.by_queries import by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.decision_points import decision_points
from ftplan.planners.recovery_schedule.algorithms.schedule.downtime import DowntimeLog
from ftplan.planners.recovery_schedule.algorithms.schedule.plan_body import body
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Schedule, Step
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import RecoveryQuestion, question_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.replicate_tasks.algorithms.changes import too_few_changes
from ftplan.planners.replicate_tasks.algorithms.choice import ReplicationPlanner
from ftplan.planners.replicate_tasks.algorithms.deployment import deployed
from ftplan.planners.replicate_tasks.algorithms.models.downtime_relaxation import CaseRelaxation
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.recovery_savings import DowntimeModel, levels, recovery_savings
from ftplan.planners.replicate_tasks.metrics import figures_of
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.problem import NodeByTask, ReplicationProblem
from ftplan.planners.replicate_tasks.recovery_cases import RecoveryCase, recovery_cases
from ftplan.planners.replicate_tasks.recovery_figures import with_recovery
from ftplan.planners.replicate_tasks.recovery_relaxation import relaxed
from ftplan.planners.result import Result

#: Seconds that one schedule may take: its work is bounded, the clock should never end it.
SCHEDULING_S = 600.0
#: Parts of the time: for all but the schedules that the plan keeps; of this for bounds of single steps, and for the
#: choice by fidelity.
PLANNED, BOUNDING, BY_FIDELITY = 0.8, 0.1, 0.2
#: The planners that can choose replicas by the recovery after them.
PLANNERS = ("greedy", "structure-aware")
#: The warning of arrivals that nobody gave; options of the other command that it names are not here.
ASSUMED = "DEFAULT_ARRIVALS"
NO_BANDWIDTH = (
    "no bandwidth is known: restores count as taking no time, and replicas save none; give network.bandwidth_mb_s in "
    "the cluster file, or --costs"
)
#: Of a step, what a replication plan keeps.
STEP = ("step", "at_s", "trigger", "recover")


def refuse(options: TaskReplicationOptions, planner: registry.Row, problem: Problem) -> None:
    """Refuse, before any work, what goes with no valuation by the recovery.

    Raises
    ------
    FtplanError
        For the first option that does not, an algorithm that cannot, or a missing cluster.
    """
    unfit = {
        "target": "its value is of fidelity: give a budget",
        "threshold": "it is a gain in fidelity: limit changes by --max-changes",
        "curve": "it shows fidelity: plan for some budgets one by one",
    }
    given = {"target": options.target is not None, "threshold": options.threshold is not None, "curve": options.curve}
    for name, why in unfit.items():
        if given[name]:
            raise FtplanError(f"--then-recover: does not go with --{name}: {why}")
    if options.metric != TaskReplicationOptions().metric:
        raise FtplanError(
            f"--then-recover: does not go with --metric {options.metric}: priority x seconds down is what counts"
        )
    if planner.name not in PLANNERS:
        raise FtplanError(
            f"--then-recover: {planner.name} knows fidelity only: --algorithm {' or '.join(reversed(PLANNERS))}"
        )
    if problem.cluster is None:
        raise FtplanError("--then-recover: where is room for what comes back? give --cluster with placement.tasks")


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

        Raises
        ------
        FtplanError
            If an input is missing, or a node arrives that is still there.
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
            shown.append(Warn("RESTORE_TIME_UNKNOWN", NO_BANDWIDTH))
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
        standing = tuple((task, name) for task, name in sorted(node.items()) if name not in question.failed.nodes)
        key = (place, rough, standing)
        if key not in self._known:
            asked = question.with_replicas(Replica(task, name) for task, name in standing)
            self._known[key] = priority_time_of(_step_by_step(asked) if rough else recovered(asked)[0], asked)
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
                steps = body(recovered(asked)[0], asked)["steps"]
                row |= {"priority_time": self.value(place, node), "horizon_s": asked.horizon_s}
                row["steps"] = [{name: step[name] for name in STEP} for step in steps]
            rows.append(row)
        return rows

    def relaxations(self, ids: Sequence[str], beyond: float, clock: Budget) -> tuple[CaseRelaxation, ...]:
        """Return the cases as the bound sees them.

        Parameters
        ----------
        ids
            The nodes of the replication problem.
        beyond
            Cores of replicas that take no room which restores could take.
        """
        pairs = [pair for pair in zip(self.shares, self.questions, strict=True) if pair[1] is not None]
        made = []
        for number, (share, question) in enumerate(pairs):
            part = clock.part(1.0 / (len(pairs) - number))
            assert question is not None
            made.append(relaxed(share, question, ids, beyond, part))
            clock.cut |= part.cut
        return tuple(made)


def recovered(problem: RecoveryProblem) -> tuple[Schedule, float]:
    """Return the schedule after a failure by which replicas are compared, and its bound of priority x seconds down.

    That of the command with ``--algorithm best-density --objective priority-time --iterations 0``. Where no query
    returns within the horizon, and the command has no plan, nothing is recovered at any step.
    """
    result = best_density(problem, _options())
    return result.answer or _nothing_recovered(problem), result.bound or 0.0


def _step_by_step(problem: RecoveryProblem) -> Schedule:
    """Return the schedule that decides at each step alone: one of those that :func:`recovered` takes the best of."""
    return construct_schedule(problem, _options(), by_queries(best_density_step)).answer or _nothing_recovered(problem)


def _options() -> RecoveryOptions:
    return RecoveryOptions(objective="priority-time", time_limit_s=SCHEDULING_S, iterations=0)


def _nothing_recovered(problem: RecoveryProblem) -> Schedule:
    """Return the schedule with a step for everything that happens, at which nothing is recovered."""
    repair, queries = RepairState(problem), failed_queries(problem.graph, problem.failed)
    downtimes = DowntimeLog(problem, queries)
    steps = []
    for number, point in enumerate(decision_points(problem)):
        rolled_back = tuple(repair.strike(point.failures, point.at_s).rolled_back)
        if point.failures or rolled_back:
            queries = failed_queries(problem.graph, repair.down)
            downtimes.reopen(queries, repair, point.at_s, number if rolled_back else None)
        none = Objective.of("priority", "max", 0.0, None)
        begun = number == 0 or bool(rolled_back)
        steps.append(Step(point.at_s, point.trigger(problem), 0.0, 0.0, none, begun, (), (), rolled_back))
    return Schedule(tuple(steps), downtimes.ended(steps[-1].at_s, queries, repair), ())


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
