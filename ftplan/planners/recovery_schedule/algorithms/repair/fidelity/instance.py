"""The whole repair as fidelity sees it: the sets of tasks that add to the output are the queries."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.paths import FidelityPaths, bundled, fidelity_paths
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    NOWHERE,
    RepairInstance,
    RepairPlacement,
    is_ready,
    lost,
)

#: What all sets weigh together: searches and solvers expect priorities of queries.
WEIGHT = 1_000.0


@dataclass(frozen=True, eq=False)
class FidelityRepair:
    """What is left of a repair (``whole``), and the same with sets of tasks in place of queries (``by_sets``).

    Of the J tasks of the one the other has those on which the output rests, ``kept``, in the same order. ``sure_s``
    is fidelity × seconds from ``at_s`` to the horizon that no placement changes, ``unit`` the fidelity of one unit of
    priority.
    """

    whole: RepairInstance
    by_sets: RepairInstance
    kept: IntArray
    sure_s: float
    unit: float

    def gained(self, placement: RepairPlacement) -> float:
        """Return fidelity × seconds from ``at_s`` to the horizon, of a placement of all tasks."""
        ready = is_ready(self.whole, placement)
        caught_up = self.whole.caught_up(ready, np.arange(len(ready)))[self.kept]
        queries = self.by_sets.queries
        if queries.queries == 0:
            return self.sure_s
        of_bundle = np.zeros(queries.bundles)
        np.maximum.at(of_bundle, self.by_sets.bundle, caught_up)
        back_s = np.maximum.reduceat(of_bundle[queries.member], queries.start[:-1])  # no set is empty
        return self.of_loss(lost(self.by_sets, np.maximum(back_s, self.by_sets.floor_s)))

    def of_loss(self, loss: float) -> float:
        """Return fidelity × seconds from priority × seconds lost by sets."""
        return self.sure_s + self.unit * (self.by_sets.nothing - loss)

    def only_kept(self, placement: RepairPlacement) -> RepairPlacement:
        """Return a placement of all tasks without those on which no output rests."""
        place = np.full(len(self.whole.task), NOWHERE, dtype=np.int64)
        place[self.kept] = np.arange(len(self.kept))
        order = place[placement.order]
        step_s = None if placement.step_s is None else placement.step_s[self.kept]
        return RepairPlacement(placement.host[self.kept], order[order >= 0], step_s)

    def of_all(self, placement: RepairPlacement) -> RepairPlacement:
        """Return a placement of the kept tasks as one of all: what is not started yet goes behind, where room is left.

        Every task begins at the first step of its host.
        """
        instance = self.whole
        host = np.full(len(instance.task), NOWHERE, dtype=np.int64)
        host[self.kept] = placement.host
        started = self.kept[placement.order]
        started = started[host[started] >= 0]
        rest = np.flatnonzero(host == NOWHERE)
        used = np.bincount(host[started], instance.cost[started], minlength=len(instance.host))
        room, pool = instance.room - used, instance.pool - float(used[: instance.pooled].sum())
        for task in rest.tolist():
            cost = float(instance.cost[task])
            fits = np.flatnonzero((room >= cost) & ((np.arange(len(room)) >= instance.pooled) | (pool >= cost)))
            if len(fits):
                host[task] = place = int(fits[0])
                room[place] -= cost
                pool -= cost if place < instance.pooled else 0.0
        return RepairPlacement(host, np.concatenate((started, rest)).astype(np.int64))


def fidelity_repair(
    instance: RepairInstance, graph: TaskGraph, model: FidelityModel, budget: Budget
) -> FidelityRepair | None:
    """Return a repair with sets of tasks in place of queries; None where these are too many to be written out.

    Tasks that are down and that no query needs do not count: no output rests on them.
    """
    live, may_run = np.ones(graph.tasks, dtype=np.bool_), np.zeros(graph.tasks, dtype=np.bool_)
    for some in (instance.task, np.array([task for task, _ in instance.late], dtype=np.int64)):
        live[some], may_run[some] = False, True
    paths = fidelity_paths(model, live, may_run, budget)
    return None if paths is None else _by_sets(instance, paths)


def _by_sets(instance: RepairInstance, paths: FidelityPaths) -> FidelityRepair:
    row = {task: j for j, task in enumerate(instance.task.tolist())}
    late = dict(instance.late)
    floor, rows, weights = [], [], []
    left_s = max(0.0, instance.horizon_s - instance.at_s)
    sure_s = paths.constant * left_s
    for some, weight in zip(paths.sets, paths.weight.tolist(), strict=True):
        missing = [row[task] for task in some if task in row]
        since = max([instance.at_s, *(late[task] for task in some if task in late)])
        if not missing:
            sure_s += weight * max(0.0, instance.horizon_s - since)
            continue
        floor.append(since)
        rows.append(missing)
        weights.append(weight)
    unit = max(float(np.sum(weights)), 1e-300) / WEIGHT
    queries, kept = _queries(instance, rows)
    place = {j: k for k, j in enumerate(kept.tolist())}
    made = replace(
        instance,
        task=instance.task[kept],
        cost=instance.cost[kept],
        noticed_s=instance.noticed_s[kept],
        down_s=instance.down_s[kept],
        replay_s=instance.replay_s[kept],
        catch_up=instance.catch_up[kept],
        restore_s=instance.restore_s[kept],
        near=tuple((place[task], host, seconds) for task, host, seconds in instance.near if task in place),
        queries=queries,
        bundle=queries.bundle,
        priority=np.array(weights, dtype=np.float64) / unit,
        floor_s=np.array(floor, dtype=np.float64),
        late=(),
    )
    return FidelityRepair(instance, made, kept, sure_s, unit)


def _queries(instance: RepairInstance, rows: list[list[int]]) -> tuple[FailedQueries, IntArray]:
    """Return sets of the instance's tasks as queries, and the tasks that stand in any, ascending."""
    some = bundled(rows)
    queries = FailedQueries(
        task=instance.task[some.task],
        bundle=some.bundle,
        bundles=some.bundles,
        query=np.arange(len(rows), dtype=np.int64),
        start=some.start,
        member=some.member,
        needless=np.zeros(0, dtype=np.int64),
    )
    return queries, some.task
