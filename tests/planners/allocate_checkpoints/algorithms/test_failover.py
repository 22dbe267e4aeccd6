"""The failover rule: exact against exhaustive search, every node and zone removed in turn, fixes that work."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.algorithms.baselines import correlated
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import dual_value, ordered_cheapest
from ftplan.planners.allocate_checkpoints.algorithms.exact import exact
from ftplan.planners.allocate_checkpoints.algorithms.limits import limits_of
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import proven_bound
from ftplan.planners.allocate_checkpoints.algorithms.reduced_cost_fixing import open_columns
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, build
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.allocate_checkpoints.violations import violations
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result
from tests.effort import some
from tests.planners.allocate_checkpoints.algorithms.cases import (
    Case,
    Found,
    apply_fix,
    cases,
    cluster,
    costs,
    exhaustive,
    job,
    keeps,
    placement,
)

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

limits = st.sampled_from([1.0, 1.1, 1.3, 1.6, 2.0, 3.0, 6.0])
balances = st.sampled_from(["none", "count", "auto", 0.3, 1.0, 2.0])
asked = st.builds(
    lambda balance, copies, anti_affinity, limit: AllocationOptions(
        balance=balance,
        copies=copies,
        anti_affinity=anti_affinity,
        failover_limit=limit,
        bound=True,
        time_limit_s=3600,
    ),
    balances,
    st.integers(1, 2),
    st.sampled_from(["node", "zone"]),
    limits,
)


def headroom(case: Case, lists: Any, anti_affinity: str) -> float:
    """Remove every node or zone in turn and look at who carries what: no code shared with ftplan."""
    zone = {n.id: n.zone or f"node {n.id}" for n in case.nodes}
    mean = [sum(load) / len(load) for load in case.loads]
    domains = {n.id: n.id for n in case.nodes} if anti_affinity == "node" else zone
    worst = 0.0
    for lost in sorted(set(domains.values())):
        alive = [n for n in case.nodes if domains[n.id] != lost]
        load = {n.id: 0.0 for n in alive}
        for home, copies, weight in zip(case.homes, lists, mean, strict=True):
            if home in load:
                load[home] += weight
            else:
                load[next(n for n in copies if n in load)] += weight
        count = [n for n in alive if "checkpoints" in n.accepts or n.id in case.homes]
        cpu = sum(n.cpu for n in count)
        for node in alive:
            if load[node.id] > 0:
                assert node in count
                worst = max(worst, load[node.id] / (sum(mean) * node.cpu / cpu))
    return worst


def least_headroom(case: Case, found: Found, anti_affinity: str) -> float:
    """The best choice of a first copy for every group, given the sets."""
    orders = [[(first, *(n for n in chosen if n != first)) for first in chosen] for chosen in found.copies]
    return min((headroom(case, lists, anti_affinity) for lists in itertools.product(*orders)), default=0.0)


def everything(case: Case, options: AllocationOptions) -> Iterator[tuple[Found, float]]:
    for found in exhaustive(case, options.copies, options.anti_affinity):
        yield found, least_headroom(case, found, options.anti_affinity)


def lists_of(result: Result[Any]) -> list[list[str]]:
    return [item["checkpoints"] for item in result.answer.assignments]


def assert_valid(case: Case, options: AllocationOptions, result: Result[Any]) -> None:
    assert result.answer is not None
    rules = result.answer.rules
    assert "failover" in result.rules
    assert violations(result.answer.assignments, case.topology(), case.cluster(), case.series(), rules) == ()
    assert headroom(case, lists_of(result), options.anti_affinity) <= rules.failover_limit * (1 + 2e-9)


def fixed_by(fix: str, case: Case, options: AllocationOptions) -> tuple[Case, AllocationOptions]:
    case, options = apply_fix(fix, case, options)
    if match := re.search(r"--failover-limit (\S+)", fix):
        options = replace(options, failover_limit=float(match[1].rstrip(",")))
    return case, options


#: Every allocation is worth about as much as a random one: what is taken off SCIP's bounds is a large part of the gap.
NOTHING_TO_GAIN = Case(
    groups=(("a", 0), ("b", 0), ("b", 1)),
    loads=((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
    homes=("n1", "n1", "n2"),
    states_mb=(0.0, 0.0, 0.0),
    nodes=(*(Node(name, 1.0) for name in ("n1", "n2", "n3")), Node("n10", 1.0, accepts=frozenset({"tasks"}))),
    estimated=False,
    parallelism=0,
    window_s=60.0,
)


@SLOW
@example(NOTHING_TO_GAIN, AllocationOptions(balance="auto", failover_limit=2.0, bound=True, time_limit_s=3600))
@given(cases(max_groups=4), asked)
def test_exact_is_exhaustive_search(case: Case, options: AllocationOptions) -> None:
    """Value, feasibility, least Δ under the rule and the fix agree with looking at every allocation and order."""
    problem = case.problem(options)
    limit = (options.failover_limit or 0) * (1 + 1e-9)
    every = [found for found, ratio in everything(case, options) if ratio <= limit]
    result = exact(problem, options)
    heuristic = correlated(problem, options)
    scale = 1e-9 + 1e-9 * sum(abs(c) for c in costs(case).values())
    balance: float | str = options.balance
    if balance == "auto":
        least = max(0.05, min((f.deviation for f in every), default=np.inf))
        balance = 1e9
        if np.isfinite(least):
            assert result.answer is not None, result
            assert least - 1e-9 <= result.answer.rules.balance <= least + 3e-6
            balance = result.answer.rules.balance
    good = [f for f in every if keeps(f, balance)]
    assert (heuristic.answer is not None) == bool(good)
    if not good:
        assert result.status == "infeasible"
        assert result.infeasible is not None
        fix = result.infeasible.smallest_fix
        fixed_case, fixed = fixed_by(fix, case, options)
        if not fix.startswith(("add", "give")):
            again = exact(fixed_case.problem(fixed), fixed)
            assert again.status == "optimal", result.infeasible
            assert_valid(fixed_case, fixed, again)
        return
    assert result.status == "optimal"
    assert result.answer is not None
    best = min(f.value for f in good)
    assert result.answer.value == pytest.approx(best, abs=scale)
    assert result.bound is not None
    assert result.bound <= best + scale
    assert_valid(case, options, result)
    assert_valid(case, options, heuristic)
    assert heuristic.answer is not None
    assert heuristic.answer.value >= best - scale
    assert heuristic.bound is not None
    assert heuristic.bound <= best + scale
    assert proven_bound(problem, result.answer.rules, result.answer.value, 0, Budget(3600)) <= best + scale


@SLOW
@given(cases(max_groups=4), asked)
def test_minimise_failover_is_the_least_of_all(case: Case, options: AllocationOptions) -> None:
    """The least limit of any allocation within the other rules, then the best value under it."""
    options = replace(options, failover_limit=None, minimise="failover")
    problem = case.problem(options)
    every = [(f, ratio) for f, ratio in everything(case, options) if np.isfinite(ratio)]
    others = "none" if options.balance == "auto" else options.balance
    good = [(f, ratio) for f, ratio in every if keeps(f, others)]
    for planner in (exact, correlated):
        result = planner(problem, options)
        assert (result.answer is not None) == bool(good), result
        if result.answer is None:
            continue
        least = max(1.0, min(ratio for _, ratio in good))
        limit = result.answer.rules.failover_limit
        assert limit is not None
        assert least - 1e-9 <= limit <= least + 3e-6
        assert "FAILOVER_NOT_PROVEN_LEAST" not in [w.code for w in result.warnings]
        assert_valid(case, options, result)
        if planner is exact:
            balance = result.answer.rules.balance
            best = min(f.value for f, ratio in good if ratio <= limit * (1 + 1e-9) and keeps(f, balance))
            assert result.answer.value == pytest.approx(best, abs=1e-7 * (1 + abs(best)))
            assert result.status == "optimal"


@SLOW
@given(cases(memory=True), asked, st.integers(0, 2**32 - 1))
def test_any_prices_give_a_bound(case: Case, options: AllocationOptions, seed: int) -> None:
    """Nothing beats the Lagrangian with prices for first copies, and fixing by reduced costs keeps the optimum."""
    options = replace(options, balance=1.0)
    problem = case.problem(options)
    answer = exact(problem, options).answer
    if answer is None:
        return
    limited = limits_of(problem, answer.rules)
    assert limited.failover is not None
    rng = np.random.default_rng(seed)
    prices = rng.normal(size=limited.lower.shape)
    prices[(prices > 0) & np.isinf(limited.upper)] = 0
    prices[(prices < 0) & np.isinf(limited.lower)] = 0
    first = np.where(np.isinf(limited.failover.upper), 0.0, rng.gamma(1.0, size=limited.failover.upper.shape))
    dual = dual_value(problem, limited, prices, first)
    assert dual.bound <= answer.value + 1e-9 * (1 + abs(answer.value))
    columns = open_columns(problem, limited, dual, answer.value)
    assert np.take_along_axis(columns, answer.copies, axis=1).all()


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 6), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_the_cheapest_ordered_choice_is_the_cheapest_of_all(nodes: int, copies: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = rng.integers(0, nodes, nodes)
    cost, extra = rng.integers(0, 5, (4, nodes)).astype(float), rng.integers(0, 5, (4, nodes)).astype(float)
    if np.unique(domain).size < copies:
        return
    chosen, total, forced = ordered_cheapest(cost, extra, domain, copies)
    for u in range(4):
        every = {
            order: cost[u, list(order)].sum() + extra[u, order[0]]
            for order in itertools.permutations(range(nodes), copies)
            if np.unique(domain[list(order)]).size == copies
        }
        assert total[u] == min(every.values())
        assert every[tuple(chosen[u].tolist())] == total[u]
        for node in range(nodes):
            assert forced[u, node] == min(value for order, value in every.items() if order[0] == node)


@pytest.mark.parametrize(
    ("anti_affinity", "copies", "balance", "name"),
    some([*itertools.product(["node", "zone"], [1, 2], ["auto", 0.5, "count", "none"], ["correlated", "exact"])]),
)
def test_no_survivor_is_above_the_limit(name: str, balance: Any, anti_affinity: Any, copies: int) -> None:
    """Eight nodes, two operators: every node or zone is removed in turn, and the same plan comes out twice."""
    topology, series = job(12, 1)
    planner = registry.load(registry.row("allocate-checkpoints", name))
    least = AllocationOptions(
        balance=balance,
        anti_affinity=anti_affinity,
        copies=copies,
        minimise="failover",
        time_limit_s=3600,
        iterations=20,
    )
    result = planner(build(topology, cluster(), placement(), series, least), least)
    assert result.answer is not None
    limit = result.answer.rules.failover_limit
    case = Case(
        groups=tuple(zip(result.answer.problem.operators, result.answer.problem.key_group.tolist(), strict=True)),
        loads=tuple(map(tuple, series.loads.T.tolist())),
        homes=tuple(item["primary"] for item in result.answer.assignments),
        states_mb=(0.0,) * 24,
        nodes=cluster().nodes,
    )
    assert headroom(case, lists_of(result), anti_affinity) == pytest.approx(limit, abs=2e-6)
    options = replace(least, minimise=None, failover_limit=limit + 0.2, bound=True)
    problem = build(topology, cluster(), placement(), series, options)
    looser = planner(problem, options)
    assert headroom(case, lists_of(looser), anti_affinity) <= limit + 0.2 + 1e-8
    assert looser.bound <= looser.answer.value
    rules = looser.answer.rules
    assert violations(looser.answer.assignments, topology, cluster(), series, rules) == ()
    assert planner(problem, options).answer.assignments == looser.answer.assignments


def pair(*loads: float, cpu: tuple[float, ...] = (1.0, 1.0, 1.0)) -> tuple[Topology, Cluster, Any]:
    one = np.ones(len(loads))
    operator = Operator("op", len(loads), cpu=one, state_bytes=0 * one, priority=one, key_groups=len(loads))
    nodes = tuple(Node(f"n{i}", c) for i, c in enumerate(cpu, 1))
    case = Case(
        tuple(("op", g) for g in range(len(loads))),
        tuple((load, load) for load in loads),
        tuple(f"n{1 + g % 2}" for g in range(len(loads))),
        (0.0,) * len(loads),
        nodes,
    )
    return Topology((operator,), ()), Cluster(nodes, placement=Placement(tasks={"op": case.homes})), case.series()


@pytest.mark.parametrize("planner", [correlated, exact])
def test_primaries_above_the_limit_are_named(planner: Any) -> None:
    """n1 alone holds 10 of 11: with n2 lost it has 10 of a fair 5.5, whatever the plan does."""
    topology, machines, series = pair(10.0, 1.0)
    options = AllocationOptions(balance="none", failover_limit=1.5)
    result = planner(build(topology, machines, machines.placement, series, options), options)
    assert result.status == "infeasible"
    assert "after the loss of node:n2, n1 carries 1.818182 times its fair share by its own primaries" in result.reason
    assert result.infeasible.limit == "failover_limit"
    assert result.infeasible.current == 1.5
    assert result.infeasible.smallest_fix == "--failover-limit 1.818182"
    again = replace(options, failover_limit=1.818182)
    assert planner(build(topology, machines, machines.placement, series, again), again).answer is not None


@pytest.mark.parametrize("planner", [correlated, exact])
def test_a_node_without_cpu_has_no_share(planner: Any) -> None:
    topology, machines, series = pair(3.0, 2.0, cpu=(0.0, 1.0, 1.0))
    for asked_for in ({"failover_limit": 9.0}, {"minimise": "failover"}):
        options = AllocationOptions(balance="none", **asked_for)  # type: ignore[arg-type]
        result = planner(build(topology, machines, machines.placement, series, options), options)
        assert result.status == "infeasible"
        assert "n1 holds primaries but has no cpu" in result.reason


def test_the_first_copy_counts() -> None:
    """The same sets of copies in another order break the rule, and the checker names the worst loss."""
    topology, machines, series = pair(1.0, 1.0, 1.0, 1.0)
    options = AllocationOptions(balance="none", copies=2, failover_limit=1.5)
    result = exact(build(topology, machines, machines.placement, series, options), options)
    assert result.answer is not None
    rules = CheckpointRules(2, failover_limit=1.5)
    assert violations(result.answer.assignments, topology, machines, series, rules) == ()
    turned = [{**item, "checkpoints": sorted(item["checkpoints"])} for item in result.answer.assignments]
    (broken,) = violations(turned, topology, machines, series, rules)
    assert (broken.code, broken.where) == ("OVER_FAILOVER", "node:n1")
    assert "n2 carries 4, 2 times its fair share 2 (failover limit 1.5)" in broken.message


def test_no_time_at_all() -> None:
    topology, series = job(16, 8)
    for name in ("correlated", "exact"):
        for more in ({"failover_limit": 1.5}, {"minimise": "failover"}):
            options = AllocationOptions(time_limit_s=1e-6, copies=2, bound=True, **more)  # type: ignore[arg-type]
            problem = build(topology, cluster(), placement(), series, options)
            result = registry.load(registry.row("allocate-checkpoints", name))(problem, options)
            assert (result.answer is None) == (result.status in ("infeasible", "no-plan-in-time"))
