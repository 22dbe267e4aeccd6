"""How many nodes to add or to remove, beside trying every set of nodes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.planners.rebalance.algorithms.cluster_size import ClusterSizing, drain_costs, suggest
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.problem import RebalanceProblem
from tests.effort import examples
from tests.planners.rebalance.algorithms.cases import random_problem, rebalance_problem

CLOSE = 1e-9


def drawn(seed: int) -> ClusterSizing:
    """Return a cluster of up to seven nodes, some without any key group, and a band."""
    rng = np.random.default_rng([17, seed])
    nodes = int(rng.integers(2, 8))
    problem = random_problem(seed, groups=int(rng.integers(1, 10)), nodes=nodes)
    if rng.random() < 0.3:
        problem = replace(problem, home=problem.home % max(1, nodes // 2))
    if rng.random() < 0.5:
        problem = replace(problem, removed=np.zeros(nodes, dtype=bool), added=np.zeros(nodes, dtype=bool))
    scale = float(rng.choice([0.1, 0.2, 0.3, 0.5, 1.2]))
    problem = replace(problem, capacity=problem.capacity / scale, ceiling=problem.ceiling / scale)
    low = float(rng.uniform(0.1, 0.6))
    swing = rng.uniform(0.6, 1.5, 20) if rng.random() < 0.5 else np.ones(20)
    return ClusterSizing(
        problem, float(problem.load.sum()) * swing, (low, min(1.0, low + float(rng.uniform(0.02, 0.5))))
    )


def utilisation(problem: RebalanceProblem, nodes: Any, load: float) -> float:
    total = load + sum(float(problem.foreign[n]) for n in nodes)
    capacity = sum(float(problem.capacity[n]) for n in nodes)
    return total / capacity if capacity else float("inf")


def used(problem: RebalanceProblem) -> list[int]:
    return [
        n
        for n in range(len(problem.nodes))
        if not problem.removed[n] and ((problem.home == n).any() or (problem.added[n] and problem.hosts[n]))
    ]


def peak_of(sizing: ClusterSizing) -> float:
    return max(float(np.quantile(sizing.window_load, 0.95)), float(sizing.problem.load.sum()))


def subsets(nodes: list[int]) -> Iterator[tuple[int, ...]]:
    for count in range(len(nodes) + 1):
        yield from itertools.combinations(nodes, count)


def can_go(sizing: ClusterSizing, gone: tuple[int, ...]) -> bool:
    """Whether nodes can be removed as far as is seen without planning, word by word."""
    problem = sizing.problem
    left = [n for n in used(problem) if n not in gone]
    if not left or utilisation(problem, left, peak_of(sizing)) > sizing.band[1] + CLOSE:
        return False
    room = [max(0.0, float(problem.ceiling[n] - problem.foreign[n])) if problem.hosts[n] else 0.0 for n in left]
    if sum(room) < float(problem.load.sum()) - CLOSE:
        return False
    for n in gone:
        heaviest = max((float(x) for x, home in zip(problem.load, problem.home, strict=True) if home == n), default=0.0)
        if max(room) < heaviest - CLOSE:
            return False
    if not all(np.isfinite(drain_costs(problem)[list(gone)])):
        return False
    keeping = [
        n for n in range(len(problem.nodes)) if not problem.removed[n] and (n in used(problem) or problem.keeps[n])
    ]
    stay = [n for n in keeping if n not in gone]
    held = sum(float(s) * (1 + len(c)) for s, c in zip(problem.state, problem.copies, strict=True))
    memory = [sum(float(problem.memory[n]) for n in some) for some in (keeping, stay)]
    if np.isfinite(memory[0]) and memory[0] >= held > memory[1] + CLOSE:
        return False
    wanted = 1 + max(map(len, problem.copies), default=0)
    before, after = (len({int(problem.domain[n]) for n in some}) for some in (keeping, stay))
    return after >= min(wanted, before)


@pytest.mark.parametrize("seed", range(examples(120)))
def test_no_fewer_nodes_bring_utilisation_into_the_band(seed: int) -> None:
    """The number of nodes, and what it costs to drain them, are those of the best of all sets."""
    sizing = drawn(seed)
    problem, (low, high) = sizing.problem, sizing.band
    own, demand, peak = used(problem), float(sizing.problem.load.sum()), peak_of(sizing)
    made = suggest(sizing)
    if utilisation(problem, own, peak) > high + CLOSE:
        check_added(sizing, made, own, demand, peak)
        return
    if utilisation(problem, own, demand) >= low - CLOSE:
        assert made.action == "none"
        return
    able = [n for n in own if not problem.added[n]]
    fitting = [gone for gone in subsets(able) if can_go(sizing, gone)]
    costs = drain_costs(problem)
    good = [gone for gone in fitting if utilisation(problem, [n for n in own if n not in gone], demand) >= low - CLOSE]
    if not good:
        assert not made.in_band
        assert made.nodes in [()] or tuple(sorted(made.nodes)) in [tuple(sorted(g)) for g in fitting]
        return
    best = min((len(gone), float(costs[list(gone)].sum())) for gone in good)
    assert made.action == "remove"
    assert made.proven
    assert tuple(made.nodes) in good
    assert (len(made.nodes), float(costs[list(made.nodes)].sum())) == pytest.approx(best)


def check_added(sizing: ClusterSizing, made: Any, own: list[int], demand: float, peak: float) -> None:
    """The fewest spare nodes, or the fewest new ones; for the mean alone where no number of them is in the band."""
    low, high = sizing.band
    fewest = fewest_added(sizing, own, demand, peak)
    if not fewest[1] and utilisation(sizing.problem, own, demand) <= high + CLOSE:
        assert (made.action, made.for_peaks) == ("none", fewest[0])
        assert made.in_band == (utilisation(sizing.problem, own, demand) >= low - CLOSE)
        return
    if not fewest[1] and fewest[0]:
        assert made.for_peaks == fewest[0]
        fewest = fewest_added(sizing, own, demand, demand)
    assert (len(made.nodes) + made.more, made.in_band) == fewest
    assert made.action == ("add" if fewest[0] else "none")
    spare = [n for n in range(len(sizing.problem.nodes)) if sizing.problem.hosts[n] and n not in own]
    assert set(made.nodes) <= set(spare)


def fewest_added(sizing: ClusterSizing, own: list[int], demand: float, load: float) -> tuple[int, bool]:
    """Return how many nodes bring a load below the high end, 0 for never, and whether the mean stays in the band."""
    problem, (low, high) = sizing.problem, sizing.band
    spare = [n for n in range(len(problem.nodes)) if problem.hosts[n] and n not in own]
    enough = [s for s in subsets(spare) if utilisation(problem, [*own, *s], load) <= high + CLOSE]
    inside = [s for s in enough if utilisation(problem, [*own, *s], demand) >= low - CLOSE]
    if enough:
        return min(map(len, inside or enough)), bool(inside)
    useful = [n for n in spare if high * problem.capacity[n] > problem.foreign[n]]
    sizes = [(float(problem.capacity[n]), float(problem.memory[n])) for n in own if problem.capacity[n] > 0.0]
    if not sizes:
        return 0, False
    each = max(sizes, key=lambda size: (sizes.count(size), size[0]))[0]
    nodes = [*own, *useful]
    capacity, other = (sum(float(some[n]) for n in nodes) for some in (problem.capacity, problem.foreign))
    more = next(k for k in range(1, 10_000) if load + other <= high * (capacity + k * each) + CLOSE)
    return len(useful) + more, (demand + other) / (capacity + more * each) >= low - CLOSE


def test_a_cluster_at_a_third_gives_up_the_cheapest_nodes() -> None:
    """Six equal nodes at 1/3 need two fewer for 1/2; those without much state go."""
    state = [9e6, 1e6, 8e6, 1e6, 7e6, 6e6]
    problem = rebalance_problem([10.0] * 6, range(6), [()] * 6, [30.0] * 6, state)
    made = suggest(ClusterSizing(problem, np.full(4, 60.0), (0.5, 0.75)))
    assert (made.action, made.nodes, made.in_band, made.proven) == ("remove", (1, 3), True, True)


def test_a_full_cluster_takes_the_node_that_has_checkpoints() -> None:
    problem = rebalance_problem([80.0, 80.0], [0, 1], [(3,), (3,)], [100.0] * 4)
    made = suggest(ClusterSizing(problem, np.full(4, 160.0), (0.4, 0.6)))
    assert (made.action, made.nodes, made.more) == ("add", (3,), 0)


def test_busy_windows_count() -> None:
    """On average 50 %, in one window in ten 90 %: the band's high end holds for 95 % of the windows."""
    problem = rebalance_problem([50.0], [0], [()], [100.0])
    windows = np.array([40.0] * 18 + [90.0] * 2)
    made = suggest(ClusterSizing(problem, windows, (0.2, 0.6)))
    assert (made.action, made.more, made.like, made.for_peaks) == ("add", 1, 0, 0)
    assert "busiest" in made.why
    made = suggest(ClusterSizing(problem, windows, (0.4, 0.6)))
    assert (made.action, made.in_band, made.for_peaks) == ("none", True, 1)


def test_the_cost_of_a_drain_is_that_of_the_cheapest_protocol_of_each_group() -> None:
    problem = random_problem(3, groups=6, nodes=4, removed=np.zeros(4, dtype=bool), hosts=np.ones(4, dtype=bool))
    costs = np.zeros(4)
    for group, home in enumerate(problem.home.tolist()):
        costs[home] += min(
            (
                float(problem.priced(protocol)[group])
                for target in range(4)
                if target != home
                for protocol in problem.possible(group, target)
                if protocol in PROTOCOLS[:4]
            ),
            default=np.inf,
        )
    assert drain_costs(problem) == pytest.approx(costs)
