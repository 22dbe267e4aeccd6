"""The exact step solver: against all choices, against networkx's minimum cut, and under tiny budgets."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms import dynamic_programming
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.completion import best_completion
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, common_unit
from ftplan.planners.recovery_schedule.algorithms.knapsack.integer_program import solve
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import priced_selection
from ftplan.planners.recovery_schedule.algorithms.knapsack.reduction import reduce
from tests.planners.recovery_schedule.algorithms.instances import brute_force, figure_2, knapsack_of, knapsacks

TIME_S = 60.0


@pytest.fixture(params=["plans where few", "never"], autouse=True)
def _plans(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test with small steps planned outright, and without: the answers are worth the same."""
    if request.param == "never":
        monkeypatch.setattr(dynamic_programming, "FEW_SETS", 0)


def sparse(queries: int, tasks: int, seed: int, share: float) -> SetUnionKnapsack:
    """Return a knapsack of 3 to 8 tasks a query, drawn with skew, with this share of all cores."""
    rng = np.random.default_rng(seed)
    odds = 1 / np.arange(1, tasks + 1) ** 0.8
    needs = [set(rng.choice(tasks, rng.integers(3, 9), p=odds / odds.sum()).tolist()) for _ in range(queries)]
    weight = rng.integers(1, 9, tasks) / 4
    used = sum(weight[sorted(set().union(*needs))])
    return knapsack_of(needs, weight.tolist(), rng.integers(1, 11, queries).tolist(), share * used)


#: The bound of its integer program is its value raised by rounding, and a little more.
RAISED = SetUnionKnapsack(
    np.array([1.0, 1.0, 1.5625, 1.0]),
    np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.25]),
    np.array([0, 1, 2, 4, 5]),
    np.array([0, 0, 0, 1, 5]),
    1.0,
)


@settings(deadline=None, max_examples=150)
@given(knapsacks())
@example(RAISED)
def test_it_equals_all_choices(knapsack: SetUnionKnapsack) -> None:
    choice = exact_step(knapsack, Budget(TIME_S))
    assert knapsack.fits(choice.queries)
    assert choice.optimal
    assert knapsack.value(choice.queries) == pytest.approx(brute_force(knapsack), rel=1e-8)
    assert choice.bound is not None
    assert choice.bound >= knapsack.value(choice.queries)


@settings(deadline=None, max_examples=100)
@given(knapsacks(), st.sampled_from([(0.0, None), (TIME_S, 1), (TIME_S, 0), (1e-4, None)]))
def test_the_bound_holds_however_little_is_done(knapsack: SetUnionKnapsack, limits: tuple[float, int | None]) -> None:
    choice = exact_step(knapsack, Budget(*limits))
    best = brute_force(knapsack)
    assert knapsack.fits(choice.queries)
    assert choice.bound is not None
    assert choice.bound >= best * (1 - 1e-12)
    assert not choice.optimal or knapsack.value(choice.queries) == pytest.approx(best, rel=1e-8)


@settings(deadline=None, max_examples=60)
@given(knapsacks(), st.sampled_from([1.0, 1e12]))
def test_the_integer_program_equals_all_choices(knapsack: SetUnionKnapsack, scale: float) -> None:
    """In cores and in bytes alike; its bound holds without a margin of the caller's."""
    scaled = replace(knapsack, weight=knapsack.weight * scale, capacity=knapsack.capacity * scale)
    solved = solve(scaled, common_unit(knapsack.priority), 0, Budget(TIME_S))
    best = brute_force(knapsack)
    assert solved.queries is not None
    assert knapsack.fits(solved.queries)
    assert knapsack.value(solved.queries) == pytest.approx(best, rel=1e-8)
    assert best * (1 - 1e-12) <= solved.bound <= best * (1 + 1e-6) + 1e-6


