"""What planners of drain schedules rest on: allowed sets, packings, heaviest sets, rows and bounds."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ftplan.model.plan import Objective
from ftplan.model.topology import Topology
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule import packing as moving
from ftplan.planners.drain_schedule.algorithms.allowed_sets import members
from ftplan.planners.drain_schedule.algorithms.bounds import least_rounds, raised
from ftplan.planners.drain_schedule.algorithms.exact import edge_cliques
from ftplan.planners.drain_schedule.algorithms.first_fit import by_saturation, first_fit, one_by_one
from ftplan.planners.drain_schedule.algorithms.greedy import fewer, reordered, shorter, total_s
from ftplan.planners.drain_schedule.algorithms.heaviest_set import AllowedSetRows, heaviest_set
from ftplan.planners.drain_schedule.algorithms.outcome import restartable
from ftplan.planners.drain_schedule.packing import pack
from ftplan.planners.drain_schedule.problem import DrainLimits, DrainProblem, MovingRoom
from ftplan.planners.drain_schedule.rules import ROOM, broken, conflicts
from tests.planners.drain_schedule.algorithms.cases import (
    allowed,
    conflict_problem,
    drain_problem,
    fewest_rounds,
    kneser,
    problems,
    sets_of,
)
from tests.topologies import operator

FOREVER = Budget(3600.0)


def able(problem: DrainProblem) -> bool:
    """Return whether some nodes are to restart, and each may alone."""
    return len(problem.to_restart) > 0 and not restartable(problem, FOREVER).others


def subsets(problem: DrainProblem) -> list[tuple[int, ...]]:
    nodes = problem.to_restart
    return [some for size in range(len(nodes) + 1) for some in itertools.combinations(nodes, size)]


@settings(max_examples=60)
@given(problems(most=5))
def test_rules_say_what_the_definition_says(problem: DrainProblem) -> None:
    for nodes in subsets(problem):
        packing = pack(problem, problem.mask(nodes), FOREVER) if problem.limits.move else None
        breaches = broken(problem, nodes, packing.moves if packing is not None else None)
        found = not breaches and (packing is None or packing.moves is not None)
        assert found == allowed(problem, frozenset(nodes))
        if packing is not None and packing.moves is not None:
            assert ROOM not in {breach.rule for breach in breaches}


@settings(max_examples=60)
@given(problems(most=5))
def test_allowed_sets_are_those_of_the_definition(problem: DrainProblem) -> None:
    assume(able(problem))
    sets = sets_of(problem)
    for mask in range(1 << sets.count):
        assert sets.allowed(mask) == allowed(problem, frozenset(sets.numbers(mask)))


@settings(max_examples=60)
@given(problems(most=6), st.integers(0, 10))
def test_the_heaviest_set_is_that_of_all_tried(problem: DrainProblem, seed: int) -> None:
    assume(able(problem))
    sets = sets_of(problem)
    weight = np.random.default_rng(seed).integers(0, 8, sets.count)
    best = max(int(weight[list(members(mask))].sum()) for mask in range(1 << sets.count) if sets.allowed(mask))
    above, rows = 0, AllowedSetRows(sets)
    for _ in range(int(weight.sum()) + 1):
        answer = heaviest_set(sets, weight, rows, above, FOREVER)
        if answer.proven:
            break
        assert sets.allowed(answer.mask)
        assert int(weight[list(members(answer.mask))].sum()) == answer.weight > above
        above = answer.weight
    assert above == best


@settings(max_examples=40)
@given(problems(most=6), st.permutations(range(6)))
def test_rows_count_no_more_than_is_allowed(problem: DrainProblem, order: list[int]) -> None:
    assume(able(problem))
    sets = sets_of(problem)
    rows = AllowedSetRows(sets)
    for mask in range(1 << sets.count):
        if not sets.allowed(mask) and mask.bit_count() > 1:
            so_far = 0
            for k in members(mask):
                so_far |= 1 << k if sets.fits_pairwise(so_far, k) else 0
            if not sets.keeps_limits(so_far):
                rows.cut(so_far)
    for mask in range(1 << sets.count):
        if sets.allowed(mask):
            for row, limit in zip(rows.rows, rows.limits, strict=True):
                assert float(row[list(members(mask))].sum()) <= limit + 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_the_heaviest_set_of_a_graph_is_its_heaviest_clique_turned_round(seed: int) -> None:
    """networkx finds cliques: those of the graph of nodes that may go together."""
    rng = np.random.default_rng(seed)
    graph: nx.Graph[int] = nx.gnp_random_graph(70, 0.3 + 0.08 * seed, seed=seed)
    weight = rng.integers(1, 50, 70)
    nx.set_node_attributes(graph, {k: int(weight[k]) for k in range(70)}, "weight")
    _, best = nx.max_weight_clique(graph)
    sets = sets_of(conflict_problem(70, nx.complement(graph).edges))
    assert heaviest_set(sets, weight, AllowedSetRows(sets), best, FOREVER).proven
    answer = heaviest_set(sets, weight, AllowedSetRows(sets), best - 1, FOREVER)
    assert (answer.weight, sets.allowed(answer.mask)) == (best, True)


@pytest.mark.parametrize(("n", "k"), [(5, 2), (6, 2), (7, 3), (8, 3)])
def test_prices_prove_the_fractional_chromatic_number(n: int, k: int) -> None:
    """Of a Kneser graph it is n / k, by its symmetry (Lovász 1979)."""
    sets = sets_of(kneser(n, k))
    bound = raised(sets, AllowedSetRows(sets), one_by_one(sets), 1, Budget(3600.0, 500))
    assert bound == math.ceil(n / k)


@settings(max_examples=40)
@given(problems(most=6))
def test_no_bound_is_above_the_fewest_rounds(problem: DrainProblem) -> None:
    assume(able(problem))
    fewest, sets = fewest_rounds(problem), sets_of(problem)
    assert fewest is not None
    least = least_rounds(sets)
    assert least.rounds <= fewest
    assert all(sets.conflict[a, b] for a, b in itertools.combinations(least.clique, 2))
    rounds = by_saturation(sets)
    assert raised(sets, AllowedSetRows(sets), rounds, least.rounds, Budget(3600.0, 100)) <= fewest


@settings(max_examples=40)
@given(problems(most=7), st.integers(0, 5))
def test_searches_keep_all_nodes_and_limits(problem: DrainProblem, seed: int) -> None:
    assume(able(problem))
    sets, rng = sets_of(problem), np.random.default_rng(seed)
    rounds = first_fit(sets, rng.permutation(sets.count).tolist())
    better = reordered(sets, rounds, rng, 1, FOREVER)
    fewest = fewer(sets, better, rng, 1, FOREVER)
    quick = shorter(sets, fewest)
    sets.check(by_saturation(sets, rng), "saturation")
    for found in (rounds, better, fewest, quick):
        sets.check(found, "test")
    assert len(rounds) >= len(better) >= len(fewest) >= len(quick)
    assert total_s(sets, fewest) >= total_s(sets, quick)


def test_a_wrong_schedule_is_a_fault() -> None:
    sets = sets_of(conflict_problem(3, [(0, 1)]))
    for rounds, why in (([0b011, 0b100], "hold copies"), ([0b001, 0b010], "no round"), ([0b101, 0b110], "two rounds")):
        with pytest.raises(RuntimeError, match=why):
            sets.check(rounds, "test")


def test_a_bound_above_the_rounds_is_no_bound() -> None:
    with pytest.raises(RuntimeError, match="reported as proven"):
        Objective.of("rounds", "min", 2.0, 3.0)


def packed(cores: list[float], room: list[float]) -> DrainProblem:
    """Return tasks of given cores on node 0, and what other nodes have left."""
    tasks = len(cores)
    free = MovingRoom(
        cpu=np.array([0.0, *room]),
        memory_mb=np.full(len(room) + 1, np.inf),
        accepting=np.ones(len(room) + 1, dtype=np.bool_),
        task_cpu=np.array(cores),
        task_mb=np.zeros(tasks),
    )
    topology = Topology((operator("a", tasks, output=True),), ())
    return drain_problem(topology, len(room) + 1, [0] * tasks, limits=DrainLimits(move=True), room=free)


@pytest.mark.parametrize(
    ("cores", "room", "fits"),
    [
        ([3.0, 3.0, 2.0, 2.0, 2.0], [6.0, 6.0], True),  # first fit decreasing: 3 + 3, 2 + 2 + 2
        ([5.0, 4.0, 4.0, 3.0, 2.0, 2.0], [10.0, 10.0], True),
        ([4.0, 4.0, 4.0], [6.0, 6.0], False),  # sums fit, but not two of them on one node
        ([7.0, 5.0, 4.0, 4.0, 4.0, 3.0, 3.0], [15.0, 15.0], True),  # 7 + 4 + 4, 5 + 4 + 3 + 3
        ([1.0], [0.5, 0.5], False),
    ],
)
def test_tasks_move_if_there_is_any_way(cores: list[float], room: list[float], fits: bool) -> None:
    problem = packed(cores, room)
    packing = pack(problem, problem.mask([0]), FOREVER)
    assert packing.proven
    assert (packing.moves is not None) == fits == allowed(problem, frozenset({0}))


def test_a_packing_that_nobody_decides_is_said_to_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """First fit decreasing fails; without time for the solver nothing is proven, and no plan is the answer."""
    monkeypatch.setattr(moving, "_decreasing", lambda *_: None)
    problem = packed([3.0, 3.0, 2.0, 2.0, 2.0], [6.0, 6.0])
    assert pack(problem, problem.mask([0]), FOREVER).moves is not None  # by the solver
    late = pack(problem, problem.mask([0]), Budget(0.0))
    assert (late.moves, late.proven) == (None, False)


@settings(max_examples=30)
@given(st.integers(1, 9), st.data())
def test_cliques_cover_all_conflicts(count: int, data: st.DataObject) -> None:
    pairs = list(itertools.combinations(range(count), 2))
    drawn = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    sets = sets_of(conflict_problem(count, drawn))
    covered = {pair for clique in edge_cliques(sets) for pair in itertools.combinations(sorted(clique), 2)}
    assert covered == set(drawn)
    assert bool(conflicts(sets.problem).any()) == bool(drawn)
