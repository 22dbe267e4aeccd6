"""Compiled moves over the steps of queries: take some out, put them back as early as they fit (ruin and recreate).

Arrays as in :class:`time_indexed.NestedKnapsack`. ``count[b, k]`` is how many queries of step k
need bundle b, ``first[b]`` the first step with any, ``slack[k]`` the cores that are free by step k.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.compiled import compiled

Counts = npt.NDArray[np.int32]


@compiled
def add(
    q: int,
    k: int,
    start: IntArray,
    member: IntArray,
    weight: FloatArray,
    count: Counts,
    first: IntArray,
    slack: FloatArray,
    step: IntArray,
) -> None:
    """Let query q be whole by step k."""
    step[q] = k
    if k == len(slack):
        return
    for at in range(start[q], start[q + 1]):
        b = member[at]
        count[b, k] += 1
        if k < first[b]:
            for j in range(k, first[b]):
                slack[j] -= weight[b]
            first[b] = k


@compiled
def drop(
    q: int,
    start: IntArray,
    member: IntArray,
    weight: FloatArray,
    count: Counts,
    first: IntArray,
    slack: FloatArray,
    step: IntArray,
) -> None:
    """Take query q out."""
    steps = len(slack)
    k = step[q]
    step[q] = steps
    if k == steps:
        return
    for at in range(start[q], start[q + 1]):
        b = member[at]
        count[b, k] -= 1
        if k == first[b] and count[b, k] == 0:
            j = k
            while j < steps and count[b, j] == 0:
                slack[j] += weight[b]
                j += 1
            first[b] = j


@compiled
def earliest(
    q: int,
    release: IntArray,
    start: IntArray,
    member: IntArray,
    weight: FloatArray,
    first: IntArray,
    slack: FloatArray,
    extra: FloatArray,
) -> int:
    """Return the first step by which query q, now out, fits; the number of steps for never.

    What it adds to the cores in use by step j is the weight of its bundles that are back later than j: the same
    whatever its own step, so the answer follows the last step where that does not fit.
    """
    steps = len(slack)
    extra[:] = 0.0
    for at in range(start[q], start[q + 1]):
        b = member[at]
        extra[first[b]] += weight[b]
    adds = extra[steps]
    for j in range(steps - 1, release[q] - 1, -1):
        if adds > slack[j] and adds > 0.0:
            return j + 1
        adds += extra[j]
    first_step: int = release[q]
    return first_step


@compiled
def build(
    order: IntArray,
    release: IntArray,
    start: IntArray,
    member: IntArray,
    weight: FloatArray,
    limit: FloatArray,
    count: Counts,
    first: IntArray,
    slack: FloatArray,
    step: IntArray,
) -> None:
    """Start anew: put queries in an order each to the earliest step by which it fits."""
    steps = len(limit)
    count[:] = 0
    first[:] = steps
    slack[:] = limit
    step[:] = steps
    extra = np.zeros(steps + 1)
    for q in order:
        k = earliest(q, release, start, member, weight, first, slack, extra)
        add(q, k, start, member, weight, count, first, slack, step)


@compiled
def load(
    given: IntArray,
    start: IntArray,
    member: IntArray,
    weight: FloatArray,
    limit: FloatArray,
    count: Counts,
    first: IntArray,
    slack: FloatArray,
    step: IntArray,
) -> None:
    """Start from given steps."""
    count[:] = 0
    first[:] = len(limit)
    slack[:] = limit
    for q in range(len(given)):
        add(q, given[q], start, member, weight, count, first, slack, step)


@compiled
def _mark(
    q: int,
    stamp: IntArray,
    at: int,
    touched: IntArray,
    old: IntArray,
    many: int,
    step: IntArray,
) -> int:
    """Note a query that a round may move; return how many there are."""
    if stamp[q] == at or many == len(touched):
        return many
    stamp[q] = at
    touched[many] = q
    old[many] = step[q]
    return many + 1


@compiled
def anneal(
    rounds: int,
    seed: int,
    hot: float,
    cold: float,
    priority: FloatArray,
    weight: FloatArray,
    start: IntArray,
    member: IntArray,
    of_start: IntArray,
    of_query: IntArray,
    release: IntArray,
    gain: FloatArray,
    by_density: IntArray,
    place: IntArray,
    count: Counts,
    first: IntArray,
    slack: FloatArray,
    step: IntArray,
    best_step: IntArray,
    value: float,
    best: float,
) -> tuple[float, float]:
    """Run rounds of ruin and recreate under a falling temperature; return (value, best value).

    A round takes out up to a dozen queries that share bundles with a random one or have nearly its density, and puts
    these and some neighbours back by noisy density at that moment, each as early as it fits. A worse plan is kept
    with probability exp(-loss / temperature). ``best_step`` holds the best plan seen.
    """
    np.random.seed(seed)
    queries, steps = len(priority), len(slack)
    extra = np.zeros(steps + 1)
    stamp = np.zeros(queries, np.int64)
    touched = np.zeros(64, np.int64)
    old = np.zeros(64, np.int64)
    key = np.zeros(64)
    for at in range(1, rounds + 1):
        temperature = hot * (cold / hot) ** (at / rounds)
        centre = np.random.randint(queries)
        many = _mark(centre, stamp, at, touched, old, 0, step)
        out = 1 + np.random.randint(12)
        for _ in range(out):
            if np.random.random() < 0.5 and start[centre + 1] > start[centre]:
                b = member[start[centre] + np.random.randint(start[centre + 1] - start[centre])]
                q = of_query[of_start[b] + np.random.randint(of_start[b + 1] - of_start[b])]
            else:
                near = place[centre] + np.random.randint(-30, 31)
                q = by_density[min(queries - 1, max(0, near))]
            many = _mark(q, stamp, at, touched, old, many, step)
        removed = many
        for _ in range(24):
            near = place[centre] + np.random.randint(-60, 61)
            q = by_density[min(queries - 1, max(0, near))]
            if step[q] > release[q]:
                many = _mark(q, stamp, at, touched, old, many, step)
        for i in range(removed):
            drop(touched[i], start, member, weight, count, first, slack, step)
        greed = np.random.random() * 0.6
        for i in range(many):
            q = touched[i]
            cost = 0.0
            for e in range(start[q], start[q + 1]):
                b = member[e]
                if first[b] == steps:
                    cost += weight[b]
                elif first[b] > 0:
                    cost += weight[b] * (gain[0] - gain[first[b]]) / gain[0]
            key[i] = -np.log(priority[q] / (cost + 1e-9)) - greed * np.random.random()
        after = value
        for i in np.argsort(key[:many]):
            q = touched[i]
            if step[q] < steps:
                drop(q, start, member, weight, count, first, slack, step)
            k = earliest(q, release, start, member, weight, first, slack, extra)
            add(q, k, start, member, weight, count, first, slack, step)
        for i in range(many):
            after += priority[touched[i]] * (gain[step[touched[i]]] - gain[old[i]])
        if after >= value or np.random.random() < np.exp((after - value) / temperature):
            value = after
            if value > best + 1e-9 * abs(best):
                best = value
                best_step[:] = step
            continue
        for i in range(many):
            drop(touched[i], start, member, weight, count, first, slack, step)
        for i in range(many):
            add(touched[i], old[i], start, member, weight, count, first, slack, step)
    return value, best
