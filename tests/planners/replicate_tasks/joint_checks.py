"""What must hold of plans for one job in one cluster, beside every way to choose and to place replicas.

Each check asks ``ftplan.plan`` and raises AssertionError with what was asked. They are used by the tests and by
``benchmarks/joint_replication_check.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import ftplan
from ftplan.api import verify
from tests.planners.replicate_tasks.joint_cases import (
    SAME,
    Array,
    JointCase,
    Truth,
    random_budget,
    random_case,
    random_current,
)

EXACT = "exact"
HEURISTICS = ("greedy", "dynamic-programming", "structure-aware")
PROVING = ("auto", EXACT)
ALGORITHMS = (*HEURISTICS, *PROVING)


def value(plan: ftplan.Plan) -> float:
    """Return the value of a plan's objective."""
    assert plan.objective is not None, plan.reason
    assert plan.objective.value is not None, plan.reason
    return plan.objective.value


def body(plan: ftplan.Plan) -> Mapping[str, Any]:
    assert plan.plan is not None, (plan.status, plan.reason)
    return plan.plan


def is_valid(plan: ftplan.Plan, truth: Truth, ways: Array) -> int:
    """Hold a plan to *ways* and to ``verify``, and its summary to what it is worth; return its way."""
    way = truth.way(body(plan)["replicas"])
    assert way >= 0, f"{body(plan)['replicas']} do not keep capacities"
    assert ways[way], f"{body(plan)['replicas']} do not keep budget, zones or changes"
    found = verify(plan, truth.case.problem())
    assert found.violations == (), found.violations
    assert {"replica-not-with-primary", "capacity", "memory"} <= set(plan.rules), plan.rules
    if truth.case.options.get("same_zone", "never") == "never" and not truth.one_zone:
        assert "replica-not-in-primary-zone" in plan.rules, plan.rules
    if truth.one_zone and "same_zone" not in truth.case.options:
        assert "ONE_ZONE" in [warning.code for warning in plan.warnings], "one zone in all, and no warning"
    return way


def is_best(plan: ftplan.Plan, algorithm: str, truth: Truth, ways: Array) -> float:
    """Hold a plan for a budget to the best of *ways*; return its value."""
    way, best = is_valid(plan, truth, ways), truth.best(ways)
    reached = value(plan)
    assert plan.objective is not None
    bound = plan.objective.bound
    assert abs(reached - truth.value[way]) <= SAME, f"says {reached!r}, is worth {truth.value[way]!r}"
    assert reached <= best + SAME, f"{reached!r} is above the optimum {best!r}"
    assert bound is None or bound >= best - SAME, f"the bound {bound!r} is below the optimum {best!r}"
    if plan.status == "optimal":
        assert reached >= best - SAME, f"{reached!r} is called optimal, {best!r} is possible"
    if algorithm in PROVING:
        assert plan.status == "optimal", f"{plan.status}: {reached!r} of {best!r}, bound {bound!r}"
        assert bound is not None
        assert bound <= best * (1.0 + 1e-7) + SAME, f"the bound {bound!r} of an optimal plan is above {best!r}"
    return reached


def reached(case: JointCase, truth: Truth, algorithm: str, **asked: Any) -> float:
    """Return what a plan for a budget reaches, held to the best; infeasible is right where no replica helps."""
    plan, ways = case.plan(algorithm, **asked), truth.within(**asked)
    if plan.status != "infeasible":
        return is_best(plan, algorithm, truth, ways)
    nothing = float(truth.value[truth.none])
    assert truth.best(ways) <= nothing + SAME, f"infeasible, {truth.best(ways)!r} is possible: {plan.reason}"
    helps(plan, case, algorithm, asked)
    return nothing


def helps(plan: ftplan.Plan, case: JointCase, algorithm: str, asked: Mapping[str, Any]) -> None:
    """Hold an infeasible plan to its fix."""
    assert plan.status == "infeasible", (asked, plan.status, plan.reason)
    assert plan.infeasible is not None
    fix = plan.infeasible.smallest_fix
    wider, options = case.fixed(fix, **asked)
    again = wider.plan(algorithm, **options)
    assert again.status in ("optimal", "feasible"), f"{asked}: {fix!r} leaves it {again.status}: {again.reason}"


# ------------------------------------------------------------------------------------------------------- the checks


