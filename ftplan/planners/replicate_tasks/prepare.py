"""From files to the question of task replication: what may fail, what a replica costs, what counts as good."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Fail, Failure
from ftplan.model.measures.fidelity import FidelityModel, fidelity_model
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.model.rates import Rates, rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.failures import what_fails
from ftplan.planners.replicate_tasks.budget import ReplicationBudget
from ftplan.planners.replicate_tasks.key_aligned_fidelity import key_aligned_model
from ftplan.planners.replicate_tasks.kind import KIND
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.problem import FailureCase, NodeByTask, ReplicationProblem
from ftplan.planners.replicate_tasks.rules import ReplicationLimits
from ftplan.planners.situation import Situation, situation_of


def completeness_model(graph: TaskGraph, rates: Rates) -> FidelityModel:
    """Return a model whose ``fidelity`` is the internal completeness, and whose ``slope`` is how that grows.

    Internal completeness ([Bellavista2014]) is how many of the records that tasks would process they still process. It
    counts work that never reaches an output, and knows no joins: [SuZhou2016], section VI-B, shows where it misleads.

    Where joins count as independent, the share of its records that a live task still processes obeys the recursion
    of what is intact in output fidelity. So all tasks are its outputs, and each weighs what it processes without
    failure: its input, a source its ``rate_out``; all weigh the same where nothing is processed at all.
    """
    operators = tuple(replace(operator, inputs="independent") for operator in graph.topology.operators)
    unjoined = TaskGraph(replace(graph.topology, operators=operators))
    processed = rates.into.copy()
    for i, edges in enumerate(graph.in_edges):
        if not edges:
            processed[graph.slice_of(i)] = rates.out[graph.slice_of(i)]
    total = processed.sum()
    weight = processed / total if total > 0.0 else np.full(graph.tasks, 1.0 / max(1, graph.tasks))
    return replace(fidelity_model(unjoined, rates), outputs=np.arange(graph.tasks), weight=weight)


#: The one case of a failure that is named, and the one in which everything fails.
NAMED, WORST = "failure", "worst-case"


@dataclass(frozen=True, eq=False)
class PreparedReplication:
    """A replication problem, and what is known beside it. Arrays have shape (tasks,)."""

    problem: ReplicationProblem
    budget: ReplicationBudget
    rates: Rates
    output_fidelity: FidelityModel  # with the weights of the outputs that were asked for
    cpu: FloatArray  # cores of each task, so of its replica
    memory_mb: FloatArray  # state of each task in 2^20 bytes, so of its replica
    primary: tuple[str | None, ...]  # node of each task, None where unknown
    warnings: tuple[Warn, ...] = ()

    @property
    def graph(self) -> TaskGraph:
        """The tasks."""
        return self.problem.graph

    def spent(self, node: NodeByTask) -> float:
        """Return what replicas take, in units of the budget."""
        return self.problem.cost(self.problem.mask(node))

    @cached_property
    def completeness(self) -> FidelityModel:
        """The model of internal completeness."""
        return completeness_model(self.graph, self.rates)

    @cached_property
    def key_aligned(self) -> FidelityModel:
        """The model of key-aligned fidelity, with the weights of the outputs that were asked for."""
        if self.problem.metric == "key-aligned-fidelity":
            return self.problem.model
        return _planned("key-aligned-fidelity", self.output_fidelity, self.graph, self.rates)

    @property
    def compared(self) -> dict[str, FidelityModel]:
        """The models of the figures that a summary gives: key-aligned fidelity where it is planned for."""
        models = {"output_fidelity": self.output_fidelity, "internal_completeness": self.completeness}
        planned = self.problem.metric == "key-aligned-fidelity"
        return {**models, "key_aligned_fidelity": self.key_aligned} if planned else models


def prepare(
    problem: Problem, budget: ReplicationBudget, options: TaskReplicationOptions | None = None
) -> PreparedReplication:
    """Build a replication problem.

    What ``--fail`` names adds to the failure file, and fails in each of its scenarios too. When it fails does not
    matter here: what fails at any time fails.

    Raises :class:`FtplanError` if an input is missing, or a selector names what is not there.
    """
    options = options or TaskReplicationOptions()
    situation = situation_of(problem, options, "task replication", KIND.needs)
    graph = situation.graph
    said = tuple(_unplaced(situation))
    costs, state = situation.costs, situation.state
    memory_mb = state.total / MB
    cases, warnings = _single_failures(situation, options) or _cases(situation, options)
    derived = rates(graph)
    model = fidelity_model(graph, derived)
    if options.weight != "rate":
        priority = graph.per_task("priority")[model.outputs].astype(np.float64)
        model = replace(model, weight=priority / priority.sum())
    weights = budget.weights(costs.cost, memory_mb)
    built = ReplicationProblem(
        graph=graph,
        model=_planned(options.metric, model, graph, derived),
        cases=cases,
        weight=weights,
        budget=budget.limit(graph.tasks, weights),
        metric=options.metric,
    )
    known = (*situation.measured.warnings, *costs.warnings, *state.warnings, *said, *warnings)
    return PreparedReplication(
        built, budget, derived, model, costs.cost, memory_mb, situation.node_names, tuple(dict.fromkeys(known))
    )


def _planned(metric: str, output_fidelity: FidelityModel, graph: TaskGraph, rates: Rates) -> FidelityModel:
    """Return the model that is planned for."""
    if metric == "output-fidelity":
        return output_fidelity
    if metric == "key-aligned-fidelity":
        return replace(key_aligned_model(graph, rates), weight=output_fidelity.weight)
    return completeness_model(graph, rates)


def _unplaced(situation: Situation) -> Iterator[Warn]:
    """Yield that some operators are not placed; with a cluster there must be a placement."""
    if situation.cluster is None:
        return
    if not situation.placed:
        raise FtplanError(
            "the cluster does not say on which nodes tasks run, so that replicas could stand beside their primaries: "
            "give placement.tasks in the cluster file, place round robin with --spread, or plan without --cluster"
        )
    if situation.unplaced:
        named = ", ".join(situation.unplaced)
        text = f"the cluster does not say where {named} runs: nothing keeps its replicas from its primaries"
        yield Warn("PLACEMENT_INCOMPLETE", f"{text}; placement.tasks would tell")


def _single_failures(
    situation: Situation, options: TaskReplicationOptions
) -> tuple[tuple[FailureCase, ...], tuple[Warn, ...]] | None:
    """Return each node and zone that may fail as a case of its own; None where that was not asked for."""
    if not options.by_probability:
        return None
    if options.fail or options.worst_case:
        raise FtplanError("--by-probability: takes what fails from the cluster, not from --fail or --worst-case")
    cluster = situation.cluster
    if cluster is None:
        raise FtplanError("--by-probability needs the cluster, whose nodes and zones say how likely they fail")
    listed = [(f"node:{n.id}", n.failure_probability) for n in cluster.nodes]
    listed += [(f"zone:{z.id}", z.failure_probability) for z in cluster.zones]
    likely = sorted((selector, weight) for selector, weight in listed if weight)
    if not likely:
        text = "no node and no zone of the cluster has a failure_probability above 0"
        raise FtplanError(f"--by-probability: {text}")
    cases = []
    for selector, weight in likely:
        outage = what_fails(situation.graph, cluster, Failure(), (selector,), False)
        cases.append(FailureCase(selector, weight, outage.tasks, outage.nodes))
    return tuple(cases), ()


def _cases(situation: Situation, options: TaskReplicationOptions) -> tuple[tuple[FailureCase, ...], tuple[Warn, ...]]:
    """Return the ways to fail: everything, what is named, or the scenarios of the failure file."""
    graph, fail, failure = situation.graph, options.fail, situation.failure or Failure()
    if options.worst_case or not (fail or failure.fail or failure.scenarios):
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
        outage = what_fails(graph, situation.cluster, Failure(listed, failure.arrivals), fail, False)
        warnings += outage.warnings
        cases.append(FailureCase(name, weight, outage.tasks, outage.nodes))
    if not any(case.failed.any() for case in cases):
        warnings.append(Warn("NOTHING_FAILS", "no task runs on what fails: no replica is of use"))
    return tuple(cases), tuple(warnings)


def limits_of(
    prepared: PreparedReplication, cluster: Cluster | None, max_cpu: float, budget: float = math.inf
) -> ReplicationLimits:
    """Return what the replicas of a plan must keep."""
    return ReplicationLimits(
        graph=prepared.graph,
        cluster=cluster,
        primary=prepared.primary,
        cpu=prepared.cpu,
        memory_mb=prepared.memory_mb,
        weight=prepared.problem.weight,
        budget=budget,
        max_cpu=max_cpu,
    )
