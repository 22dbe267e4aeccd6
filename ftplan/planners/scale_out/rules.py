"""Which limits of a scale-out there are, and which of them new tasks break."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.tolerances import SOLVED
from ftplan.model.units import MB
from ftplan.model.violation import Breach, over
from ftplan.planners.scale_out.problem import (
    ScalableOperator,
    Scaling,
    ScalingProblem,
    acting,
    highest_use,
    largest_state,
    slots_taken,
    waves,
)

RANGES, TARGET, TASK_MEMORY, MOST, PEAK = "ranges", "target", "task-memory", "max-parallelism", "peak"
SLOTS = "slots"
FREE_CPU, QUOTA, NODE_CPU = "free-cpu", "quota", "node-cpu"
LATENCY, TECHNIQUE = "latency-budget", "technique"
#: The rules that a scale-out can name, in the order in which :func:`broken` looks at them.
RULES = (RANGES, TARGET, TASK_MEMORY, MOST, SLOTS, PEAK, FREE_CPU, QUOTA, NODE_CPU, LATENCY, TECHNIQUE)
#: The code of each broken rule.
CODES = {
    TARGET: "OVER_CAPACITY",
    TASK_MEMORY: "OVER_CAPACITY",
    SLOTS: "OVER_CAPACITY",
    NODE_CPU: "OVER_CAPACITY",
    MOST: "OVER_PARALLELISM",
    PEAK: "UNDER_PEAK",
    FREE_CPU: "OVER_BUDGET",
    QUOTA: "OVER_BUDGET",
    LATENCY: "OVER_PAUSE",
    TECHNIQUE: "WRONG_TECHNIQUE",
}
#: What may be wrong with key ranges: ``current`` of a breach of :data:`RANGES`.
NO_GROUP, TWICE, MISSING, NOT_RANGES = "no such key group", "with two tasks", "with no task", "no ranges"
#: The code of each of these.
RANGE_CODES = {
    NO_GROUP: "UNKNOWN_KEY_GROUP",
    TWICE: "ASSIGNED_TWICE",
    MISSING: "MISSING_KEY_GROUP",
    NOT_RANGES: "WRONG_RANGES",
}


class SplitPause(NamedTuple):
    """How an operator is split, how long that pauses it, in seconds, and the techniques that are possible."""

    technique: str | None
    pause_s: float
    possible: tuple[str, ...]


def rules(problem: ScalingProblem, scaling: Scaling, budget_s: float | None = None) -> tuple[str, ...]:
    """Return the names of the rules in force; *budget_s* is the longest pause that is asked for.

    ``target`` and ``task-memory`` are only in force where all operators that may change keep them: what does not fit is
    left out, and state may fit into no parallelism.
    """
    bounded = any(np.isfinite(operator.task_memory) for operator in problem.operators)
    given = {
        RANGES: True,
        TARGET: not any(_above_target(problem, scaling, acting(problem))),
        TASK_MEMORY: bounded and not any(_memory(problem, scaling)),
        MOST: True,
        SLOTS: problem.slotted,
        PEAK: any(operator.state == "scale-in" for operator in problem.operators),
        FREE_CPU: problem.limits.free_cpu is not None,
        QUOTA: problem.limits.quota is not None,
        NODE_CPU: bool(problem.nodes),
        LATENCY: budget_s is not None,
        TECHNIQUE: True,
    }
    return tuple(rule for rule in RULES if given[rule])


def broken(
    problem: ScalingProblem,
    scaling: Scaling,
    splits: Mapping[int, SplitPause] | None = None,
    budget_s: float | None = None,
) -> list[Breach]:
    """Return every rule that new tasks break, a breach for each operator or node of it.

    *splits*: how operators are split, by number; None where nobody says so, then nothing is said of it. Cost O(key
    groups + tasks + nodes).
    """
    return [
        *_ranges(problem, scaling),
        *_above_target(problem, scaling, acting(problem)),
        *_memory(problem, scaling),
        *_most(problem, scaling),
        *_slots(problem, scaling),
        *_peak(problem, scaling),
        *_cores(problem, scaling),
        *_nodes(problem, scaling),
        *_splits(problem, splits or {}, budget_s),
    ]


def name_of(operator: ScalableOperator) -> str:
    """Return an operator as a selector."""
    return f"operator:{operator.id}"


def _ranges(problem: ScalingProblem, scaling: Scaling) -> Iterator[Breach]:
    """Ranges are contiguous, one a task, and hold each key group once; with ``hash`` they are the even ones."""
    for item in scaling.operators:
        operator = problem.operators[item.operator]
        for fault, text in range_faults(operator, item.parallelism, item.ranges, problem.split):
            yield Breach(RANGES, None, fault, None, name_of(operator), f"{operator.id}: {text}")


def range_faults(
    operator: ScalableOperator, parallelism: int, ranges: Sequence[tuple[int, int]], split: str
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the key ranges of an operator's tasks: one of the faults above, and a sentence."""
    if not operator.keyed:
        if ranges:
            yield NOT_RANGES, "it has no keyed state, and key ranges"
        return
    held = np.zeros(operator.key_groups, dtype=np.int64)
    following, in_order = 0, True
    for first, last in ranges:
        if last >= operator.key_groups:
            yield NO_GROUP, f"a task has key groups {first} to {last}, it has {operator.key_groups:,}"
        in_order &= first == following and last >= first
        following = last + 1
        held[first : last + 1] += 1
    for fault, count, what in ((TWICE, held > 1, "is with two tasks"), (MISSING, held == 0, "is with no task")):
        groups = np.flatnonzero(count).tolist()
        if groups:
            more = f" and {len(groups) - 1:,} more" if len(groups) > 1 else ""
            yield fault, f"key group {groups[0]}{more} {what}"
    if len(ranges) != parallelism:
        yield NOT_RANGES, f"it has {parallelism:,} tasks, and {len(ranges):,} key ranges"
    elif not in_order:
        yield NOT_RANGES, "its key ranges are not one after another, each of one key group at least"
    elif split == "hash" and tuple(map(tuple, ranges)) != even_ranges(operator.key_groups, parallelism):
        yield NOT_RANGES, "its key ranges are not those of even number, which engines take"


