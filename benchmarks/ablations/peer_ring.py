"""Rings: even ones of unequal nodes, zones that are too large, rings that grow, tiers, and the odds of a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from ablation import Answer, Case, Part
from ring_balance import cores
from ring_growth import grown
from ring_questions import loads, ring_question

from ftplan.planners.budget import SearchOptions
from ftplan.planners.peer_ring.algorithms.baselines import hashed_ring
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import copysets
from ftplan.planners.peer_ring.survival.survival import loss
from ftplan.planners.peer_ring.survival.tolerance import best_case
from ftplan.planners.peer_ring.tier import tier_figures

_ALGORITHMS = "ftplan.planners.peer_ring.algorithms"
_SURVIVAL = "ftplan.planners.peer_ring.survival"


def _planned(problem: RingProblem, seconds: float) -> Any:
    result = exact(problem, SearchOptions(time_limit_s=seconds))
    assert result.answer is not None
    return result


def _even(problem: RingProblem, seconds: float) -> Answer:
    result = _planned(problem, seconds)
    return Answer("min", problem.largest_load(result.answer.ring), result.bound)


def _apart(problem: RingProblem, seconds: float) -> Answer:
    answer = _planned(problem, seconds).answer
    many = problem.violations(answer.ring)
    return Answer("min", float(many), float(answer.violations_bound), float(len(problem.member)))


def _cheap(problem: RingProblem, seconds: float) -> Answer:
    """Bytes in mean arcs; what the largest load is above the target or its bound counts a hundred times."""
    from ftplan.planners.peer_ring.moves import moved_bytes

    result = _planned(problem, seconds)
    ring, before = result.answer.ring, problem.current
    assert before is not None
    arc = float(problem.state.sum()) / len(problem.member)
    moved = moved_bytes(problem, before, ring) / arc
    over = problem.largest_load(ring) / max(result.bound, problem.target_load or 0.0) - 1.0
    bound = None if result.answer.bytes_bound is None else result.answer.bytes_bound / arc
    return Answer("min", moved * (1.0 + 100.0 * max(over, 0.0)), bound, max(moved, 1.0))


def _tier(problem: RingProblem, seconds: float) -> Answer:
    found = tier_figures(problem, _planned(problem, seconds).answer.ring)
    return Answer("min", found["largest"], found["bound"])


def _odds(problem: RingProblem, ring: Ring, _: float) -> Answer:
    """Relative width of the interval, and 1; the bound says that it can be none."""
    found = loss(problem, ring)
    return Answer("min", 1.0 + (found.high - found.low) / max(found.high, 1e-300), 1.0)


def _harmless(problem: RingProblem, ring: Ring, _: float) -> Answer:
    found = best_case(problem, ring, copysets(problem, ring))
    return Answer("max", float(found.low), float(found.high))


def _zoned(sizes: tuple[int, ...], backups: int) -> RingProblem:
    """Equal nodes in zones of these sizes."""
    zone = np.repeat(np.arange(len(sizes)), sizes)
    problem = ring_question(loads("exponential", 512), np.full(len(zone), 4.0), backups)
    names = tuple(f"zone-{z}" for z in range(len(sizes)))
    return replace(problem, zone=zone, zones=names, zone_down=np.zeros(len(sizes)))


def _with_tier(workers: int, vault: int, groups: int) -> RingProblem:
    problem = ring_question(
        loads("exponential", groups), np.full(workers + vault, 4.0), 2, loads("exponential", groups)
    )
    tier = np.arange(workers + vault) >= workers
    zone = np.where(tier, 4 + np.arange(workers + vault) % 2, problem.zone)
    zones = (*problem.zones, "vault-0", "vault-1")
    return replace(problem, members=~tier, tier=tier, zone=zone, zones=zones, zone_down=np.zeros(6))


def _risky(problem: RingProblem, node: float, zone: float) -> RingProblem:
    many = len(problem.nodes)
    return replace(problem, down=np.full(many, node), zone_down=np.full(len(problem.zones), zone))


def _odds_cases() -> dict[str, Case]:
    made: dict[str, Case] = {}
    for workers, tokens in ((8, 20), (16, 40), (24, 4), (60, 100)):
        for node, zone in ((1e-3, 1e-3), (1e-2, 0.0), (0.05, 0.01)):
            plain = replace(ring_question(np.ones(1_920), np.full(workers, 4.0), 2), tokens=tokens)
            problem = _risky(plain, node, zone)
            made[f"odds {workers} x {tokens}, {node}, {zone}"] = partial(_odds, problem, hashed_ring(problem, 0))
    for workers, vault in ((24, 4), (60, 30)):
        problem = _risky(_with_tier(workers, vault, 960), 5e-3, 1e-3)
        ring = _planned(problem, 2.0).answer.ring
        made[f"odds of a tier, {workers} and {vault}"] = partial(_odds, problem, ring)
    many = _risky(_zoned((2,) * 40, 2), 5e-3, 1e-3)
    made["odds of 40 zones"] = partial(_odds, many, _planned(many, 2.0).answer.ring)
    for workers, tokens in ((8, 20), (20, 10), (40, 20)):
        problem = replace(ring_question(np.ones(1_920), np.full(workers, 4.0), 1), tokens=tokens)
        made[f"harmless {workers} x {tokens}"] = partial(_harmless, problem, hashed_ring(problem, 0))
    return made


def cases() -> dict[str, Case]:
    """Return the cases by name."""
    made: dict[str, Case] = {}
    for sizes, groups, nodes in (
        ("4 or 8", 4_096, 10), ("4 or 8", 4_096, 30), ("4 or 8", 8_192, 100), ("2 to 31", 4_096, 10),
        ("2 to 31", 4_096, 30), ("2 to 31", 8_192, 100), ("4 or 8", 64, 8), ("2 to 31", 40, 7),
    ):  # fmt: skip
        problem = ring_question(loads("exponential", groups), cores(sizes, nodes))
        made[f"even {nodes} of {sizes}, {groups}"] = partial(_even, problem)
    for law in ("log-normal, sigma 1", "Houston flights by aircraft"):
        problem = ring_question(loads(law, 256), cores("4 or 8", 12), 2)
        made[f"even 12 of 4 or 8, {law}"] = partial(_even, problem)
    heavy = loads("exponential", 12) ** 3
    made["even 5 of 1 or 8, heavy positions"] = partial(
        _even, ring_question(heavy, np.array([8.0, 1.0, 1.0, 8.0, 1.0]))
    )
    for zones, backups in (((6, 3, 2, 1), 2), ((12, 5, 3), 2), ((9, 9, 2), 2), ((14, 6, 5, 3), 3), ((40, 30, 10), 2)):
        made[f"zones {zones}, {backups}"] = partial(_apart, _zoned(zones, backups))
    for nodes, joins, target, backups, groups in (
        (5, 2, 1.3, 2, 60), (9, 2, 1.3, 1, 120), (9, 2, None, 1, 120), (14, 3, 1.1, 2, 240), (14, 3, 1.5, 2, 240),
        (30, 3, 1.2, 1, 1_024), (30, 3, None, 1, 1_024), (100, 10, 1.2, 1, 4_096), (100, 1, None, 1, 4_096),
    ):  # fmt: skip
        problem = grown(loads("exponential", groups, 1), nodes, joins, target, backups)
        made[f"grow {nodes} by {joins}, {target}, {backups}"] = partial(_cheap, problem)
    zoned = grown(loads("exponential", 480, 2), 12, 4, 1.25, 1)
    zoned = replace(zoned, zone=np.arange(16) % 4, zones=tuple("abcd"), zone_down=np.zeros(4))
    made["grow 12 by 4 in zones"] = partial(_cheap, zoned)
    for workers, vault, groups in ((12, 3, 240), (60, 5, 2_048), (200, 9, 4_096)):
        made[f"tier {workers} and {vault}"] = partial(_tier, _with_tier(workers, vault, groups))
    return made | _odds_cases()


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _same(result: Any) -> Callable[..., Any]:
    return lambda *_, **__: result


def _no_order(_: Any, low: float, high: float, budget: Any) -> Any:
    from ftplan.planners.peer_ring.algorithms.orders.every_order import BoundedOrder

    return BoundedOrder(np.empty(0, dtype=np.int64), -1, high)


def _start_kept(sizes: Any, width: int, start: Any, bound: int, *_: Any) -> Any:
    from ftplan.planners.peer_ring.algorithms.orders.windows import CrowdedOrder

    return CrowdedOrder(start, bound)


_SEARCH = f"{_ALGORITHMS}.orders.unequal_nodes:_ArrangementSearch"
_CANDIDATES = f"{_ALGORITHMS}.moves.candidate_orders"
PARTS = (
    Part("orders built place by place (beam)", {f"{_ALGORITHMS}.orders.beam:Beam.least": _no_order}),
    Part("every order, dynamic programming", {f"{_SEARCH}.look_at_all": _nothing}),
    Part("every order with every place reached", {f"{_SEARCH}.light": True}),
    Part("every order without zones", {f"{_SEARCH}.look_without_zones": _nothing}),
    Part("fullest arcs of all nodes (bound)", {f"{_ALGORITHMS}.bounds:_fullest_arcs": lambda load, cpu, low: low}),
    Part("swaps of crowded zones", {f"{_ALGORITHMS}.orders.zone_order:improved_by_swaps": lambda order, *_: order}),
    Part("least crowded order, CP-SAT", {f"{_ALGORITHMS}.orders.zone_order:least_crowded": _start_kept}),
    Part("every order of few nodes in place", {f"{_ALGORITHMS}.moves.from_current:count_orders": _same(None)}),
    Part("nodes that join inserted by bytes", {f"{_CANDIDATES}:order_with_joins": _nothing}),
    Part("neighbours of good orders", {f"{_CANDIDATES}:_neighbours": _same(())}),
    Part("nodes moved out of crowded windows", {f"{_CANDIDATES}:less_crowded": lambda problem, order, *_: order}),
    Part("bound of bytes by arcs", {f"{_ALGORITHMS}.moves.from_current:arc_bound": _same(0.0)}),
    Part("the rough bound of bytes first", {f"{_ALGORITHMS}.moves.arc_bound:MOST_STEPS": (2_500_000_000,)}),
    Part("all choices of last copies", {f"{_ALGORITHMS}.tiers:MOST_GROUPS_ENUMERATED": 0}),
    Part("exchanges of last copies", {f"{_ALGORITHMS}.tiers:_improved": _same(False)}),
    Part("odds: all failures enumerated", {f"{_SURVIVAL}.survival:enumerated_loss": _nothing}),
    Part("odds: copysets branched on", {f"{_SURVIVAL}.survival:_branched": _same((0.0, 1.0))}),
    Part("odds: bounds of a union", {f"{_SURVIVAL}.survival:union_bounds": _same((0.0, 1.0))}),
    Part("odds: pairs of copysets", {f"{_SURVIVAL}.set_bounds:_pairs": _nothing}),
    Part("odds: samples of nodes and zones", {f"{_SURVIVAL}.survival:sampled_loss": _nothing}),
    Part("harmless sets: branch and bound", {f"{_SURVIVAL}.harmless:_HittingSetSearch.run": _nothing}),
)
