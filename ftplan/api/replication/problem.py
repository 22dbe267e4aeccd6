"""From files to what a replication planner is asked: what may fail, what a replica costs, what counts as good."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ftplan.api.failures import what_fails
from ftplan.api.replication.budget import Budget
from ftplan.errors import FtplanError, suggestion
from ftplan.metrics.fidelity import FidelityModel, fidelity_model
from ftplan.metrics.internal_completeness import completeness_model
from ftplan.metrics.key_aligned_fidelity import KeyAlignedModel
from ftplan.metrics.task_costs import task_costs
from ftplan.metrics.task_state import task_state
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Fail, Failure
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.model.rates import rates
from ftplan.model.task_graph import BoolArray, TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.replication.problem import FailureCase, ReplicationProblem

METRICS = ("output-fidelity", "internal-completeness")
WEIGHTS = ("rate", "priority")
#: The one case of a failure that is named, and the one in which everything fails.
NAMED, WORST = "failure", "worst-case"


@dataclass(frozen=True, eq=False)
class Prepared:
    """A replication problem, and what is known beside it. Arrays have shape (tasks,)."""

    problem: ReplicationProblem
    measured: FidelityModel  # its ``fidelity`` is the metric that is maximised, whichever it is
    cpu: FloatArray  # cores of each task, so of its replica
    memory_mb: FloatArray  # state of each task in 2^20 bytes, so of its replica
    primary: tuple[str | None, ...]  # node of each task, None where unknown
    warnings: tuple[Warn, ...] = ()

    @property
    def graph(self) -> TaskGraph:
        """The tasks."""
        return self.problem.graph

    @cached_property
    def completeness(self) -> FidelityModel:
        """The model of internal completeness."""
        return completeness_model(self.graph, self.problem.rates)

    @property
    def weights_sum(self) -> float:
        """Sum of the weights of all cases."""
        return sum(case.weight for case in self.problem.cases)

    def live(self, replicated: BoolArray, node: Iterable[str | None] = ()) -> list[BoolArray]:
        """Return which tasks live in each case; a replica is down where its own node (None: no node) is."""
        nodes = tuple(node)
        found = []
        for case in self.problem.cases:
            standing = replicated
            if nodes and case.nodes:
                down = [item is not None and item in case.nodes for item in nodes]
                standing = replicated & ~np.array(down, dtype=np.bool_)
            found.append(~case.failed | standing)
        return found

    def value(
        self, model: FidelityModel | KeyAlignedModel, replicated: BoolArray, node: Iterable[str | None] = ()
    ) -> float:
        """Return the expected fidelity in *model* over all cases, with the replicas on their nodes."""
        live = self.live(replicated, node)
        sums = sum(case.weight * model.fidelity(up) for case, up in zip(self.problem.cases, live, strict=True))
        return min(1.0, float(sums) / self.weights_sum)

    def useful(self, replicated: BoolArray, node: Iterable[str | None] = ()) -> BoolArray:
        """Return the replicas without which the metric would be lower in some case, shape (tasks,).

        All others may go at once: fidelity is a polynomial with coefficients of at least 0, and each of its terms that
        counts has useful tasks only ([SuZhou2016], section IV: replicas outside complete MC-trees are wasted).
        """
        needed = np.zeros(self.graph.tasks, dtype=np.bool_)
        for case, live in zip(self.problem.cases, self.live(replicated, node), strict=True):
            intact = self.measured.intact(live)
            needed |= case.failed & live & (intact > 0.0) & (self.measured.slope(live, intact) > 0.0)
        return replicated & needed

    def losses(self, replicated: BoolArray) -> FloatArray:
        """Return the expected drop without each live task, shape (tasks,), as :meth:`FidelityModel.slope` knows it."""
        total = np.zeros(self.graph.tasks)
        for case, live in zip(self.problem.cases, self.live(replicated), strict=True):
            intact = self.measured.intact(live)
            total += case.weight * np.where(case.failed, intact * self.measured.slope(live, intact), 0.0)
        return np.asarray(total / self.weights_sum, dtype=np.float64)


def prepare(
    problem: Problem,
    budget: Budget,
    *,
    fail: Iterable[str] = (),
    worst_case: bool = False,
    metric: str = "output-fidelity",
    weight: str = "rate",
) -> Prepared:
    """Build a replication problem.

    Parameters
    ----------
    budget
        How many replicas, cores or 2^20 bytes there may be.
    fail
        Selectors of what fails; they add to the failure file, and fail in each of its scenarios too. When they fail
        does not matter here: what fails at any time fails.
    worst_case
        All tasks fail, whatever the failure file says; the default where nothing is named.
    weight
        What an output counts: its rate, or its priority.

    Raises
    ------
    FtplanError
        If an input is missing, an option unknown, or a selector names what is not there.
    """
    for flag, value, known in (("--metric", metric, METRICS), ("--weight", weight, WEIGHTS)):
        if value not in known:
            raise FtplanError(f"{flag}: unknown {value!r}{suggestion(str(value), known)}: one of {', '.join(known)}")
    if problem.topology is None:
        raise FtplanError("task replication needs topology: give --topology (in Python topology=...)")
    graph = TaskGraph(problem.topology)
    primary, said = _primaries(graph, problem.cluster)
    costs = task_costs(graph, problem.stats, problem.cluster.placement if problem.cluster is not None else None)
    memory_mb = task_state(graph, problem.stats).total / MB
    cases, warnings = _cases(graph, problem, tuple(fail), worst_case)
    derived = rates(graph)
    model = _weighted(fidelity_model(graph, derived), graph, weight)
    measured = model if metric == "output-fidelity" else completeness_model(graph, derived)
    built = ReplicationProblem(
        graph=graph,
        rates=derived,
        model=model,
        score=measured.fidelity,
        cases=cases,
        weight=budget.weights(costs.cost, memory_mb),
        budget=budget.limit(graph.tasks),
        metric=metric,
    )
    warnings = tuple(dict.fromkeys((*costs.warnings, *said, *warnings)))
    return Prepared(built, measured, costs.cost, memory_mb, primary, warnings)


def _weighted(model: FidelityModel, graph: TaskGraph, weight: str) -> FidelityModel:
    if weight == "rate":
        return model
    priority = graph.per_task("priority")[model.outputs].astype(np.float64)
    return replace(model, weight=priority / priority.sum())


def _primaries(graph: TaskGraph, cluster: Cluster | None) -> tuple[tuple[str | None, ...], tuple[Warn, ...]]:
    """Return the node of each task; with a cluster there must be a placement."""
    node: list[str | None] = [None] * graph.tasks
    if cluster is None:
        return tuple(node), ()
    if cluster.placement is None or not cluster.placement.tasks:
        raise FtplanError(
            "the cluster does not say on which nodes tasks run, so that replicas could stand beside their primaries: "
            "give placement.tasks in the cluster file, place round robin with --spread, or plan without --cluster"
        )
    for operator, nodes in cluster.placement.tasks.items():
        node[graph.slice_of(graph.topology.position[operator])] = nodes
    missing = sorted({o.id for o in graph.topology.operators} - set(cluster.placement.tasks))
    if not missing:
        return tuple(node), ()
    text = f"the cluster does not say where {', '.join(missing)} runs: nothing keeps its replicas from its primaries"
    return tuple(node), (Warn("PLACEMENT_INCOMPLETE", f"{text}; placement.tasks would tell"),)


def _cases(
    graph: TaskGraph, problem: Problem, fail: tuple[str, ...], worst_case: bool
) -> tuple[tuple[FailureCase, ...], tuple[Warn, ...]]:
    """Return the ways to fail: everything, what is named, or the scenarios of the failure file."""
    failure = problem.failure or Failure()
    if worst_case or not (fail or failure.fail or failure.scenarios):
        return (FailureCase(WORST, 1.0, np.ones(graph.tasks, dtype=np.bool_)),), ()
    named: list[tuple[str, float, tuple[Fail, ...]]] = [(NAMED, 1.0, ())]
    if failure.scenarios:
        named = [(item.id, item.probability, item.fail) for item in failure.scenarios if item.probability > 0.0]
        if not named:
            raise FtplanError("the failure's scenarios all have probability 0: give one of them more")
    cases: list[FailureCase] = []
    warnings: list[Warn] = []
    for name, weight, entries in sorted(named, key=lambda item: item[0]):
        listed = tuple(Fail(entry.select) for entry in (*failure.fail, *entries))
        if not listed and not fail:
            cases.append(FailureCase(name, weight, np.zeros(graph.tasks, dtype=np.bool_)))
            continue
        found = what_fails(graph, problem.cluster, Failure(listed, failure.arrivals), fail, False)
        warnings += found.warnings
        cases.append(FailureCase(name, weight, found.tasks, found.nodes))
    if not any(case.failed.any() for case in cases):
        warnings.append(Warn("NOTHING_FAILS", "no task runs on what fails: no replica is of use"))
    return tuple(cases), tuple(warnings)
