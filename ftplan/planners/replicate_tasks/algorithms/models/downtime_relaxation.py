"""What no replicas and no recovery after a failure beat: priority x seconds down, relaxed to an integer program."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.solver import solve_program

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt

#: Entries of the program above which it is not built: then the bound knows nothing of the budget.
MOST_ENTRIES = 300_000
#: Nodes of the search tree that one iteration buys, and the most iterations.
TREE_NODES_PER_ITERATION, ITERATIONS = 10, 2
#: Part of all that may be lost that the solver's bound is at least taken to be, for the margin of its tolerances.
SIZE = 0.1


@dataclass(frozen=True, eq=False)
class Outages:
    """Q queries that go down at ``at_s``, and the failed tasks that they wait for."""

    at_s: float
    queries: FailedQueries
    priority: FloatArray  # (Q,)


@dataclass(frozen=True, eq=False)
class CaseRelaxation:
    """A failure to recover from, as the bound and the search see it; K steps, N nodes, T tasks.

    By step k the tasks of all queries that are whole, by replica or restore, take at most ``usable[k]`` cores, and
    together with the replicas of other tasks at most ``free[k]``. A failed task without a live replica takes at least
    ``restore_s`` until it runs again.
    """

    weight: float  # probability over the sum of all
    start: Outages
    later: tuple[Outages, ...]  # failures during the recovery: queries that were not down before
    fails_s: FloatArray  # (N,) when each node fails, infinite if it does not
    restore_s: FloatArray  # (T,)
    release: IntArray  # (Q,) first step with room for each task of a query
    usable: FloatArray  # (K,) cores by each step, for the tasks that failed
    free: FloatArray  # (K,) cores by each step
    most: FloatArray  # (K,) priority of the queries that are whole by each step, proven for any replicas
    span_s: FloatArray  # (K,) seconds for which each step counts; they sum to the horizon
    lasting: bool  # what is whole stays whole: nothing fails during the recovery

    @property
    def horizon_s(self) -> float:
        """Seconds that count."""
        return float(self.span_s.sum())

    @property
    def least(self) -> float:
        """Priority x seconds down, proven for any replicas."""
        return max(0.0, float(self.start.priority.sum()) * self.horizon_s - float(self.most @ self.span_s))


def downtime_bound(
    problem: ReplicationProblem, cases: Sequence[CaseRelaxation], cpu: FloatArray, seed: int, budget: Budget
) -> float:
    """Return an expected priority x seconds down that no replicas within the budget go below, whatever the recovery.

    Binary replicate[t, c] over tasks and classes of nodes that fail alike, within the budget and the cores of each
    class; in every case whole[q, k] <= back[b, k] for each bundle b of query q, cores of the bundles back and of other
    tasks' live replicas within the step's; a query is down for all steps by which it is not whole, and for as long as
    any of its tasks without a live replica takes to be restored.

    Relaxed: nodes of a class are one, restores do not wait for each other, and a restore may begin before its step.
    Without time for the program, or above :data:`MOST_ENTRIES`, the bound is that of any replicas at all.

    Cost: exponential at worst, within the limits of *budget*.
    """
    least = sum(case.weight * case.least for case in cases)
    entries = sum(len(case.start.queries.member) * len(case.span_s) + _restored(case) for case in cases)
    if not cases or entries > MOST_ENTRIES or budget.over():
        return least
    program = _DowntimeProgram(problem, cases, cpu)
    for case in cases:
        program.add_case(case)
    nodes = TREE_NODES_PER_ITERATION * budget.passes(ITERATIONS)
    answer = solve_program(program.model, "HIGHS", budget, seed, nodes=nodes, size=SIZE, only_bound=True)
    return least if answer.bound is None else max(least, answer.bound * program.scale)


def _restored(case: CaseRelaxation) -> int:
    return sum(len(out.queries.task) + len(out.queries.member) for out in (case.start, *case.later))


class _DowntimeProgram:
    """The integer program in the making."""

    def __init__(self, problem: ReplicationProblem, cases: Sequence[CaseRelaxation], cpu: FloatArray) -> None:
        from ortools.math_opt.python import mathopt

        self.model: mathopt.Model = mathopt.Model()
        self._cpu, self._cases = cpu, 0
        self.scale = max(sum(c.weight * c.horizon_s * float(c.start.priority.sum()) for c in cases), 1e-9)
        tasks = {int(t) for case in cases for out in (case.start, *case.later) for t in out.queries.task}
        self._failing = sorted(tasks)
        self._replicate(problem, np.array([case.fails_s for case in cases]))

    def _replicate(self, problem: ReplicationProblem, fails_s: FloatArray) -> None:
        """Add replicate[t, c], the budget, and the cores and memory of each class of nodes."""
        hosts = problem.hosts
        assert hosts is not None
        self._class_fails_s, of_class = np.unique(fails_s, axis=1, return_inverse=True)
        of_class = of_class.reshape(-1)
        classes = self._class_fails_s.shape[1]
        accepting = hosts.accepting.copy()
        if hosts.kept is not None:
            accepting[hosts.kept[hosts.kept >= 0]] = True
        cpu, mb = np.maximum(hosts.residual_cpu, 0.0), np.maximum(hosts.residual_mb, 0.0)
        self.replica: dict[tuple[int, int], Any] = {}
        within = self.model.add_linear_constraint(ub=problem.limit)
        room = [
            [self.model.add_linear_constraint(ub=float(size[accepting & (of_class == c)].sum()) * (1 + 1e-9) + 1e-9)
             if np.isfinite(size[accepting & (of_class == c)]).all() else None for c in range(classes)]
            for size in (cpu, mb)
        ]  # fmt: skip
        for task in self._failing:
            one = self.model.add_linear_constraint(ub=1.0)
            fitting = hosts.allowed(task) & hosts.fits(task, hosts.residual_cpu, hosts.residual_mb)
            for c in np.unique(of_class[fitting]).tolist():
                made = self.replica[task, c] = self.model.add_variable(lb=0.0, ub=1.0, is_integer=True)
                one.set_coefficient(made, 1.0)
                within.set_coefficient(made, float(problem.weight[task]))
                for rows, size in zip(room, (hosts.cpu, hosts.memory_mb), strict=True):
                    if rows[c] is not None:
                        rows[c].set_coefficient(made, float(size[task]))

    def _live(self, place: int, task: int, at_s: float) -> list[Any]:
        """Return the replicas of a task that live beyond a time in a case."""
        later = np.flatnonzero(self._class_fails_s[place] > at_s).tolist()
        return [self.replica[task, c] for c in later if (task, c) in self.replica]

    def add_case(self, case: CaseRelaxation) -> None:
        """Add the queries of a case, what they wait for, and what their downtime costs."""
        place = self._cases
        self._cases += 1
        if case.horizon_s <= 0.0:
            return
        whole = self._by_room(case, place) if case.start.queries.queries else []
        self._by_restore(case, place, case.start, whole)
        for out in case.later:
            self._by_restore(case, place, out, [])

    def _downtimes(self, case: CaseRelaxation, out: Outages) -> list[Any]:
        """Add the seconds for which each query is down, as shares of the horizon."""
        down = [self.model.add_variable(lb=0.0, ub=1.0) for _ in out.priority]
        for variable, priority in zip(down, out.priority.tolist(), strict=True):
            worth = case.weight * priority * case.horizon_s / self.scale
            self.model.objective.set_linear_coefficient(variable, worth)
        return down

    def _by_restore(
        self, case: CaseRelaxation, place: int, out: Outages, whole: Sequence[Sequence[tuple[float, Any]]]
    ) -> None:
        """down[q] >= the restore of each of its tasks without a live replica; tasks of a bundle share the longest.

        What is whole by step 0 waits for its restores, the rest at least for its step: where nothing fails later,
        down[q] >= the steps by which it is not whole + restore - (1 - whole[q, 0]) longest restore.
        """
        queries, left_s = out.queries, max(0.0, case.horizon_s - out.at_s)
        down = self._downtimes(case, out)
        waiting = [self._waiting(case, place, out, bundle, left_s) for bundle in range(queries.bundles)]
        for q, variable in enumerate(down):
            steps = whole[q] if q < len(whole) else None
            if steps is not None:
                self._row(1.0, [(1.0, variable), *steps])
            for bundle in queries.members(q).tolist():
                if waiting[bundle] is None:
                    continue
                restored, longest = waiting[bundle]
                self._row(0.0, [(1.0, variable), (-1.0, restored)])
                if steps and case.lasting and case.release[q] == 0:
                    first = (steps[0][0] - longest, steps[0][1])
                    self._row(1.0 - longest, [(1.0, variable), (-1.0, restored), first, *steps[1:]])

    def _row(self, least: float, terms: Iterable[tuple[float, Any]]) -> None:
        row = self.model.add_linear_constraint(lb=least)
        for size, variable in terms:
            row.set_coefficient(variable, size)

    def _waiting(
        self, case: CaseRelaxation, place: int, out: Outages, bundle: int, left_s: float
    ) -> tuple[Any, float] | None:
        """Return the share of the horizon for which a bundle's restores last, and the longest; None without any."""
        tasks = out.queries.task[out.queries.bundle == bundle]
        share = np.minimum(case.restore_s[tasks], left_s) / case.horizon_s
        if not share.any():
            return None
        longest = self.model.add_variable(lb=0.0, ub=1.0)
        for task, part in zip(tasks.tolist(), share.tolist(), strict=True):
            if part > 0.0:
                row = self.model.add_linear_constraint(lb=part)
                row.set_coefficient(longest, 1.0)
                for replica in self._live(place, task, out.at_s):
                    row.set_coefficient(replica, part)
        return longest, float(share.max())

    def _by_room(self, case: CaseRelaxation, place: int) -> list[list[tuple[float, Any]]]:
        """Add whole[q, k] with room for its tasks; return (share of the horizon, variable) of each step by query."""
        queries, steps = case.start.queries, len(case.span_s)
        weight = queries.weight(self._cpu)
        back = [[self.model.add_variable(lb=0.0, ub=1.0) for _ in range(steps)] for _ in range(queries.bundles)]
        others = [(float(self._cpu[t]), live) for t in sorted(set(self._failing) - set(queries.task.tolist()))
                  for live in self._live(place, t, 0.0)]  # fmt: skip
        for k in range(steps):
            for limit, more in ((case.usable[k], []), (case.free[k], others)):
                row = self.model.add_linear_constraint(ub=float(limit) + ROUNDING * max(1.0, float(limit)))
                for bundle, size in enumerate(weight.tolist()):
                    row.set_coefficient(back[bundle][k], size)
                for size, live in more:
                    row.set_coefficient(live, size)
        if case.lasting:
            for row_of in back:
                for early, late in itertools.pairwise(row_of):
                    row = self.model.add_linear_constraint(lb=0.0)
                    row.set_coefficient(late, 1.0)
                    row.set_coefficient(early, -1.0)
        most = [self.model.add_linear_constraint(ub=float(p) * (1.0 + ROUNDING) + ROUNDING) for p in case.most]
        whole: list[list[tuple[float, Any]]] = [[] for _ in range(queries.queries)]
        for q, priority in enumerate(case.start.priority.tolist()):
            for k in range(int(case.release[q]), steps):
                made = self.model.add_variable(lb=0.0, ub=1.0, is_integer=True)
                whole[q].append((float(case.span_s[k]) / case.horizon_s, made))
                most[k].set_coefficient(made, priority)
                for bundle in queries.members(q).tolist():
                    self._row(0.0, [(1.0, back[bundle][k]), (-1.0, made)])
        return whole
