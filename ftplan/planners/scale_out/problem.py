"""The question of a scale-out: how many tasks each operator gets, which key ranges, and on which nodes.

And what parallelism and key ranges mean: the use of each task, the share of the demand that jobs sustain, the cores.
Use is in tasks: a use of 1 keeps one task busy all the time. Shapes: O operators, J jobs, K key groups of one operator,
W windows, N nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.plan import Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray

#: More tasks than any operator has, where a demand is beyond all bounds.
COUNTLESS = 1e15


def even_ranges_of(operator: ScalableOperator, parallelism: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges of even number that so many tasks of an operator have, () without keyed state."""
    return even_ranges(operator.key_groups, parallelism) if operator.keyed else ()


def as_it_runs(problem: ScalingProblem, number: int) -> OperatorScaling:
    """Return the tasks of an operator as they run now, with ranges of even number; nodes are () where unknown."""
    operator = problem.operators[number]
    ranges = even_ranges_of(operator, operator.parallelism)
    return OperatorScaling(number, operator.parallelism, ranges, problem.now[number] if problem.now else ())


def task_use(operator: ScalableOperator, parallelism: int, ranges: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the use of each task, (parallelism,): what its key groups take, or an even share without keyed state."""
    if not operator.keyed:
        return np.full(parallelism, operator.use / parallelism)
    return over_ranges(operator.group_use, ranges)


def highest_use(operator: ScalableOperator, scaling: OperatorScaling | None) -> float:
    """Return the use of the busiest task of an operator, as it runs now where there is no scaling of it."""
    if scaling is not None:
        return float(task_use(operator, scaling.parallelism, scaling.ranges).max())
    return float(task_use(operator, operator.parallelism, even_ranges_of(operator, operator.parallelism)).max())


def lacks_tasks(operator: ScalableOperator, target: float) -> bool:
    """Return whether a task of an operator, as it runs now, is above the target at the demand it is sized for."""
    return highest_use(operator, None) > target * (1.0 + ROUNDING)


def required_tasks(operator: ScalableOperator, target: float) -> int:
    """Return the fewest tasks that an operator needs at the demand if its load were even, at least 1."""
    return max(1, math.ceil(min(operator.use / target * (1.0 - ROUNDING), COUNTLESS)))


def task_state(operator: ScalableOperator, parallelism: int, ranges: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the state of each task in bytes, (parallelism,)."""
    if not operator.keyed:
        return np.zeros(parallelism)
    return over_ranges(operator.state_bytes, ranges)


def over_ranges(values: FloatArray, ranges: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the sum of values (K,) over the key groups of each range."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.array([total[last + 1] - total[first] for first, last in ranges], dtype=np.float64)


def lacks_memory(operator: ScalableOperator) -> bool:
    """Return whether a task of an operator, as it runs now, has more state than it may hold."""
    return largest_state(operator, None) > operator.task_memory * (1.0 + ROUNDING)


def scaled_in(operator: ScalableOperator, target: float) -> bool:
    """Return whether an operator may only lose tasks: its score says so, its tasks suffice, and they hold their state.

    One that is scaled in lets its new tasks take over before those of all others begin.
    """
    if operator.state != "scale-in" or not operator.use > 0.0:
        return False
    return not (lacks_tasks(operator, target) or lacks_memory(operator))


def slots_taken(problem: ScalingProblem, tasks: Mapping[int, int]) -> int:
    """Return the slots that jobs take with so many tasks of some operators, the others as now.

    A slot takes one task of each operator of its job, or of its slot sharing group.
    """
    groups: dict[tuple[int, str], int] = {}
    for i, operator in enumerate(problem.operators):
        group = operator.job, operator.slot_group
        groups[group] = max(groups.get(group, 0), tasks.get(i, operator.parallelism))
    return sum(groups.values())


def acting(problem: ScalingProblem) -> tuple[int, ...]:
    """Return the operators whose parallelism may change: those that are not normal, and normal ones that lack tasks.

    The latter were kept idle by a bottleneck before them, and are the next one once that is gone. An operator of which
    it is not known how many tasks its demand keeps busy stays as it is.
    """
    target = problem.limits.target
    return tuple(
        i
        for i, item in enumerate(problem.operators)
        if item.use > 0.0 and (item.state != "normal" or lacks_tasks(item, target))
    )


def share_at(highest: float, target: float) -> float:
    """Return the share of its demand that an operator sustains whose busiest task would have such a use, at most 1."""
    return 1.0 if highest <= target * (1.0 + ROUNDING) else target / highest


def sustained(problem: ScalingProblem, scaling: Scaling) -> FloatArray:
    """Return the share of its demand that each job sustains with no task above the target, (J,), at most 1.

    Under back pressure a job is as slow as its slowest operator.
    """
    shares = np.ones(len(problem.weight))
    for position, operator in enumerate(problem.operators):
        highest = highest_use(operator, scaling.by_operator.get(position))
        shares[operator.job] = min(shares[operator.job], share_at(highest, problem.limits.target))
    return shares


def sustained_load(problem: ScalingProblem, scaling: Scaling) -> float:
    """Return the share of all demand that is sustained, jobs weighted by their output."""
    return float(problem.weight @ sustained(problem, scaling))


def extra_cpu(problem: ScalingProblem, scaling: Scaling) -> float:
    """Return the cores that the jobs reserve more than now, when old tasks are gone; below 0 where they need less."""
    return float(
        sum(
            (item.parallelism - problem.operators[item.operator].parallelism) * problem.operators[item.operator].cpu
            for item in scaling.operators
        )
    )


def largest_state(operator: ScalableOperator, scaling: OperatorScaling | None) -> float:
    """Return the bytes of state of the fullest task of an operator, as it runs now where there is no scaling of it."""
    if scaling is not None:
        return float(task_state(operator, scaling.parallelism, scaling.ranges).max())
    return float(task_state(operator, operator.parallelism, even_ranges_of(operator, operator.parallelism)).max())


def waves(problem: ScalingProblem, scaling: Scaling) -> tuple[tuple[OperatorScaling, ...], tuple[OperatorScaling, ...]]:
    """Return what changes first, being scaled in, and what changes when the old tasks of these are gone."""
    target = problem.limits.target
    first = [scaled_in(problem.operators[item.operator], target) for item in scaling.operators]
    pairs = tuple(zip(scaling.operators, first, strict=True))
    return tuple(item for item, less in pairs if less), tuple(item for item, less in pairs if not less)


State = Literal["normal", "prepared", "promoted", "scale-in"]
Split = Literal["load", "hash"]


@dataclass(frozen=True, eq=False)
class ScalableOperator:
    """One operator, as it runs and as it is to be sized."""

    id: str
    job: int  # which job it belongs to: a connected part of the topology
    parallelism: int
    cpu: float  # cores that each of its tasks reserves
    key_groups: int  # 0 without keyed state: then its input divides evenly over any number of tasks
    most: int  # largest parallelism that may be given to it
    #: How many tasks the demand that it is sized for would keep busy: demand over the true rate of a task
    #: [Kalavri2018]; 0 where neither is known
    use: float
    group_use: FloatArray  # (K,) the same by key group, sums to ``use``; shape (0,) without keyed state
    state_bytes: FloatArray  # (K,) state by key group, 0 where unknown
    task_memory: float  # bytes of state that one task may hold, inf where unknown
    #: ``score``, ``state``: what the fuzzy inference says of its worst task in the last window, and the state that it
    #: is in by then
    score: float
    state: State
    #: Share of all output that it obstructs or lets through, Stela's effective throughput percentage [Xu2016]
    throughput_percentage: float = 0.0
    most_by: str = "max-parallelism"  # what limits ``most``: that, "key-groups" or "slots"
    task_memory_by: str = "--task-memory"  # what limits ``task_memory``
    slot_group: str = ""  # its slot sharing group: tasks of operators of one group share slots
    #: (K,) nodes that hold a checkpoint of each key group, ascending; () without
    copies: tuple[tuple[int, ...], ...] = ()

    @property
    def keyed(self) -> bool:
        """Whether it has keyed state, which goes with its key groups."""
        return self.key_groups > 0


class OperatorScaling(NamedTuple):
    """What an operator gets: tasks, the first and last key group of each, and the node of each; by number.

    ``ranges`` is empty without keyed state, ``nodes`` without a cluster.
    """

    operator: int
    parallelism: int
    ranges: tuple[tuple[int, int], ...]
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scaling:
    """Operators whose tasks are replaced, in the order in which that is done. Operators that stay are not in it.

    ``least_extra_cpu`` is a proven bound: whatever sustains as much load as can be reserves so many cores more than
    now, at least, where only operators change that lack tasks or that are scaled in; None where it is not known.
    """

    operators: tuple[OperatorScaling, ...] = ()
    least_extra_cpu: float | None = None

    @cached_property
    def by_operator(self) -> dict[int, OperatorScaling]:
        """The scaling of each operator that has one."""
        return {item.operator: item for item in self.operators}


@dataclass(frozen=True, slots=True)
class ScalingLimits:
    """What is asked for; None is no limit."""

    target: float = 0.7  # utilisation that no task exceeds at the demand that operators are sized for
    free_cpu: float | None = None  # cores that new tasks may take while the old ones still run
    quota: float | None = None  # cores of all tasks of all jobs together, at any time


@dataclass(frozen=True, eq=False)
class ScalingProblem:
    """O operators of J jobs, in (operator id) order; nodes in natural order of their ids, none without a cluster.

    New tasks run beside the old ones until they take over: those of operators that are scaled in first, then, when
    the old tasks of these are gone, all others. Both times they must fit into what is free.
    """

    operators: tuple[ScalableOperator, ...]
    weight: FloatArray  # (J,) share of each job in the value of all output, sums to 1
    split: Split = "load"
    nodes: tuple[str, ...] = ()  # (N,) ids
    free: FloatArray = field(default_factory=lambda: np.zeros(0))  # (N,) cores for new tasks
    now: tuple[tuple[int, ...], ...] = ()  # (O,) node of each task now
    slots: float = math.inf  # of all nodes that accept tasks together, inf where unknown
    #: (N,) tasks of one operator that a node takes, inf where unknown
    node_slots: FloatArray = field(default_factory=lambda: np.zeros(0))
    limits: ScalingLimits = ScalingLimits()
    warnings: tuple[Warn, ...] = field(default=())

    def room_on(self, node: int) -> float:
        """Return how many tasks of one operator a node takes, inf where unknown."""
        return float(self.node_slots[node]) if len(self.node_slots) else math.inf

    @cached_property
    def slotted(self) -> bool:
        """Whether slots limit anything."""
        return bool(np.isfinite([self.slots, *self.node_slots]).any())

    @cached_property
    def most_slots(self) -> float:
        """Slots that may be taken: those that there are, or as many as now where these are more already."""
        return max(self.slots, slots_taken(self, {}))

    @cached_property
    def jobs(self) -> tuple[IntArray, ...]:
        """(J,) operators of each job."""
        job = np.array([item.job for item in self.operators], dtype=np.int64)
        return tuple(np.flatnonzero(job == j) for j in range(len(self.weight)))
