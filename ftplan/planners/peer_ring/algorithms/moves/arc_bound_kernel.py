"""What arcs cost at least by themselves, and the cheapest closed chain of them; compiled.

The circle is cut into *blocks* of positions. Where blocks are single positions an arc begins with a block and covers it
(*inner* is 0); else it begins somewhere in a block and covers those between that and the block of its end (*inner* is
1). An arc that covers c blocks ends c + *inner* blocks after its first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import compiled


@compiled
def arc_costs(
    loads: Any, worth: Any, begin: Any, node: Any, held: Any, limit: float, walk: int, inner: int, offset: Any,
    cost: Any, load: Any, nodes: int,
) -> Any:  # fmt: skip
    """Return how many arcs keep the limit, and in *cost*, (arcs, walk + 1), what each costs at least, and its *load*.

    If k of its ``walk`` holders hold nothing yet, an arc costs k times its worth, and what the best others lack. *node*
    and *held* list the nodes that hold something of a block, from ``begin[block]`` on, and the worth of it, above 0.
    *offset*, (blocks + 1,), takes where the arcs of a block are, by what they cover. Where *load* is empty arcs are
    only counted.
    """
    blocks = len(loads)
    score = np.zeros(nodes)
    touched = np.zeros(nodes, dtype=np.int64)
    top = np.zeros(walk + 1)
    total = 0
    for first in range(blocks):
        offset[first] = total
        sum_load, weight, count = 0.0, 0.0, 0
        for covered in range(blocks - inner + 1):
            if covered > 0:
                block = (first + inner + covered - 1) % blocks
                sum_load += loads[block]
                if sum_load > limit:
                    break
                weight += worth[block]
                for i in range(begin[block], begin[block + 1]):
                    if score[node[i]] == 0.0:
                        touched[count] = node[i]
                        count += 1
                    score[node[i]] += held[i]
            elif inner == 0:
                continue
            if len(load):
                top[:] = 0.0
                for i in range(count):
                    value = score[touched[i]]
                    at = walk
                    while at > 0 and top[at - 1] < value:
                        top[at] = top[at - 1]
                        at -= 1
                    top[at] = value
                kept = 0.0
                for best in range(walk + 1):
                    cost[total, walk - best] = walk * weight - kept
                    kept += top[best]
                load[total] = sum_load
            total += 1
        for i in range(count):
            score[touched[i]] = 0.0
    offset[blocks] = total
    return total


@compiled
def cheapest_chain(
    start: int, span: int, offset: Any, cost: Any, load: Any, stay_limit: float, join_limit: float, stay_price: float,
    join_price: float, joins: int, walk: int, inner: int, openings: int,
) -> Any:  # fmt: skip
    """Return the least cost of arcs around the circle, each with the price of its kind.

    They begin in one of *span* blocks from block *start* on, and end in one of these one turn later.

    The slots of a window that join are a pattern, bit j for the j-th; where some join, at least one arc is of their
    kind. The window at the end is that at the start, one of the first *openings* patterns. Cost O(arcs 4^walk).
    """
    blocks = len(offset) - 1
    patterns = 1 << walk if joins > 0 else 1
    marks = np.zeros(patterns, dtype=np.int64)
    for p in range(patterns):
        for j in range(walk):
            marks[p] += (p >> j) & 1
    least = np.inf
    for opening in range(min(patterns, openings)):
        if marks[opening] > joins:
            continue
        best = np.full((blocks + span, 2 * patterns), np.inf)
        best[:span, 2 * opening] = 0.0
        for place in range(blocks + span - 1):
            block = (start + place) % blocks
            for _ in range(inner * (walk + 1)):  # arcs within a block
                for state in range(2 * patterns):
                    if best[place, state] < np.inf:
                        p, seen = state // 2, state % 2
                        own = p & 1
                        value = best[place, state] + (join_price if own else stay_price)
                        for bit in range(2 if patterns > 1 else 1):
                            q = (p >> 1) | (bit << (walk - 1))
                            if marks[q] <= joins:
                                to = 2 * q + (seen | own)
                                best[place, to] = min(best[place, to], value)
            for state in range(2 * patterns):
                if best[place, state] == np.inf:
                    continue
                p, seen = state // 2, state % 2
                own = p & 1
                value = best[place, state] + (join_price if own else stay_price)
                limit = join_limit if own else stay_limit
                to = 2 * (p >> 1) + (seen | own)
                other = to + 2 * (1 << (walk - 1)) if patterns > 1 and marks[p >> 1] < joins else to
                end = place + inner + (1 if inner == 0 else 0)
                for arc in range(offset[block], offset[block + 1]):
                    if end >= blocks + span or load[arc] > limit:
                        break
                    price = value + cost[arc, marks[p]]
                    if price < best[end, to]:
                        best[end, to] = price
                    if price < best[end, other]:
                        best[end, other] = price
                    end += 1
        for end in range(blocks, blocks + span):
            least = min(least, best[end, 2 * opening + (1 if joins > 0 else 0)])
    return least
