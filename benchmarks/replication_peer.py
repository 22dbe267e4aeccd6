"""The plain program of task replication in a cluster: one variable a task and node, solved by SCIP.

Binary place[t, n] for every node n outside the zone of t's primary; intact[t, s], the share of t's good output in case
s, is at most its liveness there (the sum of place[t, n] over the nodes that live in s; 1 where t does not fail) and at
most the weighted mean of its inputs'. Joins are not linear and are refused. One thread.
"""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass

import numpy as np
from ortools.math_opt.python import mathopt

from ftplan.model.problem import Problem
from ftplan.model.rates import FullStream, Rates, rates
from ftplan.model.task_graph import TaskGraph

#: Variables above which the program is not built.
MOST_VARIABLES = 1_500_000
MB = 2**20


@dataclass(frozen=True)
class JointInstance:
    """T tasks with primaries on N nodes, and what may fail. Arrays are by task number of ``graph``, or by node."""

    graph: TaskGraph
    rates: Rates
    cpu: np.ndarray  # (T,)
    mb: np.ndarray  # (T,)
    primary: np.ndarray  # (T,)
    free_cpu: np.ndarray  # (N,) what primaries and other work leave
    free_mb: np.ndarray  # (N,)
    open: np.ndarray  # (N,) takes tasks
    zone: np.ndarray  # (N,)
    cases: list[tuple[float, np.ndarray, np.ndarray]]  # weight, failed tasks, failed nodes
    weight: np.ndarray  # (T,) of each output task, summing to 1


@dataclass(frozen=True)
class Answer:
    """Value and bound of the peer, seconds with building, and the node of each replica by task."""

    value: float
    bound: float
    seconds: float
    node: dict[int, int]


def instance_of(problem: Problem, max_cpu: float = 0.8) -> JointInstance:
    """Return what a problem asks whose failure names nodes and zones only; without one all tasks fail at once."""
    assert problem.topology is not None
    assert problem.cluster is not None
    graph, cluster = TaskGraph(problem.topology), problem.cluster
    flows = rates(graph)
    assert cluster.placement is not None
    primary = np.zeros(graph.tasks, dtype=np.int64)
    for id, nodes in cluster.placement.tasks.items():
        primary[graph.slice_of(graph.topology.position[id])] = [cluster.position[node] for node in nodes]
    cpu, mb, count = graph.per_task("cpu"), graph.per_task("state_bytes") / MB, len(cluster.nodes)
    limit = np.array([max_cpu * node.cpu - node.used_cpu for node in cluster.nodes])
    memory = np.array([np.inf if node.memory_mb is None else node.memory_mb for node in cluster.nodes])
    cases = []
    for item in problem.failure.scenarios if problem.failure is not None else ():
        names = {(entry.select.kind, entry.select.name) for entry in item.fail}
        down = np.array([("node", n.id) in names or ("zone", n.zone) in names for n in cluster.nodes])
        cases.append((item.probability, down[primary], down))
    outputs = np.where(graph.output, flows.out, 0.0)
    outputs = outputs if outputs.sum() > 0.0 else np.where(graph.output, flows.into, 0.0)
    return JointInstance(
        graph, flows, cpu, mb, primary,
        np.round(limit - np.bincount(primary, cpu, count), 9), memory - np.bincount(primary, mb, count),
        np.array(["tasks" in node.accepts for node in cluster.nodes]), cluster.zone_index,
        cases or [(1.0, np.ones(graph.tasks, dtype=bool), np.zeros(count, dtype=bool))], outputs / outputs.sum(),
    )  # fmt: skip


def variables(asked: JointInstance) -> int:
    """Return how many variables the program has."""
    some = np.any([failed for _, failed, _ in asked.cases], axis=0)
    apart = np.array([(asked.open & (asked.zone != zone)).sum() for zone in range(int(asked.zone.max()) + 1)])
    return int(apart[asked.zone[asked.primary[some]]].sum()) + len(asked.cases) * asked.graph.tasks


