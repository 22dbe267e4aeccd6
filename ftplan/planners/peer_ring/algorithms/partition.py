"""The cuts of a ring whose order is given, with the least largest load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ftplan.compiled import pays_to_compile
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms import partition_kernel as kernel
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring

#: What a start costs for each arc, about, in steps of a kernel.
STEPS_PER_ARC = 12.0
#: Starts times arcs between two looks at the clock.
ARC_STARTS_PER_CLOCK_CHECK = 500_000
_GOLDEN = 0.6180339887498949

_Run = Callable[[Any], Any]


class Cuts(NamedTuple):
    """First position of each node's arc, by number and in the order given (n,), and the largest load over fair share.

    Where no cuts are less than what was asked for, the largest is infinite and ``first`` empty.
    """

    first: IntArray
    largest: float


def ring_of(problem: RingProblem, order: IntArray, first: IntArray) -> Ring:
    """Return the ring where each node of *order* (n,) has its token at the position of the number *first* (n,) says."""
    at = np.argsort(first, kind="stable")
    return Ring(problem.position[first[at]], np.asarray(order[at], dtype=np.int64))


def sums_around(load: FloatArray, turns: int = 2) -> FloatArray:
    """Return the sum of *load* (M,) up to each place, over some turns of the circle, (turns M + 1,)."""
    return np.concatenate([[0.0], np.cumsum(np.tile(load, turns))])


def partition(
    problem: RingProblem,
    order: IntArray,
    at_least: float = 0.0,
    below: float = float("inf"),
    starts: IntArray | None = None,
    budget: Budget | None = None,
) -> Cuts:
    """Return the cuts of nodes in clockwise *order* (n,) with the least largest load over the fair share.

    A position is never cut and each node has at least one, so that there have to be as many positions as nodes. Within
    the least, ends of arcs are as near to fair shares as can be.

    *at_least*: a value that no cuts are below: the search ends there. *below*: only cuts with less are of use.
    *starts*: where the arc of the first node of *order* may begin, by number of the position; None for anywhere.
    *budget*: looked at between some starts: the best so far is returned where it ends.

    Guarantee: none have less, but for the last digits (NOISE). All first arcs are tried: with equal cpu only those that
    begin within one arc; with positions that are too heavy for some node every end that an arc may have, unless
    there are very many (:data:`~ftplan.planners.peer_ring.algorithms.partition_kernel.MOST_ENDS`). Cost O(M n log
    M) at most and about O(M n / 3) where loads differ.
    """
    load, cpu, unit = _load(problem), np.asarray(problem.cpu[order], dtype=np.float64), problem.per_cpu or 1.0
    if len(order) == 1:
        alone = np.zeros(1, dtype=np.int64)
        return Cuts(alone, problem.largest_load(ring_of(problem, order, alone)))
    sums, left = sums_around(load), np.append(np.cumsum(cpu[::-1])[::-1], 0.0)
    if not problem.load.any():
        unit = float(load.sum()) / float(cpu.sum())
    heaviest, size = float(load.max()), len(load)
    low, high = _span(load, cpu, at_least * unit * (1.0 - NOISE), below * unit)
    even = bool((cpu == cpu[0]).all())
    if starts is None:
        starts = _starts(sums, size, high, cpu, even)
    run = _run(STEPS_PER_ARC * len(order) * max(len(starts), 60))
    value, start = high, -1
    each = max(ARC_STARTS_PER_CLOCK_CHECK // len(order), 1)
    for begin in range(0, len(starts), each):
        if begin and budget is not None and budget.over():
            break
        some = starts[begin : begin + each]
        found, at = run(kernel.least_largest)(sums, cpu, left, heaviest, some, low, value, NOISE)
        value, start = (found, int(at)) if at >= 0 else (value, start)
    if start < 0:
        return Cuts(np.empty(0, dtype=np.int64), float("inf"))
    ends = _ends(run, sums, cpu, left, heaviest, start, float(value) * (1.0 + NOISE))
    first = np.concatenate([[start], ends[:-1]]) % size
    return Cuts(first, problem.largest_load(ring_of(problem, order, first)))


def _span(load: FloatArray, cpu: FloatArray, low: float, high: float) -> tuple[float, float]:
    """Return loads by cpu between which the least largest one lies: from the mean and the heaviest position up."""
    total = float(load.sum())
    least = max(low, float(load.max()) / float(cpu.max()), total / float(cpu.sum()) * (1.0 - 1e-9))
    return least, min(high, total / float(cpu.min()) * (1.0 + 1e-9))


def _load(problem: RingProblem) -> FloatArray:
    """Return the load of each position; where there is none, 1 each, so that arcs are even all the same."""
    return problem.load if problem.load.any() else np.ones(len(problem.load))


def _starts(sums: FloatArray, size: int, high: float, cpu: FloatArray, even: bool) -> IntArray:
    """Return the places at which the first arc may begin, in no order; of equal nodes, those of one arc's end.

    Whoever owns some position, its arc ends no later than the limit lets it: some arc begins up to there.
    """
    count = size
    if even:
        arcs = len(cpu)
        mean, heaviest = float(sums[size]) / arcs, float(np.diff(sums[: size + 1]).max())
        most = min(high * float(cpu[0]), mean + heaviest)  # such cuts there always are
        lengths = np.searchsorted(sums, sums[:size] + most * (1.0 + 1e-9), side="right") - 1 - np.arange(size)
        at = int(lengths.argmin())
        count = min(int(lengths[at]), size)
        return scattered(count, at + 1, size)
    return scattered(count, 0, size)


def scattered(count: int, begin: int, size: int) -> IntArray:
    """Return *count* places from *begin* on, wrapping at *size*, each once and far from the one before."""
    stride = max(int(count * _GOLDEN), 1)
    while np.gcd(stride, count) != 1:
        stride += 1
    return np.asarray((begin + np.arange(count, dtype=np.int64) * stride % count) % size)


def _ends(
    run: _Run, sums: FloatArray, cpu: FloatArray, left: FloatArray, heaviest: float, start: int, limit: float
) -> IntArray:
    """Return where arcs from *start* end, (n,), within a limit that they can keep; near fair shares where they can."""
    ends, least = np.empty(len(cpu), dtype=np.int64), np.empty(len(cpu), dtype=np.int64)
    run(kernel.fits)(sums, cpu, left, heaviest, float(cpu.min()), start, limit, ends, least)
    evened = ends.copy()
    return evened if run(kernel.spread)(sums, cpu, left, start, limit, evened, least) else ends


def _run(steps: float) -> _Run:
    compiled = pays_to_compile(steps)
    return lambda one: one if compiled else one.plain
