"""Which running queries give way to failed ones of more priority, and the repair with what they free."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.measures.downtimes import whole_from
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    RepairInstance,
    RepairPlacement,
    instance_of,
    value,
)
from ftplan.planners.recovery_schedule.algorithms.repair.policy import RepairPlan, RepairSolver, WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState

#: Queries that may give way, all sets of which are tried.
FEW_QUERIES = 6
#: Sets of queries that are tried where these are more.
MOST_TRIED = 200
#: Shares of the time: for the plan in which nothing gives way, and for looking who should, of what is left then.
WITHOUT, LOOKING = 0.4, 0.6

#: Plans quickly what is left of a repair.
QuickSolver = Callable[[RepairInstance], RepairPlacement]


class PausingRepair(WholeRepairPolicy):
    """Plans the whole repair, and who gives way for it; a new one for each schedule.

    *quick* judges who should, *solver* makes the plan of it.
    """

    def __init__(self, solver: RepairSolver, quick: QuickSolver, prefetch: bool = True) -> None:
        super().__init__(solver, prefetch)
        self._quick = quick

    def plan(self, state: StepState, budget: Budget, seed: int) -> RepairPlan:
        """Return what to do from this step on."""
        if not (state.may_pause.any() or state.may_drop.any()):
            return super().plan(state, budget, seed)
        return plan_with_pauses(state, self._solver, self._quick, self._prefetch, budget, seed)


def plan_with_pauses(
    state: StepState, solver: RepairSolver, quick: QuickSolver, prefetch: bool, budget: Budget, seed: int
) -> RepairPlan:
    """Return a plan in which running queries of less priority than a failed one may give way; never worse than without.

    A query gives way with every task that only such queries need, and these come back like failed ones, where they
    stood at once; those that do so at the same step never stop. Standbys, and tasks that no query needs, give way where
    there would be no room. All sets of queries are tried where they are few; else those of least priority for
    the cores that they free, and single changes of the best set. Cost: one quick plan for each set, two of the solver.
    Where both plans are the best for a set, and all sets are tried, nothing is better, but for what restarting takes
    where one of them need not have stopped.
    """
    part = budget.part(WITHOUT)
    instance = instance_of(state, prefetch)
    best = _Trial.of(state, RepairPlan(instance, solver(instance, part, seed)))
    budget.cut |= part.cut
    part = budget.part(LOOKING)
    found = _PauseCandidates(state, quick, prefetch, part).best(best)
    budget.cut |= part.cut
    if found is best:
        return best.plan
    placement = solver(found.plan.instance, budget, seed)
    solved = replace(found.plan, placement=placement)
    return min((found, _Trial.of(state, _needed(state, solved, prefetch))), key=lambda trial: trial.key).plan


def as_if_paused(state: StepState) -> RepairInstance:
    """Return a repair that loses no more than this one with any pauses at this step: bounds of it are bounds with them.

    All that may give way has, and comes back where it stood as if it had never stopped, also on a node that runs more
    than it may. Where running tasks have rolled back, what they free is just room.
    """
    tasks, standbys = np.flatnonzero(state.may_pause), np.flatnonzero(state.may_drop)
    if state.problem.rolls_back:
        instance = instance_of(state)
        cores = freed(state)
        room = np.maximum(state.free + cores, 0.0)[instance.host]
        pool = max(0.0, float(state.pool) + float(cores[: state.problem.live_hosts].sum()))
        return replace(instance, room=room, pool=pool)
    after = state.after_pause(tasks.tolist(), standbys.tolist())
    instance = instance_of(after)
    early = np.where(after.paused[instance.task], instance.restart_s * (1.0 + instance.catch_up), 0.0)
    room = (np.maximum(state.free, 0.0) + freed(state))[instance.host]
    return replace(instance, replay_s=instance.replay_s - early, room=room)


def freed(state: StepState) -> FloatArray:
    """Return the cores of all that may give way at a step, by the host that they leave, shape (H,)."""
    cores = np.zeros(len(state.free))
    np.add.at(cores, state.home[state.may_pause], state.cost[state.may_pause])
    np.add.at(cores, state.standby[state.may_drop], state.cost[state.may_drop])
    return cores


@dataclass(frozen=True, eq=False)
class _Trial:
    """A plan and what is lost with it, running queries that are behind included."""

    plan: RepairPlan
    loss: float

    @staticmethod
    def of(state: StepState, plan: RepairPlan) -> _Trial:
        """Return what a plan loses."""
        after = state.after_pause(plan.pause, plan.pause_standby) if plan.pause else state
        return _Trial(plan, value(plan.instance, plan.placement) + _behind(after))

    @property
    def key(self) -> tuple[float, int, tuple[int, ...]]:
        """Less is better: of plans that lose as much the one with fewer pauses."""
        pauses = self.plan.pause + self.plan.pause_standby
        return float(f"{self.loss:.12g}"), len(pauses), pauses


def _behind(state: StepState) -> float:
    """Return what queries lose that run and have still to catch up, in priority × seconds from now on."""
    graph, horizon_s = state.problem.graph, state.problem.horizon_s
    up_s = whole_from(graph, np.where(state.down, np.inf, state.caught_up))[graph.output]
    late = np.where(np.isfinite(up_s), np.clip(np.minimum(up_s, horizon_s) - state.at_s, 0.0, None), 0.0)
    return float(graph.per_task("priority")[graph.output] @ late)


class _PauseCandidates:
    """The queries that may give way, and the sets of them that have been tried."""

    def __init__(self, state: StepState, quick: QuickSolver, prefetch: bool, budget: Budget) -> None:
        self._state, self._quick, self._prefetch, self._budget = state, quick, prefetch, budget
        self._running: FailedQueries = failed_queries(state.problem.graph, state.may_pause)
        self._standbys = np.flatnonzero(state.may_drop).tolist()
        self._tried: dict[tuple[int, ...], _Trial] = {}

    def best(self, without: _Trial) -> _Trial:
        """Return the best plan found, *without* pauses where that is no worse."""
        self._tried[()] = without  # where only standbys give way it is tried anew below
        queries = self._running.queries
        trials = [without, self._try(())]
        if queries <= FEW_QUERIES:
            for count in range(1, queries + 1):
                trials += [self._trial(chosen) for chosen in combinations(range(queries), count)]
        else:
            trials.append(self._climb())
        best = min(trials, key=lambda trial: trial.key)
        return best if best.loss < without.loss - NOISE * max(1.0, without.loss) else without

    def _climb(self) -> _Trial:
        """Return the best of the cheapest queries, 1, 2, 4 of them and so on, and of single changes of that."""
        order = self._cheapest_first()
        sizes = [2**k for k in range(len(order).bit_length()) if 2**k < len(order)] + [len(order)]
        sets = [tuple(sorted(order[:size])) for size in sizes]
        chosen = min(sets, key=lambda own: self._trial(own).key)
        for _ in range(self._budget.passes(2)):
            before = chosen
            for query in order:
                if len(self._tried) >= MOST_TRIED or self._budget.over():
                    return self._trial(chosen)
                other = tuple(sorted(set(chosen) ^ {query}))
                if self._trial(other).key < self._trial(chosen).key:
                    chosen = other
            if chosen == before:
                break
        return self._trial(chosen)

    def _cheapest_first(self) -> list[int]:
        """Return queries by their priority for the cores that they use, shared ones in parts."""
        running = self._running
        share = running.weight(self._state.cost) / np.maximum(running.sharing, 1)
        freed = np.bincount(running.row, share[running.member], minlength=running.queries)
        priority = self._state.problem.graph.per_task("priority")[running.query]
        density = priority / np.maximum(freed, ROUNDING)
        return [int(q) for q in np.lexsort((np.arange(running.queries), density))]

    def _trial(self, chosen: tuple[int, ...]) -> _Trial:
        """Return what comes of a set of queries that give way; without time the plan in which none does."""
        if chosen not in self._tried:
            if self._budget.over():
                return self._tried[()]
            self._tried[chosen] = self._try(chosen)
        return self._tried[chosen]

    def _try(self, chosen: Iterable[int]) -> _Trial:
        """Let queries give way, with all that no other query needs, and plan."""
        running, state = self._running, self._state
        gives_way = np.zeros(running.queries, dtype=np.bool_)
        gives_way[list(chosen)] = True
        kept = np.zeros(running.bundles, dtype=np.bool_)
        kept[running.member[~gives_way[running.row]]] = True
        pause = (*running.tasks_of(~kept).tolist(), *running.needless.tolist())
        pause = tuple(sorted(int(task) for task in pause))
        instance = instance_of(state.after_pause(pause, self._standbys), self._prefetch)
        plan = RepairPlan(instance, self._quick(instance), pause, tuple(self._standbys))
        return _Trial.of(state, _needed(state, plan, self._prefetch))


def _needed(state: StepState, plan: RepairPlan, prefetch: bool) -> RepairPlan:
    """Return the same plan without the pauses that it does not need.

    Tasks that start again at once where they stood go on; standbys, and tasks that do not come back, stay where there
    is room beside what is placed.
    """
    instance, placement = plan.instance, plan.placement
    after = state.after_pause(plan.pause, plan.pause_standby)
    room = _FreedRoom(after.free.copy(), after.pool, np.zeros(len(after.free)), state.problem.live_hosts)
    on = placement.host >= 0
    np.add.at(room.used, instance.host[placement.host[on]], instance.cost[on])
    at_s = np.full(len(on), np.inf)
    at_s[on] = instance.there_s[placement.host[on]] if placement.step_s is None else placement.step_s[on]
    goes_on = set()
    for j in np.flatnonzero(at_s == state.at_s).tolist():
        task, host = int(instance.task[j]), int(instance.host[placement.host[j]])
        if after.paused[task] and after.kept[task] == host and task in plan.pause:
            goes_on.add(task)
            room.leave(host, float(instance.cost[j]))
    back = set(instance.task[on].tolist())
    for task in plan.pause:
        if task not in back and room.stays(int(state.home[task]), float(state.cost[task])):
            goes_on.add(task)
    pause_standby = tuple(
        task for task in plan.pause_standby if not room.stays(int(state.standby[task]), float(state.cost[task]))
    )
    pause = tuple(task for task in plan.pause if task not in goes_on)
    if (pause, pause_standby) == (plan.pause, plan.pause_standby):
        return plan
    return _with_pauses(state, plan, pause, pause_standby, prefetch)


@dataclass(slots=True)
class _FreedRoom:
    """Cores that are free on each host, and those of them that are used by what is placed."""

    free: FloatArray
    pool: float
    used: FloatArray
    live: int  # hosts [0, live) share the pool

    def leave(self, host: int, cores: float) -> None:
        """Let what is placed have been there all along."""
        self.used[host] -= cores
        self._take(host, cores)

    def stays(self, host: int, cores: float) -> bool:
        """Let something stay on a host if there is room for it beside what is placed; return whether there is."""
        here = _enough(float(self.used[host]), float(self.free[host]) - cores)
        pooled = host >= self.live or _enough(float(self.used[: self.live].sum()), self.pool - cores)
        if here and pooled:
            self._take(host, cores)
        return here and pooled

    def _take(self, host: int, cores: float) -> None:
        self.free[host] -= cores
        if host < self.live:
            self.pool -= cores


def _enough(used: float, free: float) -> bool:
    return used <= max(free, 0.0) + NOISE * max(1.0, abs(free))


def _with_pauses(
    state: StepState, plan: RepairPlan, pause: tuple[int, ...], pause_standby: tuple[int, ...], prefetch: bool
) -> RepairPlan:
    """Return a plan in which less gives way: its tasks go where they went."""
    instance = instance_of(state.after_pause(pause, pause_standby), prefetch)
    row = {task: j for j, task in enumerate(plan.instance.task.tolist())}
    rows = np.array([row[task] for task in instance.task.tolist()], dtype=np.int64)
    rank = np.empty(len(row), dtype=np.int64)
    rank[plan.placement.order] = np.arange(len(row))
    step_s = None if plan.placement.step_s is None else plan.placement.step_s[rows]
    placement = RepairPlacement(plan.placement.host[rows], np.argsort(rank[rows], kind="stable"), step_s)
    return RepairPlan(instance, placement, pause, pause_standby) if instance.fits(placement.host) else plan
