"""The most output fidelity × time of a repair: what plans whole queries plans the sets of tasks that add to it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ftplan.model.measures.downtimes import fidelity_time
from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.horizon.fidelity_time import reverse_greedy
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.instance import FidelityRepair, fidelity_repair
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    NOWHERE,
    RepairInstance,
    RepairPlacement,
    is_ready,
)
from ftplan.planners.recovery_schedule.algorithms.repair.interval_model import solve_intervals
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import list_schedule
from ftplan.planners.recovery_schedule.algorithms.repair.search.order_search import search_orders


def serial_schedule(instance: RepairInstance, order: IntArray) -> RepairPlacement:
    """Return a placement of the tasks in an order, (J,): each to the host with room where it runs first.

    Of equals to that with the least room left, then the first. Cost O(J · (hosts + lanes)).
    """
    host = np.full(len(instance.task), NOWHERE, dtype=np.int64)
    room, pool, lanes = instance.room.copy(), instance.pool, instance.lanes.copy()
    pooled = np.arange(len(room)) < instance.pooled
    free = lanes.min(axis=1, initial=np.inf)
    for task in order.tolist():
        cost = float(instance.cost[task])
        less = cost - ROUNDING * max(1.0, cost)
        fits = np.flatnonzero((room >= less) & (~pooled | (pool >= less)))
        if len(fits) == 0:
            continue
        lasts = instance.seconds[task, fits]
        begins = instance.starts(instance.there_s[fits], task)
        ready = np.where(lasts > 0.0, np.maximum(begins, free[fits]) + lasts, begins)
        best = int(np.lexsort((fits, room[fits], ready))[0])
        place = int(fits[best])
        host[task] = place
        room[place] -= cost
        pool -= cost if pooled[place] else 0.0
        if lasts[best] > 0.0:
            lanes[place, int(np.argmin(lanes[place]))] = ready[best]
            free[place] = lanes[place].min()
    return RepairPlacement(host, order)


#: Share of the time left for each order by reverse greedy.
ORDER = 0.15
#: Passes of reverse greedy for a list schedule, and needs of queries up to which others are made.
LIST_PASSES, MOST_LISTED = 50, 5_000


class FidelityGains:
    """What placements of one instance gain, and better ones.

    *repair* is the instance with sets of tasks in place of queries, None where they are too many.
    """

    def __init__(
        self, instance: RepairInstance, graph: TaskGraph, model: FidelityModel, repair: FidelityRepair | None
    ) -> None:
        self.instance, self.repair = instance, repair
        self._graph, self._model = graph, model

    def gained(self, placement: RepairPlacement) -> float:
        """Return fidelity × seconds from the instance's start to its horizon."""
        if self.repair is not None:
            return self.repair.gained(placement)
        instance, since = self.instance, self.instance.at_s
        back_s = instance.caught_up(is_ready(instance, placement), np.arange(len(instance.task)))
        changes: dict[tuple[float, bool], list[int]] = {}
        for task, at_s in (*zip(instance.task.tolist(), back_s.tolist(), strict=True), *instance.late):
            if at_s < instance.horizon_s:
                changes.setdefault((max(at_s, since) - since, True), []).append(task)
        return fidelity_time(self._model, self._live, changes, max(0.0, instance.horizon_s - since))

    @property
    def _live(self) -> BoolArray:
        """What works at the start of the instance, shape (tasks,)."""
        live = np.ones(self._graph.tasks, dtype=np.bool_)
        live[self.instance.task] = False
        live[np.array([task for task, _ in self.instance.late], dtype=np.int64)] = False
        return live

    def best(self, placements: Iterable[RepairPlacement]) -> RepairPlacement:
        """Return the placement that gains most, the first of equals."""
        return max(placements, key=self.gained)

    def listed(self, budget: Budget | None = None) -> RepairPlacement:
        """Return the best of list schedules: in the orders of :func:`reverse_greedy`, by sets of tasks, by queries.

        Without a budget there is time for all of them.
        """
        made: list[RepairPlacement] = []
        if self.instance.prefetch:
            part = Budget(math.inf) if budget is None else budget.part(1.0)
            part.iterations = part.passes(LIST_PASSES)
            made += self._by_reverse_greedy(part)
            if self.repair is not None and len(self.repair.by_sets.queries.member) <= MOST_LISTED:
                made.append(self.repair.of_all(list_schedule(self.repair.by_sets)))
        if not made or len(self.instance.queries.member) <= MOST_LISTED:
            made += [list_schedule(self._by_queries), list_schedule(self.instance)]
        return self.best(made)

    def searched(self, start: RepairPlacement, budget: Budget, seed: int) -> RepairPlacement:
        """Return a placement that gains no less than *start*.

        Tasks come back by :func:`reverse_greedy`; from there or from the start sets of tasks are searched as if they
        were queries. Where tasks may not be begun ahead of their queries, these are searched, with the weight of their
        outputs.
        """
        if not self.instance.prefetch:
            return self.best((start, search_orders(self._by_queries, start, budget, seed)))
        start = self.best((start, *self._by_reverse_greedy(budget)))
        if self.repair is None:
            return start
        kept = self.repair.only_kept(start)
        found = search_orders(self.repair.by_sets, kept, budget, seed)
        return start if found is kept else self.best((start, self.repair.of_all(found)))

    def modelled(self, start: RepairPlacement, budget: Budget, seed: int) -> tuple[RepairPlacement, float | None, bool]:
        """Return what CP-SAT makes of a start, the most that any placement gains, and whether this is the best."""
        if self.repair is None or not self.instance.prefetch:
            return start, None, False
        kept = self.repair.only_kept(start)
        found, loss, optimal = solve_intervals(self.repair.by_sets, kept, budget, seed)
        best = self.best((start, self.repair.of_all(found)))
        return best, None if loss is None else self.repair.of_loss(loss), optimal

    @property
    def _by_queries(self) -> RepairInstance:
        """The instance with the weights of the outputs as priorities."""
        weight = np.zeros(self._graph.tasks)
        weight[self._model.outputs] = self._model.weight
        least = 1e-6 / max(1, len(self._model.outputs))
        priority: FloatArray = np.maximum(weight[self.instance.queries.query], least)
        return replace(self.instance, priority=priority)

    def _by_reverse_greedy(self, budget: Budget) -> Iterable[RepairPlacement]:
        """Yield the placements of tasks in two orders."""
        instance, graph = self.instance, self._graph
        wanted = np.zeros(graph.tasks, dtype=np.bool_)
        wanted[instance.task[instance.cost <= instance.room.max(initial=0.0)]] = True
        live = self._live
        live[np.array([task for task, _ in instance.late], dtype=np.int64)] = True
        cost = np.zeros(graph.tasks)
        cost[instance.task] = instance.cost
        row = np.full(graph.tasks, NOWHERE, dtype=np.int64)
        row[instance.task] = np.arange(len(instance.task))
        for paths in (True, False):
            part = budget.part(ORDER)
            order = reverse_greedy(self._model, ~live, wanted, cost, graph.topological_rank, part, paths=paths)
            budget.cut |= part.cut
            rest = np.setdiff1d(np.arange(len(instance.task)), row[order])
            yield serial_schedule(instance, np.concatenate((row[order], rest)))


def gains_of(instance: RepairInstance, graph: TaskGraph, model: FidelityModel, budget: Budget) -> FidelityGains:
    """Return what placements of an instance gain; its sets of tasks are written out within the budget."""
    return FidelityGains(instance, graph, model, fidelity_repair(instance, graph, model, budget))
