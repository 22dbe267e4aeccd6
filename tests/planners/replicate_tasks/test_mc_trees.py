"""MC-trees against the paper's counts and against output fidelity, and gains against one evaluation a task."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.fidelity_gains import gains, useful
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from ftplan.planners.replicate_tasks.algorithms.greedy import meeting_again
from ftplan.planners.replicate_tasks.mc_trees import count_mc_trees
from tests.planners.replicate_tasks.mc_tree_cases import complete, mc_trees
from tests.topologies import operator, topologies


def figure_1(inputs: str) -> TaskGraph:
    """O1 and O2 feed O3 one to one, O3 feeds O4 in full."""
    parallelism = (4, 4, 4, 2)
    made = [operator(f"o{i + 1}", p, output=i == 3, inputs=inputs if i == 2 else "independent")
            for i, p in enumerate(parallelism)]  # fmt: skip
    return TaskGraph(Topology(tuple(made), (Edge(0, 2, "one-to-one"), Edge(1, 2, "one-to-one"), Edge(2, 3, "full"))))


@pytest.mark.parametrize(("inputs", "trees", "size"), [("independent", 16, 3), ("correlated", 8, 4)])
def test_figure_1(inputs: str, trees: int, size: int) -> None:
    graph = figure_1(inputs)
    listed = list(mc_trees(graph))
    assert count_mc_trees(graph) == len(listed) == trees
    assert {len(tree) for tree in listed} == {size}


def test_merge_one_to_one_split_has_8_trees() -> None:
    made = tuple(operator(f"o{i}", p, output=i == 3) for i, p in enumerate((4, 2, 2, 4)))
    edges = (Edge(0, 1, "merge"), Edge(1, 2, "one-to-one"), Edge(2, 3, "split"))
    assert count_mc_trees(TaskGraph(Topology(made, edges))) == 8


def test_full_edges_are_counted_and_listed_lazily() -> None:
    made = tuple(operator(f"o{i}", 1_000, output=i == 9) for i in range(10))
    graph = TaskGraph(Topology(made, tuple(Edge(i, i + 1, "full") for i in range(9))))
    assert count_mc_trees(graph) == 1_000**10
    assert len(list(mc_trees(graph, limit=5))) == 5


@given(topologies(operators=4, parallelism=3), st.data())
def test_only_complete_trees_matter(topology: Topology, data: st.DataObject) -> None:
    """Fidelity of some live tasks is that of those in whole MC-trees, and of the useful among them."""
    graph = TaskGraph(topology)
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)], dtype=np.bool_)
    model = fidelity_model(graph, rates(graph))
    kept = complete(graph, live)
    assert model.fidelity(kept) == pytest.approx(model.fidelity(live), abs=1e-12)
    assert model.fidelity(useful(model, live)) == pytest.approx(model.fidelity(live), abs=1e-12)
    assert not (useful(model, live) & ~kept).any()
    if count_mc_trees(graph) <= 2_000:
        within = [tree for tree in mc_trees(graph) if live[list(tree)].all()]
        assert set(np.flatnonzero(kept).tolist()) == set(itertools.chain.from_iterable(within))


@given(topologies(), st.data())
def test_gains_equal_one_evaluation_a_task(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(topology)
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)], dtype=np.bool_)
    model = fidelity_model(graph, rates(graph))
    change, before = gains(model, live).change, model.fidelity(live)
    for task in np.flatnonzero(~meeting_again(graph)).tolist():
        live[task] = not live[task]
        assert change[task] == pytest.approx(abs(model.fidelity(live) - before), abs=1e-12)
        live[task] = not live[task]
