"""The probability that some set of nodes is down as a whole, exact or between proven bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ftplan.model.names import natural_key
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray

#: Sets that branching may visit in all; what is left then is bounded.
WORK = 30_000
#: Largest number of sets that share a node for which all pairs are summed, for Bonferroni's lower bound.
MOST_FOR_PAIRS = 1500

Sets = frozenset[frozenset[str]]


@dataclass(frozen=True, slots=True)
class LossProbability:
    """A probability between two proven bounds, which are equal where it is exact."""

    low: float
    high: float


@dataclass(slots=True)
class _Enumeration:
    """Failure probability of each node, visits that are left, and bounds of components solved before."""

    down: Mapping[str, float]
    work: int
    known: dict[Sets, tuple[float, float]] = field(default_factory=dict)


def union_probability(
    sets: Collection[frozenset[str]],
    nodes: Mapping[str, float],
    zones: Mapping[str, float],
    zone_of: Mapping[str, str],
) -> LossProbability:
    """Return the probability that all nodes of some set are down.

    *nodes* and *zones* map to independent failure probabilities; *zone_of* names the zone of a node that can fail
    with it.

    Branches on the zones, then on the node that most sets have. Connected components (sets that share nodes) are
    independent and solved one by one, equal ones once. After :data:`WORK` visits the rest is bounded: from above by
    ``1 - Π (1 - P(set))`` (increasing events are positively correlated, [Harris1960]), from below by Bonferroni and by
    sets that share no node. Exact within that work, which is exponential at worst; deterministic.
    """
    search = _Enumeration(nodes, WORK)
    order = [z for z in sorted(zones, key=natural_key) if z in set(zone_of.values())]
    low, high = _zones(frozenset(sets), order, zones, zone_of, search)
    low, high = max(low, 0.0), min(high, 1.0)
    if high - low <= NOISE * high:
        low = high
    return LossProbability(low, high)


def _zones(
    sets: Sets, order: list[str], zones: Mapping[str, float], zone_of: Mapping[str, str], search: _Enumeration
) -> tuple[float, float]:
    """Branch on the zones in *order*; a failed zone takes its nodes out of every set."""
    touched = {zone_of[node] for one in sets for node in one if node in zone_of}
    order = [zone for zone in order if zone in touched]
    if not order or frozenset() in sets:
        return _union(_absorbed(sets, search), search)
    if search.work <= 0:
        return _bounds_with_zones(sets, zones, zone_of, search)
    search.work -= len(sets)
    zone, rest = order[0], order[1:]
    p = zones[zone]
    failed = frozenset(frozenset(n for n in one if zone_of.get(n) != zone) for one in sets)
    left = {node: z for node, z in zone_of.items() if z != zone}
    a = _zones(failed, rest, zones, left, search)
    b = _zones(sets, rest, zones, left, search)
    return p * a[0] + (1 - p) * b[0], p * a[1] + (1 - p) * b[1]


def _bounds_with_zones(
    sets: Sets, zones: Mapping[str, float], zone_of: Mapping[str, str], search: _Enumeration
) -> tuple[float, float]:
    """Bound the union where zones still matter: the likeliest set from below, Harris from above."""
    single = []
    for one in sets:
        by_zone = {zone_of[n]: [m for m in one if zone_of.get(m) == zone_of[n]] for n in one if n in zone_of}
        alone = prod(search.down[n] for n in one if n not in zone_of)
        for zone, members in by_zone.items():
            alone *= zones[zone] + (1 - zones[zone]) * prod(search.down[n] for n in members)
        single.append(alone)
    none_failed = _absorbed(sets, search)
    low = 1.0 if frozenset() in none_failed else _bounds(none_failed, search)[0] if none_failed else 0.0
    return max(low, *single), _any(single)


def _absorbed(sets: Sets, search: _Enumeration) -> Sets:
    """Drop sets that cannot be down or that contain another one, and nodes that are certainly down."""
    possible = {
        frozenset(n for n in one if search.down[n] < 1.0) for one in sets if all(search.down[n] > 0.0 for n in one)
    }
    if frozenset() in possible:
        return frozenset((frozenset(),))
    smallest = min(map(len, possible), default=0)
    if all(len(one) == smallest for one in possible):
        return frozenset(possible)
    by_node: dict[str, list[frozenset[str]]] = {}
    kept: set[frozenset[str]] = set()
    for one in sorted(possible, key=len):
        if any(other <= one for node in one for other in by_node.get(node, ())):
            continue
        kept.add(one)
        for node in one:
            by_node.setdefault(node, []).append(one)
    return frozenset(kept)


def _union(sets: Sets, search: _Enumeration) -> tuple[float, float]:
    """Return bounds of the probability that some set is down; *sets* are absorbed."""
    if not sets:
        return 0.0, 0.0
    if frozenset() in sets:
        return 1.0, 1.0
    bounds = [_part(part, search) for part in _parts(sets)]
    return _any(low for low, _ in bounds), _any(high for _, high in bounds)


def _any(chances: Iterable[float]) -> float:
    """Return the probability that one of several independent events happens, accurate for the smallest ones too."""
    some = 0.0
    for chance in chances:
        some += chance * (1.0 - some)
    return some


def _part(sets: Sets, search: _Enumeration) -> tuple[float, float]:
    """Branch on the node that most sets of a connected component have."""
    if len(sets) == 1:
        alone = prod(search.down[n] for n in sorted(next(iter(sets))))
        return alone, alone
    if sets in search.known:
        return search.known[sets]
    if search.work <= 0:
        return _bounds(sets, search)
    search.work -= len(sets)
    count = Counter(node for one in sets for node in one)
    node = min(count, key=lambda n: (-count[n], natural_key(n)))
    p = search.down[node]
    a = _union(_absorbed(frozenset(one - {node} for one in sets), search), search)
    b = _union(frozenset(one for one in sets if node not in one), search)
    search.known[sets] = p * a[0] + (1 - p) * b[0], p * a[1] + (1 - p) * b[1]
    return search.known[sets]


def _parts(sets: Sets) -> list[Sets]:
    """Return the connected components, which share no node, in the order of their first nodes."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for one in sets:
        first, *others = one
        parent.setdefault(first, first)
        for other in others:
            parent.setdefault(other, other)
            parent[root(other)] = root(first)
    parts: dict[str, list[frozenset[str]]] = {}
    for one in sets:
        parts.setdefault(root(next(iter(one))), []).append(one)
    components = map(frozenset, parts.values())
    return sorted(components, key=lambda part: min(natural_key(n) for one in part for n in one))


