"""How busy the busiest task of an operator is at each parallelism, and which parallelisms are worth a look."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.tolerances import NOISE
from ftplan.planners.scale_out.problem import (
    ScalableOperator,
    ScalingProblem,
    Split,
    highest_use,
    largest_state,
    required_tasks,
    share_at,
)
from ftplan.planners.scale_out.splits import Splitting


class SizeUse(NamedTuple):
    """A parallelism, and the use of the busiest task with it."""

    parallelism: int
    highest: float


class OperatorSizing:
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
        self.now = SizeUse(operator.parallelism, highest_use(operator, None))
        self.most = min(operator.most, operator.key_groups) if operator.keyed else operator.most
        self._sizes: dict[int, tuple[SizeUse, ...]] = {}

    @cached_property
    def splitting(self) -> Splitting:
        """The key groups, to be divided; where state fits at no parallelism, no task may have more than one has now."""
        operator = self.operator
        most_state = operator.task_memory if self.holds_state else largest_state(operator, None)
        return Splitting(operator.group_use, operator.state_bytes, most_state)

    @cached_property
    def holds_state(self) -> bool:
        """Whether there is a parallelism at which no task has more state than it may."""
        operator = self.operator
        if not operator.keyed or math.isinf(operator.task_memory):
            return True
        splitting = Splitting(operator.group_use, operator.state_bytes, operator.task_memory)
        if self.split == "load":
            return splitting.fewest(np.inf, self.most) is not None
        return any(splitting.even(tasks)[1] <= splitting.most_state for tasks in range(self.most, 0, -1))

    @cached_property
    def enough(self) -> SizeUse | None:
        """The smallest parallelism that suffices; where none does, the smallest with the least use of its busiest task.

        None where with none each task holds its state. Cost O(K) for each parallelism of even ranges, O(tasks x log K)
        for some tens of steps otherwise.
        """
        most, target = self.most, self.target
        if not self.operator.keyed:
            return self.at(min(required_tasks(self.operator, target), most))
        if self.split == "hash":
            return next(reversed(tuple(self._better(1, most))), None)
        fewest = self.splitting.fewest(target, most)
        if fewest is None:
            least = self.splitting.least(most)
            fewest = self.splitting.fewest(least, most) if math.isfinite(least) else None
        return None if fewest is None else self.at(fewest)

    def sizes(self, most: int) -> tuple[SizeUse, ...]:
        """Return the parallelisms worth a look where cores are short, up to *most*, ascending.

        With each the busiest task is less busy than with all before it; the last of all is :attr:`enough`. Fewer tasks
        than now only with that one: an operator that cannot get what suffices keeps what it has.
        """
        enough = self.enough
        if enough is None:
            return ()
        if enough.parallelism <= self.now.parallelism:
            return (enough,) if enough.parallelism <= most else ()
        most = min(most, enough.parallelism)
        if most not in self._sizes:
            self._sizes[most] = tuple(self._better(self.now.parallelism, most))
        return self._sizes[most]

    def _better(self, least: int, most: int) -> Iterator[SizeUse]:
        best = np.inf
        for parallelism in range(least, most + 1):
            size = self.at(parallelism, best)
            if size is not None and size.highest < best * (1.0 - NOISE):
                yield size
                best = size.highest
                if share_at(best, self.target) >= 1.0 or (self.operator.keyed and best <= self.splitting.heaviest):
                    return

    def at(self, parallelism: int, most_use: float = np.inf) -> SizeUse | None:
        """Return the use of the busiest task at a parallelism; None where tasks do not hold their state.

        May be None too where it is more than *most_use*.
        """
        if not self.operator.keyed:
            return SizeUse(parallelism, self.operator.use / parallelism)
        if self.split == "load":
            highest = self.splitting.least(parallelism, most_use)
            return SizeUse(parallelism, highest) if math.isfinite(highest) else None
        highest, state = self.splitting.even(parallelism)
        return SizeUse(parallelism, highest) if state <= self.splitting.most_state else None

    def fewest(self, share: float, most: int) -> SizeUse | None:
        """Return the smallest of :meth:`sizes` with which a share of the demand is sustained; None where none does."""
        if self.enough is None or self.share(self.enough) < share:
            return None
        if share >= 1.0:
            return self.enough if self.enough.parallelism <= most else None
        if self.operator.keyed and self.split == "load" and self.now.parallelism < self.enough.parallelism:
            least = self.splitting.fewest(self.target / share, min(most, self.enough.parallelism), NOISE)
            return None if least is None else self.at(max(least, self.now.parallelism))
        sizes = self.sizes(most)
        at = bisect_left(sizes, share, key=self.share)
        return sizes[at] if at < len(sizes) else None

    def share(self, size: SizeUse) -> float:
        """Return the share of the demand that is sustained with a parallelism."""
        return share_at(size.highest, self.target)

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


def sizings(problem: ScalingProblem) -> list[OperatorSizing]:
    """Return the parallelisms of each operator of a problem, (O,)."""
    return [OperatorSizing(item, problem.split, problem.limits.target) for item in problem.operators]
