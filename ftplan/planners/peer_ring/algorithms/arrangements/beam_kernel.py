"""Orders of nodes built place by place, with those that waste least kept; compiled.

Shapes: G groups of nodes that are taken in order, n nodes, B partial orders that are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import compiled
from ftplan.planners.peer_ring.algorithms.cuts.kernel import farthest


@compiled
def beam(
    sums: Any,
    cpu: Any,
    begin: Any,
    zone: Any,
    zones: Any,
    start: Any,
    limit: Any,
    kept: Any,
    parent: Any,
    chosen: Any,
) -> Any:
    """Cover the circle from *start* by arcs within the limit, nodes of zone ``zones[k]`` at place k.

    ``cpu`` (n,) is that of all nodes, group after group, and ``begin`` (G + 1,) where each group begins. Each partial
    order goes on with the next node of every group of the zone; of those, the *kept* that waste the least room are
    followed up. Their groups go into ``chosen`` (n, B), where they came from into ``parent`` (n, B). Returns the one
    that covers the circle, -1 if none does. No arc is empty.
    """
    nodes, groups, size = len(zones), len(zone), (len(sums) - 1) // 2
    goal = start + size
    total = cpu.sum()
    slack = limit * total - (sums[goal] - sums[start])
    if slack < 0.0:
        return -1
    place, used = np.empty(kept, dtype=np.int64), np.zeros(kept)
    following = np.empty((kept, groups), dtype=np.int64)
    place[0] = start
    following[0] = begin[:groups]
    many = 1
    new_place, new_used, new_waste = place.copy(), used.copy(), np.empty(kept)
    new_following = following.copy()
    for step in range(nodes):
        found = 0
        last = goal - (nodes - 1 - step)
        for one in range(many):
            for group in range(groups):
                node = following[one, group]
                if zone[group] != zones[step] or node == begin[group + 1]:
                    continue
                end = farthest(sums, place[one], limit * cpu[node], last)
                if end == place[one]:
                    continue
                after = used[one] + cpu[node]
                waste = limit * after - (sums[end] - sums[start])
                if waste > slack * (1.0 + 1e-9) + limit * total * 1e-12:
                    continue
                if found == kept and waste >= new_waste[found - 1]:
                    continue
                at, double = found, False
                while at > 0 and new_waste[at - 1] >= waste:
                    at -= 1
                    if new_place[at] == end and new_used[at] == after:
                        double = True
                        break
                if double:
                    continue
                found = min(found + 1, kept)
                for k in range(found - 1, at, -1):
                    new_place[k], new_used[k], new_waste[k] = new_place[k - 1], new_used[k - 1], new_waste[k - 1]
                    parent[step, k], chosen[step, k] = parent[step, k - 1], chosen[step, k - 1]
                new_place[at], new_used[at], new_waste[at] = end, after, waste
                parent[step, at], chosen[step, at] = one, group
        if found == 0:
            return -1
        for k in range(found):
            new_following[k] = following[parent[step, k]]
            new_following[k, chosen[step, k]] += 1
        for k in range(found):
            following[k] = new_following[k]
            place[k], used[k] = new_place[k], new_used[k]
        many = found
    for one in range(many):
        if place[one] == goal:
            return one
    return -1
