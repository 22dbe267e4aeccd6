"""Questions of a peer ring made by hand, their rings, and the best there is by looking at all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem, RingSetting, ZoneCost
from ftplan.planners.peer_ring.ring import Ring, position_of

#: What the notes' examples are worked out with.
SETTING = {
    "interval_s": 10.0,
    "checkpoint_s": 0.0,
    "detection_s": 0.7,
    "heartbeat_is_checkpoint": False,
    "fixed_s": 0.0,
    "latency_bound_s": 0.015,
    "bandwidth": 100.0 * 2**20,
}


def ring_problem(
    load: Sequence[float] | Mapping[str, Sequence[float]],
    cpu: Sequence[float],
    zones: str | None = None,
    replication: int = 1,
    state: Sequence[float] | Mapping[str, Sequence[float]] | None = None,
    *,
    setting: Mapping[str, Any] | None = None,
    **others: Any,
) -> RingProblem:
    """Return a question of nodes n0, n1, ...

    Parameters
    ----------
    load
        Of each key group: of one operator, or by operator. The rate is the same.
    cpu
        Of each node.
    zones
        A letter for each node, ``-`` for a node without zone; None: no node has one.
    state
        Bytes of each key group as *load*; without: 1 each.
    setting
        What differs from SETTING.
    others
        Any field of RingProblem. Sets of nodes (members, tier, added, removed, fails) may be lists of numbers; members
        are all that are neither removed nor of the tier where nothing is said.
    """
    by_operator: Mapping[str, Sequence[float]] = load if isinstance(load, Mapping) else {"op": load}
    group_load = np.array([x for loads in by_operator.values() for x in loads], dtype=np.float64)
    operators = tuple(name for name, loads in by_operator.items() for _ in loads)
    key_group = np.array([g for loads in by_operator.values() for g in range(len(loads))], dtype=np.int64)
    many = np.array([len(loads) for loads in by_operator.values() for _ in loads], dtype=np.int64)
    position, atom = np.unique(position_of(key_group, many), return_inverse=True)
    group_state = _numbers(state, by_operator, len(group_load))
    count, size = len(cpu), len(position)
    names, zone = _zones(zones or "-" * count)
    sets = {name: _set(others.pop(name, ()), count) for name in ("tier", "added", "removed", "fails")}
    members = others.pop("members", None)
    sums = np.bincount(atom, group_load, minlength=size)
    values: dict[str, Any] = {
        "nodes": tuple(f"n{k}" for k in range(count)),
        "zones": names,
        "zone": zone,
        "members": ~(sets["tier"] | sets["removed"]) if members is None else _set(members, count),
        **sets,
        "cpu": np.array(cpu, dtype=np.float64),
        "down": np.full(count, 0.01),
        "zone_down": np.zeros(len(names)),
        "position": position,
        "load": sums,
        "rate": sums.copy(),
        "state": np.bincount(atom, group_state, minlength=size),
        "operators": operators,
        "key_group": key_group,
        "atom": np.asarray(atom, dtype=np.int64),
        "group_load": group_load,
        "group_state": group_state,
        "capacity": np.array(cpu, dtype=np.float64) * 1e6,
        "foreign": np.zeros(count),
        "overload": 0.85,
        "replication": replication,
        "setting": _setting(count, size, dict(setting or {})),
    }
    return RingProblem(**{**values, **others})


def ring_of(problem: RingProblem, order: Sequence[int], first: Sequence[int]) -> Ring:
    """Return the ring where each node of *order* has its token at the position with the number *first* says."""
    at = np.argsort(np.asarray(first), kind="stable")
    return Ring(problem.position[np.asarray(first)[at]], np.asarray(order, dtype=np.int64)[at])


def even_ring(problem: RingProblem, order: Sequence[int] | None = None) -> Ring:
    """Return the ring where members, in their order or the one given, have arcs of equally many positions."""
    nodes = problem.member.tolist() if order is None else list(order)
    return ring_of(problem, nodes, [k * len(problem.position) // len(nodes) for k in range(len(nodes))])


def every_ring(problem: RingProblem) -> Iterator[Ring]:
    """Yield every ring of the members whose tokens lie on positions, one token each: M! / (M - n)! rings."""
    nodes = problem.member
    for first in combinations(range(len(problem.position)), len(nodes)):
        token = problem.position[list(first)]
        for order in permutations(nodes.tolist()):
            yield Ring(token, np.array(order, dtype=np.int64))


def best_ring(problem: RingProblem) -> tuple[ZoneCost, float]:
    """Return the least that zones cost, and the least largest load of such rings; by looking at all of them."""
    nodes, size = problem.member, len(problem.position)
    firsts = np.array(list(combinations(range(size), len(nodes))))
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([problem.load, problem.load]))])
    last = np.column_stack([firsts[:, 1:], firsts[:, 0] + size])
    arcs = sums[last] - sums[firsts]
    per_cpu = float(problem.load.sum()) / float(problem.cpu[nodes].sum()) or 1.0
    token = problem.position[firsts[0]]
    best = (ZoneCost(size + 1, 0), np.inf)
    for order in permutations(nodes.tolist()):
        zones = problem.zone_cost(Ring(token, np.array(order, dtype=np.int64)))
        if zones <= best[0]:
            best = min(best, (zones, float((arcs / problem.cpu[list(order)]).max(axis=1).min()) / per_cpu))
    return best


def with_current(problem: RingProblem, current: Ring, **others: Any) -> RingProblem:
    """Return the same question with a ring in place; *others* are fields, sets of nodes as lists of numbers."""
    sets = {"members", "tier", "added", "removed", "fails"}
    given: dict[str, Any] = {
        name: _set(value, len(problem.nodes)) if name in sets else value for name, value in others.items()
    }
    if "members" not in given and given.keys() & {"tier", "removed"}:
        given["members"] = problem.members & ~(given.get("tier", problem.tier) | given.get("removed", problem.removed))
    return replace(problem, current=current, **given)


def _numbers(
    given: Sequence[float] | Mapping[str, Sequence[float]] | None, by_operator: Mapping[str, Any], count: int
) -> FloatArray:
    if given is None:
        return np.ones(count)
    if isinstance(given, Mapping):
        return np.array([x for name in by_operator for x in given[name]], dtype=np.float64)
    return np.array(given, dtype=np.float64)


def _zones(letters: str) -> tuple[tuple[str, ...], IntArray]:
    """Return names and the zone of each node; a node without one has a zone of its own."""
    each = [f"of-n{k}" if letter == "-" else letter for k, letter in enumerate(letters)]
    names = sorted(set(each))
    return tuple(names), np.array([names.index(name) for name in each], dtype=np.int64)


def _set(given: Any, count: int) -> BoolArray:
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        return given
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[list(given)] = True
    return chosen


def _setting(count: int, size: int, given: dict[str, Any]) -> RingSetting:
    rates = {"replay_rate": np.full(count, 20_000.0), "record_bytes": np.full(size, 100.0)}
    return RingSetting(**{**SETTING, **rates, **given})