@settings(deadline=None, max_examples=80)
@given(knapsacks(), st.integers(0, 640).map(lambda price: price / 32))
def test_a_priced_closure_is_a_minimum_cut(knapsack: SetUnionKnapsack, price: float) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(("source", "sink"))
    for q in range(knapsack.queries):
        graph.add_edge("source", ("q", q), capacity=float(knapsack.priority[q]))
    for q, b in zip(knapsack.row.tolist(), knapsack.member.tolist(), strict=True):
        graph.add_edge(("q", q), ("b", b))
    for b in range(knapsack.elements):
        graph.add_edge(("b", b), "sink", capacity=price * float(knapsack.weight[b]))
    cut, _ = nx.minimum_cut(graph, "source", "sink", flow_func=nx.algorithms.flow.shortest_augmenting_path)
    expected = float(knapsack.priority.sum()) - cut + price * knapsack.limit
    if knapsack.queries:
        selection = priced_selection(knapsack, price)
        assert selection.bound(knapsack.limit) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert selection.value == pytest.approx(knapsack.value(selection.queries))
        profit = selection.value - price * (selection.cost - knapsack.limit)
        assert profit == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=80)
@given(knapsacks())
def test_a_reduction_keeps_the_optimum(knapsack: SetUnionKnapsack) -> None:
    reduced = reduce(knapsack)
    assert reduced is not None
    assert reduced.base + brute_force(reduced.knapsack) == pytest.approx(brute_force(knapsack), rel=1e-9)
    everything = reduced.back(np.ones(reduced.knapsack.queries, dtype=np.bool_))
    assert reduced.forth(everything).all()
    assert knapsack.value(everything) == pytest.approx(reduced.base + reduced.knapsack.priority.sum())


@settings(deadline=None, max_examples=60)
@given(knapsacks(), st.data())
def test_a_hint_is_never_made_worse(knapsack: SetUnionKnapsack, data: st.DataObject) -> None:
    flags = st.lists(st.booleans(), min_size=knapsack.queries, max_size=knapsack.queries)
    hint = np.array(data.draw(flags), dtype=np.bool_)
    choice = exact_step(knapsack, Budget(0.0), hint=hint)
    assert knapsack.fits(choice.queries)
    assert not knapsack.fits(hint) or knapsack.value(choice.queries) >= knapsack.value(hint)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_sparse_steps_are_closed(share: float) -> None:
    knapsack = sparse(300, 600, 3, share)
    choice = exact_step(knapsack, Budget(TIME_S))
    assert choice.optimal
    assert knapsack.fits(choice.queries)
    grown = best_completion(knapsack, [np.zeros(knapsack.queries, dtype=np.bool_)], Budget(TIME_S))
    assert knapsack.value(grown) <= knapsack.value(choice.queries)


@pytest.mark.parametrize("iterations", [0, 1, 2])
def test_bounded_work_gives_the_same_bytes(iterations: int) -> None:
    knapsack = sparse(60, 60, 5, 0.3)
    first, second = (exact_step(knapsack, Budget(TIME_S, iterations), seed=7) for _ in range(2))
    assert first.queries.tobytes() == second.queries.tobytes()
    assert (first.bound, first.optimal, first.note) == (second.bound, second.optimal, second.note)


def test_figure_2_needs_seven_cores_for_two_queries() -> None:
    assert [
        figure_2(cores).value(exact_step(figure_2(cores), Budget(TIME_S)).queries) for cores in (3.0, 4.0, 6.0, 10.0)
    ] == [
        0.0,
        1.0,
        2.0,
        4.0,
    ]


def test_what_fits_together_needs_no_solver() -> None:
    choice = exact_step(knapsack_of([{0}, {0, 1}], [1.0, 2.0], [3.0, 4.0], 3.0), Budget(0.0))
    assert choice.queries.all()
    assert choice.optimal
    assert choice.bound == 7.0


def test_units() -> None:
    assert common_unit(np.array([2.0, 4.5, 10.0])) == 0.5
    assert common_unit(np.array([np.pi, 2.0])) == 0.0


@pytest.mark.parametrize(
    ("numbers", "unit"),
    [([10.0, 20.0], 10.0), ([0.5, 0.75, 0.0], 0.25), ([10.0, 1e-9], 0.0), ([1e-9], 0.0), ([np.pi], 0.0)],
)
def test_a_common_unit_divides_all_numbers(numbers: list[float], unit: float) -> None:
    """What is next to nothing is no multiple of any: a bound that is rounded to multiples would leave it out."""
    assert common_unit(np.array(numbers)) == unit