def plain_program(
    asked: JointInstance,
    budget: float | None = None,
    budget_cpu: float | None = None,
    time_limit_s: float = 60.0,
    gap: float = 1e-9,
) -> Answer | None:
    """Return the most that replicas within a budget are worth; None where the program is too large to build."""
    if variables(asked) > MOST_VARIABLES:
        return None
    began, graph, model = time.perf_counter(), asked.graph, mathopt.Model()
    place: dict[int, dict[int, mathopt.Variable]] = {}
    for t in np.flatnonzero(np.any([failed for _, failed, _ in asked.cases], axis=0)).tolist():
        nodes = np.flatnonzero(asked.open & (asked.zone != asked.zone[asked.primary[t]]))
        place[t] = {n: model.add_binary_variable() for n in nodes.tolist()}
        model.add_linear_constraint(mathopt.LinearSum(place[t].values()) <= 1.0)
    for n in range(len(asked.zone)):
        for size, free in ((asked.cpu, asked.free_cpu[n]), (asked.mb, asked.free_mb[n])):
            here = [size[t] * own[n] for t, own in place.items() if n in own and size[t] > 0.0]
            if here and np.isfinite(free):
                model.add_linear_constraint(mathopt.LinearSum(here) <= max(0.0, free))
    for size, limit in ((np.ones(graph.tasks), budget), (asked.cpu, budget_cpu)):
        if limit is not None:
            every = [size[t] * x for t, own in place.items() for x in own.values()]
            model.add_linear_constraint(mathopt.LinearSum(every) <= limit)
    total = sum(weight for weight, _, _ in asked.cases)
    goal = []
    for weight, failed, down in asked.cases:
        intact = [model.add_variable(lb=0.0, ub=1.0) for _ in range(graph.tasks)]
        for t in np.flatnonzero(failed).tolist():
            alive = [x for n, x in place[t].items() if not down[n]]
            model.add_linear_constraint(intact[t] <= mathopt.LinearSum(alive))
        _inputs(model, asked, intact)
        goal += [weight / total * asked.weight[t] * intact[t] for t in np.flatnonzero(asked.weight).tolist()]
    model.maximize(mathopt.LinearSum(goal))
    left = datetime.timedelta(seconds=max(0.1, time_limit_s - (time.perf_counter() - began)))
    parameters = mathopt.SolveParameters(time_limit=left, threads=1, relative_gap_tolerance=gap)
    found = mathopt.solve(model, mathopt.SolverType.GSCIP, params=parameters)
    bound, seconds = found.termination.objective_bounds.dual_bound, time.perf_counter() - began
    if not found.has_primal_feasible_solution():
        return Answer(0.0, min(1.0, bound), seconds, {})
    taken = found.variable_values()
    node = {t: n for t, own in place.items() for n, x in own.items() if taken[x] > 0.5}
    return Answer(found.objective_value(), min(1.0, bound), seconds, node)


def _inputs(model: mathopt.Model, asked: JointInstance, intact: list[mathopt.Variable]) -> None:
    """Hold each task to the weighted mean of its inputs; a full edge has one variable for the mean of its senders."""
    terms: dict[int, list[tuple[float, mathopt.Variable]]] = {}
    for stream in asked.rates.streams:
        first, target = int(asked.graph.offset[stream.source]), asked.graph.topology.operators[stream.target]
        there = asked.graph.slice_of(stream.target)
        joined = target.inputs == "correlated" and len(asked.graph.in_edges[stream.target]) > 1
        if joined or (stream.received() <= 0.0).any():
            raise ValueError(f"{target.id}: joins and streams of rate 0 are not part of the plain program")
        if isinstance(stream, FullStream):
            mean = model.add_variable(lb=0.0, ub=1.0)
            sent = stream.sent / stream.sent.sum()
            senders = [float(w) * intact[first + k] for k, w in enumerate(sent) if w > 0.0]
            model.add_linear_constraint(mean <= mathopt.LinearSum(senders))
            for t, rate in zip(range(there.start, there.stop), stream.received().tolist(), strict=True):
                terms.setdefault(t, []).append((rate, mean))
            continue
        for i, j, rate in zip(stream.sender.tolist(), stream.receiver.tolist(), stream.rate.tolist(), strict=True):
            terms.setdefault(there.start + j, []).append((rate, intact[first + i]))
    for t, weighted in terms.items():
        whole = sum(rate for rate, _ in weighted)
        model.add_linear_constraint(intact[t] <= mathopt.LinearSum(rate / whole * x for rate, x in weighted))


def value_of(asked: JointInstance, node: dict[int, int]) -> float:
    """Return what replicas on these nodes are worth, by the metric of the package."""
    from ftplan.model.measures.fidelity import fidelity_model

    model, worth = fidelity_model(asked.graph, asked.rates), 0.0
    for weight, failed, down in asked.cases:
        live = ~failed
        live[[t for t, n in node.items() if not down[n]]] = True
        worth += weight * model.fidelity(live)
    return worth / sum(weight for weight, _, _ in asked.cases)
