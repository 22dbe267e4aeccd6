"""The sets of replicas that are judged: those that planners choose, or those of a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.kinds import REPLICATE_TASKS
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray
from ftplan.planners import registry
from ftplan.planners.deployed import replicas
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.budget import ReplicationBudget
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication, prepare
from ftplan.simulation.tentative_output.options import RATIOS, TentativeOutputOptions

#: Seconds that a plan may take; those of queries of so few tasks take some hundredths.
TIME_LIMIT_S = 60.0


@dataclass(frozen=True, eq=False)
class ReplicaSet:
    """Replicas and where they are from.

    ``replicated`` is (tasks,); of a plan that was given ``ratio`` is what it replicates, and the others are None.
    ``bound``: no set within the budget is worth more by its metric.
    """

    replicated: BoolArray
    ratio: float
    budget: int | None = None
    algorithm: str | None = None
    metric: str | None = None
    bound: float | None = None


def prepared_for(problem: Problem, metric: str = "output-fidelity") -> PreparedReplication:
    """Return the question of which tasks to replicate, in the worst case: every task without a replica fails."""
    return prepare(problem, ReplicationBudget("tasks"), TaskReplicationOptions(metric=metric))


def planned_pairs(options: TentativeOutputOptions) -> list[tuple[str, str]]:
    """Return algorithms with the metrics that they maximise; those that do not go together are left out.

    Raises
    ------
    FtplanError
        If none goes together.
    """
    algorithms = options.algorithm or ("dynamic-programming", "structure-aware", "greedy")
    metrics = options.metric or ("output-fidelity", "internal-completeness")
    unsupported = TaskReplicationOptions.unsupported
    pairs = [(a, m) for m in metrics for a in algorithms if m not in unsupported.get(a, {}).get("metric", ())]
    if not pairs:
        raise FtplanError(f"--metric {metrics[0]}: {algorithms[0]} does not plan for it")
    return pairs


def planned_sets(problem: Problem, options: TentativeOutputOptions) -> tuple[list[ReplicaSet], tuple[Warn, ...]]:
    """Return what each algorithm chooses for each metric and ratio, with a warning for each that gives up.

    Raises
    ------
    FtplanError
        If all give up.
    """
    pairs = planned_pairs(options)
    planner_of = {a: ReplicationPlanner.of(registry.row(REPLICATE_TASKS.name, a)) for a, _ in pairs}
    problem_of = {m: prepared_for(problem, m).problem for _, m in pairs}
    settings = ReplicationOptions(seed=options.seed, time_limit_s=TIME_LIMIT_S)
    sets: list[ReplicaSet] = []
    gave_up: dict[tuple[str, str], Warn] = {}
    for ratio in options.ratios or RATIOS:
        for algorithm, metric in (pair for pair in pairs if pair not in gave_up):
            question = problem_of[metric]
            budget = math.floor(ratio * question.tasks)
            try:
                result = planner_of[algorithm].choose(replace(question, budget=float(budget)), settings)
            except FtplanError as error:
                text = f"from {float(ratio):.0%} on there is nothing by {algorithm} for {metric}: {error}"
                gave_up[algorithm, metric] = Warn("PLANNER_GAVE_UP", text)
                continue
            assert result.answer is not None  # no replica at all is within every budget
            sets.append(ReplicaSet(result.answer.replicated, float(ratio), budget, algorithm, metric, result.bound))
    if not sets:
        raise FtplanError(next(iter(gave_up.values())).message)
    return sets, tuple(gave_up.values())


def given_set(given: Any, graph: TaskGraph) -> tuple[ReplicaSet, InputFile]:
    """Return the replicas of a task replication; on which nodes does not matter here.

    Raises
    ------
    FtplanError
        If it is no such plan, or names a task that the query does not have.
    """
    listed, file = replicas(given, graph, None, anywhere=True)
    assert file is not None
    replicated = np.zeros(graph.tasks, dtype=np.bool_)
    replicated[[item.task for item in listed]] = True
    return ReplicaSet(replicated, float(np.mean(replicated))), file
