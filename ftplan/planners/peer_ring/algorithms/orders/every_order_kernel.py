"""How far arcs reach that begin at one place, for every choice of nodes that come first; compiled.

Shapes: C classes, S choices of how many of each are taken, H histories of the last zones, V + 1 numbers of windows with
a zone twice. Choices are numbered so that a larger one comes later.
"""

from __future__ import annotations

from typing import Any

from ftplan.compiled import compiled


@compiled
def reaching(sums: Any, most: Any, ends: Any) -> Any:
    """Put the last end of an arc from each place whose load is at most *most* (K,) into *ends* (K, 2M + 1)."""
    for kind in range(len(most)):
        end = 0
        for start in range(len(sums)):
            end = max(end, start)
            while end + 1 < len(sums) and sums[end + 1] - sums[start] <= most[kind]:
                end += 1
            ends[kind, start] = end


@compiled
def crowding(repeated: Any, history: Any, first: Any, zones: Any, histories: Any) -> Any:
    """Return how many windows over the end of the circle have a zone twice."""
    several, step = 0, histories
    while step > 1:
        step //= zones
        following = history * zones + first // step % zones
        several += repeated[following]
        history = following % histories
    return several


@compiled
def reached(
    sums: Any,
    ends: Any,
    kind: Any,
    zone: Any,
    count: Any,
    stride: Any,
    taken: Any,
    left: Any,
    repeated: Any,
    zones: Any,
    width: Any,
    start: Any,
    first: Any,
    most: Any,
    limit: Any,
    far: Any,
) -> Any:
    """Fill *far* (S, H, V + 1) with the farthest place that the arcs of a choice reach, -1 for none.

    Returns the number in (H, V + 1) of a way with which all nodes cover the circle from *start*, -1 for none.
    Arcs may be empty where a position is too heavy for a node; ``first`` is the history that the first width - 1 nodes
    have to make, ``most`` the windows that may have a zone twice.
    """
    choices, histories, windows = far.shape
    size, nodes = (len(sums) - 1) // 2, count.sum()
    goal = start + size
    far[:] = -1
    far[0, 0, 0] = start
    for choice in range(choices - 1):
        placed = 0
        for group in range(len(count)):
            placed += taken[choice, group]
        for history in range(histories):
            for several in range(windows):
                place = far[choice, history, several]
                if place < 0 or sums[goal] - sums[place] > limit * left[choice]:
                    continue
                step = histories
                for _ in range(min(placed + 1, width - 1)):
                    step //= zones
                for group in range(len(count)):
                    if taken[choice, group] == count[group]:
                        continue
                    if placed < width - 1 and first // step % zones != zone[group]:
                        continue
                    following = history * zones + zone[group]
                    then = several + (repeated[following] if placed >= width - 1 else 0)
                    if then > most:
                        continue
                    end = min(ends[kind[group], place], goal - (nodes - placed - 1))
                    after = following % histories
                    if end > far[choice + stride[group], after, then]:
                        far[choice + stride[group], after, then] = end
    for history in range(histories):
        for several in range(windows):
            if far[choices - 1, history, several] != goal:
                continue
            if several + crowding(repeated, history, first, zones, histories) <= most:
                return history * windows + several
    return -1


@compiled
def reached_exactly(
    sums: Any,
    kind: Any,
    zone: Any,
    count: Any,
    stride: Any,
    taken: Any,
    left: Any,
    repeated: Any,
    zones: Any,
    width: Any,
    start: Any,
    first: Any,
    most: Any,
    limit: Any,
    loads: Any,
    there: Any,
) -> Any:
    """Fill *there* (S, H, V + 1, M + 1) with every place, counted from *start*, that arcs reach, none of them empty.

    As :func:`reached` otherwise; ``loads`` (K,) is what an arc of each kind may have.
    """
    choices, histories, windows, places = there.shape
    goal, nodes = places - 1, count.sum()
    there[:] = False
    there[0, 0, 0, 0] = True
    for choice in range(choices - 1):
        placed = 0
        for group in range(len(count)):
            placed += taken[choice, group]
        for history in range(histories):
            for several in range(windows):
                if not there[choice, history, several].any():
                    continue
                step = histories
                for _ in range(min(placed + 1, width - 1)):
                    step //= zones
                for group in range(len(count)):
                    if taken[choice, group] == count[group]:
                        continue
                    if placed < width - 1 and first // step % zones != zone[group]:
                        continue
                    following = history * zones + zone[group]
                    then = several + (repeated[following] if placed >= width - 1 else 0)
                    if then > most:
                        continue
                    from_place, after = -1, following % histories
                    for place in range(1, goal - (nodes - placed - 1) + 1):
                        if there[choice, history, several, place - 1]:
                            from_place = place - 1
                        if from_place < 0 or sums[start + place] - sums[start + from_place] > loads[kind[group]]:
                            continue
                        if sums[start + goal] - sums[start + place] <= limit * left[choice + stride[group]]:
                            there[choice + stride[group], after, then, place] = True
    for history in range(histories):
        for several in range(windows):
            if not there[choices - 1, history, several, goal]:
                continue
            if several + crowding(repeated, history, first, zones, histories) <= most:
                return history * windows + several
    return -1
