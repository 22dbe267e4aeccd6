"""Compiled rounds of ruin and recreate over the queries of a whole repair, with every restore replayed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.compiled import in_place, only_within
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.local_search import accepted_kernel, temperature_kernel
from ftplan.planners.recovery_schedule.algorithms.random_draws import below, draw
from ftplan.planners.recovery_schedule.algorithms.repair.search import placement_rows as row
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_arrays import PlacementArrays, RepairArrays
from ftplan.planners.recovery_schedule.algorithms.repair.search.query_moves import (
    begin_round,
    insert,
    remove,
    settle,
    undo,
)

#: Queries that a round takes out at most, and those beside them that it looks at; together they fit into the buffer.
MOST_REMOVED, NEIGHBOURS, BUFFER = 12, 16, 32
#: How far from the centre in the order of density queries are taken out, and looked at.
NEAR, AROUND = 30, 60
#: Largest random addition to the logarithm of a density.
NOISE = 0.8
#: Draws below which a query taken out shares a task with the centre, stands behind it in a queue or before it, is alike
#: in density; the rest have nothing to do with it.
SHARES, BEHIND, BEFORE, ALIKE = 0.3, 0.45, 0.6, 0.9
#: Shares of rounds by how hosts are chosen: as late as the query waits anyway, the fullest; the rest the earliest.
LATE, FULL = 0.55, 0.25
#: How often hosts are overlooked, at most: the blinks of [Christiaens2020], section 5.3.
MOST_BLINK = 0.5
#: Shares of the queries that are put in again which keep their place in the queues, or take that of one moved with it.
SAME, OTHER = 0.5, 0.3


class RoundQueries(NamedTuple):
    """Room for the queries of a round."""

    query: IntArray  # (BUFFER,)
    seen: IntArray  # (Q,) the last round of each
    key: FloatArray  # (BUFFER,)
    by_density: IntArray  # (Q,)
    place: IntArray  # (Q,) its inverse


@only_within
def note(moved: RoundQueries, q: int, number: int, many: int) -> int:
    """Add a query to those of the round, unless it is there or there is no room; return how many there are."""
    if moved.seen[q] == number or many == len(moved.query):
        return many
    moved.seen[q] = number
    moved.query[many] = q
    return many + 1


@only_within
def near(placed: PlacementArrays, moved: RoundQueries, q: int, distance: int) -> int:
    """Draw a query that is not far in the order of density."""
    place = moved.place[q] + below(placed.counter, 2 * distance + 1) - distance
    other: int = moved.by_density[min(len(moved.place) - 1, max(0, place))]
    return other


@only_within
def needing(repair: RepairArrays, placed: PlacementArrays, b: int) -> int:
    """Draw a query that needs a bundle."""
    q: int = repair.by_query[repair.by_start[b] + below(placed.counter, repair.by_start[b + 1] - repair.by_start[b])]
    return q


@only_within
def related(repair: RepairArrays, placed: PlacementArrays, moved: RoundQueries, q: int) -> int:
    """Draw a query that shares a task with query q, or a queue, or nearly its density, or nothing at all."""
    drawn = draw(placed.counter)
    other: int = below(placed.counter, repair.of_query.shape[1])
    bundles = repair.start[q + 1] - repair.start[q]
    if drawn < BEFORE and bundles > 0:
        b = repair.member[repair.start[q] + below(placed.counter, bundles)]
        if drawn < SHARES:
            first: int = needing(repair, placed, b)
            return first
        j = repair.tasks[repair.task_start[b] + below(placed.counter, repair.task_start[b + 1] - repair.task_start[b])]
        forward = drawn < BEHIND
        for _ in range(1 + below(placed.counter, 3)):
            i = placed.task_int[row.LATER, j] if forward else placed.task_int[row.EARLIER, j]
            j = i if i >= 0 else j
        other = needing(repair, placed, repair.bundle[j])
    elif drawn < ALIKE:
        other = near(placed, moved, q, NEAR)
    return other


@only_within
def neighbourhood(repair: RepairArrays, placed: PlacementArrays, moved: RoundQueries, number: int) -> tuple[int, int]:
    """Draw the queries of a round; return how many are taken out, and how many there are with those looked at."""
    centre = below(placed.counter, repair.of_query.shape[1])
    many = note(moved, centre, number, 0)
    for _ in range(int(MOST_REMOVED * draw(placed.counter) ** 3)):
        many = note(moved, related(repair, placed, moved, centre), number, many)
    removed = many
    for _ in range(int(NEIGHBOURS * draw(placed.counter) ** 2)):
        q = near(placed, moved, centre, AROUND)
        if placed.query_real[row.BACK, q] > repair.of_query[row.FLOOR, q]:
            many = note(moved, q, number, many)
    return removed, many


@only_within
def marginal_work(repair: RepairArrays, placed: PlacementArrays, q: int, cores: float) -> float:
    """Return the work that a query adds now, each task's by the share of the time for which nothing else holds it."""
    work, span = 1e-9, repair.span[1] - repair.span[0]
    for at in range(repair.start[q], repair.start[q + 1]):
        b = repair.member[at]
        share = (
            1.0
            if placed.bundle_int[row.NEED, b] == 0
            else max(0.0, min(1.0, (placed.whole[b] - repair.span[0]) / span))
        )
        work += share * (cores * repair.of_bundle[row.CORES, b] + (1.0 - cores) * repair.of_bundle[row.WORK, b])
    return work


