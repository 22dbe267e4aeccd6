"""A heap of numbers by the time that each has in a row, with the place of each number: -1 outside."""

from __future__ import annotations

from ftplan.compiled import in_place


@in_place
def sink(key: list[float], heap: list[int], place: list[int], at: int, size: int) -> None:
    """Let an entry of a heap sink to where its key belongs."""
    entry = heap[at]
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and key[heap[below + 1]] < key[heap[below]]:
            below += 1
        if key[entry] <= key[heap[below]]:
            break
        heap[at] = heap[below]
        place[heap[below]] = at
        at = below
    heap[at] = entry
    place[entry] = at


@in_place
def schedule(key: list[float], heap: list[int], place: list[int], size: int, entry: int) -> int:
    """Put an entry into a heap, or move it to where its key belongs now; return the heap's size."""
    at = place[entry]
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = heap[(at - 1) // 2]
        if key[above] <= key[entry]:
            break
        heap[at] = above
        place[above] = at
        at = (at - 1) // 2
    heap[at] = entry
    place[entry] = at
    sink(key, heap, place, at, size)
    return size


@in_place
def pop(key: list[float], heap: list[int], place: list[int], size: int) -> int:
    """Return the first entry of a heap, and put it behind the others."""
    entry, last = heap[0], heap[size - 1]
    heap[0], heap[size - 1] = last, entry
    place[last] = 0
    sink(key, heap, place, 0, size - 1)
    place[entry] = -1
    return entry
