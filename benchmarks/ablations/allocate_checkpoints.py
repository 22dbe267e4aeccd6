"""Checkpoint allocations: cases tight and loose, small and large, and what their planners are made of."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ablation import Answer, Case, Part
from allocation_at_scale import problem_of
from exact_allocation import houston
from exact_allocation import problem_of as flights_of
from instances import daily_loads

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.algorithms.maintenance import maintain
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import MoveLimits
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, CheckpointProblem, build
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result

HERE = "ftplan.planners.allocate_checkpoints.algorithms"
SEARCH, MODELS, BOUNDS, RULES = (f"{HERE}.{folder}" for folder in ("search", "models", "bounds", "rules"))


def planned(problem: CheckpointProblem, options: AllocationOptions, algorithm: str = "exact") -> Result:
    """Return what an algorithm answers."""
    return registry.load(registry.row("allocate-checkpoints", algorithm))(problem, options)


def scored(problem: CheckpointProblem, result: Result) -> Answer:
    """Return value and bound; no plan counts as a random one. Gaps are relative to what a random plan loses."""
    random = problem.by_group.random_value
    if result.answer is None:
        return Answer("min", random, scale=abs(random))
    bound = result.bound
    scale = abs(result.answer.value) if problem.integral else abs(random - (bound if bound is not None else 0.0))
    return Answer("min", result.answer.value, bound, scale)


def daily(groups: int, nodes: int, zones: int = 0, algorithm: str = "exact", **options: object) -> Case:
    """Return a case of daily loads on equal nodes."""

    def case(seconds: float) -> Answer:
        asked = AllocationOptions(time_limit_s=seconds, anti_affinity="zone" if zones else "node", **options)
        problem = problem_of(daily_loads(groups, 96, 0), nodes, zones, asked)
        return scored(problem, planned(problem, asked, algorithm))

    return case


def flights(nodes: int, balance: object, **options: object) -> Case:
    """Return a case of Houston's departures by destination."""

    def case(seconds: float) -> Answer:
        asked = AllocationOptions(balance=balance, time_limit_s=seconds, **options)
        problem = flights_of(houston(), nodes, asked)
        return scored(problem, planned(problem, asked))

    return case


def mixed(seed: int, groups: int, nodes: int, room: float, algorithm: str = "exact", **options: object) -> Case:
    """Return a case of unequal nodes with little memory, of which *room* times what the state takes is there."""

    def case(seconds: float) -> Answer:
        asked = AllocationOptions(time_limit_s=seconds, **options)
        problem = mixed_problem(seed, groups, nodes, room, asked)
        return scored(problem, planned(problem, asked, algorithm))

    return case


def mixed_problem(seed: int, groups: int, nodes: int, room: float, asked: AllocationOptions) -> CheckpointProblem:
    """Return key groups with state on nodes of 1 to 4 cores in four zones."""
    random = np.random.default_rng(seed)
    loads, one = daily_loads(groups, 48, seed), np.ones(groups)
    state = np.round(random.lognormal(3.0, 1.0, groups), 1) * 2**20
    operator = Operator("op", groups, cpu=one, state_bytes=0 * one, priority=one, key_groups=groups)
    cpu = random.choice([1.0, 2.0, 4.0], nodes)
    memory = np.ceil(room * (1 + asked.copies) * state.sum() / 2**20 * cpu / cpu.sum())
    machines = tuple(
        Node(f"n{k + 1}", float(c), zone=f"z{k % 4}", memory_mb=float(m))
        for k, (c, m) in enumerate(zip(cpu, memory, strict=True))
    )
    home = tuple(machines[k].id for k in random.choice(nodes, groups, p=cpu / cpu.sum()))
    numbers = np.arange(groups)
    series = KeyGroupSeries(("op",), 0 * numbers, numbers, loads, "records", 600.0, state, numbers < 0)
    placement = Placement(key_groups={"op": home})
    return build(Topology((operator,), ()), Cluster(machines), placement, series, asked)


@functools.cache
def _fresh(seed: int, groups: int, nodes: int, copies: int) -> tuple[CheckpointProblem, Result, list[list[int]]]:
    """Return a problem, its fresh plan, and the copies that were good for other loads: those now in place."""
    asked = AllocationOptions(copies=copies, balance=0.1, iterations=20, time_limit_s=30.0)
    problem = problem_of(daily_loads(groups, 96, seed), nodes, 0, asked)
    before = problem_of(daily_loads(groups, 96, seed + 1), nodes, 0, asked)
    old = planned(before, asked, "correlated").answer
    return problem, planned(problem, asked, "correlated"), old.copies.tolist()


def kept(seed: int, groups: int, nodes: int, copies: int = 1, **allowance: float) -> Case:
    """Return a case of copies in place that break their balance; the value counts moves and what the plan costs."""

    def case(seconds: float) -> Answer:
        problem, fresh, current = _fresh(seed, groups, nodes, copies)
        options = AllocationOptions(copies=copies, balance=0.1, time_limit_s=seconds)
        _, report = maintain(fresh, current, MoveLimits(**allowance), options, Budget(seconds))
        cost = (report.after - report.fresh) / (report.random - report.fresh)
        return Answer("min", report.moves / problem.load.size + cost)

    return case


