"""The failover rule: exact against exhaustive search, every node and zone removed in turn, fixes that work."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftplan.model.checkpoint_rules import violations
from ftplan.planners.checkpoints.bound import proven_bound
from ftplan.planners.checkpoints.budget import Budget
from ftplan.planners.checkpoints.correlated import correlated
from ftplan.planners.checkpoints.exact import exact
from ftplan.planners.checkpoints.problem import AllocationOptions
from ftplan.planners.result import Result
from tests.planners.checkpoints.cases import Case, Found, cases, costs, exhaustive, keeps
from tests.planners.checkpoints.test_exact import apply_fix

SLOW = settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))

limits = st.sampled_from([1.0, 1.1, 1.3, 1.6, 2.0, 3.0, 6.0])
balances = st.sampled_from(["none", "count", "auto", 0.3, 1.0, 2.0])
asked = st.builds(
    lambda balance, copies, anti_affinity, limit: AllocationOptions(
        balance=balance,
        copies=copies,
        anti_affinity=anti_affinity,
        failover_limit=limit,
        bound=True,
        time_limit_s=20,
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


@SLOW
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
    assert proven_bound(problem, result.answer.rules, result.answer.value, Budget(20)) <= best + scale


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
