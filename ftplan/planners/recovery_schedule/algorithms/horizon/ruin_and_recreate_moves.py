"""Compiled moves over the steps of queries: take some out, insert them as early as they fit (ruin and recreate)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.compiled import compiled
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.local_search import accepted_kernel, temperature_kernel
from ftplan.planners.recovery_schedule.algorithms.random_draws import below, draw

#: Queries that a round moves at most: this many are taken out, others near them are looked at, all in one buffer.
MOST_REMOVED, NEIGHBOURS, BUFFER = 12, 24, 64
#: How far from the centre in the order of density queries are taken out, and looked at.
NEAR, AROUND = 30, 60
#: Largest random addition to the logarithm of a density.
NOISE = 0.6


class Instance(NamedTuple):
    """A :class:`time_indexed.TimeIndexedKnapsack` as plain arrays: Q queries, B elements, K steps."""

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,) cores
    start: IntArray  # (Q + 1,)
    member: IntArray  # (start[Q],) elements of each query
    by_start: IntArray  # (B + 1,)
    by_query: IntArray  # (by_start[B],) queries of each element
    release: IntArray  # (Q,)
    gain: FloatArray  # (K + 1,)
    limit: FloatArray  # (K,) cores
    by_density: IntArray  # (Q,) queries, densest first
    rank: IntArray  # (Q,) its inverse


class Solution(NamedTuple):
    """The step of each query, what follows from it, and the incumbent."""

    step: IntArray  # (Q,) K for never
    needed: npt.NDArray[np.int32]  # (B, K) queries of a step that need an element
    first: IntArray  # (B,) the first step with any, K for none
    slack: FloatArray  # (K,) residual capacity of each step
    incumbent: IntArray  # (Q,) the best steps so far
    value: FloatArray  # (2,) gained by the steps, and by the incumbent
    random: IntArray  # (1,) the state of the random numbers


class MovedQueries(NamedTuple):
    """The queries of a round, with the steps that they had before."""

    query: IntArray  # (BUFFER,)
    step: IntArray  # (BUFFER,)
    round: IntArray  # (Q,) the last round of each query


@compiled
def insert(instance: Instance, solution: Solution, q: int, k: int) -> None:
    """Let query q be whole by step k."""
    solution.step[q] = k
    if k == len(solution.slack):
        return
    for at in range(instance.start[q], instance.start[q + 1]):
        b = instance.member[at]
        solution.needed[b, k] += 1
        if k < solution.first[b]:
            for j in range(k, solution.first[b]):
                solution.slack[j] -= instance.weight[b]
            solution.first[b] = k


@compiled
def remove(instance: Instance, solution: Solution, q: int) -> None:
    """Take query q out."""
    steps = len(solution.slack)
    k = solution.step[q]
    solution.step[q] = steps
    if k == steps:
        return
    for at in range(instance.start[q], instance.start[q + 1]):
        b = instance.member[at]
        solution.needed[b, k] -= 1
        if k == solution.first[b] and solution.needed[b, k] == 0:
            j = k
            while j < steps and solution.needed[b, j] == 0:
                solution.slack[j] += instance.weight[b]
                j += 1
            solution.first[b] = j


@compiled
def earliest(instance: Instance, solution: Solution, q: int, extra: FloatArray) -> int:
    """Return the first step by which query q, now out, fits, K for never; *extra*, shape (K + 1,), is room to work in.

    What it adds to the cores in use by step j is the weight of its elements that are back later than j: the same
    whatever its own step, so the answer follows the last step where that does not fit.
    """
    extra[:] = 0.0
    for at in range(instance.start[q], instance.start[q + 1]):
        b = instance.member[at]
        extra[solution.first[b]] += instance.weight[b]
    adds = extra[-1]
    for j in range(len(solution.slack) - 1, instance.release[q] - 1, -1):
        if adds > solution.slack[j] and adds > 0.0:
            return j + 1
        adds += extra[j]
    first_step: int = instance.release[q]
    return first_step


@compiled
def clear(instance: Instance, solution: Solution) -> None:
    """Take all queries out."""
    solution.needed[:] = 0
    solution.first[:] = len(instance.limit)
    solution.step[:] = len(instance.limit)
    for k in range(len(instance.limit)):  # numba compiles a loop in less time than a copy of a slice
        solution.slack[k] = instance.limit[k]


@compiled
def construct(instance: Instance, solution: Solution, order: IntArray) -> None:
    """Insert all queries anew, in an order, each at the earliest step by which it fits."""
    clear(instance, solution)
    extra = np.zeros(len(instance.limit) + 1)
    for q in order:
        insert(instance, solution, q, earliest(instance, solution, q, extra))


@compiled
def load(instance: Instance, solution: Solution, step: IntArray) -> None:
    """Insert all queries anew, at given steps."""
    clear(instance, solution)
    for q in range(len(step)):
        insert(instance, solution, q, step[q])


@compiled
def note(moved: MovedQueries, solution: Solution, q: int, number: int, many: int) -> int:
    """Add a query to the *many* of a round, unless it is there or the buffer is full; return how many there are."""
    if moved.round[q] == number or many == len(moved.query):
        return many
    moved.round[q] = number
    moved.query[many] = q
    moved.step[many] = solution.step[q]
    return many + 1


@compiled
def near(instance: Instance, solution: Solution, q: int, distance: int) -> int:
    """Draw a query whose rank in the order of density is within a distance of that of query q."""
    rank = instance.rank[q] + below(solution.random, 2 * distance + 1) - distance
    other: int = instance.by_density[min(len(instance.priority) - 1, max(0, rank))]
    return other


@compiled
def neighbourhood(instance: Instance, solution: Solution, moved: MovedQueries, number: int) -> tuple[int, int]:
    """Draw the queries of a round; return how many are taken out, and how many there are with those looked at.

    Taken out: a random one, and up to a dozen that share an element with it or nearly its density. Looked at: those
    of nearly its density that may come earlier than they do.
    """
    start, member = instance.start, instance.member
    centre = below(solution.random, len(instance.priority))
    many = note(moved, solution, centre, number, 0)
    for _ in range(1 + below(solution.random, MOST_REMOVED)):
        if draw(solution.random) < 0.5 and start[centre + 1] > start[centre]:
            b = member[start[centre] + below(solution.random, start[centre + 1] - start[centre])]
            sharing = instance.by_start[b + 1] - instance.by_start[b]
            q = instance.by_query[instance.by_start[b] + below(solution.random, sharing)]
        else:
            q = near(instance, solution, centre, NEAR)
        many = note(moved, solution, q, number, many)
    removed = many
    for _ in range(NEIGHBOURS):
        q = near(instance, solution, centre, AROUND)
        if solution.step[q] > instance.release[q]:
            many = note(moved, solution, q, number, many)
    return removed, many


@compiled
def marginal_cost(instance: Instance, solution: Solution, q: int) -> float:
    """Return the cores that a query adds now, each by the share of the time for which nothing else holds it."""
    gain, cost = instance.gain, 0.0
    for at in range(instance.start[q], instance.start[q + 1]):
        b = instance.member[at]
        first = solution.first[b]
        if first == len(solution.slack):
            cost += instance.weight[b]
        elif first > 0:
            cost += instance.weight[b] * (gain[0] - gain[first]) / gain[0]
    return cost


@compiled
def anneal(instance: Instance, solution: Solution, rounds: int, hot: float, cold: float) -> None:
    """Make rounds of ruin and recreate under a temperature that falls from *hot* to *cold*, in units of gain.

    A round takes the queries of a :func:`neighbourhood` out and inserts them by noisy density at that moment, each as
    early as it fits. A worse solution is kept with probability exp(-loss / temperature).
    """
    queries, steps, step, gain = len(instance.priority), len(solution.slack), solution.step, instance.gain
    extra, key = np.zeros(steps + 1), np.zeros(BUFFER)
    moved = MovedQueries(np.zeros(BUFFER, np.int64), np.zeros(BUFFER, np.int64), np.zeros(queries, np.int64))
    for number in range(1, rounds + 1):
        degrees = temperature_kernel(hot, cold, number / rounds)
        removed, many = neighbourhood(instance, solution, moved, number)
        for i in range(removed):
            remove(instance, solution, moved.query[i])
        greed = draw(solution.random) * NOISE
        for i in range(many):
            density = instance.priority[moved.query[i]] / (marginal_cost(instance, solution, moved.query[i]) + 1e-9)
            key[i] = -np.log(density) - greed * draw(solution.random)
        for i in np.argsort(key[:many]):
            q = moved.query[i]
            if step[q] < steps:
                remove(instance, solution, q)
            insert(instance, solution, q, earliest(instance, solution, q, extra))
        value = solution.value[0]
        for i in range(many):
            value += instance.priority[moved.query[i]] * (gain[step[moved.query[i]]] - gain[moved.step[i]])
        if accepted_kernel(solution.value[0] - value, degrees, draw(solution.random)):
            solution.value[0] = value
            if value > solution.value[1] + 1e-9 * abs(solution.value[1]):
                solution.value[1] = value
                for q in range(queries):
                    solution.incumbent[q] = step[q]
            continue
        for i in range(many):
            remove(instance, solution, moved.query[i])
        for i in range(many):
            insert(instance, solution, moved.query[i], moved.step[i])
