"""Output fidelity against records that are followed one by one, and what theorem 1 and the bound say of planners."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology
from ftplan.planners.replicate_tasks.algorithms.dynamic_programming import dynamic_programming
from ftplan.planners.replicate_tasks.algorithms.exact import exact
from ftplan.planners.replicate_tasks.algorithms.greedy import greedy
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware
from ftplan.planners.replicate_tasks.key_aligned_fidelity import key_aligned_model
from tests.effort import examples
from tests.model.measures.slow_fidelity import Substream, Task, slow_rates
from tests.planners.replicate_tasks.algorithms.cases import problem_of, random_tree
from tests.topologies import topologies

OPTIONS = ReplicationOptions(time_limit_s=3600)
MOST = 3_000
#: How a record came to be: its probability and the tasks that took part.
Lineage = tuple[Fraction, frozenset[Task]]


def chances(weights: list[float]) -> list[Fraction]:
    """Return the probabilities of drawing by weight, or equally where all weights are 0."""
    exact_weights = [Fraction(w) for w in weights]
    total = sum(exact_weights)
    return [w / total if total else Fraction(1, len(weights)) for w in exact_weights]


def lineages(topology: Topology, substreams: list[Substream], task: Task) -> list[Lineage]:
    """Return all ways in which a record of a task can come about, with their probabilities.

    A record of a join rests on one record of each stream, drawn on their own (Cartesian pairs); any other record
    rests on one record of one stream.
    """
    entering: dict[int, list[Substream]] = {}
    for substream in substreams:
        if substream[1] == task:
            entering.setdefault(substream[0][0], []).append(substream)
    if not entering:
        return [(Fraction(1), frozenset({task}))]
    drawn = []
    for part in entering.values():
        each = zip(part, chances([rate for _, _, rate in part]), strict=True)
        drawn.append([(p * q, t) for (a, _, _), p in each for q, t in lineages(topology, substreams, a)])
    if topology.operators[task[0]].inputs == "correlated":
        assume(np.prod([float(len(d)) for d in drawn]) <= MOST)
        pairs = itertools.product(*drawn)
        found = [(_product([p for p, _ in c]), frozenset({task}).union(*(t for _, t in c))) for c in pairs]
    else:
        streams = chances([sum(rate for _, _, rate in part) for part in entering.values()])
        found = [(s * p, t | {task}) for s, d in zip(streams, drawn, strict=True) for p, t in d]
    assume(len(found) <= MOST)
    return found


def _product(values: list[Fraction]) -> Fraction:
    result = Fraction(1)
    for value in values:
        result *= value
    return result


def alone(topology: Topology, substreams: list[Substream], task: Task, live: dict[Task, bool]) -> float:
    """Return the share of a task's records whose whole lineage lives."""
    return float(sum((p for p, t in lineages(topology, substreams, task) if all(live[x] for x in t)), Fraction(0)))


@settings(deadline=None, max_examples=60)
@given(topologies(operators=4, parallelism=2), st.data())
def test_output_fidelity_equals_the_share_of_whole_lineages(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(topology)
    _, _, substreams = slow_rates(topology)
    flags = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    live = {
        (i, k): bool(flags[graph.offset[i] + k]) for i, o in enumerate(topology.operators) for k in range(o.parallelism)
    }
    model = fidelity_model(graph, rates(graph))
    intact = model.intact(flags)
    total = 0.0
    for task, weight in zip(model.outputs.tolist(), model.weight.tolist(), strict=True):
        i = int(graph.operator_of[task])
        share = alone(topology, substreams, (i, task - int(graph.offset[i])), live)
        assert intact[task] == pytest.approx(share, abs=1e-9)
        total += weight * share
    assert model.fidelity(flags) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("partitioning", ["full", "structured"])
@pytest.mark.parametrize("seed", range(examples(20)))
def test_key_aligned_equals_output_fidelity_where_nothing_is_shared(seed: int, partitioning: str) -> None:
    """No two streams of a join have an ancestor in common in an in-tree."""
    graph = TaskGraph(random_tree(seed, 6, 5, partitioning, joins=0.5))
    live = np.random.default_rng(seed).random(graph.tasks) < 0.8
    expected = fidelity_model(graph, rates(graph)).fidelity(live)
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(topologies(operators=3, parallelism=3), st.integers(0, 6))
def test_theorem_1_and_the_bound(topology: Topology, budget: int) -> None:
    """No plan of fewer replicas is as good as dynamic programming's; no plan is above the bound of exact."""
    problem = problem_of(topology, budget)
    best = dynamic_programming(problem, OPTIONS).answer
    proven = exact(problem, OPTIONS)
    assert best is not None
    assert proven.answer is not None
    assert proven.bound is not None
    value, size = problem.value(best.replicated), int(best.replicated.sum())
    assert problem.value(proven.answer.replicated) == pytest.approx(value, abs=1e-9)
    for count in range(size):
        for chosen in itertools.combinations(range(problem.tasks), count):
            replicated = np.zeros(problem.tasks, dtype=np.bool_)
            replicated[list(chosen)] = True
            assert problem.value(replicated) < value - 1e-13
    for planner in (greedy, structure_aware):
        answer = planner(problem, OPTIONS).answer
        assert answer is not None
        assert problem.value(answer.replicated) <= proven.bound + 1e-9
