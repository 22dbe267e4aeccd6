"""Which task goes to which node: against all orders, and against networkx."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.scale_out.algorithms.nodes import assign_tasks, on_their_state
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem, waves
from ftplan.planners.scale_out.rules import NODE_CPU, broken
from ftplan.planners.scale_out.techniques.task_replacement import TaskReplacement
from tests.effort import examples
from tests.planners.scale_out.scaling_cases import evenly, operator, problem, splits


@settings(max_examples=examples(60), deadline=None)
@given(splits())
def test_no_other_order_has_more_state_in_place(case: tuple[ScalingProblem, OperatorScaling]) -> None:
    """Without free cores as many tasks stay on each node."""
    question, item = replace(case[0], free=np.zeros(3)), case[1]
    if item.parallelism > 5:  # few enough to try all orders: the last task has the rest of the key groups
        *most, (first, _) = item.ranges[:5]
        rest = (first, question.operators[item.operator].key_groups - 1)
        item = item._replace(parallelism=5, nodes=item.nodes[:5], ranges=(*most, rest))
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


@st.composite
def placed_scalings(draw: st.DrawFn) -> tuple[ScalingProblem, Scaling]:
    """Return two or three operators whose new tasks fit on nodes, some scaled in."""
    nodes, cores = 3, draw(st.sampled_from([(1.0,), (1.0, 2.0)]))
    items, now, scalings = [], [], []
    for number in range(draw(st.integers(1, 3))):
        tasks = draw(st.integers(1, 2))
        copies = draw(st.lists(st.sets(st.integers(0, nodes - 1), max_size=2), min_size=2, max_size=2))
        few = draw(st.booleans())
        item = operator(
            f"op{number}",
            key_groups=2,
            parallelism=3 - tasks,
            cpu=draw(st.sampled_from(cores)),
            use=0.2 if few else 1.0,
            state_bytes=np.array(draw(st.lists(st.integers(1, 9), min_size=2, max_size=2)), dtype=np.float64),
            copies=tuple(tuple(sorted(some)) for some in copies),
            state="scale-in" if few else "promoted",
        )
        items.append(item)
        now.append(tuple(draw(st.integers(0, nodes - 1)) for _ in range(item.parallelism)))
        scalings.append(evenly(item, tasks, tuple(draw(st.integers(0, nodes - 1)) for _ in range(tasks)), number))
    scaling = Scaling(tuple(scalings), least_extra_cpu=1.5)
    question = problem(*items, nodes=nodes, now=tuple(now), free=np.zeros(nodes))
    free = np.array([draw(st.integers(0, 1)) for _ in range(nodes)], dtype=np.float64)
    while broken_nodes(replace(question, free=free), scaling):
        free += 1.0
    return replace(question, free=free), scaling


def broken_nodes(question: ScalingProblem, scaling: Scaling) -> bool:
    return any(breach.rule == NODE_CPU for breach in broken(question, scaling))


@settings(max_examples=examples(80), deadline=None)
@given(placed_scalings())
def test_tasks_go_to_their_checkpoints(case: tuple[ScalingProblem, Scaling]) -> None:
    """No less state in place than before, the most possible in a wave of equal tasks, and what fits still fits."""
    question, scaling = case

    def there(answer: Scaling) -> float:
        lying = [TaskReplacement(question, item).lying_state() for item in answer.operators]
        sums = [
            rows[np.arange(len(rows)), list(i.nodes)].sum() for rows, i in zip(lying, answer.operators, strict=True)
        ]
        held = [any(question.operators[i.operator].copies) for i in answer.operators]
        return float(sum(size for size, known in zip(sums, held, strict=True) if known))

    answer = on_their_state(question, scaling)
    assert answer.least_extra_cpu == 1.5
    assert not broken_nodes(question, answer)
    assert there(answer) >= there(scaling) - 1e-9
    first, second = waves(question, scaling)
    if len({item.cpu for item in question.operators}) > 1 or (first and second):
        return
    places = [product(range(3), repeat=item.parallelism) for item in scaling.operators]
    every = (
        Scaling(tuple(item._replace(nodes=nodes) for item, nodes in zip(scaling.operators, some, strict=True)))
        for some in product(*places)
    )
    assert there(answer) == pytest.approx(max(there(other) for other in every if not broken_nodes(question, other)))


def test_many_tasks_choose_operator_by_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first takes the last place that the second would have liked too; neither exceeds what is free."""
    items = tuple(operator(f"op{i}", key_groups=2, copies=((2,), (1,)), parallelism=1) for i in range(2))
    question = problem(*items, nodes=3, now=((0,), (0,)), free=np.array([4.0, 1.0, 1.0]))
    scaling = Scaling(tuple(evenly(item, 2, (0, 0), i) for i, item in enumerate(items)))
    together = on_their_state(question, scaling)
    monkeypatch.setattr("ftplan.planners.scale_out.algorithms.nodes.MOST_PAIRS", 15)
    apart = on_their_state(question, scaling)
    assert [item.nodes for item in apart.operators] == [(2, 1), (0, 0)]
    for answer in (together, apart):
        assert sorted(node for item in answer.operators for node in item.nodes) == [0, 0, 1, 2]
    monkeypatch.setattr("ftplan.planners.scale_out.algorithms.nodes.MOST_PAIRS", 3)
    assert on_their_state(question, scaling) == scaling
