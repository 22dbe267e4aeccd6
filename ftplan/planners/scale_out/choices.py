"""What can be chosen in a scale-out: the level that each job sustains, which operators are scaled in, and so on."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from ftplan.metrics.scaling_effects import lacks_memory, lacks_tasks, scaled_in, share_at
from ftplan.metrics.scaling_problem import ScalingProblem
from ftplan.planners.scale_out.parallelism import Sizing

#: Parallelism of operators by their numbers.
Sizes = dict[int, int]


class Level(NamedTuple):
    """A share of its demand that a job can sustain, and the fewest tasks of those that change for it."""

    share: float
    sizes: Sizes


class Choices:
    """The choices of a problem. Operators are in one of these at most; all others stay as they are.

    Attributes
    ----------
    smaller
        Operators that are scaled in: the smallest parallelism that suffices, where that is smaller than now.
    roomier
        Operators whose score is high and whose tasks suffice but have more state than they may: one with which it fits.
    lacking
        (J,) operators of each job that lack tasks.
    """

    def __init__(self, problem: ScalingProblem) -> None:
        self.problem = problem
        target = problem.limits.target
        self.sizings = [Sizing(item, problem.split, target) for item in problem.operators]
        self.smaller: Sizes = {}
        self.roomier: Sizes = {}
        self.lacking: list[list[int]] = [[] for _ in problem.weight]
        for number, item in enumerate(problem.operators):
            sizing = self.sizings[number]
            if lacks_tasks(item, target):
                self.lacking[item.job].append(number)
            elif scaled_in(item, target):
                size = sizing.fewest(1.0)
                if size is not None and size.parallelism < item.parallelism:
                    self.smaller[number] = size.parallelism
            elif item.state != "normal" and lacks_memory(item):
                size = sizing.fewest(1.0)
                if size is not None:
                    self.roomier[number] = size.parallelism

    @cached_property
    def best(self) -> list[Level]:
        """The highest level of each job, (J,), if cores are no matter."""
        return [self.level(job, self._cap(job)) for job in range(len(self.lacking))]

    @cached_property
    def levels(self) -> list[list[Level]]:
        """All levels of each job that are worth a look, (J, levels), ascending; with the first nothing changes."""
        levels = []
        for job, lacking in enumerate(self.lacking):
            cap = self._cap(job)
            shares = {self._share(i, size.highest) for i in lacking for size in self.sizings[i].sizes}
            shares |= {self._now(i) for i in lacking} | {cap}
            lowest = min((self._now(i) for i in lacking), default=1.0)
            levels.append([self.level(job, share) for share in sorted(shares) if lowest <= share <= cap])
        return levels

    def level(self, job: int, share: float) -> Level:
        """Return the fewest tasks with which a job sustains a share, at most its cap, of its demand."""
        sizes = {}
        for i in self.lacking[job]:
            if self._now(i) < share:
                size = self.sizings[i].fewest(share)
                assert size is not None  # the cap of a job is one for each of its operators
                sizes[i] = size.parallelism
        return Level(share, sizes)

    def _share(self, operator: int, highest: float) -> float:
        return share_at(highest, self.problem.limits.target)

    def _now(self, operator: int) -> float:
        return self._share(operator, self.sizings[operator].now.highest)

    def _cap(self, job: int) -> float:
        return min((self._most(i) for i in self.lacking[job]), default=1.0)

    def _most(self, operator: int) -> float:
        enough = self.sizings[operator].enough
        return max(self._now(operator), 0.0 if enough is None else self._share(operator, enough.highest))
