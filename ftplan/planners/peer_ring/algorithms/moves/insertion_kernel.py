"""Between which nodes of a ring others join, so that the fewest bytes travel: dynamic programming; compiled.

Slots are dealt one after the other, to the next node that stays or to one that joins. What a slot costs depends on the
``walk`` slots from it on: a *pattern* says which of them join, bit j for the j-th. Those that join are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import compiled


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
