"""How busy the busiest task of an operator is at each parallelism, and which parallelisms are worth a look."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ftplan.metrics.scaling_effects import even_ranges, highest_use, share_at
from ftplan.metrics.scaling_problem import ScalableOperator, Split
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.planners.scale_out.splits import Splitting

#: Parallelisms beyond the chosen one, as a multiple of it, that are looked at for traps.
TRAPS_UP_TO = 4


class Size(NamedTuple):
    """A parallelism, and the use of the busiest task with it."""

    parallelism: int
    highest: float


class Trap(NamedTuple):
    """A parallelism whose busiest task is busier than with a smaller one, and which that is."""

    parallelism: int
    highest: float
    smaller: Size


class Sizing:
    """The parallelisms of one operator, at the demand that it is sized for.

    Parameters
    ----------
    split
        ``load``: contiguous ranges whose largest use is least, so that more tasks never are busier. ``hash``: ranges of
        even number, where they may be: each parallelism is tried.
    target
        Utilisation that no task exceeds.
    """

    def __init__(self, operator: ScalableOperator, split: Split, target: float) -> None:
        self.operator, self.split, self.target = operator, split, target
        self.now = Size(operator.parallelism, highest_use(operator, None))
        self.most = min(operator.most, operator.key_groups) if operator.keyed else operator.most

    @cached_property
    def splitting(self) -> Splitting:
        """The key groups, to be divided."""
        return Splitting(self.operator.group_use, self.operator.state_bytes, self.operator.task_memory)

    @cached_property
    def enough(self) -> Size | None:
        """The smallest parallelism that suffices; where none does, the smallest with the least use of its busiest task.

        None where with none each task holds its state. Cost O(K) for each parallelism of even ranges, O(tasks x log K)
        for some tens of steps otherwise.
        """
        most, target = self.most, self.target
        if not self.operator.keyed:
            fewest: int | None = max(1, math.ceil(self.operator.use / target * (1.0 - ROUNDING)))
            return self.at(min(fewest or 1, most))
        if self.split == "hash":
            return next(reversed(tuple(self._better(1, most))), None)
        fewest = self.splitting.fewest(target, most)
        if fewest is None:
            least = self.splitting.least(most)
            fewest = self.splitting.fewest(least, most) if math.isfinite(least) else None
        return None if fewest is None else self.at(fewest)

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """The parallelisms worth a look where cores are short, ascending; the last is :attr:`enough`.

        With each the busiest task is less busy than with all before it. Fewer tasks than now only with the last: an
        operator that cannot get what suffices keeps what it has.
        """
        if self.enough is None or self.enough.parallelism <= self.now.parallelism:
            return () if self.enough is None else (self.enough,)
        return tuple(self._better(self.now.parallelism, self.enough.parallelism))

    def _better(self, least: int, most: int) -> Iterator[Size]:
        best = np.inf
        for parallelism in range(least, most + 1):
            size = self.at(parallelism, best)
            if size is not None and size.highest < best * (1.0 - NOISE):
                yield size
                best = size.highest
                if share_at(best, self.target) >= 1.0 or (self.operator.keyed and best <= self.splitting.heaviest):
                    return

    def at(self, parallelism: int, most_use: float = np.inf) -> Size | None:
        """Return the use of the busiest task at a parallelism; None where tasks do not hold their state.

        May be None too where it is more than *most_use*.
        """
        if not self.operator.keyed:
            return Size(parallelism, self.operator.use / parallelism)
        if self.split == "load":
            highest = self.splitting.least(parallelism, most_use)
            return Size(parallelism, highest) if math.isfinite(highest) else None
        highest, state = self.splitting.even(parallelism)
        return Size(parallelism, highest) if state <= self.splitting.most_state else None

    def fewest(self, share: float) -> Size | None:
        """Return the smallest of :attr:`sizes` with which a share of the demand is sustained; None where none does."""
        if self.enough is None or share_at(self.enough.highest, self.target) < share:
            return None
        if share >= 1.0:
            return self.enough
        return next(size for size in self.sizes if share_at(size.highest, self.target) >= share)

    def ranges(self, parallelism: int) -> tuple[tuple[int, int], ...]:
        """Return the first and last key group of each task; () without keyed state."""
        if not self.operator.keyed:
            return ()
        if self.split == "hash":
            return even_ranges(self.operator.key_groups, parallelism)
        return self.splitting.balanced(parallelism)

    def heaviest_group(self) -> tuple[int, float] | None:
        """Return the key group that alone keeps a task busier than the target, and its use; None where none does."""
        if not self.operator.keyed:
            return None
        group = int(np.argmax(self.operator.group_use))
        use = float(self.operator.group_use[group])
        return (group, use) if share_at(use, self.target) < 1.0 else None

    def traps(self, parallelism: int) -> tuple[Trap, ...]:
        """Return the parallelisms at which the busiest task is busier than with a smaller one, ascending.

        Those up to a few times the given one, and of larger ones the divisors of the number of key groups and the
        multiples of the given one. Ranges by load have none: one range may always be divided.
        """
        if self.split == "load" or not self.operator.keyed:
            return ()
        groups, best, traps = self.operator.key_groups, Size(0, np.inf), []
        for tasks in range(1, self.most + 1):
            if tasks > TRAPS_UP_TO * parallelism and groups % tasks and tasks % parallelism:
                continue
            highest = self.splitting.even(tasks)[0]
            if highest > best.highest * (1.0 + ROUNDING):
                traps.append(Trap(tasks, highest, best))
            elif highest < best.highest * (1.0 - NOISE):
                best = Size(tasks, highest)
        return tuple(traps)
