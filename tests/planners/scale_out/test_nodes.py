"""Which task goes to which node: against all orders, and against networkx."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.metrics.scaling_problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.metrics.task_replacement import TaskReplacement
from ftplan.planners.scale_out.nodes import assign_tasks, on_their_state
from tests.effort import examples
from tests.metrics.scaling_cases import evenly, operator, problem, splits


@settings(max_examples=examples(60), deadline=None)
@given(splits())
def test_no_other_order_has_more_state_in_place(case: tuple[ScalingProblem, OperatorScaling]) -> None:
    question, item = case
    item = item._replace(parallelism=min(item.parallelism, 5), nodes=item.nodes[:5], ranges=item.ranges[:5])
    (placed,) = on_their_state(question, Scaling((item,))).operators
    assert sorted(placed.nodes) == sorted(item.nodes)
    lying = TaskReplacement(question, item).lying_state()

    def there(nodes: tuple[int, ...]) -> float:
        return float(lying[np.arange(len(nodes)), list(nodes)].sum())

    assert there(placed.nodes) == max(there(nodes) for nodes in permutations(item.nodes))
    assert on_their_state(question, Scaling((item,))).operators == (placed,)


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_as_good_as_a_minimum_cost_flow(data: st.DataObject) -> None:
    tasks, nodes = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 9), min_size=nodes, max_size=nodes)
    worth = np.array(data.draw(st.lists(row, min_size=tasks, max_size=tasks)), dtype=np.float64)
    slots = data.draw(st.lists(st.integers(0, 4), min_size=nodes, max_size=nodes))
    if sum(slots) < tasks:
        with pytest.raises(ValueError, match="slots"):
            assign_tasks(worth, slots)
        return
    graph = nx.DiGraph()
    graph.add_node("start", demand=-tasks)
    graph.add_node("end", demand=tasks)
    for task in range(tasks):
        graph.add_edge("start", ("task", task), capacity=1)
        for node in range(nodes):
            graph.add_edge(("task", task), ("node", node), capacity=1, weight=-int(worth[task, node]))
    for node, room in enumerate(slots):
        graph.add_edge(("node", node), "end", capacity=room)
    chosen = assign_tasks(worth, slots)
    assert (np.bincount(chosen, minlength=nodes) <= slots).all()
    assert worth[np.arange(tasks), list(chosen)].sum() == -nx.min_cost_flow_cost(graph)


def test_tasks_stay_with_their_state_where_no_checkpoint_is_known() -> None:
    item = operator(state_bytes=np.zeros(4))
    scaling = Scaling((evenly(item, 4, (1, 1, 0, 0)),))
    assert on_their_state(problem(item, nodes=3), scaling).operators[0].nodes == (0, 0, 1, 1)


def test_without_cluster_or_state_nothing_changes() -> None:
    item, free = operator(), operator("free", key_groups=0)
    scaling = Scaling((evenly(item, 4), OperatorScaling(1, 3, ())))
    assert on_their_state(problem(item, free), scaling) == scaling
    placed = Scaling((OperatorScaling(1, 3, (), (2, 0, 1)),))
    assert on_their_state(problem(item, free, nodes=3), placed).operators[0].nodes == (0, 1, 2)
