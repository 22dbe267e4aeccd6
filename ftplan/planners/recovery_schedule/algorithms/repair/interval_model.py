"""The whole repair as one model of CP-SAT: which task starts where, and when it fetches its state there."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.tolerances import ROUNDING, SOLVED
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents, wanted_gap
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    NOWHERE,
    RepairInstance,
    RepairPlacement,
    value,
)
from ftplan.planners.recovery_schedule.algorithms.repair.placements import delayed_to_whole_queries
from ftplan.planners.recovery_schedule.algorithms.repair.whole_numbers import (
    POINTS,
    IntegerRepair,
    IntegerTimes,
    integer_repair,
    interchangeable_groups,
    known_points,
    spread_points,
    useful_times,
)
from ftplan.planners.solver import SatAnswer, solve_sat

#: Pairs of a task and a host, and entries of (query, bundle) times points in time, up to which the model is built.
MOST_PAIRS, MOST_ENTRIES = 12_000, 60_000
#: Seconds that building takes for each pair and each entry.
BUILD_S = 5e-5


def solve_intervals(
    instance: RepairInstance,
    start: RepairPlacement,
    budget: Budget,
    seed: int,
    most: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[RepairPlacement, float | None, bool]:
    """Return a placement no worse than *start*, what none loses less than, and whether nothing is better.

    Each task has a host or none and, where it must fetch its state, an interval on a lane of it; a bundle has caught up
    with the last of its tasks, a query is whole with the last of its bundles. Points in time tie this to a relaxation
    that sums cores: what is back by then was started on hosts that are there by then. Times, cores and priorities are
    rounded so that the bound is one; the placement is judged anew, by ``value``. Where tasks may not be begun ahead of
    their queries, lanes may go to tasks of later steps first, which only a bound may do. Larger models than
    ``MOST_PAIRS`` or ``MOST_ENTRIES`` are not tried: the bound is None.

    Parameters
    ----------
    most
        Times and a known bound on the priority whole by each, both shape (K,); it tightens the relaxation.

    Raises
    ------
    RuntimeError
        If a placement beats the bound: a fault of the model.
    """
    if budget.iterations == 0 or too_large(instance, budget) or (whole := integer_repair(instance)) is None:
        return start, None, False
    model, size = _IntervalModel(instance, whole, start, most), instance.nothing
    log: Incumbents[RepairPlacement] = Incumbents(
        "min", "priority-time from a step on", size=size, gap=wanted_gap(len(instance.task) * len(instance.host))
    )
    log.offer(start, value(instance, start), "start")
    # level 2: what is back by which point is all in the linear relaxation
    answer = solve_sat(model.model, budget, seed, log=log, unit=whole.unit, linearization_level=2)
    if not answer.found or answer.bound is None:
        return start, None, False
    if (found := model.placement(answer)) is not None:
        log.offer(found, value(instance, found), "CP-SAT")
    log.prove(answer.bound * whole.unit, "CP-SAT")
    assert log.answer is not None
    optimal = answer.proven and log.value - log.bound <= SOLVED * max(1.0, abs(log.value))
    return log.answer, log.bound, optimal


def too_large(instance: RepairInstance, budget: Budget) -> bool:
    """Return whether the model would have too much in it, or take longer to build than there is time."""
    pairs = len(instance.task) * len(instance.host)
    entries = len(instance.queries.member) * POINTS
    return pairs > MOST_PAIRS or entries > MOST_ENTRIES or not budget.pays(BUILD_S * (pairs + entries))


@dataclass(frozen=True, eq=False)
class _Variables:
    """Variables of the model. The last of ``done`` and ``up`` is whether a bundle or query is ever back."""

    on: list[dict[int, Any]]  # of each task, by host
    idle: list[dict[int, Any]]  # started there too late to help but with its query, without which others would wait
    begins: list[Any]  # of each task
    caught_up: list[Any]  # of each bundle
    whole: list[Any]  # of each query
    done: list[list[Any]]  # of each bundle by each point
    up: list[list[Any]]  # of each query by each point


class _IntervalModel:
    """The model, and how a placement is told to it and read off it."""

    def __init__(
        self,
        instance: RepairInstance,
        whole: IntegerRepair,
        start: RepairPlacement,
        most: tuple[FloatArray, FloatArray] | None,
    ) -> None:
        from ortools.sat.python import cp_model

        self.model = cp_model.CpModel()
        self._instance, self._whole = instance, whole
        self._earliest = whole.earliest()
        self._possible: BoolArray = (self._earliest < whole.end) & (whole.cost[:, None] <= whole.room[None, :])
        self._bundle: list[int] = instance.bundle.tolist()
        self._members = [instance.queries.members(q).tolist() for q in range(len(instance.priority))]
        self._alike = interchangeable_groups(instance)
        hint = useful_times(instance, whole, start)
        known = known_points(whole, self._possible) if instance.prefetch else None
        self._points = spread_points(whole, self._possible, hint) if known is None else known
        self._known = known is not None
        self._variables = self._declare()
        self._place()
        if not self._known:
            self._fetch()
            if not instance.prefetch:
                self._wait()
            self._follow()
        self._count()
        if most is not None:
            self._cut(*most)
        self.model.minimize(sum(p * time for p, time in zip(whole.priority.tolist(), self._whole_at(), strict=True)))
        self._tell(hint)

    def _declare(self) -> _Variables:
        model, whole, end = self.model, self._whole, self._whole.end
        soonest = np.where(self._possible, self._earliest, end).min(axis=1, initial=end)
        of_bundle = np.zeros(self._instance.queries.bundles, dtype=np.int64)
        np.maximum.at(of_bundle, self._instance.bundle, soonest)
        least = of_bundle.tolist()
        of_query = [max([int(whole.floor[q]), *(least[b] for b in own)]) for q, own in enumerate(self._members)]
        self._never = model.new_constant(0)

        def stairs(first: int) -> list[Any]:
            points = (*self._points, end)
            return [model.new_bool_var("") if first <= at and first < end else self._never for at in points]

        return _Variables(
            on=[
                {h: model.new_bool_var("") for h in np.flatnonzero(row).tolist() if least[b] < end}
                for row, b in zip(self._possible, self._bundle, strict=True)
            ],
            idle=[self._idle(cost) for cost in whole.cost.tolist()],
            begins=[self._time(0) for _ in self._bundle],
            caught_up=[self._time(first) for first in least],
            whole=[self._time(first) for first in of_query],
            done=[stairs(first) for first in least],
            up=[stairs(first) for first in of_query],
        )

    def _time(self, first: int) -> Any:
        """Return a time, nothing where the points say it all."""
        end = self._whole.end
        return self._never if self._known else self.model.new_int_var(min(first, end), end, "")

    def _idle(self, cost: int) -> dict[int, Any]:
        if self._instance.prefetch:
            return {}
        return {h: self.model.new_bool_var("") for h, room in enumerate(self._whole.room.tolist()) if cost <= room}

    def _place(self) -> None:
        """A task has one host where its bundle is back; hosts and the pool have only so many cores."""
        model, whole, own = self.model, self._whole, self._variables
        hosts = range(len(whole.room))
        for bundle, on in zip(self._bundle, own.on, strict=True):
            if on:
                model.add(sum(on.values()) == own.done[bundle][-1])
        for on, idle in zip(own.on, own.idle, strict=True):
            if idle:
                model.add(sum(on.values()) + sum(idle.values()) <= 1)
        costs = whole.cost.tolist()
        cores = [*zip(costs, own.on, strict=True), *zip(costs, own.idle, strict=True)]
        load = [sum(cost * on[host] for cost, on in cores if host in on) for host in hosts]
        for host in hosts:
            model.add(load[host] <= int(whole.room[host]))
        if self._instance.pooled:
            model.add(sum(load[: self._instance.pooled]) <= whole.pool)
        for same in self._alike:
            for fuller, other in itertools.pairwise(same):
                model.add(load[fuller] >= load[other])

    def _fetch(self) -> None:
        """Tasks fetch their state in the lanes of their host, one after another."""
        model, whole, own = self.model, self._whole, self._variables
        lanes = whole.lanes.shape[1]
        for task, on in enumerate(own.on):
            if on:
                model.add(own.begins[task] >= sum(int(whole.begins[task, h]) * var for h, var in on.items()))
        for host in range(len(whole.room)):
            intervals = [
                model.new_optional_fixed_size_interval_var(own.begins[t], int(whole.lasts[t, host]), on[host], "")
                for t, on in enumerate(own.on)
                if host in on and whole.lasts[t, host] > 0
            ]
            busy = [model.new_fixed_size_interval_var(0, end, "") for end in whole.lanes[host].tolist() if end > 0]
            if lanes == 1 and intervals:
                model.add_no_overlap(intervals + busy)
            elif intervals:
                model.add_cumulative(intervals + busy, [1] * (len(intervals) + len(busy)), lanes)

    def _wait(self) -> None:
        """A bundle is started at a step by which some query that needs it has all that it misses started."""
        model, whole, own = self.model, self._whole, self._variables
        bundles = range(self._instance.queries.bundles)
        since = [model.new_int_var(0, whole.end, "") for _ in bundles]
        step = [model.new_int_var(0, whole.end, "") for _ in self._members]
        begun = [model.new_bool_var("") for _ in self._members]
        with_query: list[list[Any]] = [[] for _ in bundles]
        queries_of: list[list[int]] = [[] for _ in bundles]
        for q, members in enumerate(self._members):
            for b in members:
                fits = model.new_bool_var("")
                with_query[b].append(fits)
                queries_of[b].append(q)
                model.add_implication(fits, begun[q])
                model.add(since[b] >= step[q] - whole.end + whole.end * fits)
        for b, some in enumerate(with_query):
            model.add(sum(some) >= own.done[b][-1])
        for task, b in enumerate(self._bundle):
            both = [*own.on[task].items(), *own.idle[task].items()]
            first = sum(int(whole.there[h]) * var for h, var in both)
            for q in queries_of[b]:
                model.add(step[q] >= first)
                model.add(sum(var for _, var in both) >= begun[q])
            model.add(own.begins[task] >= since[b] + whole.restart - whole.end + whole.end * own.done[b][-1])

    def _follow(self) -> None:
        """A bundle has caught up with its last task, a query is whole with its last bundle, or never."""
        model, whole, own = self.model, self._whole, self._variables
        for task, on in enumerate(own.on):
            if on:
                ready = own.begins[task] + sum(int(whole.lasts[task, h]) * var for h, var in on.items())
                behind = int(whole.num[task]) * ready + int(whole.add[task])
                model.add(whole.den * own.caught_up[self._bundle[task]] + whole.den - 1 >= behind)
        for q, bundles in enumerate(self._members):
            for b in bundles:
                model.add(own.whole[q] >= own.caught_up[b])

    def _count(self) -> None:
        """Tie the times to the points: by each, what is back was started on hosts that are there by then."""
        model, whole, own = self.model, self._whole, self._variables
        for row in (*own.done, *own.up):
            for early, late in itertools.pairwise(row):
                model.add_implication(early, late)
        for time, row in zip(own.caught_up, own.done, strict=True):
            for at, done in zip(self._points, row[:-1], strict=True):
                if not self._known:
                    model.add(time <= at).only_enforce_if(done)
        for task, on in enumerate(own.on):
            for at, done in zip(self._points, own.done[self._bundle[task]][:-1], strict=True):
                if on:
                    model.add(sum(var for h, var in on.items() if self._earliest[task, h] <= at) >= done)
        for q, bundles in enumerate(self._members):
            for k, up in enumerate(own.up[q]):
                for b in bundles:
                    model.add_implication(up, own.done[b][k])
        if not self._known:
            pieces = [late - early for early, late in itertools.pairwise((0, *self._points, whole.end))]
            for time, row in zip(own.whole, own.up, strict=True):
                model.add(time >= sum(piece * (1 - up) for piece, up in zip(pieces, row, strict=True)))
            self._energy()

    def _whole_at(self) -> list[Any]:
        """Return when each query is whole: where the points are known what is not up by one waits for the next."""
        if not self._known:
            return self._variables.whole
        pieces = [late - early for early, late in itertools.pairwise((*self._points, self._whole.end))]
        return [
            self._points[0] + sum(piece * (1 - up) for piece, up in zip(pieces, row[:-1], strict=True))
            for row in self._variables.up
        ]

    def _energy(self) -> None:
        """By each point lanes have fetched no more than there was time for."""
        model, whole, own = self.model, self._whole, self._variables
        least = np.where(self._possible, whole.lasts, whole.end).min(axis=1, initial=whole.end)
        free = np.maximum(whole.lanes, whole.begins.min(axis=0, initial=whole.end)[:, None])
        for k, at in enumerate((*self._points, whole.end)):
            latest = max((whole.latest_ready(at, t) for t in range(len(least))), default=0)
            seconds = int(np.maximum(latest - free, 0).sum())
            fetched = [
                int(last) * own.done[b][k] for last, b, on in zip(least, self._bundle, own.on, strict=True) if on
            ]
            model.add(sum(fetched) <= seconds)

    def _cut(self, at_s: FloatArray, most: FloatArray) -> None:
        """By each point no more priority is back than is known to be possible."""
        whole, own = self._whole, self._variables
        for k, at in enumerate(self._points):
            known = most[at_s >= self._instance.at_s + (at + 1) * whole.unit_s]
            if len(known):
                limit = int(np.ceil(float(known[0]) / whole.priority_unit * (1.0 + ROUNDING) + 1e-3))
                up = [row[k] for row in own.up]
                self.model.add(sum(p * u for p, u in zip(whole.priority.tolist(), up, strict=True)) <= limit)

    def _tell(self, hint: IntegerTimes) -> None:
        """Give the solver a placement to begin with."""
        model, own, points = self.model, self._variables, (*self._points, self._whole.end - 1)
        for on, host, begun, begins in zip(own.on, hint.host, hint.begins, own.begins, strict=True):
            self._hint(begins, begun)
            for h, var in on.items():
                model.add_hint(var, h == host)
        for times, since, stairs in (
            (own.caught_up, hint.caught_up, own.done),
            (own.whole, hint.whole, own.up),
        ):
            for var, at, row in zip(times, since, stairs, strict=True):
                self._hint(var, at)
                for point, up in zip(points, row, strict=True):
                    self._hint(up, at <= point)

    def _hint(self, variable: Any, value: int) -> None:
        if variable is not self._never:
            self.model.add_hint(variable, value)

    def placement(self, answer: SatAnswer) -> RepairPlacement | None:
        """Return the placement of a solution, None where it does not fit but for rounding."""
        own = self._variables
        on, idle = (
            np.array([next((h for h, var in some.items() if answer.value(var)), NOWHERE) for some in rows], np.int64)
            for rows in (own.on, own.idle)
        )
        begins = [answer.value(var) for var in own.begins]
        order = np.lexsort((np.arange(len(on)), np.where(on >= 0, begins, self._whole.end)))
        host = np.maximum(on, idle)
        if not self._instance.fits(host):
            return None
        placement = RepairPlacement(host, order)
        return placement if self._instance.prefetch else delayed_to_whole_queries(self._instance, placement)
