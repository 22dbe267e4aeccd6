"""What can be chosen, and cores for it beside the old tasks, in two waves: whether it fits, and on which nodes.

Choices are the levels that jobs sustain, and with them the parallelisms of their operators.

:class:`CoreUnits` counts cores in whole units, for what nodes can take of tasks of given sizes whatever goes where.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.parallelism import sizings
from ftplan.planners.scale_out.problem import (
    ScalingProblem,
    acting,
    lacks_memory,
    lacks_tasks,
    scaled_in,
    slots_taken,
)

#: Parallelism of operators by their numbers.
Sizes = dict[int, int]


class JobLevel(NamedTuple):
    """A share of its demand that a job can sustain, and the fewest tasks of those that change for it."""

    share: float
    sizes: Sizes


class ScalingChoices:
    """The choices of a problem. Operators are in one of these at most; all others stay as they are."""

    def __init__(self, problem: ScalingProblem) -> None:
        self.problem = problem
        target = problem.limits.target
        self.sizings = sizings(problem)
        #: Operators that are scaled in: the smallest parallelism that suffices, where that is smaller than now.
        self.smaller: Sizes = {}
        #: Operators whose score is high and whose tasks suffice but have more state than they may: one where it fits.
        self.roomier: Sizes = {}
        #: Operators that lack tasks, where fewer are no busier than now: what they may have where no level needs more.
        self.leaner: Sizes = {}
        #: (J,) operators of each job that lack tasks. They change where their job's level needs it, or get leaner.
        self.lacking: list[list[int]] = [[] for _ in problem.weight]
        for number in acting(problem):
            item, sizing = problem.operators[number], self.sizings[number]
            if lacks_tasks(item, target):
                self.lacking[item.job].append(number)
                if (tasks := sizing.fewest_no_busier) < item.parallelism and tasks <= sizing.most:
                    self.leaner[number] = tasks
            elif scaled_in(item, target):
                size = sizing.fewest(1.0, item.parallelism - 1)
                if size is not None:
                    self.smaller[number] = size.parallelism
            elif lacks_memory(item):
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


#: Units of all cores together where tasks take no multiples of a decimal.
UNITS = 2.0**40
#: Parts of a core that are tried as units, so that small numbers do.
PARTS_OF_A_CORE = (1, 2, 4, 5, 8, 10, 16, 20, 40, 50, 100, 1000, 10_000, 100_000, 1_000_000)

#: Nodes of the tasks of operators, by their numbers.
Placed = dict[int, tuple[int, ...]]


class CoreUnits:
    """The cores of tasks, limits and nodes in whole units; sizes by the last digits too small where none are whole."""

    def __init__(self, choices: ScalingChoices, room: FreeCores) -> None:
        cpu = room.cpu
        for parts in PARTS_OF_A_CORE:
            if np.allclose(cpu * parts, np.round(cpu * parts), rtol=0.0, atol=ROUNDING):
                self.unit = 1.0 / parts
                #: (O,) of a task of each operator
                self.size: list[int] = np.round(cpu * parts).astype(np.int64).tolist()
                break
        else:
            self.unit = float(cpu @ [sizing.most for sizing in choices.sizings]) / UNITS
            self.size = np.floor(cpu / self.unit).astype(np.int64).tolist()
        #: That the new tasks of the first wave may take together; None for no limit
        self.most = self._within(room.cores, room.total) if np.isfinite(room.cores) else None
        problem = choices.problem
        #: ``free``, ``old``: on each node, and how many tasks it has of each operator that may be scaled in
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


class FreeCores:
    """What is free for the new tasks of a problem."""

    def __init__(self, problem: ScalingProblem) -> None:
        self.problem = problem
        self._held: dict[int, FloatArray] = {}
        self.cpu: FloatArray = np.array([item.cpu for item in problem.operators])
        self.now: IntArray = np.array([item.parallelism for item in problem.operators], dtype=np.int64)
        self.total = float(self.cpu @ self.now)
        #: (N,) tasks of one operator that each node takes
        self.slots: FloatArray = np.array([problem.room_on(node) for node in range(len(problem.nodes))])
        limits = problem.limits
        most = [limits.free_cpu, None if limits.quota is None else limits.quota - self.total]
        #: Cores that the new tasks of the first wave may take, all together; inf for no limit.
        self.cores = min((value for value in most if value is not None), default=np.inf)

    def short(self, sizes: Sizes, more: float = 0.0) -> bool:
        """Return whether new tasks need more cores than there are with *more*, nodes aside."""
        needed = sum(self.cpu[i] * tasks for i, tasks in sizes.items())
        return bool(needed > self.cores + more + ROUNDING * max(1.0, abs(self.cores) if self.cores < np.inf else 0.0))

    def freed(self, smaller: Sizes) -> float:
        """Return the cores that are free once operators are scaled in."""
        return float(sum(self.cpu[i] * (self.now[i] - tasks) for i, tasks in smaller.items()))

    def most(self, smaller: Sizes) -> list[int]:
        """Return how many new tasks of each operator there may be at most, (O,), if all that can be is scaled in."""
        cores = np.full(len(self.cpu), self.cores + self.freed(smaller))
        tasks = np.floor(cores / np.maximum(self.cpu, TINY) + ROUNDING * self.now.sum())
        if self.problem.nodes:
            free = self.problem.free.astype(np.float64)
            for i in smaller:
                self.give_back(i, free)
            whole = np.floor(np.maximum(free, 0.0)[:, None] / np.maximum(self.cpu, TINY) + ROUNDING * len(free))
            tasks = np.minimum(tasks, np.minimum(whole, self.slots[:, None]).sum(axis=0))
        return [int(min(count, item.most)) for count, item in zip(tasks, self.problem.operators, strict=True)]

    def placed(self, smaller: Sizes, others: Sizes) -> Placed | None:
        """Return nodes for all tasks, () each without a cluster; None where cores or slots are short, or no nodes seen.

        Large tasks first, spread over nodes; where that fails packed as closely as can be. Cost O(tasks x nodes).
        """
        if self.short(smaller) or self.short(others, self.freed(smaller)):
            return None
        if slots_taken(self.problem, smaller | others) > self.problem.most_slots:
            return None
        if not self.problem.nodes:
            return dict.fromkeys((*smaller, *others), ())
        for spread in (True, False):
            free = self.problem.free.astype(np.float64)
            placed = self._put_all(smaller, free, spread)
            if placed is None:
                continue
            for i in smaller:
                self.give_back(i, free)
            rest = self._put_all(others, free, spread)
            if rest is not None:
                return {**placed, **rest}
        return None

    def _put_all(self, sizes: Sizes, free: FloatArray, spread: bool) -> Placed | None:
        placed: Placed = {}
        for i in sorted(sizes, key=lambda i: (-self.cpu[i], i)):
            nodes = self.put(i, sizes[i], free, spread)
            if nodes is None:
                return None
            placed[i] = nodes
        return placed

    def give_back(self, operator: int, free: FloatArray) -> None:
        """Add the cores of the tasks that an operator has now to what is free, (N,)."""
        np.add.at(free, np.array(self.problem.now[operator], dtype=np.int64), self.cpu[operator])

    def put(self, operator: int, tasks: int, free: FloatArray, spread: bool = True) -> tuple[int, ...] | None:
        """Return nodes for the tasks of an operator, and take their cores from *free*, (N,); None where some have none.

        With *spread* on nodes that hold checkpoints of it, then where fewest of its tasks are, then where most is left;
        else where least is left.
        """
        cpu, left = self.cpu[operator], free.copy()
        held, count = self._checkpointed(operator), np.zeros(len(free))
        nodes: list[int] = []
        for _ in range(tasks):
            fits = (left >= cpu - ROUNDING * max(1.0, cpu)) & (count < self.slots)
            if not fits.any():
                return None
            if spread:
                node = int(np.lexsort((-left, count, -held / (count + 1.0), ~fits))[0])
            else:
                node = int(np.argmin(np.where(fits, left, np.inf)))
            nodes.append(node)
            left[node] -= cpu
            count[node] += 1.0
        free[:] = left
        return tuple(nodes)

    def _checkpointed(self, operator: int) -> FloatArray:
        """Return the bytes of an operator's state of which each node holds checkpoints, (N,); summed up once."""
        if operator not in self._held:
            item, held = self.problem.operators[operator], np.zeros(len(self.problem.nodes))
            for nodes, size in zip(item.copies, item.state_bytes.tolist(), strict=False):  # no copies may be known
                for node in nodes:
                    held[node] += size
            self._held[operator] = held
        return self._held[operator]
