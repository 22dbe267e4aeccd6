"""Cores in whole units, and what nodes can take of tasks of given sizes whatever goes where."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.scale_out.algorithms.choices import Choices
from ftplan.planners.scale_out.algorithms.room import Room

#: Units of all cores together where tasks take no multiples of a decimal.
UNITS = 2.0**40
#: Parts of a core that are tried as units, so that small numbers do.
PARTS = (1, 2, 4, 5, 8, 10, 16, 20, 40, 50, 100, 1000, 10_000, 100_000, 1_000_000)
#: Units of a node up to which it is worked out which sums of sizes there are.
SUMS = 10_000


class Cores:
    """The cores of tasks, limits and nodes in whole units; sizes by the last digits too small where none are whole.

    Attributes
    ----------
    size
        (O,) of a task of each operator.
    most
        That the new tasks of the first wave may take together; None for no limit.
    free
        (N,) on each node.
    old
        By node, how many tasks it has of each operator that may be scaled in.
    """

    def __init__(self, choices: Choices, room: Room) -> None:
        cpu = room.cpu
        for parts in PARTS:
            if np.allclose(cpu * parts, np.round(cpu * parts), rtol=0.0, atol=ROUNDING):
                self.unit = 1.0 / parts
                self.size: list[int] = np.round(cpu * parts).astype(np.int64).tolist()
                break
        else:
            self.unit = float(cpu @ [sizing.most for sizing in choices.sizings]) / UNITS
            self.size = np.floor(cpu / self.unit).astype(np.int64).tolist()
        self.most = self._within(room.cores, room.total) if np.isfinite(room.cores) else None
        problem = choices.problem
        self.free = [self._within(cores, abs(cores)) for cores in problem.free.tolist()] if problem.nodes else []
        self.old: list[dict[int, int]] = [{} for _ in problem.nodes]
        for i in choices.smaller:
            for node in problem.now[i] if problem.nodes else ():
                self.old[node][i] = self.old[node].get(i, 0) + 1

    def _within(self, cores: float, scale: float) -> int:
        """Return the units that fit into so many cores, with what rounding may add."""
        return int(np.floor((cores + ROUNDING * max(1.0, scale)) / self.unit))

    def tasks_at_least(self, size: int) -> tuple[int, dict[int, int]]:
        """Return how many tasks of a size or larger all nodes can take, and how many more for each scale-in."""
        more: dict[int, int] = {}
        for cores, old in zip(self.free, self.old, strict=True):
            for i, count in old.items():
                back, now = count * self.size[i], max(cores, 0)
                # With several on a node parts of a task may add up.
                added = max(cores + back, 0) // size - now // size if len(old) == 1 else -(-back // size)
                more[i] = more.get(i, 0) + added
        return sum(max(cores, 0) // size for cores in self.free), more

    def units_of(self, sizes: Iterable[int]) -> tuple[int, dict[int, int]]:
        """Return the units of all nodes that tasks of some sizes can take, and how many more for each scale-in."""
        most = max(self.free, default=0)
        sums = np.arange(min(most, SUMS) + 1)
        if 0 < most <= SUMS:
            taken = np.zeros(most + 1, dtype=np.bool_)
            taken[0] = True
            for size in sizes:
                for start in range(size, most + 1):
                    taken[start] |= taken[start - size]
            sums = np.maximum.accumulate(np.where(taken, np.arange(most + 1), 0))
        total, more = 0, dict[int, int]()
        for cores, old in zip(self.free, self.old, strict=True):
            total += 0 if cores <= 0 else cores if old or most > SUMS else int(sums[cores])
            for i, count in old.items():
                more[i] = more.get(i, 0) + count * self.size[i]
        return total, more
