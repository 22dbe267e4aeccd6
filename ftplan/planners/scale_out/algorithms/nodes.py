"""Which new task goes to which node, once it is known what fits: to where its state lies already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem, waves
from ftplan.planners.scale_out.techniques.task_replacement import TaskReplacement

#: Pairs of a task and a place for it that one assignment looks at, at most: about a second of work.
MOST_PAIRS = 4_000_000


def on_their_state(problem: ScalingProblem, scaling: Scaling) -> Scaling:
    """Return a scaling with the same tasks on nodes where more of their state lies as checkpoints.

    Tasks that reserve equally many cores, and run beside the old ones at the same time, change places with one another
    and go to free cores, so that the state of which checkpoints lie on the nodes of its tasks is the most possible: an
    assignment problem, solved exactly for one number of cores after another, ties to where tasks were. So it is the
    most possible in all where the new tasks of a wave reserve equally many cores. What fits into free cores still does.
    An operator without known checkpoints keeps so many tasks on each node, each where most of its state is now, unless
    another takes the place. Cost O(tasks^3) at worst; with more than :data:`MOST_PAIRS` pairs of tasks and places
    operators choose one after another, and with more than that of one operator its tasks only change places.
    """
    if not problem.nodes:
        return scaling
    by_number = {item.operator: item for item in scaling.operators}
    first, second = ([item.operator for item in wave] for wave in waves(problem, scaling))
    gone = _cores(problem, [(i, problem.now[i]) for i in first])
    later = problem.free + gone - _new_cores(problem, by_number, second)
    _exchange(problem, by_number, first, np.minimum(problem.free, later))
    _exchange(problem, by_number, second, problem.free + gone - _new_cores(problem, by_number, first))
    return replace(scaling, operators=tuple(_in_order(problem, by_number[item.operator]) for item in scaling.operators))


def assign_tasks(worth: FloatArray, slots: IntArray | Sequence[int]) -> tuple[int, ...]:
    """Return the node of each task so that the sum of *worth* (P, N) is largest.

    *slots* (N,) is how many tasks each node may get, together at least P.

    Raises ValueError if there are fewer slots than tasks.
    """
    tasks = worth.shape[0]
    columns = np.repeat(np.arange(worth.shape[1]), np.minimum(slots, tasks))
    if len(columns) < tasks:
        raise ValueError(f"{tasks} tasks and {len(columns)} slots")
    _, chosen = linear_sum_assignment(worth[:, columns], maximize=True)
    return tuple(columns[chosen].tolist())


def _in_order(problem: ScalingProblem, item: OperatorScaling) -> OperatorScaling:
    """Return an operator with as many tasks on each node as before, each where most of its state lies."""
    if not item.ranges:
        return item._replace(nodes=tuple(sorted(item.nodes)))
    slots = np.bincount(item.nodes, minlength=len(problem.nodes))
    return item._replace(nodes=assign_tasks(TaskReplacement(problem, item).lying_state(), slots))


def _exchange(
    problem: ScalingProblem, by_number: dict[int, OperatorScaling], wave: Sequence[int], room: FloatArray
) -> None:
    """Put the new tasks of a wave where more of their state lies, within the cores of *room* (N,)."""
    cpu = {i: problem.operators[i].cpu for i in wave}
    for cores in sorted(set(cpu.values()) - {0.0}, reverse=True):
        alike, others = ([i for i in wave if (cpu[i] == cores) is same] for same in (True, False))
        slots = (room - _new_cores(problem, by_number, others)) / cores
        whole = np.floor(slots * (1.0 + ROUNDING) + ROUNDING).astype(np.int64)
        by_number |= {item.operator: item for item in _exchanged(problem, [by_number[i] for i in alike], whole)}


def _exchanged(problem: ScalingProblem, items: Sequence[OperatorScaling], slots: IntArray) -> Sequence[OperatorScaling]:
    """Return operators with the most state in place, of which each node may have so many tasks, *slots* (N,)."""
    worth = np.concatenate([_checkpointed(problem, item) for item in items])
    owner = np.repeat([item.operator for item in items], [item.parallelism for item in items])
    taken = np.concatenate([np.array(item.nodes, dtype=np.int64) for item in items])
    left = slots - np.bincount(taken, minlength=len(slots))
    free = np.repeat(np.arange(len(slots)), np.clip(left, 0, (worth > 0.0).sum(axis=0)))
    best = float(worth.max(axis=1).sum())
    if len(items) > 1 and len(taken) * (len(taken) + len(free)) > MOST_PAIRS:
        return _one_by_one(problem, items, slots)
    if best == 0.0 or len(taken) * (len(taken) + len(free)) > MOST_PAIRS:
        return items
    places = np.concatenate([taken, free])
    stays = owner[:, None] == np.concatenate([owner, np.full(len(free), -1)])[None, :]
    _, chosen = linear_sum_assignment(worth[:, places] / best + ROUNDING / len(taken) * stays, maximize=True)
    ends = np.cumsum([item.parallelism for item in items])[:-1]
    parts = np.split(places[chosen], ends)
    return [item._replace(nodes=tuple(some.tolist())) for item, some in zip(items, parts, strict=True)]


def _one_by_one(
    problem: ScalingProblem, items: Sequence[OperatorScaling], slots: IntArray
) -> Sequence[OperatorScaling]:
    made = list(items)
    for number in range(len(made)):
        others = [node for other, item in enumerate(made) if other != number for node in item.nodes]
        (made[number],) = _exchanged(problem, [made[number]], slots - np.bincount(others, minlength=len(slots)))
    return made


def _checkpointed(problem: ScalingProblem, item: OperatorScaling) -> FloatArray:
    """Return the bytes of each task's state of which checkpoints lie on each node, (P, N); 0 where none are known."""
    if not any(problem.operators[item.operator].copies):
        return np.zeros((item.parallelism, len(problem.nodes)))
    return TaskReplacement(problem, item).lying_state()


def _new_cores(problem: ScalingProblem, items: dict[int, OperatorScaling], numbers: Sequence[int]) -> FloatArray:
    return _cores(problem, [(i, items[i].nodes) for i in numbers])


def _cores(problem: ScalingProblem, tasks: Sequence[tuple[int, tuple[int, ...]]]) -> FloatArray:
    """Return the cores that tasks of operators reserve on each node, (N,)."""
    cores = np.zeros(len(problem.nodes))
    for number, nodes in tasks:
        np.add.at(cores, np.array(nodes, dtype=np.int64), problem.operators[number].cpu)
    return cores