def _bounds(sets: Sets, search: _Enumeration) -> tuple[float, float]:
    """Return Harris's upper bound, and the best of the lower bounds of Bonferroni and of sets that share no node."""
    ordered = sorted((tuple(sorted(one, key=natural_key)) for one in sets), key=lambda s: [natural_key(n) for n in s])
    alone = np.array([prod(search.down[n] for n in one) for one in ordered])
    high = float(-np.expm1(np.log1p(-np.minimum(alone, 1 - 1e-16)).sum()))
    used: set[str] = set()
    apart = 0.0
    for i in np.argsort(-alone, kind="stable").tolist():
        if used.isdisjoint(ordered[i]):
            used.update(ordered[i])
            apart += float(alone[i]) * (1.0 - apart)
    return max(apart, float(alone.sum()) - _pairs(ordered, alone, search)), high


def _pairs(ordered: list[tuple[str, ...]], alone: FloatArray, search: _Enumeration) -> float:
    """Return at least the sum of P(both down) over all pairs: exactly for pairs that share at most one node."""
    members: dict[str, list[int]] = {}
    for i, one in enumerate(ordered):
        for node in one:
            members.setdefault(node, []).append(i)
    if max(map(len, members.values())) > MOST_FOR_PAIRS:
        return float("inf")
    total = (float(alone.sum()) ** 2 - float((alone**2).sum())) / 2
    for mine in members.values():
        names = sorted({n for i in mine for n in ordered[i]}, key=natural_key)
        column = {n: k for k, n in enumerate(names)}
        has = np.zeros((len(mine), len(names)))
        for row, i in enumerate(mine):
            has[row, [column[n] for n in ordered[i]]] = 1.0
        logs = np.log([search.down[n] for n in names])
        each = has @ logs
        both = np.exp(each[:, None] + each[None, :] - (has * logs) @ has.T)
        total += (float(both.sum()) - float(np.trace(both))) / 2
    return total
