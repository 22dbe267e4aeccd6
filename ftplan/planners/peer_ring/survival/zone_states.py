"""Which zones fail together: states in which loss is certain, and those in which it depends on the nodes.

Shapes: Z zones that may fail, F states.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem

#: Most numbers that all steps copy, zones times zones for each state, and most looks whether a state is fatal.
MOST_COPIED, MOST_FATAL_CHECKS = 3e8, 2e8


class ZoneStates(NamedTuple):
    """States of all zones, by probability: those that lose something anyway, those to look into, and those left out."""

    certain: float  # probability of all states in which failed zones alone take a copyset
    weight: FloatArray  # (F,) probability of each other state
    failed: BoolArray  # (F, Z) the zones that failed in it
    left: float  # probability of the states that were not looked at; 0 where all were


def own_probabilities(problem: RingProblem, holders: IntArray) -> tuple[FloatArray, IntArray]:
    """Return (N,) probabilities of nodes, and the zones that take several of *holders* with them.

    A zone with one of these nodes fails that one only, so that it counts as a part of the node's own probability.
    """
    count = np.bincount(problem.zone[holders], minlength=len(problem.zones))
    alone = np.where(count[problem.zone] == 1, problem.zone_down[problem.zone], 0.0)
    return problem.down + (1.0 - problem.down) * alone, np.flatnonzero((count > 1) & (problem.zone_down > 0.0))


def zone_states(probability: FloatArray, fatal: Collection[int], most: int) -> ZoneStates:
    """Return the states of zones with these failure probabilities, (Z,), at most *most* of those to look into.

    *fatal* are sets of zones, as bits, whose loss alone loses something. Zones are decided one after another, for all
    states at once; one ends where it is fatal, and where there are too many the least likely are left out. All sums
    have positive terms only, so that the smallest probabilities are accurate. Exact where nothing is left.
    """
    total = len(probability)
    if 0 in fatal:
        return ZoneStates(1.0, np.zeros(0), np.zeros((0, total), dtype=np.bool_), 0.0)
    ends = _by_last_zone(fatal, total)
    most = max(1, int(min(most, MOST_COPIED / max(total, 1) ** 2, MOST_FATAL_CHECKS / max(len(fatal), 1))))
    weight, failed, certain, left = np.ones(1), np.zeros((1, total), dtype=np.bool_), 0.0, 0.0
    for zone, q in enumerate(probability.tolist()):
        fallen = failed.copy()
        fallen[:, zone] = True
        lost = np.zeros(len(weight), dtype=np.bool_)
        for one in ends[zone]:
            lost |= fallen[:, one].all(axis=1)
        certain += float((weight[lost] * q).sum())
        weight = np.concatenate([weight * (1.0 - q), weight[~lost] * q])
        failed = np.concatenate([failed, fallen[~lost]])
        order = np.argsort(-weight, kind="stable")
        left += float(weight[order[most:]].sum())
        chosen = order[:most][weight[order[:most]] > 0.0]
        weight, failed = weight[chosen], failed[chosen]
    return ZoneStates(certain, weight, failed, left)


def _by_last_zone(fatal: Collection[int], total: int) -> list[list[list[int]]]:
    """Return the sets as lists of zones, by the zone that is decided last."""
    ends: list[list[list[int]]] = [[] for _ in range(total)]
    for one in sorted(set(fatal)):
        zones = [zone for zone in range(total) if one >> zone & 1]
        ends[zones[-1]].append(zones)
    return ends


def fatal_masks(
    rows: IntArray, zone: IntArray, probability: FloatArray, zones: IntArray, last: tuple[IntArray, IntArray] | None
) -> set[int]:
    """Return the sets of *zones*, as bits, whose loss takes all nodes of some row, (S, C), that may be up.

    *zone*, *probability*: (N,) of each node; nodes that are down for certain need no zone to fail. *last*: (S,) the
    node that holds each row's last copy, if that is not in the row, and all such nodes in order: they fail as zones do,
    numbered after these.
    """
    place = np.full(int(zone.max()) + 1, -1, dtype=np.int64)
    place[zones] = np.arange(len(zones))
    at = np.sort(np.where(probability[rows] >= 1.0, len(zones), place[zone[rows]]), axis=1)
    holder = np.full(len(rows), -1, dtype=np.int64) if last is None else last[0]
    found = set()
    for *row, node in np.unique(np.column_stack([at, holder])[(at >= 0).all(axis=1)], axis=0).tolist():
        mask = _mask(row, len(zones))
        if node < 0 or probability[node] >= 1.0:
            found.add(mask)
            continue
        assert last is not None
        found.add(mask | 1 << len(zones) + int(np.searchsorted(last[1], node)))
        if place[zone[node]] >= 0:
            found.add(mask | 1 << int(place[zone[node]]))
    return found


def _mask(row: Sequence[int], outside: int) -> int:
    mask = 0
    for zone in row:
        if zone != outside:
            mask |= 1 << zone
    return mask