def check_budget(case: JointCase, random: np.random.Generator, algorithm: str) -> None:
    """A plan is valid, never above the optimum nor its bound below it; with more budget it is never worse."""
    truth, asked = Truth(case), random_budget(random, case)
    after = 0.0
    for budget in (asked, *_more(asked, len(truth.cpu))):
        before, after = after, reached(case, truth, algorithm, **budget)
        assert after >= before - SAME, f"{budget} buys {after!r}, less than the {before!r} of a smaller budget"


def _more(asked: Mapping[str, Any], tasks: int) -> list[dict[str, Any]]:
    """Return larger budgets, the last without a limit."""
    unit, limit = next(iter(asked.items()))
    if isinstance(limit, str):
        return [{unit: f"{min(100, int(limit[:-1]) + 20)}%"}, {unit: "100%"}]
    if unit == "budget":
        return [{unit: min(tasks, limit + 1)}, {unit: tasks}]
    return [{unit: limit + 0.5}, {unit: 100.0}]


def check_node(case: JointCase, random: np.random.Generator, algorithm: str) -> None:
    """With one more node a plan is never worse."""
    truth, asked = Truth(case), random_budget(random, case)
    if truth.one_zone and "same_zone" not in case.options:
        return  # a second zone forbids what one zone in all allows
    before = reached(case, truth, algorithm, **asked)
    node = {"id": "more", "cpu": float(random.choice([1.0, 2.0, 5.0])), "memory_mb": 4.0}
    zones = [n["zone"] for n in case.cluster["nodes"] if "zone" in n]
    if zones and random.random() < 0.5:
        node["zone"] = str(random.choice(zones))
    wider = case.with_node(node)
    after = reached(wider, Truth(wider), algorithm, **asked)
    assert after >= before - SAME, f"{asked}: {before!r}, with {node} {after!r}"


def check_current(case: JointCase, random: np.random.Generator, algorithm: str) -> None:
    """Replicas in place: never worse than they are, no more changes than allowed, and none where none is."""
    case = random_current(random, Truth(case))
    truth, asked = Truth(case), random_budget(random, case)
    allowed: dict[str, Any] = {}
    if random.random() < 0.75:
        allowed["max_changes"] = int(random.integers(0, 5))
    ways, now = truth.within(**asked, **allowed), truth.now
    if not ways.any():
        helps(case.plan(algorithm, **asked, **allowed), case, algorithm, {**asked, **allowed})
        return
    stays = truth.within(**asked)[now]
    if now == truth.none or not stays:  # nothing in place that would be an answer
        reached(case, truth, algorithm, **asked, **allowed)
        return
    plan = case.plan(algorithm, **asked, **allowed)
    after = is_best(plan, algorithm, truth, ways)
    changes = len(body(plan)["activate"]) + len(body(plan)["deactivate"])
    assert changes == truth.changes[truth.way(body(plan)["replicas"])]
    assert after >= truth.value[now] - SAME, f"{after!r}, worse than {truth.value[now]!r} in place"
    assert changes > 0 or plan.reason, "nothing changes, and nothing says why"
    check_threshold(case, truth, random, algorithm, {**asked, **allowed})


def check_threshold(
    case: JointCase, truth: Truth, random: np.random.Generator, algorithm: str, asked: dict[str, Any]
) -> None:
    """Where less than the threshold is to be gained the replicas in place stay."""
    ways, now = truth.within(**asked), truth.now
    best, gained = truth.best(ways), float(truth.best(ways) - truth.value[now])
    threshold = min(1.0, round(float(random.choice([0.5 * gained, gained + 0.01, random.random() * 0.5])), 6))
    plan = case.plan(algorithm, threshold=threshold, **asked)
    way = is_valid(plan, truth, ways)
    after = value(plan)
    assert after <= best + SAME
    if gained < threshold - SAME or algorithm in PROVING:
        expected = best if gained >= threshold - SAME else truth.value[now]
        assert abs(after - expected) <= SAME, f"threshold {threshold}: {after!r}, not {expected!r}"
    if after < truth.value[now] + max(threshold, SAME) - SAME:
        assert truth.changes[way] == 0, f"changes for {after!r} where {truth.value[now]!r} is in place"
        assert plan.reason, "nothing changes, and nothing says why"


