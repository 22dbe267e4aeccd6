"""Branch and bound for the heaviest allowed set, with bounds from cliques of conflicts; compiled."""

from __future__ import annotations

from typing import Any

from ftplan.compiled import compiled, inlined

#: Bits of a word of a set of nodes; the last bit is not used, so that words stay positive.
BITS = 62


@inlined
def lowest(word: Any) -> Any:
    """Return the place of the lowest bit of a positive word."""
    place = 0
    if word & 0x7FFFFFFF == 0:
        word >>= 31
        place = 31
    if word & 0xFFFF == 0:
        word >>= 16
        place += 16
    if word & 0xFF == 0:
        word >>= 8
        place += 8
    if word & 0xF == 0:
        word >>= 4
        place += 4
    if word & 0x3 == 0:
        word >>= 2
        place += 2
    if word & 0x1 == 0:
        place += 1
    return place


@compiled
def branch_set(open_set: Any, conflict: Any, weight: Any, target: Any, left: Any, clique: Any, part: Any) -> Any:
    """Return how much of *target* cliques leave, and put into *open_set* the nodes that they do not cover with it.

    An allowed set has at most one node of each clique of conflicts. Cliques with amounts cover a node where the amounts
    of those it is in sum to its weight: then no allowed set among the covered nodes weighs more than all amounts
    ([Held2012], a weighted colouring). *left*, *clique* and *part* are scratch.
    """
    words = len(open_set)
    for k in range(words):
        word = open_set[k]
        while word:
            low = word & -word
            v = k * BITS + lowest(low)
            left[v] = weight[v]
            word ^= low
    for k in range(words):
        while open_set[k] and target > 0:
            v = k * BITS + lowest(open_set[k] & -open_set[k])
            size = 1
            clique[0] = v
            amount = left[v]
            for q in range(words):
                part[q] = open_set[q] & conflict[v, q]
            for q in range(k, words):
                while part[q]:
                    u = q * BITS + lowest(part[q] & -part[q])
                    clique[size] = u
                    size += 1
                    if left[u] < amount:
                        amount = left[u]
                    for r in range(q, words):
                        part[r] &= conflict[u, r]
            if amount > target:
                amount = target
            target -= amount
            for i in range(size):
                u = clique[i]
                left[u] -= amount
                if left[u] == 0:
                    open_set[u // BITS] &= ~(1 << (u % BITS))
        if target == 0:
            break
    return target


@compiled
def search(  # all arguments are the state of one search, which goes on where it stopped
    conflict: Any,  # (m, words) sets of nodes that never go with each
    weight: Any,  # (m,) whole numbers > 0
    zone: Any,  # (m,)
    per_zone: Any,
    most: Any,
    rows: Any,  # (R, m) and
    limit: Any,  # (R,): no set weighs more by a row
    shared: Any,  # (m, m) output that two nodes both lose, or (0, 0): output is not limited, or not looked at
    most_lost: Any,
    lost: Any,  # (m + 1,) output lost at least, by depth
    adds: Any,  # (m + 1, m) what each node would add to it at least, by depth
    depth: Any,
    candidates: Any,  # (m + 1, words) by depth: nodes that may still join
    branches: Any,  # (m + 1, words) those that must be tried
    chosen: Any,  # (m + 1,)
    reached: Any,  # (m + 1,) weight by depth
    used: Any,  # (m + 1, R) by rows
    by_zone: Any,  # (zones,) nodes chosen
    best: Any,  # (m + 1,) the heaviest set so far, -1 behind it
    heaviest: Any,
    steps: Any,
    scratch: Any,  # (2, m + 1)
    part: Any,  # (words,)
) -> tuple[Any, Any, Any]:
    """Go on for some steps, or to the next set that is heavier than all so far, which is not grown any further.

    Returns the depth, -1 at the end, the weight of the heaviest set so far, and the steps that are left.

    Lost output is the chance of a union of events: at least the sum of the single ones less that of the pairs
    (Bonferroni). Each part of an allowed set is allowed too, so that a branch ends where this is too much.
    """
    words = conflict.shape[1]
    count = len(weight)
    while depth >= 0 and steps > 0:
        v = -1
        for k in range(words - 1, -1, -1):
            if branches[depth, k]:
                word = branches[depth, k]
                high = 0
                for shift in (32, 16, 8, 4, 2, 1):
                    if word >> shift:
                        word >>= shift
                        high += shift
                v = k * BITS + high
                break
        if v < 0:
            depth -= 1
            if depth >= 0:
                by_zone[zone[chosen[depth]]] -= 1
            continue
        steps -= 1
        bit = 1 << (v % BITS)
        branches[depth, v // BITS] &= ~bit
        candidates[depth, v // BITS] &= ~bit
        fits = by_zone[zone[v]] < per_zone and depth < most
        for r in range(len(limit)):
            if used[depth, r] + rows[r, v] > limit[r]:
                fits = False
        if not fits:
            continue
        by_pairs = len(shared) > 0
        if by_pairs and lost[depth] + adds[depth, v] > most_lost:
            continue
        total = reached[depth] + weight[v]
        chosen[depth] = v
        if total > heaviest:
            heaviest = total
            for d in range(depth + 1):
                best[d] = chosen[d]
            best[depth + 1] = -1
            return depth, heaviest, steps
        if depth + 1 >= most:
            continue
        for r in range(len(limit)):
            used[depth + 1, r] = used[depth, r] + rows[r, v]
        if by_pairs:
            lost[depth + 1] = lost[depth] + adds[depth, v]
        full = by_zone[zone[v]] + 1 >= per_zone
        largest = 0
        for k in range(words):
            here = candidates[depth, k] & ~conflict[v, k]
            if full or by_pairs or len(limit):
                word = here
                while word:
                    low = word & -word
                    u = k * BITS + lowest(low)
                    word ^= low
                    out = full and zone[u] == zone[v]
                    for r in range(len(limit)):
                        if used[depth + 1, r] + rows[r, u] > limit[r]:
                            out = True
                    if by_pairs:
                        adds[depth + 1, u] = adds[depth, u] - shared[v, u]
                        out = out or lost[depth + 1] + adds[depth + 1, u] > most_lost
                    if out:
                        here &= ~low
            candidates[depth + 1, k] = here
            branches[depth + 1, k] = here
            if most < count:
                while here:
                    low = here & -here
                    here ^= low
                    u = k * BITS + lowest(low)
                    if weight[u] > largest:
                        largest = weight[u]
        target = heaviest - total
        if most < count and (most - depth - 1) * largest <= target:
            continue
        branch_set(branches[depth + 1], conflict, weight, target, scratch[0], scratch[1], part)
        depth += 1
        reached[depth] = total
        by_zone[zone[v]] += 1
    return depth, heaviest, steps
