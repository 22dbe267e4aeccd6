"""Where the tasks of nodes that restart run meanwhile: two-dimensional bin packing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.problem import DrainProblem, Move
from ftplan.planners.drain_schedule.rules import to_move
from ftplan.planners.solver import solve_sat

#: Deterministic seconds of CP-SAT for one round.
SOLVER_SECONDS = 2.0
#: Units in which CP-SAT counts the room of all nodes together.
ROOM_UNITS = 2.0**40


class TaskPacking(NamedTuple):
    """The moves of a round; without any, whether it is proven that there are none."""

    moves: tuple[Move, ...] | None
    proven: bool = True


class _Bins(NamedTuple):
    """Tasks that must move, largest first, and the nodes that they may go to."""

    task: IntArray  # (K,)
    host: IntArray  # (H,)
    size: FloatArray  # (2, K) cores and memory
    room: FloatArray  # (2, H) with what rounding may add


def pack(problem: DrainProblem, nodes: BoolArray, budget: Budget, seed: int = 0) -> TaskPacking:
    """Move the tasks of some nodes, (N,), to others for a round.

    First- and best-fit decreasing in several orders; where all fail, sums prove that there is no way, or CP-SAT
    decides. Exact, but for the solver's time.
    """
    bins = _bins(problem, nodes)
    if len(bins.task) == 0:
        return TaskPacking(())
    if _too_little(bins):
        return TaskPacking(None)
    for order in _orders(bins):
        for tightest in (True, False):
            if (hosts := _decreasing(bins, order, tightest)) is not None:
                return TaskPacking(_moves(bins, hosts))
    return _by_solver(bins, budget, seed)


def _bins(problem: DrainProblem, nodes: BoolArray) -> _Bins:
    room = problem.room
    assert room is not None
    task, host = to_move(problem, nodes), np.flatnonzero(room.accepting & ~nodes)
    size = np.stack((room.task_cpu[task], room.task_mb[task]))
    left = np.stack((room.cpu[host], room.memory_mb[host]))
    left = left + ROUNDING * np.maximum(1.0, np.where(np.isinf(left), 1.0, np.abs(left)))
    return _Bins(task, host, size, left)


def _too_little(bins: _Bins) -> bool:
    """Return whether a task fits nowhere, or all together exceed the room of all nodes."""
    if len(bins.host) == 0:
        return True
    largest = np.unique(bins.size, axis=1)
    fits: BoolArray = np.all(largest[:, :, None] <= bins.room[:, None, :], axis=0)
    total = bins.size.sum(axis=1)
    whole = np.maximum(bins.room, 0.0).sum(axis=1)
    return not fits.any(axis=1).all() or bool((total > whole * (1.0 + ROUNDING)).any())


def _orders(bins: _Bins) -> Iterator[IntArray]:
    """Yield the tasks by the larger share of cores or memory, by cores, and by memory, the largest first."""
    finite = np.where(np.isinf(bins.room), 0.0, np.maximum(bins.room, 0.0)).sum(axis=1)
    share = bins.size / np.maximum(finite, TINY)[:, None]
    share[finite <= 0.0] = 0.0
    for key in (share.max(axis=0), share[0], share[1]):
        yield np.lexsort((bins.task, -share.sum(axis=0), -key))


def _decreasing(bins: _Bins, order: IntArray, tightest: bool) -> IntArray | None:
    """Give each task the tightest node that holds it (best fit), or the roomiest; None where one finds none."""
    left = bins.room.copy()
    hosts = np.empty(len(bins.task), dtype=np.int64)
    scale = np.maximum(np.where(np.isinf(left), 0.0, left).max(axis=1, initial=0.0), TINY)
    for k in order.tolist():
        size = bins.size[:, k]
        fits = (size[:, None] <= left).all(axis=0)
        if not fits.any():
            return None
        spare = np.where(np.isinf(left), 0.0, left) / scale[:, None]
        rank = np.where(fits, spare.sum(axis=0), np.inf if tightest else -np.inf)
        here = int(np.argmin(rank) if tightest else np.argmax(rank))
        hosts[k] = here
        left[:, here] -= size
    return hosts


def _moves(bins: _Bins, hosts: IntArray) -> tuple[Move, ...]:
    return tuple(Move(t, n) for t, n in sorted(zip(bins.task.tolist(), bins.host[hosts].tolist(), strict=True)))


class AddedRoom(NamedTuple):
    """Cores and units of 2^20 bytes that tasks take on a node that is added."""

    cpu: float
    memory_mb: float


def least_room(
    problem: DrainProblem, nodes: BoolArray, budget: Budget, seed: int = 0, cpu: float | None = None
) -> AddedRoom:
    """Return what the tasks of some nodes, (N,), take at least of an added node: cores, or memory within *cpu* cores.

    Exact, but for the solver's time: then it is enough, and may be more than needed. At most what all of them take.
    """
    bins = _bins(problem, nodes)
    least = AddedRoom(*bins.size.sum(axis=1).tolist())
    if not budget.over():
        place, _ = _solved(bins, budget, seed, (0, np.inf) if cpu is None else (1, cpu))
        if place is not None:
            least = AddedRoom(*bins.size[:, place == len(bins.host)].sum(axis=1).tolist())
    return least


def _by_solver(bins: _Bins, budget: Budget, seed: int) -> TaskPacking:
    if budget.over():
        return TaskPacking(None, proven=False)
    hosts, proven = _solved(bins, budget, seed)
    return TaskPacking(None if hosts is None else _moves(bins, hosts), proven)


def _solved(
    bins: _Bins, budget: Budget, seed: int, added: tuple[int, float] | None = None
) -> tuple[IntArray | None, bool]:
    """Decide by CP-SAT how many tasks of each size go to each node; sizes rounded down, room up: a relaxation.

    *added*: there is one more node, of at most so many cores, on which tasks take least of one dimension. Returns the
    place of each task's node, (K,), the added one last, or None; and whether nothing is open.
    """
    from ortools.sat.python import cp_model

    sizes, kind = np.unique(bins.size, axis=1, return_inverse=True)
    count, room = np.bincount(kind), bins.room
    finite = np.where(np.isinf(room), 0.0, np.maximum(room, 0.0)).sum(axis=1)
    if added is not None:
        room = np.column_stack([room, [added[1] * (1.0 + ROUNDING), np.inf]])
    hosts = room.shape[1]
    unit = np.maximum(np.maximum(finite, bins.size.sum(axis=1)), TINY) / ROOM_UNITS
    small, large = np.floor(sizes / unit[:, None]).astype(np.int64), np.maximum(room, 0.0) / unit[:, None]
    model = cp_model.CpModel()
    number: list[list[Any]] = []
    for s in range(len(count)):
        fits: BoolArray = np.all(sizes[:, s][:, None] <= room, axis=0)
        row = [model.new_int_var(0, int(count[s]) if fits[h] else 0, "") for h in range(hosts)]
        model.add(sum(row) == int(count[s]))
        number.append(row)
    for d in range(2):
        for h in np.flatnonzero(np.isfinite(large[d])).tolist():
            model.add(sum(int(small[d, s]) * number[s][h] for s in range(len(count))) <= int(np.ceil(large[d, h])))
    if added is not None:
        model.minimize(sum(int(small[added[0], s]) * number[s][-1] for s in range(len(count))))
    answer = solve_sat(model, budget, seed, work_s=SOLVER_SECONDS)
    if not answer.found:
        return None, answer.proven
    place = np.empty(len(bins.task), dtype=np.int64)
    for s in range(len(count)):
        times = [answer.value(variable) for variable in number[s]]
        place[kind == s] = np.repeat(np.arange(hosts), times)
    taken: FloatArray = np.stack([np.bincount(place, weights=size, minlength=hosts) for size in bins.size])
    used = np.bincount(place, minlength=hosts) > 0
    over = taken[:, used] - room[:, used] > ROUNDING * np.maximum(1.0, taken[:, used])
    if bool(np.any(over)):
        return None, False  # only by what rounding in the model allowed
    return place, answer.proven