def cases() -> dict[str, Case]:
    """Return the cases by name."""
    usable = {"objective": CheckpointObjective("usable")}
    return {
        "daily 256 x 16": daily(256, 16, balance=0.05),
        "daily 256 x 16 usable": daily(256, 16, balance=0.05, **usable),
        "daily 300 x 20 auto, zones": daily(300, 20, 5, balance="auto", copies=2),
        "daily 4,096 x 80": daily(4096, 80, balance=0.05),
        "daily 4,096 x 80 usable": daily(4096, 80, balance=0.05, **usable),
        "daily 512 x 16 counts": daily(512, 16, balance="count"),
        "daily 160 x 10 failover": daily(160, 10, balance="auto", failover_limit=2.5),
        "daily 128 x 8 least failover": daily(128, 8, balance="auto", minimise="failover"),
        "daily 9,000 x 30 correlated": daily(9000, 30, algorithm="correlated", balance=0.02),
        "Houston 0.35": flights(20, 0.35),
        "memory 128 x 10": mixed(1, 128, 10, 1.4, balance="auto"),
        "memory 150 x 16, zones": mixed(2, 150, 16, 1.3, balance="auto", anti_affinity="zone", copies=2),
        "kept 256 x 16, threshold": kept(5, 256, 16, threshold=0.1),
        "kept 256 x 16, few moves": kept(5, 256, 16, 2, max_moves=60),
        "kept 256 x 16, too few moves": kept(6, 256, 16, max_moves=5),
        "kept 2,048 x 40, threshold": kept(7, 2048, 40, threshold=0.1),
        "kept 2,048 x 60, few moves": kept(8, 2048, 60, max_moves=400),
    }


def _nothing(*_: object, **__: object) -> None:
    return None


def _no_changes(*_: object) -> object:
    from ftplan.planners.allocate_checkpoints.algorithms.search.node_repair import RatedChanges

    none = np.zeros(0, dtype=np.int64)
    return RatedChanges(none, none, np.zeros((0, 0)), np.zeros((0, 0)))


def _whole_ascent(problem: object, limits: object, target: float, budget: object, start: object = None) -> object:
    from ftplan.planners.allocate_checkpoints.algorithms.ascent_at_scale import CANDIDATE_NODES
    from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import scan
    from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import ascend

    dual = ascend(problem, limits, target, budget, start)
    return dual, scan(problem, limits, dual.prices, CANDIDATE_NODES)


def _zero_prices(_problem: object, limits: object, _budget: object) -> object:
    return np.zeros(limits.lower.shape)


def _all_columns(problem: object, *_: object) -> object:
    return problem.allowed.copy()


def _unproven(_current: object, _limits: object, _weight: object, best: object, *_: object) -> object:
    return best, 0.0


def _unknown(*_: object) -> object:
    from ftplan.planners.allocate_checkpoints.algorithms.models.integer_model import SatResult

    return SatResult("unknown")


#: What is left out. Parts that no longer are stand here while the table of the commit before names them.
PARTS = (
    Part("repair of many copies at each look", {f"{SEARCH}.node_repair:repair_in_bulk": _nothing}),
    Part("swaps in repair", {f"{SEARCH}.node_repair:swaps_with": _no_changes}),
    Part("ejection chains", {f"{HERE}.exact:improve_by_ejection_chains": _nothing}),
    Part("rounding of the relaxation", {f"{HERE}.exact:rounded": lambda p, limits, scan, *rest: scan.copies}),
    Part("price-guided plans at scale", {f"{HERE}.exact:MANY_PAIRS": 10**12}),
    Part(
        "steps over candidates",
        {f"{place}:ascend_at_scale": _whole_ascent for place in (f"{HERE}.exact", f"{HERE}.proven_bound")},
    ),
    Part("prices from a sample", {f"{HERE}.ascent_at_scale:sampled_prices": _zero_prices}),
    Part("ties with the incumbent", {f"{HERE}.exact:with_incumbent": lambda scan, *rest: scan}),
    Part("prices of the linear relaxation", {f"{HERE}.proven_bound:relaxed_prices": _nothing}),
    Part("reduced costs", {f"{HERE}.reduced_cost_fixing:open_columns": _all_columns}),
    Part(
        "large neighbourhoods",
        {f"{HERE}.reduced_cost_fixing:exchange_copies": _nothing},
    ),
    Part(
        "branch and cut on all columns",
        {f"{HERE}.reduced_cost_fixing:branch_and_cut": lambda p, li, c, best, *rest: (best, -np.inf)},
    ),
    Part("flow of counts", {f"{HERE}.exact:_by_flow": _nothing}),
    Part("local search", {f"{HERE}.exact:improve": _nothing, f"{HERE}.correlated:improve": _nothing}),
    Part("Algorithm 3 as a start", {f"{HERE}.exact:repaired_greedy": _nothing}),
    Part("bisection of limits by repair", {f"{RULES}.smallest_limits:MOST_HALVINGS": 0}),
    Part("proof of limits by CP-SAT", {f"{RULES}.smallest_limits:least_stretch": _unknown}),
    Part("fewest moves by branch and cut", {f"{SEARCH}.restoration:_fewest": _unproven}),
    Part("fresh plan led back to restore", {f"{SEARCH}.restoration:_returned": lambda current, limits, copies: copies}),
    Part("repair to restore", {f"{SEARCH}.restoration:repair": lambda *_: False}),
    Part(
        "fresh plan led back to improve",
        {f"{HERE}.maintenance:_from_fresh": lambda task, fresh, best, budget: (best, ())},
    ),
    Part("pairs: push", {f"{SEARCH}.best_first:push": _nothing}),
    Part("pairs: pull", {f"{SEARCH}.best_first:pull": _nothing}),
    Part("pairs: exchange", {f"{SEARCH}.best_first:exchange": _nothing}),
    Part("best single change of all (part restored)", {f"{SEARCH}.partial_restoration:MOST_PAIRS_FOR_ALL": 0}),
)
