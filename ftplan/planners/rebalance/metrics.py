"""What a rebalance does to load, and what its moves take; and what the same key groups cost to move otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ftplan.model.measures.correlation import node_sums
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.rebalance.effects import fair_load, places_after
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, ASSISTED, DIRECT, PROTOCOLS
from ftplan.planners.rebalance.migration_phases import PhaseFigures, phase_figures
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem
from ftplan.planners.rebalance.rules import cheapest, copies_after

#: A rebalance that moves nothing.
NOTHING = Rebalance(())


def figures(problem: RebalanceProblem, answer: Rebalance, loads: FloatArray, window_s: float) -> dict[str, Any]:
    """Return the figures of a rebalance: load afterwards, and what its moves take; of :data:`NOTHING`, as it is now.

    *loads*: load of each key group in each window, (W, K), in load units.

    Utilisation and ``imbalance`` (the largest deviation of a node from its fair share by capacity, relative to it) are
    those of the load that is planned with. ``overload_share`` is the share of windows in which a node is overloaded,
    ``excess`` the load above the limit of all nodes, in load units per second, as a mean over windows.
    """
    place = places_after(problem, answer.moves)
    return {**_load(problem, place, loads, window_s), **_moves(problem, answer, phase_figures(problem, answer.phases))}


def nodes(problem: RebalanceProblem, answer: Rebalance) -> list[dict[str, Any]]:
    """Return the utilisation of each node before and after, None where it has no capacity or is removed."""
    place = places_after(problem, answer.moves)
    uses = [_utilisation(problem, where) for where in (problem.home, place)]
    rows = zip(problem.nodes, *(use.tolist() for use in uses), strict=True)
    return [
        {"node": name, "before": None if before != before else before, "after": None if after != after else after}
        for name, before, after in rows
    ]


def payback(problem: RebalanceProblem, answer: Rebalance, loads: FloatArray, window_s: float) -> dict[str, Any]:
    """Return the load that comes in while its key groups are paused, and the overload saved a second in exchange.

    ``payback_s`` is the time after which the latter outweighs the former, None where no overload is saved.
    """
    latency = problem.costs.latency_s
    cells = [(PROTOCOLS.index(move.protocol), move.group) for move in answer.moves]
    paused = math.fsum(float(problem.load[cell[1]]) * float(latency[cell]) for cell in cells) / window_s
    places = (problem.home, places_after(problem, answer.moves))
    before, after = (_excess(problem, place, loads, window_s) for place in places)
    saved = before - after
    pays = saved > ROUNDING * max(before, after)
    return {"paused": paused, "saved_per_s": saved, "payback_s": paused / saved if pays else None}


def _present(problem: RebalanceProblem, place: IntArray) -> BoolArray:
    """Return which nodes count, (N,): one that is removed does as long as key groups are on it."""
    busy = np.bincount(place, minlength=len(problem.nodes)) > 0
    return np.asarray(~problem.removed | busy, dtype=np.bool_)


def _over(problem: RebalanceProblem, place: IntArray, loads: FloatArray) -> FloatArray:
    """Return the load of each node above its ceiling in each window, (W, N)."""
    load = node_sums(loads, place, len(problem.nodes)) + problem.foreign
    over = np.where(load > problem.ceiling * (1.0 + ROUNDING), load - problem.ceiling, 0.0)
    return np.where(_present(problem, place), over, 0.0)


def _excess(problem: RebalanceProblem, place: IntArray, loads: FloatArray, window_s: float) -> float:
    return float(_over(problem, place, loads).sum(axis=1).mean() / window_s) if len(loads) else 0.0


def _utilisation(problem: RebalanceProblem, place: IntArray) -> FloatArray:
    """Return the utilisation of each node by the planned load, (N,); NaN where it has no capacity or does not count."""
    known = _present(problem, place) & (problem.capacity > 0.0)
    use = np.full(len(known), np.nan)
    np.divide(problem.loads(place), problem.capacity, out=use, where=known)
    return use


def _load(problem: RebalanceProblem, place: IntArray, loads: FloatArray, window_s: float) -> dict[str, Any]:
    load, use = problem.loads(place), _utilisation(problem, place)
    known = use == use
    over = _present(problem, place) & (load > problem.ceiling * (1.0 + ROUNDING))
    windows = np.flatnonzero((_over(problem, place, loads) > 0.0).any(axis=1))
    fair = fair_load(problem)
    able = fair > 0.0
    return {
        "highest_utilisation": float(use[known].max(initial=0.0)),
        "busiest_node": problem.nodes[int(np.nanargmax(use))] if known.any() else None,
        "lowest_utilisation": float(use[known].min()) if known.any() else 0.0,
        "overloaded_nodes": int(over.sum()),
        "imbalance": float(np.max(np.abs(load[able] - fair[able]) / fair[able])) if able.any() else None,
        "overload_share": len(windows) / len(loads) if len(loads) else 0.0,
        "excess": _excess(problem, place, loads, window_s),
    }


def _moves(problem: RebalanceProblem, answer: Rebalance, phases: Iterable[PhaseFigures]) -> dict[str, Any]:
    moves, each = answer.moves, list(phases)
    before = sum(map(len, problem.copies))
    return {
        "moves": len(moves),
        "moves_by_protocol": {
            name: count for name in PROTOCOLS if (count := sum(move.protocol == name for move in moves))
        },
        "assisted_share": assisted_share(moves),
        **totals(problem, moves),
        "phases": len(each),
        "duration_s": math.fsum(item.duration_s for item in each),
        "longest_pause_s": max((item.longest_pause_s for item in each), default=0.0),
        "new_copies": len(answer.new_copies),
        "new_copies_bytes": math.fsum(float(problem.state[copy.group]) for copy in answer.new_copies),
        "copies_lost": before - sum(map(len, copies_after(problem, answer))),
        "after_loss": sum(move.protocol in AFTER_LOSS for move in moves),
    }


def assisted_share(moves: Iterable[Migration]) -> float | None:
    """Return the part of moves that go where a checkpoint of the key group lies, and use it; None without moves."""
    each = [move.protocol in ASSISTED for move in moves]
    return sum(each) / len(each) if each else None


def totals(problem: RebalanceProblem, moves: Iterable[Migration], by: str | None = None) -> dict[str, float | None]:
    """Return what moves cost one by one, in sum: latency, completion, bytes; *by* one protocol instead of their own.

    None where one of them cannot be.
    """
    cells = [(PROTOCOLS.index(by or move.protocol), move.group) for move in moves]
    sums = {
        name: math.fsum(float(table[cell]) for cell in cells)
        for name, table in (
            ("latency_s", problem.costs.latency_s),
            ("completion_s", problem.costs.completion_s),
            ("bytes", problem.costs.bytes),
        )
    }
    able = all(math.isfinite(value) for value in sums.values())
    return {name: value if able else None for name, value in sums.items()}


def otherwise(problem: RebalanceProblem, moves: Iterable[Migration]) -> dict[str, Any]:
    """Return what the same key groups cost to move by ``direct`` alone, and to nodes at random, as expected values.

    A node at random is one of those that may take key groups, but where the group is; it gets there by the protocol
    that costs least. None where it cannot.
    """
    moved = list(moves)
    return {"random": _at_random(problem, moved), "peers": {"all_direct": totals(problem, moved, DIRECT)}}


def _at_random(problem: RebalanceProblem, moves: Iterable[Migration]) -> dict[str, Any] | None:
    sums, assisted, count = np.zeros(3), 0.0, 0
    hosts = np.flatnonzero(problem.hosts).tolist()
    tables = (problem.costs.latency_s, problem.costs.completion_s, problem.costs.bytes)
    for move in moves:
        home = int(problem.home[move.group])
        near = [node for node in problem.copies[move.group] if problem.hosts[node] and node != home]
        others = len(hosts) - int(problem.hosts[home])
        far = [node for node in hosts[: len(near) + 2] if node != home and node not in near][:1]
        for targets, nodes in ((near[:1], len(near)), (far, others - len(near))):
            for target in targets:
                way = cheapest(problem, move.group, target)
                if way is None:
                    return None
                row = PROTOCOLS.index(way.protocol)
                sums += [float(table[row, move.group]) * nodes / others for table in tables]
                assisted += (way.protocol in ASSISTED) * nodes / others
        count += 1
    if count == 0:
        return None
    names = ("latency_s", "completion_s", "bytes")
    return {**dict(zip(names, sums.tolist(), strict=True)), "assisted_share": assisted / count}
