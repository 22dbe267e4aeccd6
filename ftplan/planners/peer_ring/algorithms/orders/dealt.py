"""Orders of zones on a ring by construction."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray


def possible(sizes: IntArray, width: int) -> bool:
    """Return whether each *width* neighbours can lie in zones of their own: no zone has more than floor(n / width)."""
    return width <= 1 or int(sizes.max()) <= int(sizes.sum()) // width


def dealt(sizes: IntArray, width: int) -> IntArray:
    """Return an order of zones (n,) with no zone twice among *width* neighbours, for sizes (Z,) where that is possible.

    The circle is cut into q = floor(n / width) blocks, the first n mod q of them one longer. Zones, the largest first,
    are dealt into place 1 of all blocks, then place 2 and so on, at last the extra place of the long blocks. A zone of
    q nodes fills a whole column; a smaller one that wraps leaves at least one whole block between its nodes. Cost
    O(n + Z log Z).
    """
    total = int(sizes.sum())
    blocks = max(total // max(width, 1), 1)
    length, longer = divmod(total, blocks)
    by_size = np.repeat(*_largest_first(sizes))
    places = np.full((length + 1, blocks), -1, dtype=np.int64)
    places[:length] = by_size[: length * blocks].reshape(length, blocks)
    places[length, :longer] = by_size[length * blocks :]
    order = places.T.ravel()
    return order[order >= 0]


def paired(sizes: IntArray) -> IntArray:
    """Return an order (n,) with the fewest equal neighbours where the largest zone has more than floor(n / 2) nodes.

    Every other node stands between two of the largest zone, whose runs differ by one at most: 2 m - n neighbours are
    equal, and fewer cannot be. Cost O(n).
    """
    ordered, counts = _largest_first(sizes)
    rest = np.repeat(ordered[1:], counts[1:])
    if rest.size == 0:
        return np.full(int(counts[0]), ordered[0], dtype=np.int64)
    runs = np.diff(np.arange(len(rest) + 1) * int(counts[0]) // len(rest))
    order = list[int]()
    for run, other in zip(runs.tolist(), rest.tolist(), strict=True):
        order += [int(ordered[0])] * run + [other]
    return np.array(order, dtype=np.int64)


def with_excess(sizes: IntArray, width: int) -> IntArray:
    """Return an order (n,) of zones of which some are too large: the others spread, the excess in runs beside its own.

    As many nodes as possible are dealt without a zone twice among *width* neighbours; what is left of a large zone
    stands in one run beside one of its nodes. Cost O(n Z).
    """
    spread = _spread(sizes, width)
    left = sizes - spread
    order = dealt(spread, width).tolist() if int(spread.sum()) else []
    for zone in np.flatnonzero(left).tolist():
        at = order.index(zone) if zone in order else len(order)
        order[at:at] = [zone] * int(left[zone])
    return np.array(order, dtype=np.int64)


def _spread(sizes: IntArray, width: int) -> IntArray:
    """Return how many nodes of each zone can stand without a zone twice among *width*: most in all, none if none."""
    for blocks in range(int(sizes.sum()) // width, 0, -1):
        spread = np.minimum(sizes, blocks)
        if int(spread.sum()) >= width * blocks:
            return np.asarray(spread)
    return np.zeros_like(sizes)


def _largest_first(sizes: IntArray) -> tuple[IntArray, IntArray]:
    ordered = np.argsort(-sizes, kind="stable")
    return ordered, sizes[ordered]
