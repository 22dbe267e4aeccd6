"""How much of each node's room tasks of given sizes can use."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray


def fillable(room: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return how much of each host's room tasks of some sizes can use at most, shape (hosts,).

    The largest subset sum, never too small: sums are counted in millionths of a core, sizes rounded down and room
    rounded up, and what rounding took off the sizes comes on top for as many tasks as a host can hold. Where there are
    more than 64 sizes or the sums too many, or a size is less than a millionth, the room itself is it.

    Parameters
    ----------
    room
        Cores left on each host.
    sizes
        Cores of the tasks that may be placed, any number of each.
    """
    sizes = sizes[sizes > 0.0]
    floors = np.floor(sizes * 1e6 + 1e-3).astype(np.int64)
    units = np.unique(floors)
    if len(units) == 0 or units[0] == 0:
        return room.copy()
    unit = int(np.gcd.reduce(units))
    room = np.maximum(room, 0.0)
    have = np.ceil(room * 1e6 - 1e-3).astype(np.int64) // unit
    lost = max(0.0, float((sizes - floors * 1e-6).max()))
    slack = lost * np.ceil(room / float(sizes.min())) + 1e-9
    answer: FloatArray = np.minimum(room, have * unit * 1e-6 + slack)
    answer[have * unit < units[0]] = 0.0
    if len(units) > 64 or int(have.max(initial=0)) > 20_000:
        return answer
    largest = _largest_sums((units // unit).tolist(), int(have.max(initial=0)))
    attainable = np.array([largest[h] for h in have.tolist()], dtype=np.float64) * unit * 1e-6
    return np.asarray(np.minimum(answer, attainable + slack), dtype=np.float64)


def _largest_sums(sizes: list[int], limit: int) -> list[int]:
    """Return for each number up to a limit the largest sum of sizes, each used any number of times, not above it."""
    reached, mask = 1, (1 << (limit + 1)) - 1
    for size in sizes:
        shift = size
        while shift <= limit:
            reached |= (reached << shift) & mask
            shift *= 2
    largest, best = [], 0
    for number in range(limit + 1):
        if reached >> number & 1:
            best = number
        largest.append(best)
    return largest
