"""How busy the busiest task of an operator is at each parallelism, and which parallelisms are worth a look.

Tasks get contiguous ranges of key groups whose largest use is least, with a limit of the state of each: exact
[Pinar2004]. A range fits where its sums, as differences of running sums, (K + 1,), do not exceed the limits. Shapes: K
key groups. The kernels are compiled where there are many of them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ftplan.compiled import Kernel, compiled, pays_to_compile
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.problem import (
    OperatorScaling,
    ScalableOperator,
    ScalingProblem,
    Split,
    highest_use,
    largest_state,
    required_tasks,
    share_at,
)

#: Covers that a bisection tries, about; and calls that are too small to pay for compiling, after which they do.
TRIED_COVERS, SMALL_CALLS = 20, 5


@compiled
def reach(sums: Any, start: Any, limit: Any) -> Any:
    """Return the last end of a range from *start* on whose sum is within a limit; *start* where there is none."""
    low, high = start, len(sums) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if sums[middle] - sums[start] <= limit:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def cover(first: Any, limit: Any, second: Any, other: Any, parts: Any) -> Any:
    """Cover all key groups from the left by ranges that are as long as both limits let them be.

    Returns how many ranges that takes, parts + 1 where *parts* do not do; the largest first sum of these, and the least
    first limit above the present one at which any of them would be longer, inf where none would.
    """
    groups = len(first) - 1
    start, used, largest, higher = 0, 0, 0.0, float("inf")
    while start < groups:
        if used == parts:
            return parts + 1, largest, higher
        by_first, by_second = reach(first, start, limit), reach(second, start, other)
        end = min(by_first, by_second)
        if by_first < by_second:
            higher = min(higher, first[by_first + 1] - first[start])
        if end == start:
            return parts + 1, largest, higher
        largest = max(largest, first[end] - first[start])
        start = end
        used += 1
    return used, largest, higher


@compiled
def least_largest(first: Any, second: Any, other: Any, parts: Any, low: Any, high: Any) -> Any:
    """Return the least limit of first sums with which *parts* ranges do, between *low* and *high*; inf where none does.

    Bisection whose limits step to sums that ranges really have, so that it ends with the exact value [Pinar2004].
    """
    used, largest, _ = cover(first, high, second, other, parts)
    if used > parts:
        return float("inf")
    high = largest
    middle = low
    while low < high:
        used, largest, higher = cover(first, middle, second, other, parts)
        if used <= parts:
            high = largest
        else:
            low = higher
        middle = low + (high - low) / 2
        if not middle < high:
            middle = low
    return high


@compiled
def cuts(first: Any, limit: Any, second: Any, other: Any, parts: Any, ends: Any) -> Any:
    """Put the ends of *parts* ranges within both limits into *ends*, (parts + 1,), first sums as even as can be.

    There has to be such a cover; no range is empty, with at least as many key groups as ranges.
    """
    groups = len(first) - 1
    ends[parts] = groups
    for part in range(parts - 1, 0, -1):  # the earliest ends with which the ranges after them do
        low, high = part, ends[part + 1] - 1
        while low < high:
            middle = (low + high) // 2
            after = ends[part + 1]
            if first[after] - first[middle] <= limit and second[after] - second[middle] <= other:
                high = middle
            else:
                low = middle + 1
        ends[part] = low
    ends[0] = 0
    total = first[groups]
    for part in range(1, parts):
        start = ends[part - 1]
        last = min(reach(first, start, limit), reach(second, start, other), groups - (parts - part))
        earliest = max(ends[part], start + 1)
        even = first[start] + (total - first[start]) / (parts - part + 1)  # what is left, divided evenly
        if total > 0.0:
            end = reach(first, start, even - first[start])
            if end < last and first[end + 1] - even < even - first[end]:
                end += 1
        else:
            end = groups * part // parts
        ends[part] = min(max(end, earliest), last)
    return ends


class Splitting:
    """The key groups of one operator, to be divided into ranges.

    *use*, *state*: (K,) of each key group, not negative. *most_state*: that a range may have, inf for no limit.
    """

    def __init__(self, use: FloatArray, state: FloatArray, most_state: float) -> None:
        self.use, self.state = _sums(use), _sums(state)
        self.groups = len(use)
        self._steps = 0.0
        self.most_state = most_state * (1.0 + ROUNDING)
        self.heaviest = float(np.diff(self.use).max(initial=0.0))
        self.largest_state = float(np.diff(self.state).max(initial=0.0))

    def fewest(self, most_use: float, most: int, slack: float = ROUNDING) -> int | None:
        """Return the fewest ranges, at most so many, none of which has more use by *slack*; None where there are none.

        Cost O(ranges x log K).
        """
        kernel = self._kernel(cover, most)
        ranges, _, _ = kernel(self.use, most_use * (1.0 + slack), self.state, self.most_state, most)
        return int(ranges) if ranges <= most else None

    def least(self, ranges: int, most_use: float = np.inf) -> float:
        """Return the least largest use of so many ranges; inf where state does not fit, or *most_use* does not do.

        Cost O(ranges x log K) for each of some tens of steps.
        """
        low = max(self.heaviest, self.use[-1] / ranges * (1.0 - ROUNDING))
        kernel = self._kernel(least_largest, ranges * TRIED_COVERS)
        return float(kernel(self.use, self.state, self.most_state, ranges, low, most_use))

    def even(self, ranges: int) -> tuple[float, float]:
        """Return the largest use and the largest state of ranges of even number, as engines make them."""
        ends = -(-np.arange(ranges + 1) * self.groups // ranges)
        return float(np.diff(self.use[ends]).max()), float(np.diff(self.state[ends]).max())

    def balanced(self, ranges: int) -> tuple[tuple[int, int], ...]:
        """Return the first and last key group of each range: the largest use is least, then the largest state.

        What these leave open goes to ranges of even use.

        Raises ValueError if state does not fit into so many ranges, or there are fewer key groups.
        """
        use = self.least(ranges)
        if ranges > self.groups or not np.isfinite(use):
            raise ValueError(f"{self.groups} key groups do not fit into {ranges} ranges")
        low = max(self.largest_state, self.state[-1] / ranges * (1.0 - ROUNDING))
        kernel = self._kernel(least_largest, ranges * TRIED_COVERS)
        state = kernel(self.state, self.use, use, ranges, low, self.most_state)
        ends: IntArray = np.zeros(ranges + 1, dtype=np.int64)
        self._kernel(cuts, 3 * ranges)(self.use, use, self.state, state, ranges, ends)
        return tuple((a, b - 1) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))

    def _kernel(self, kernel: Kernel, ranges: int) -> Any:
        steps = ranges * float(np.log2(self.groups + 1))
        self._steps += steps
        return kernel if pays_to_compile(max(steps, self._steps / SMALL_CALLS)) else kernel.plain


def _sums(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])


class SizeUse(NamedTuple):
    """A parallelism, and the use of the busiest task with it."""

    parallelism: int
    highest: float


class OperatorSizing:
    """The parallelisms of one operator, at the demand that it is sized for.

    *split*: ``load``: contiguous ranges whose largest use is least, so that more tasks never are busier. ``hash``:
    ranges of even number, where they may be: each parallelism is tried. *target*: utilisation that no task exceeds.
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
    def enough_for_demand(self) -> int:
        """The smallest parallelism that suffices whatever state tasks may hold, or does best; at least 1."""
        if math.isinf(self.operator.task_memory):
            size = self.enough
        else:
            size = OperatorSizing(replace(self.operator, task_memory=math.inf), self.split, self.target).enough
        return 1 if size is None else size.parallelism

    def bound_by(self, scaling: OperatorScaling | None) -> str | None:
        """Return what an operator has so many tasks for, or what keeps it from more where it lacks some.

        ``demand`` or ``task-memory`` is what it needs them for, None where nothing changes, or it gets more than that;
        what keeps it from more is ``key-group``, what limits its parallelism (``max-parallelism``, ``key-groups``,
        ``slots``) or ``cores``.
        """
        operator = self.operator
        if share_at(highest_use(operator, scaling), self.target) < 1.0:
            if self.heaviest_group() is not None:
                return "key-group"
            return "cores" if self.enough is not None and self.share(self.enough) >= 1.0 else operator.most_by
        if largest_state(operator, scaling) > operator.task_memory * (1.0 + ROUNDING):
            return "cores" if self.holds_state else operator.most_by
        if scaling is None or self.enough is None or scaling.parallelism > self.enough.parallelism:
            return None
        return "task-memory" if scaling.parallelism > self.enough_for_demand else "demand"

    @cached_property
    def fewest_no_busier(self) -> int:
        """The fewest tasks of which, divided anew, none is busier than the busiest is now; at most as many as now."""
        now = self.now
        if not self.operator.keyed:
            return now.parallelism
        if self.split == "load":
            return self.splitting.fewest(now.highest, now.parallelism) or now.parallelism
        tried = (self.at(tasks) for tasks in range(1, now.parallelism))
        fewer = (size.parallelism for size in tried if size and size.highest <= now.highest * (1.0 + ROUNDING))
        return next(fewer, now.parallelism)

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
        than now only where, divided anew, none is busier.
        """
        if self.enough is None:
            return ()
        most = min(most, self.enough.parallelism)
        if most not in self._sizes:
            self._sizes[most] = tuple(self._better(self.fewest_no_busier, most))
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
        if self.operator.keyed and self.split == "load":
            least = self.splitting.fewest(self.target / share, min(most, self.enough.parallelism), NOISE)
            return None if least is None else self.at(least)
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