def _above_target(problem: ScalingProblem, scaling: Scaling, which: tuple[int, ...]) -> Iterator[Breach]:
    for position in which:
        operator, target = problem.operators[position], problem.limits.target
        use = highest_use(operator, scaling.by_operator.get(position))
        if over(use, target):
            text = f"{operator.id} has a task with a utilisation of {use:.6g}, at most {target:.6g} is asked for"
            yield Breach(TARGET, target, use, use, name_of(operator), text)


def _memory(problem: ScalingProblem, scaling: Scaling) -> Iterator[Breach]:
    """Tasks of operators that change, or may change, hold no more state than they may."""
    for position in sorted({*scaling.by_operator, *acting(problem)}):
        operator = problem.operators[position]
        has, most = largest_state(operator, scaling.by_operator.get(position)), operator.task_memory
        if over(has, most):
            text = f"{operator.id} has a task with {has / MB:.6g} MiB of state, it may hold {most / MB:.6g}"
            yield Breach(TASK_MEMORY, most, has, has, name_of(operator), text)


def _most(problem: ScalingProblem, scaling: Scaling) -> Iterator[Breach]:
    for item in scaling.operators:
        operator = problem.operators[item.operator]
        if item.parallelism > operator.most:
            text = f"{operator.id} has {item.parallelism:,} tasks, at most {operator.most:,} may be"
            yield Breach(MOST, operator.most, item.parallelism, item.parallelism, name_of(operator), text)


def _slots(problem: ScalingProblem, scaling: Scaling) -> Iterator[Breach]:
    """No more slots are taken than there are, or than now; new tasks keep to those of each node."""
    taken, most = slots_taken(problem, {i: item.parallelism for i, item in scaling.by_operator.items()}), problem.slots
    if taken > problem.most_slots:
        yield Breach(SLOTS, most, taken, taken, None, f"jobs take {taken:,} slots, the nodes have {most:,.0f}")
    for item in scaling.operators:
        for node, count in Counter(item.nodes).items():
            if count > problem.room_on(node):
                name, operator = problem.nodes[node], problem.operators[item.operator]
                text = f"{name} would take {count:,} tasks of {operator.id}, it has {problem.room_on(node):,.0f} slots"
                yield Breach(SLOTS, problem.room_on(node), count, count, name_of(operator), text)