@only_within
def place_in_queues(placed: PlacementArrays, moved: RoundQueries, q: int, many: int) -> float:
    """Draw the key that the tasks of a query get."""
    drawn = draw(placed.counter)
    key: float = placed.query_real[row.RANK, q]
    if drawn >= SAME:
        other = below(placed.counter, placed.query_real.shape[1])
        if drawn < SAME + OTHER:
            other = moved.query[below(placed.counter, many)]
        key = placed.query_real[row.RANK, other] + 2.0 * draw(placed.counter) - 1.0
    return key


@only_within
def recreate(repair: RepairArrays, placed: PlacementArrays, moved: RoundQueries, many: int) -> None:
    """Insert the queries of a round by noisy density."""
    greed, cores = draw(placed.counter) * NOISE, draw(placed.counter)
    drawn = draw(placed.counter)
    way = row.LATEST if drawn < LATE else row.TIGHTEST if drawn < LATE + FULL else row.SOONEST
    placed.noise[row.BLINK] = max(0.0, draw(placed.counter) - 0.5) * MOST_BLINK
    placed.noise[row.JITTER] = max(0.0, draw(placed.counter) * 2.0 - 1.0)
    placed.noise[row.SLACK] = max(0.0, draw(placed.counter) * 5.0 - 4.0) ** 2
    for i in range(many):
        q = moved.query[i]
        density = repair.of_query[row.PRIORITY, q] / marginal_work(repair, placed, q, cores)
        moved.key[i] = -np.log(density) - greed * draw(placed.counter)
    for i in range(many):
        first = i
        for k in range(i + 1, many):
            if moved.key[k] < moved.key[first]:
                first = k
        q = moved.query[first]
        moved.key[first], moved.query[first] = moved.key[i], moved.query[i]
        moved.query[i] = q
        remove(repair, placed, q)
        if insert(repair, placed, q, place_in_queues(placed, moved, q, many), way) >= repair.span[1]:
            remove(repair, placed, q)


@only_within
def keep_best(placed: PlacementArrays) -> None:
    """Remember the placement if nothing lost less so far."""
    if placed.loss[0] >= placed.loss[1] - 1e-9 * abs(placed.loss[1]):
        return
    placed.loss[1] = placed.loss[0]
    for j in range(placed.task_int.shape[1]):
        placed.task_int[row.BEST_HOST, j], placed.task_real[row.BEST_KEY, j], placed.task_real[row.BEST_STEP, j] = (
            placed.task_int[row.HOST, j],
            placed.task_real[row.KEY, j],
            placed.task_real[row.STEP, j],
        )


@in_place
def anneal(
    repair: RepairArrays, placed: PlacementArrays, moved: RoundQueries, rounds: int, hot: float, cold: float
) -> None:
    """Make rounds under a temperature that falls from *hot* to *cold*, in priority × seconds.

    A round takes the queries of a :func:`neighbourhood` out and starts them again. What loses more is kept with
    probability exp(-more / temperature).
    """
    for number in range(1, rounds + 1):
        degrees = temperature_kernel(hot, cold, number / rounds)
        before = placed.loss[0]
        begin_round(placed)
        removed, many = neighbourhood(repair, placed, moved, placed.counter[0])
        for i in range(removed):
            remove(repair, placed, moved.query[i])
        settle(repair, placed)
        recreate(repair, placed, moved, many)
        settle(repair, placed)
        more = placed.loss[0] - before
        for n in range(len(placed.noise)):
            placed.noise[n] = 0.0
        if accepted_kernel(more, degrees, draw(placed.counter)):
            keep_best(placed)
        else:
            undo(repair, placed, before)
