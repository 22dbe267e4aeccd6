"""``--then-recover``: what does not go with it, and the failures that replicas are for, each as one to recover from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.failure import Failure
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication

#: What recoveries are planned by, for each failure, with ``best-density``: its work is bounded, so that schedules are
#: the same everywhere, and replicas can be compared by them.
OPTIONS = {"objective": "priority-time", "iterations": 0, "seed": 0}
#: The planners that can choose replicas by the recovery after them.
PLANNERS = ("auto", "structure-aware", "greedy")


def refuse(options: TaskReplicationOptions, planner: registry.Row, problem: Problem) -> None:
    """Refuse, before any work, what goes with no valuation by the recovery.

    Raises :class:`FtplanError` for the first option that does not, an algorithm that cannot, or a missing cluster.
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
        able = f"{', '.join(PLANNERS[:-1])} or {PLANNERS[-1]}"
        raise FtplanError(f"--then-recover: {planner.name} knows fidelity only: --algorithm {able}")
    if problem.cluster is None:
        raise FtplanError("--then-recover: where is room for what comes back? give --cluster with placement.tasks")


@dataclass(frozen=True, eq=False)
class RecoveryCase:
    """One way to fail: its probability against the others, and the problem and options of its recovery schedule.

    ``problem`` is None where nothing fails.
    """

    id: str
    probability: float
    problem: Problem | None
    fail: tuple[str, ...]
    max_cpu: float
    costs: Any = None

    def options(self) -> dict[str, Any]:
        """Return what its recovery schedule is asked, the replicas beside it."""
        return {**OPTIONS, "fail": self.fail, "max_cpu": self.max_cpu, "costs": self.costs}


def recovery_cases(
    prepared: PreparedReplication, problem: Problem, options: TaskReplicationOptions
) -> tuple[RecoveryCase, ...]:
    """Return the cases of a replication problem; in the worst case every task fails, and no node does.

    Raises :class:`FtplanError` if there is no cluster.
    """
    if problem.cluster is None:
        raise FtplanError("--then-recover: where is room for what comes back? give --cluster with placement.tasks")
    failure, fail = problem.failure or Failure(), options.fail
    worst = options.worst_case or not (fail or failure.fail or failure.scenarios)
    scenarios = {scenario.id: scenario for scenario in failure.scenarios}
    made = []
    for case in prepared.problem.cases:
        if worst:
            here = replace(problem, failure=replace(failure, fail=(), scenarios=()))
            fail = tuple(f"operator:{operator.id}" for operator in prepared.graph.topology.operators)
        elif scenarios:
            listed = tuple(dict.fromkeys((*failure.fail, *scenarios[case.id].fail)))
            here = replace(problem, failure=replace(failure, fail=listed, scenarios=()))
        else:
            here = problem
        nothing = not fail and not (here.failure is not None and here.failure.fail)
        made.append(RecoveryCase(case.id, case.weight, None if nothing else here, fail, options.max_cpu, options.costs))
    return tuple(made)
