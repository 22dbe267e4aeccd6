"""What can be chosen in a scale-out: the level that each job sustains, which operators are scaled in, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ftplan.planners.scale_out.parallelism import sizings
from ftplan.planners.scale_out.problem import ScalingProblem, acting, lacks_memory, lacks_tasks, scaled_in

#: Parallelism of operators by their numbers.
Sizes = dict[int, int]


class JobLevel(NamedTuple):
    """A share of its demand that a job can sustain, and the fewest tasks of those that change for it."""

    share: float
    sizes: Sizes


class ScalingChoices:
    """The choices of a problem. Operators are in one of these at most; all others stay as they are.

    Attributes
    ----------
    smaller
        Operators that are scaled in: the smallest parallelism that suffices, where that is smaller than now.
    roomier
        Operators whose score is high and whose tasks suffice but have more state than they may: one with which it fits.
    lacking
        (J,) operators of each job that lack tasks. They change where their job's level needs it.
    """

    def __init__(self, problem: ScalingProblem) -> None:
        self.problem = problem
        target = problem.limits.target
        self.sizings = sizings(problem)
        self.smaller: Sizes = {}
        self.roomier: Sizes = {}
        self.lacking: list[list[int]] = [[] for _ in problem.weight]
        for number in acting(problem):
            item, sizing = problem.operators[number], self.sizings[number]
            if lacks_tasks(item, target):
                self.lacking[item.job].append(number)
            elif scaled_in(item, target):
                size = sizing.fewest(1.0, item.parallelism - 1)
                if size is not None:
                    self.smaller[number] = size.parallelism
            elif item.state != "normal" and lacks_memory(item):
                size = sizing.fewest(1.0, sizing.most)
                if size is not None and sizing.holds_state:
                    self.roomier[number] = size.parallelism

    @cached_property
    def best(self) -> list[JobLevel]:
        """The highest level of each job, (J,), if cores are no matter."""
        most = [sizing.most for sizing in self.sizings]
        caps = [min((self._most(i) for i in lacking), default=1.0) for lacking in self.lacking]
        return [self._level(job, cap, most) for job, cap in enumerate(caps)]

    def levels(self, most: Sequence[int]) -> list[list[JobLevel]]:
        """Return all levels of each job that are worth a look, (J, levels), ascending; nothing changes with the first.

        *most* is how many tasks each operator can get, (O,).
        """
        levels = []
        for job, lacking in enumerate(self.lacking):
            shares, lowest, cap = {1.0} if not lacking else set(), 1.0, 1.0
            for i in lacking:
                now = self._now(i)
                own = [self.sizings[i].share(size) for size in self.sizings[i].sizes(most[i])]
                shares |= {now, *own}
                lowest, cap = min(lowest, now), min(cap, max(now, *own, 0.0))
            of_job = [self._level(job, share, most) for share in sorted(shares) if lowest <= share <= cap]
            # What takes the same tasks as a higher level is none of its own.
            levels.append([a for a, b in pairwise(of_job) if a.sizes != b.sizes] + of_job[-1:])
        return levels

    def value(self, sizes: Sizes) -> float:
        """Return the share of all demand that is sustained with so many tasks of operators that lack some."""
        value = 0.0
        for weight, lacking in zip(self.problem.weight.tolist(), self.lacking, strict=True):
            at = [self.sizings[i].at(sizes[i]) if i in sizes else self.sizings[i].now for i in lacking]
            shares = [self.sizings[i].share(size) for i, size in zip(lacking, at, strict=True) if size is not None]
            value += weight * min(shares, default=1.0)
        return value

    def _level(self, job: int, share: float, most: Sequence[int]) -> JobLevel:
        """Return the fewest tasks with which a job sustains a share, at most its cap, of its demand."""
        sizes = {}
        for i in self.lacking[job]:
            if self._now(i) < share:
                size = self.sizings[i].fewest(share, most[i])
                assert size is not None  # the cap of a job is one for each of its operators
                sizes[i] = size.parallelism
        return JobLevel(share, sizes)

    def _now(self, operator: int) -> float:
        return self.sizings[operator].share(self.sizings[operator].now)

    def _most(self, operator: int) -> float:
        sizing = self.sizings[operator]
        return max(self._now(operator), 0.0 if sizing.enough is None else sizing.share(sizing.enough))