def _peak(problem: ScalingProblem, scaling: Scaling) -> Iterator[Breach]:
    """What is scaled in keeps the target at the demand that it is sized for, or is no busier than now."""
    for item in scaling.operators:
        operator, target = problem.operators[item.operator], problem.limits.target
        use = highest_use(operator, item)
        if item.parallelism < operator.parallelism and over(use, target) and over(use, highest_use(operator, None)):
            text = f"{operator.id} has a task with a utilisation of {use:.6g} at the peak, with fewer tasks than now"
            yield Breach(PEAK, target, use, use, name_of(operator), text)


def _cores(problem: ScalingProblem, scaling: Scaling) -> Iterator[Breach]:
    """New tasks run beside old ones: those that are scaled in first, then all others."""
    limits, operators = problem.limits, problem.operators
    reserved = sum(operator.parallelism * operator.cpu for operator in operators)
    free = limits.free_cpu
    for number, wave in enumerate(waves(problem, scaling)):
        new = sum(item.parallelism * operators[item.operator].cpu for item in wave)
        gone = sum(operators[item.operator].parallelism * operators[item.operator].cpu for item in wave)
        which = "of what is scaled in" if number == 0 else "of all others"
        if wave and free is not None and _too_many(new, free):
            text = f"new tasks {which} take {new:.6g} cores, {free:.6g} are free then"
            yield Breach(FREE_CPU, free, new, None, None, text)
        if wave and limits.quota is not None and _too_many(reserved + new, limits.quota):
            text = f"with new tasks {which} all run on {reserved + new:.6g} cores, {limits.quota:.6g} may be"
            yield Breach(QUOTA, limits.quota, reserved + new, reserved + new, None, text)
        reserved += new - gone
        free = None if free is None else free - new + gone


def _too_many(cores: float, limit: float) -> bool:
    """Return whether cores exceed a limit by more than planners, which count them in units, may."""
    return cores > limit + SOLVED * max(1.0, abs(limit))


def _nodes(problem: ScalingProblem, scaling: Scaling) -> Iterator[Breach]:
    """The new tasks of each wave fit into the cores that are free on their nodes then."""
    if not problem.nodes:
        return
    free = problem.free.copy()
    for wave in waves(problem, scaling):
        new, gone = np.zeros(len(free)), np.zeros(len(free))
        for item in wave:
            if not item.nodes:  # a plan made by hand says nothing of nodes
                continue
            cpu = problem.operators[item.operator].cpu
            np.add.at(new, np.array(item.nodes, dtype=np.int64), cpu)
            np.add.at(gone, np.array(problem.now[item.operator], dtype=np.int64), cpu)
        for node in np.flatnonzero(new > 0.0).tolist():
            takes, has = float(new[node]), float(free[node])
            if _too_many(takes, has):
                name = problem.nodes[node]
                text = f"{name} would take {takes:.6g} cores of new tasks, {max(0.0, has):.6g} are free then"
                yield Breach(NODE_CPU, has, takes, takes, f"node:{name}", text)
        free += gone - new


def _splits(problem: ScalingProblem, splits: Mapping[int, SplitPause], budget_s: float | None) -> Iterator[Breach]:
    for position, split in splits.items():
        operator = problem.operators[position]
        if split.technique not in (split.possible or (None,)):
            can = f"{' or '.join(split.possible)} can be" if split.possible else "no state has to go"
            text = f"{operator.id} by {split.technique or 'no technique'}: {can}"
            yield Breach(TECHNIQUE, list(split.possible), split.technique, None, name_of(operator), text)
        elif budget_s is not None and over(split.pause_s, budget_s):
            text = f"{operator.id} is paused for {split.pause_s:.6g} s, at most {budget_s:.6g} s may be"
            yield Breach(LATENCY, budget_s, split.pause_s, split.pause_s, name_of(operator), text)
