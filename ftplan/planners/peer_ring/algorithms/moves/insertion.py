"""Between which nodes of a ring others join: good orders that keep the circle of those that stay.

Dynamic programming, compiled: slots are dealt one after the other, to the next node that stays or to one that joins.
What a slot costs depends on the ``walk`` slots from it on: a *pattern* says which of them join, bit j for the j-th.
Those that join are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import compiled
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.moves.cuts import RingChange, least_bytes, plain_or_compiled


@compiled
def repeated(zone: Any, stays: Any, pattern: int, walk: int, joining: Any) -> Any:
    """Return whether two of the nodes of a window have one zone: *stays* is the first that stays of them.

    *joining* are the zones of those that join: they repeat one only where all of them would.
    """
    n = len(zone)
    seen = 0
    for j in range(walk):
        if (pattern >> j) & 1 == 0:
            for i in range(seen):
                if zone[(stays + i) % n] == zone[(stays + seen) % n]:
                    return True
            seen += 1
    join = walk - seen
    if join == 0:
        return False
    free = 0
    for z in range(len(joining)):
        met = False
        for i in range(seen):
            met = met or zone[(stays + i) % n] == joining[z]
        if not met:
            free += 1
    return free < join


@compiled
def insert(
    sums: Any, worth: Any, limit: Any, join_limit: float, zone: Any, joining: Any, penalty: float, joins: int,
    walk: int, begin: Any, atom: Any, patterns: Any, low: Any, high: Any, least: Any, width: int, came: Any, dealt: Any,
) -> Any:  # fmt: skip
    """Return about what it costs, and in *dealt*, (n,), which slots join: 0 or 1.

    *low* and *high*, (n + 1, width), are the first and last place of a cut after ``least[slot] + t`` joined. *came*,
    (n + 1, width, patterns, places), takes the place of the cut before, and in its lowest bit whether its slot joined.
    The first slot stays, and none of the window after it joins. The last cut need not close the circle.
    """
    slots, size, stay = len(least) - 1, len(worth), len(limit)
    count, places = came.shape[2], came.shape[3]
    best = np.full((width, count, places), np.inf)
    after = np.full((width, count, places), np.inf)
    number = np.full(1 << walk, -1, dtype=np.int64)
    for p in range(count):
        number[patterns[p]] = p
    have = np.zeros(size, dtype=np.int64)
    cost = np.zeros(size + 3 * places)
    queue = np.zeros(places, dtype=np.int64)
    value = np.zeros(places)
    for i in range(high[0, 0] - low[0, 0] + 1):
        best[0, number[0], i] = 0.0
    for slot in range(slots):
        after[:] = np.inf
        for t in range(width):
            joined = least[slot] + t
            stays = slot - joined
            if joined > joins or stays < 0 or stays > stay:
                continue
            for p in range(count):
                pattern = patterns[p]
                own = pattern & 1
                if own == 0 and stays == stay:
                    continue
                base, top = low[slot, t], high[slot, t]
                any_open = False
                for i in range(top - base + 1):
                    any_open = any_open or best[t, p, i] < np.inf
                t_after = joined + own - least[slot + 1]
                if not any_open or t_after < 0 or t_after >= width:
                    continue
                first, last = low[slot + 1, t_after], high[slot + 1, t_after]
                if last < first:
                    continue
                seen = 0
                for j in range(walk):
                    if (pattern >> j) & 1 == 0:
                        node = (stays + seen) % stay
                        seen += 1
                        for i in range(begin[node], begin[node + 1]):
                            have[atom[i]] += 1
                total = 0.0
                for i in range(max(last, top) - base + 1):
                    cost[i] = total
                    place = (base + i) % size
                    total += worth[place] * (walk - have[place])
                seen = 0
                for j in range(walk):
                    if (pattern >> j) & 1 == 0:
                        node = (stays + seen) % stay
                        seen += 1
                        for i in range(begin[node], begin[node + 1]):
                            have[atom[i]] = 0
                extra = penalty if repeated(zone, stays, pattern, walk, joining) else 0.0
                most = join_limit if own else limit[stays % stay]
                front, back, a = 0, 0, base
                for b in range(first, last + 1):
                    while a < b and a <= top:
                        now = best[t, p, a - base] - cost[a - base]
                        while back > front and value[back - 1] > now:
                            back -= 1
                        queue[back], value[back] = a, now
                        back += 1
                        a += 1
                    while front < back and sums[b] - sums[queue[front]] > most:
                        front += 1
                    if front == back or b < base:
                        continue
                    worth_it = value[front] + cost[b - base] + extra
                    for bit in range(2):
                        follows = (pattern >> 1) | (bit << (walk - 1))
                        q = number[follows]
                        if q >= 0 and worth_it < after[t_after, q, b - first]:
                            after[t_after, q, b - first] = worth_it
                            came[slot + 1, t_after, q, b - first] = 2 * queue[front] + own
        best, after = after, best
    t = joins - least[slots]
    p, at = number[0], 0
    for i in range(high[slots, t] - low[slots, t] + 1):
        if best[t, p, i] < best[t, p, at]:
            at = i
    answer = best[t, p, at]
    if answer == np.inf:
        return answer
    pattern, place = 0, low[slots, t] + at
    for slot in range(slots, 0, -1):
        packed = came[slot, t, number[pattern], place - low[slot, t]]
        own = packed & 1
        joined = least[slot] + t - own
        pattern = ((pattern << 1) | own) & ((1 << walk) - 1)
        dealt[slot - 1] = own
        t = joined - least[slot - 1]
        place = packed // 2
    return answer


#: Arcs of the nodes that stay by which a cut may lie away from where it would be if nobody joined.
MOST_ARCS_AWAY = 3
#: How many more or fewer nodes may have joined up to a slot than if they joined evenly.
MOST_NODES_AHEAD = 12
#: Most states whose way back is kept, four bytes each.
MOST_STATES = 40_000_000
#: Most windows of slots, as patterns of those that join.
MOST_PATTERNS = 32


def order_with_joins(
    change: RingChange, stays: IntArray, joins: IntArray, load: float, budget: Budget
) -> IntArray | None:
    """Return an order where *joins* stand between *stays*, or None; at about the fewest bytes for a largest load.

    Nodes that join count as alike, of mean cpu: each goes to the first place where it repeats no zone. Good, not
    proven. Cost O(slots (joins) 2^walk places).
    """
    if not len(joins):
        return stays
    best: tuple[float, IntArray] | None = None
    for turn in sorted({0, len(stays) // 2}):  # none joins close to the first slot: look from the other side too
        found = _from(change, np.roll(stays, -turn), joins, load, budget)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return None if best is None else best[1]


def _from(
    change: RingChange, stays: IntArray, joins: IntArray, load: float, budget: Budget
) -> tuple[float, IntArray] | None:
    problem, walk, slots = change.problem, change.walk, len(stays) + len(joins)
    size = len(problem.position)
    if len(stays) <= walk or slots > size or budget.over():
        return None
    cuts = _without(change, stays, load, budget)
    if cuts is None:
        return None
    patterns = _patterns(walk)
    for near in range(MOST_ARCS_AWAY, 0, -1):
        least, width = _joined_by(len(joins), slots)
        low, high = _bands(cuts, size, least, width, slots, near)
        places = int((high - low).max()) + 1
        if (slots + 1) * width * len(patterns) * places <= MOST_STATES:
            break
    else:
        return None
    came = np.zeros((slots + 1, width, len(patterns), places), dtype=np.int32)
    dealt = np.zeros(slots, dtype=np.int64)
    begin, atom = change.slots(stays)
    limit = change.limits(stays, load)
    join_limit = float(change.limits(joins, load).mean())
    joining = problem.zone[joins]
    penalty = 2.0 * walk * float(problem.worth.sum()) + 1.0
    cost = np.inf
    for closed in (True, False):  # the first node keeps its cut, or else the circle need not close
        if closed:
            low[0], high[0], low[slots], high[slots] = (
                cuts[0] + size,
                cuts[0] + size,
                cuts[0] + 2 * size,
                cuts[0] + 2 * size,
            )
        else:
            low, high = _bands(cuts, size, least, width, slots, near)
        cost = plain_or_compiled(insert, 10.0 * came.size)(
            change.sums, problem.worth, limit, join_limit, problem.zone[stays], joining, penalty, len(joins), walk,
            begin, atom, patterns, low, high, least, width, came, dealt,
        )  # fmt: skip
        if cost < np.inf:
            break
    return None if np.isinf(cost) else (float(cost), _order_of(change, stays, joins, dealt))


def _without(change: RingChange, stays: IntArray, load: float, budget: Budget) -> IntArray | None:
    """Return the cuts of those that stay if nobody joined and they shared all load, ascending."""
    cpu = change.problem.cpu
    more = float(change.problem.cpu[change.problem.members].sum() / cpu[stays].sum())
    for factor in (1.0, 1.05, 1.25, np.inf):
        found = least_bytes(change, stays, load * more * factor, budget, enough=1e300)
        if found.first is not None:
            size = len(change.problem.position)
            return np.asarray(found.first[0] + (found.first - found.first[0]) % size)
    return None


def _patterns(walk: int) -> IntArray:
    """Return which slots of a window may join, as bits: any, or in long windows few."""
    if 1 << walk <= MOST_PATTERNS:
        return np.arange(1 << walk)
    return np.array([0] + [1 << j for j in range(walk)])


def _joined_by(joins: int, slots: int) -> tuple[IntArray, int]:
    """Return how many have joined before each slot at least, (slots + 1,), and of how many numbers one is possible."""
    even = np.arange(slots + 1) * joins // slots
    least = np.clip(even - MOST_NODES_AHEAD, 0, joins)
    return least, int(min(joins, 2 * MOST_NODES_AHEAD + 1)) + 1


def _bands(cuts: IntArray, size: int, least: IntArray, width: int, slots: int, near: int) -> tuple[IntArray, IntArray]:
    """Return first and last place of each cut after so many have joined, (slots + 1, width), on the second turn."""
    stay = len(cuts)
    if stay <= 2 * near + 1:
        low = np.repeat(np.arange(slots + 1), width).reshape(slots + 1, width)
        return low, np.minimum(low + 2 * size - 1, 4 * size)
    around = np.concatenate([cuts, cuts + size, cuts + 2 * size, cuts + 3 * size])
    stays = np.arange(slots + 1)[:, None] - least[:, None] - np.arange(width)[None, :] + stay
    low = around[np.clip(stays - near, 0, 4 * stay - 1)]
    high = around[np.clip(stays + near, 0, 4 * stay - 1)]
    return low, np.minimum(high, 4 * size)


def _order_of(change: RingChange, stays: IntArray, joins: IntArray, dealt: IntArray) -> IntArray:
    """Return the order: nodes that stay one after the other, and in slots that join the first one of a new zone."""
    zone, reach = change.problem.zone, change.walk - 1
    order = np.full(len(dealt), -1, dtype=np.int64)
    order[dealt == 0] = stays
    left = joins.tolist()
    for slot in np.flatnonzero(dealt).tolist():
        around = order[(slot + np.arange(-reach, reach + 1)) % len(order)]
        zones = set(zone[around[around >= 0]].tolist())
        node = next((node for node in left if int(zone[node]) not in zones), left[0])
        left.remove(node)
        order[slot] = node
    return order
