"""The exact planner against exhaustive search, and every other planner against the exact one."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ftplan.planners.allocate_checkpoints.algorithms.baselines import baseline, correlated, even
from ftplan.planners.allocate_checkpoints.algorithms.exact import exact
from ftplan.planners.allocate_checkpoints.objective import objective_value
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions
from ftplan.planners.allocate_checkpoints.violations import violations
from tests.planners.allocate_checkpoints.algorithms.cases import (
    Case,
    apply_fix,
    cases,
    costs,
    exhaustive,
    keeps,
    objectives,
)

SLOW = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

balances = st.sampled_from(["none", "count", "auto", 0.05, 0.3, 0.5, 1.0, 2.0])
asked = st.builds(
    lambda balance, copies, anti_affinity, objective: AllocationOptions(
        balance=balance,
        copies=copies,
        anti_affinity=anti_affinity,
        objective=objective,
        bound=True,
        time_limit_s=3600,
    ),
    balances,
    st.integers(1, 2),
    st.sampled_from(["node", "zone"]),
    objectives,
)


@SLOW
@given(cases(), asked)
def test_exact_is_exhaustive_search(case: Case, options: AllocationOptions) -> None:
    """Value, feasibility, least Δ and the fix agree with looking at every allocation."""
    problem = case.problem(options)
    every = list(exhaustive(case, options.copies, options.anti_affinity, objective=options.objective))
    result = exact(problem, options)
    scale = 1e-9 + 1e-9 * sum(abs(c) for c in costs(case, options.objective).values())
    if options.balance == "auto":
        least = max(0.05, min((f.deviation for f in every), default=np.inf))
        if np.isfinite(least):
            assert result.answer is not None
            found = result.answer.rules.balance
            assert not isinstance(found, str)
            assert least - 1e-9 <= found <= least + 3e-6
            assert not any(w.code == "BALANCE_NOT_PROVEN_LEAST" for w in result.warnings)
            balance: float | str = found
        else:
            balance = 1e9
    else:
        balance = options.balance
    good = [f for f in every if keeps(f, balance)]
    if not good:
        assert result.status == "infeasible"
        assert result.infeasible is not None
        fixed_case, fixed = apply_fix(result.infeasible.smallest_fix, case, options)
        again = exact(fixed_case.problem(fixed), fixed)
        if not result.infeasible.smallest_fix.startswith("add"):
            assert again.status == "optimal", result.infeasible
        return
    assert result.status == "optimal"
    assert result.answer is not None
    assert result.bound is not None
    best = min(f.value for f in good)
    assert result.answer.value == pytest.approx(best, abs=scale)
    assert result.bound <= best + scale
    again_value = objective_value(options.objective, result.answer.assignments, case.series(), case.cluster())
    assert options.objective.sign * again_value == pytest.approx(result.answer.value, abs=scale)
    rules = result.answer.rules
    assert violations(result.answer.assignments, case.topology(), case.cluster(), case.series(), rules) == ()


@SLOW
@given(cases(), asked)
def test_no_heuristic_beats_exact_and_none_beats_its_bound(case: Case, options: AllocationOptions) -> None:
    problem = case.problem(options)
    best = exact(problem, options)
    scale = 1e-9 + 1e-9 * sum(abs(c) for c in costs(case, options.objective).values())
    for planner in (correlated, even, baseline):
        result = planner(problem, options)
        if result.answer is None:
            assert result.status == "infeasible"
            continue
        assert result.bound is not None
        assert result.answer.value >= result.bound - scale
        found = violations(
            result.answer.assignments, case.topology(), case.cluster(), case.series(), result.answer.rules
        )
        assert found == ()
        if planner is correlated:
            assert best.answer is not None
            assert result.answer.value >= best.answer.value - scale
            assert result.bound <= best.answer.value + scale
            if options.balance == "none" and "memory" not in result.rules:
                assert result.answer.value == pytest.approx(best.answer.value, abs=scale)
                assert result.status == "optimal"
    assert (correlated(problem, options).answer is None) == (best.answer is None)


@SLOW
@given(cases(), st.integers(1, 2))
def test_even_never_dead_ends(case: Case, copies: int) -> None:
    """``even`` finds a plan exactly where one exists under its own rules."""
    options = AllocationOptions(copies=copies, bound=True)
    result = even(case.problem(options), options)
    accepting = sum("checkpoints" in n.accepts for n in case.nodes)
    values = []
    for found in exhaustive(case, copies, "node", memory=False):
        most = max((sum(n.id in chosen for chosen in found.copies) for n in case.nodes), default=0)
        if most <= -(-copies * len(case.groups) // accepting):
            values.append(found.value)
    assert (result.answer is not None) == bool(values)
    if values:
        assert result.bound == pytest.approx(min(values), abs=1e-7)


@SLOW
@given(cases(), st.sampled_from(["node", "zone"]), st.integers(1, 2))
def test_permissive_rules_are_never_worse(case: Case, anti_affinity: str, copies: int) -> None:
    values = []
    for balance in ("none", 2.0, 1.0, 0.5):
        options = AllocationOptions(balance=balance, copies=copies, anti_affinity=anti_affinity)  # type: ignore[arg-type]
        answer = exact(case.problem(options), options).answer
        values.append(np.inf if answer is None else answer.value)
    assert all(a <= b + 1e-7 for a, b in itertools.pairwise(values))


@SLOW
@given(cases(max_groups=6, memory=False), st.integers(1, 2))
def test_count_is_networkx_min_cost_flow(case: Case, copies: int) -> None:
    options = AllocationOptions(balance="count", copies=copies)
    result = exact(case.problem(options), options)
    assume(result.answer is not None)
    assert result.answer is not None
    graph = nx.DiGraph()
    need = copies * len(case.groups)
    graph.add_node("source", demand=-need)
    graph.add_node("sink", demand=need)
    cost = costs(case)
    cpu = {n.id: n.cpu for n in case.nodes if "checkpoints" in n.accepts}
    for g, home in enumerate(case.homes):
        graph.add_edge("source", g, capacity=copies, weight=0)
        for node in cpu:
            if node != home:
                graph.add_edge(g, node, capacity=1, weight=round(cost[g, node] * 1e6))
    for node, cores in cpu.items():
        graph.add_edge(node, "sink", capacity=int(np.ceil(need * cores / sum(cpu.values()) - 1e-9)), weight=0)
    assert result.answer.value == pytest.approx(nx.min_cost_flow_cost(graph) / 1e6, abs=1e-4)
    assert result.status == "optimal"
