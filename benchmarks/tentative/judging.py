"""Which part of a query's output sets of replicas keep, and which measure predicts it ([SuZhou2016], section VI-B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau, spearmanr

import ftplan
from ftplan.model.plan import FORMAT_VERSION, canonical_number
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners import registry
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.budget import ALL as BUDGET
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import prepare
from tentative.lanes import Flows, Query, Shape

ALGORITHMS = ("dynamic-programming", "structure-aware", "greedy")
METRICS = ("output-fidelity", "internal-completeness")
MEASURES = ("output_fidelity", "key_aligned_fidelity", "internal_completeness")
#: What is below this is a rounding error.
NOISE = 1e-9


class JudgedSet(NamedTuple):
    """A set of replicas: who chose it by what, what it replicates, what measures predict, and what was left."""

    ratio: float
    algorithm: str
    metric: str
    replicas: tuple[int, ...]
    output_fidelity: float
    key_aligned_fidelity: float
    internal_completeness: float
    accuracy: float


class MeasurePrediction(NamedTuple):
    """How well a measure predicts accuracies: rank correlations, mean absolute difference, mean difference.

    A rank correlation is None where all values of one side are equal. With a ``bias`` above 0 the measure promises too
    much.
    """

    measure: str
    spearman: float | None
    kendall: float | None
    error: float
    bias: float


@dataclass(frozen=True, eq=False)
class TentativeOutput:
    """The sets of replicas of a query, judged."""

    sets: tuple[JudgedSet, ...]

    @cached_property
    def different(self) -> tuple[JudgedSet, ...]:
        """The sets of different replicas, each once, whoever chose them."""
        return tuple({item.replicas: item for item in reversed(self.sets)}.values())

    @cached_property
    def predictions(self) -> tuple[MeasurePrediction, ...]:
        """How well each measure predicts the accuracies of the different sets."""
        actual = np.array([item.accuracy for item in self.different])
        predicted = ((name, np.array([getattr(item, name) for item in self.different])) for name in MEASURES)
        return tuple(_prediction(name, values, actual) for name, values in predicted)

    def best(self, statistic: str) -> tuple[str, ...]:
        """Return the measures that predict best by ``spearman``, ``kendall`` or ``error``; several where they tie."""
        sign = -1.0 if statistic == "error" else 1.0
        known = {
            item.measure: sign * value
            for item in self.predictions
            if (value := getattr(item, statistic)) is not None
        }  # fmt: skip
        return tuple(name for name, value in known.items() if value >= max(known.values()) - NOISE)


def _prediction(measure: str, values: FloatArray, actual: FloatArray) -> MeasurePrediction:
    ranked = len(values) >= 3 and np.ptp(values) > NOISE and np.ptp(actual) > NOISE
    ranks = [np.unique(np.round(side, 9), return_inverse=True)[1] for side in (values, actual)]
    spearman, kendall = (float(f(*ranks).statistic) if ranked else None for f in (spearmanr, kendalltau))
    apart = values - actual
    return MeasurePrediction(measure, spearman, kendall, float(np.abs(apart).mean()), float(apart.mean()))


def judged(query: Query) -> TentativeOutput:
    """Run a query for its rates, let planners choose replicas for a tenth to nine tenths of its tasks, and judge them.

    The query runs once more for all sets of replicas together.
    """
    flows, shape = query.flows(), query.shape
    problem = ftplan.load(topology=topology(shape, flows))
    questions = {m: prepare(problem, BUDGET, TaskReplicationOptions(metric=m)) for m in METRICS}
    planners = {a: ReplicationPlanner.of(registry.row("replicate-tasks", a)) for a in ALGORITHMS}
    prepared = questions["output-fidelity"]
    value, graph = prepared.problem.value, prepared.graph
    asked = [(n, a, m) for n in range(1, 10) for m in METRICS for a in ALGORITHMS]
    masks = np.zeros((len(asked), graph.tasks), dtype=np.bool_)
    for row, (tenths, algorithm, metric) in enumerate(asked):
        question = replace(questions[metric].problem, budget=float(tenths * graph.tasks // 10))
        found = planners[algorithm].choose(question, ReplicationOptions()).answer
        assert found is not None  # no replica at all is within every budget
        masks[row] = found.replicated
    models = (prepared.output_fidelity, prepared.key_aligned, prepared.completeness)
    sets = [
        JudgedSet(
            n / 10, a, m, tuple(np.flatnonzero(mask).tolist()), *(value(mask, model=of) for of in models), float(part)
        )
        for (n, a, m), mask, part in zip(asked, masks, _accuracy(query, graph, flows, masks), strict=True)
    ]
    return TentativeOutput(tuple(sets))


def _accuracy(query: Query, graph: Any, flows: Flows, masks: BoolArray) -> FloatArray:
    """Return which part of the entries of all windows each set of replicas keeps, shape (sets,), from one run."""
    shape = query.shape
    of = {name: masks[:, graph.slice_of(graph.topology.position[name])] for name in shape.operators}
    rows = [np.concatenate(shape.live({name: some[row] for name, some in of.items()})) for row in range(len(masks))]
    patterns, place = np.unique(rows, axis=0, return_inverse=True)
    live = dict(zip(shape.streams, np.split(patterns, len(shape.streams), axis=1), strict=True))
    return np.asarray(query.kept(live)[place.ravel()].sum(axis=1) / flows.outputs.sum())


def topology(shape: Shape, flows: Flows) -> dict[str, Any]:
    """Return a topology file of the query, with measured rates: of each task's output, and of substreams.

    Where each task has one receiver its output says what the substream carries, and the edge has a partitioning.
    """
    *others, last = shape.operators
    operators: dict[str, dict[str, Any]] = {name: {"id": name, "parallelism": n} for name, n in shape.operators.items()}
    if shape.joins is not None:  # it has all but the output by the same key; a log is not parted by the counted key
        operators[shape.joins]["inputs"] = "correlated"
        for name in others:
            operators[name]["key_groups"] = shape.lanes
    edges = []
    for source, target in shape.edges:
        edge, operators[source]["rate_out"] = _edge(shape, source, target, flows)
        edges.append(edge)
    operators[last] |= {"output": True, "rate_out": _rates([flows.outputs.sum()], flows)[0]}
    return {
        "format": "ftplan/topology",
        "format_version": FORMAT_VERSION,
        "name": shape.name,
        "operators": list(operators.values()),
        "edges": edges,
    }


def _edge(shape: Shape, source: str, target: str, flows: Flows) -> tuple[dict[str, Any], list[float]]:
    """Return an edge between the tasks that have lanes in common, and what each sender puts on it."""
    pairs = np.unique(np.column_stack([shape.tasks_of(source), shape.tasks_of(target)]), axis=0).tolist()
    records = {(sender, receiver): count for sender, receiver, count in flows.edges[source, target].tolist()}
    senders, counts = shape.operators[source], [records.get((i, j), 0) for i, j in pairs]
    edge: dict[str, Any] = {"from": source, "to": target}
    if len(pairs) == senders:
        edge["partitioning"] = "merge" if senders > shape.operators[target] else "one-to-one"
    else:
        edge["substreams"] = [[*pair, rate] for pair, rate in zip(pairs, _rates(counts, flows), strict=True)]
    return edge, _rates(np.bincount([i for i, _ in pairs], counts, minlength=senders), flows)


def _rates(records: Sequence[float] | FloatArray, flows: Flows) -> list[float]:
    return [canonical_number(int(count) / flows.seconds) for count in records]