def check_target(case: JointCase, random: np.random.Generator, algorithm: str) -> None:
    """The fewest replicas, cores or MB that reach a value; a bound never above; infeasible just where it is."""
    truth = Truth(case)
    ways = truth.within()
    values = np.unique(np.round(truth.value[ways], 9))
    reachable = values[values > 0.0]
    target = float(random.choice(reachable)) if len(reachable) else 0.5
    target = min(1.0, target + float(random.choice([0.0, 0.001, 0.05, -0.001])))
    if not 0.0 < target <= 1.0:
        return
    target = int(target * 1e6) / 1e6 if target > 1e-5 else 0.01
    enough = ways & (truth.value >= target - SAME)
    asked: dict[str, Any] = {"target": target}
    units = {"replicas": truth.count, "cores": truth.cores, "mb": truth.mb}
    unit = str(random.choice(list(units) if truth.state.any() else ["replicas", "cores"]))
    if unit != "replicas":
        asked["least"] = unit
    if not enough.any():
        helps(case.plan(algorithm, **asked), case, algorithm, asked)
        return
    taken = units[unit]
    fewest = float(taken[enough].min())
    plan = case.plan(algorithm, **asked)
    way = is_valid(plan, truth, ways)
    assert plan.objective is not None
    assert plan.objective.name == unit
    assert abs(value(plan) - taken[way]) <= SAME
    assert truth.value[way] >= target - SAME, f"{truth.value[way]!r} is below the target {target}"
    assert value(plan) >= fewest - SAME
    assert plan.objective.bound is not None
    assert plan.objective.bound <= fewest + SAME, f"the bound {plan.objective.bound!r} is above the least, {fewest}"
    if algorithm in PROVING:
        assert plan.status == "optimal", f"{asked}: {value(plan)!r} of {fewest!r}, bound {plan.objective.bound!r}"
        assert abs(value(plan) - fewest) <= SAME, f"{asked}: {value(plan)!r}, {fewest!r} are enough"
        assert plan.objective.bound >= fewest * (1.0 - 1e-6) - SAME, f"the bound {plan.objective.bound!r} of {fewest!r}"


def check_curve(case: JointCase, random: np.random.Generator, algorithm: str) -> None:
    """Each point of a curve lies below what its budget can buy on the nodes, and its bound above."""
    truth, asked = Truth(case), random_budget(random, case)
    unit = "budget" if isinstance(next(iter(asked.values())), str) else next(iter(asked))
    before, plan = 0.0, case.plan(algorithm, curve=True, **asked)
    if plan.status == "infeasible":
        reached(case, truth, algorithm, **asked)
        return
    for point in body(plan)["curve"]:
        best = truth.best(truth.within(**{unit: point["budget"]}))
        assert point["value"] <= best + SAME, f"{point}: at most {best!r} is possible"
        assert point["value"] >= before - SAME, f"{point}: below the point before"
        assert point["bound"] is None or point["bound"] >= best - SAME, f"{point}: {best!r} is possible"
        before = point["value"]
        free = point.get("without_placement")
        if free is not None:
            anywhere = truth.best_anywhere(unit, point["budget"])
            assert free["value"] <= anywhere + SAME, f"{point}: {anywhere!r} is possible without placement"
            assert free["bound"] is None or free["bound"] >= anywhere - SAME, f"{point}: {anywhere!r} is possible"
        if algorithm in PROVING:
            assert abs(point["value"] - best) <= SAME, f"{point}: {best!r} is possible"


CHECKS: Mapping[str, Callable[[JointCase, np.random.Generator, str], None]] = {
    "budget": check_budget,
    "node": check_node,
    "current": check_current,
    "target": check_target,
    "curve": check_curve,
}


def broken(seed: int, check: str, algorithm: str, same_zone: bool = True) -> str | None:
    """Return what one check finds wrong in one random case, None where all is right."""
    case, random = random_case(seed, same_zone), np.random.default_rng([seed, list(CHECKS).index(check)])
    try:
        CHECKS[check](case, random, algorithm)
    except AssertionError as wrong:
        return f"seed {seed}, {check}, {algorithm}: {wrong}"
    except Exception as fault:  # a refusal or a fault of the planner is wrong too
        return f"seed {seed}, {check}, {algorithm}: {type(fault).__name__}: {fault}"
    return None


def as_files(case: JointCase) -> str:
    """Return the inputs of a case for who wants to look into it."""
    return json.dumps([case.topology, case.cluster, case.failure, case.options])
