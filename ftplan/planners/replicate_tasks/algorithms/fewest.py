"""The fewest or cheapest replicas that reach a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Infeasible, Warn
from ftplan.model.topology import IntArray
from ftplan.planners import registry
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.replicate_tasks.algorithms.bounds import quick_bound, units
from ftplan.planners.replicate_tasks.algorithms.planner import (
    EQUAL,
    Replication,
    ReplicationOptions,
    ReplicationPlanner,
    climber,
)
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement
from ftplan.planners.replicate_tasks.algorithms.search.growth import trimmed
from ftplan.planners.replicate_tasks.algorithms.shortage import no_room
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: Seconds for bounds between those of the planner.
BOUNDING_S = 5.0
#: Budgets at which one climb is looked at.
POINTS = 200
#: Costs that no unit divides are told apart down to this share of them.
FINE = 1e-3


def fewest(
    problem: ReplicationProblem, planner: ReplicationPlanner, options: ReplicationOptions, target: float
) -> Result[Replication]:
    """Return the replicas that take least of the budget and reach a target, on their nodes too.

    One climb up the ladder of budgets shows where a planner that has one reaches it; a planner that proves its optima
    is asked below that by bisection, in equal parts of the time. ``bound`` is what no choice can do without: more than
    the largest budget whose proven bound lies below the target. Where no choice within all limits was seen to reach
    it, ``exact`` is asked, and only what is proven is called infeasible.

    Cost: two climbs, or 2 log2(budgets) runs of the planner. Guarantee: the minimum, where the planner proves its
    optima and costs have a common unit.
    """
    most = problem.cost(problem.fails)
    clock, search = Budget.of(options), _TargetSearch(problem, target)
    if search.offer(np.full(problem.tasks, NOWHERE)):
        assert search.best is not None
        return Result("optimal", Replication.on(problem, search.best), ("target",), 0.0)
    first = climber(planner)
    if first is not None:
        search.climb(first, options, most)
    parts = 2.0 * math.log2(most / search.unit + 2.0) if search.unit > 0.0 else 1.0
    part = replace(options, time_limit_s=options.time_limit_s / parts)
    if search.best is None:
        search.ask(planner.choose, most, part)
    if search.best is None and planner.name != "exact":
        search.ask(ReplicationPlanner.of(registry.row("replicate-tasks", "exact")).choose, most, options)
    if search.best is None:
        return search.refused()
    least = search.least(Budget(BOUNDING_S, ends=options.ends))
    while planner.proves and search.cost - least > search.unit * (1.0 + EQUAL) / 2.0 and not clock.over():
        open_ = (search.cost - least) / search.unit
        middle = least + math.floor(open_ / 2.0) * search.unit
        part = replace(options, time_limit_s=clock.left_s / math.log2(open_ + 2.0))
        if not search.ask(planner.choose, min(middle, search.cost - search.unit), part):
            least = max(least, middle + search.unit)
    bound = search.least(Budget(BOUNDING_S, ends=options.ends))
    warnings = tuple(dict.fromkeys((*search.warnings, *clock.warnings())))
    log: Incumbents[Replication] = Incumbents("min", "cost of replicas")
    log.offer(Replication.on(problem, search.best), search.cost, planner.name)
    log.prove(bound, "tables")
    return Result(log.status, log.answer, ("target",), log.bound, warnings=warnings)


class _TargetSearch:
    """The cheapest solution so far that reaches a target, and proven bounds by budget."""

    def __init__(self, problem: ReplicationProblem, target: float) -> None:
        self.problem, self.target = problem, target
        self.best: IntArray | None = None
        self.cost, self.reached = math.inf, 0.0
        self.bounds: dict[float, float] = {}
        self.warnings: tuple[Warn, ...] = ()
        weight = problem.weight[problem.fails & (problem.weight > 0.0)]
        whole = units(problem)
        one = float((problem.weight[whole.cost > 0] / whole.cost[whole.cost > 0]).min(initial=math.inf))
        self.unit = one if whole.whole and len(weight) else FINE * problem.cost(problem.fails)

    def climb(self, planner: ReplicationPlanner, options: ReplicationOptions, most: float) -> None:
        """Offer what one climb reaches with evenly spaced budgets, and with those between the last two."""
        assert planner.plans is not None
        low = 0.0
        for _ in range(2):
            units = (most - low) / self.unit if self.unit > 0.0 and math.isfinite(self.unit) else 0.0
            count = min(POINTS, max(1, math.floor(units + 0.5)))
            budgets = [low + self.unit * math.ceil(units * k / count) for k in range(1, count + 1)] if units else [most]
            for budget, node in zip(budgets, planner.plans(self.problem, budgets, options), strict=True):
                if self.offer(node):
                    most = budget
                    break
                low = budget
            if most - low <= self.unit * (1.0 + EQUAL) or self.best is None:
                break

    def ask(self, choose: Callable[..., Result[Replication]], budget: float, options: ReplicationOptions) -> bool:
        """Ask a planner within a budget; return whether it reaches the target."""
        result = choose(replace(self.problem, budget=budget), options)
        self.warnings = (*self.warnings, *result.warnings)
        self.bounds[budget] = 1.0 if result.bound is None else result.bound
        return result.answer is not None and self.offer(result.answer.nodes())

    def offer(self, node: IntArray) -> bool:
        """Take a solution where it reaches the target and is cheaper, without what it can do without."""
        value = self.problem.value_at(node)
        self.reached = max(self.reached, value)
        if value < self.target - EQUAL:
            return False
        room = trimmed(ReplicaPlacement(self.problem, node))
        for task in sorted(np.flatnonzero(room.replicated).tolist(), key=lambda t: (-self.problem.weight[t], t)):
            other = room.copy()
            if other.node[task] != NOWHERE:
                other.remove(task)
                if other.value >= self.target - EQUAL:
                    room = trimmed(other)
        if self.best is None or room.cost < self.cost:
            self.best, self.cost = room.node, room.cost
        return True

    def least(self, clock: Budget) -> float:
        """Return what reaching the target takes at least, by the bounds of planners and by quick ones between them."""
        below = [budget for budget, bound in self.bounds.items() if bound < self.target - EQUAL]
        low = max(below, default=-self.unit)
        high = min(self.cost, self.problem.cost(self.problem.fails))
        try:
            while high - low > self.unit * (1.0 + EQUAL):
                middle = low + math.floor((high - low) / self.unit / 2.0 + EQUAL) * self.unit
                bound = quick_bound(replace(self.problem, budget=middle), clock)
                self.bounds[middle] = bound
                clock.check()
                low, high = (middle, high) if bound < self.target - EQUAL else (low, middle)
        except OutOfTime:
            pass
        return max(0.0, low + self.unit)

    def refused(self) -> Result[Replication]:
        """Return why there is no solution: none can be, or none was seen."""
        bound = min(self.bounds.values(), default=1.0)
        what = (
            "a replica of every task that may fail" if self.problem.hosts is None else "all replicas that find a node"
        )
        reason = f"with {what} the metric is {self.reached:.6g}, below the target {self.target:.6g}"
        if bound >= self.target - EQUAL:
            text = f"{reason}; that more is impossible was not proven within the time limit"
            return Result("no-plan-in-time", None, (), None, text, warnings=self.warnings)
        less = int(self.reached * 1e6) / 1e6
        fix = f"--target {less:.10g}"
        if less <= 0.0 and self.problem.hosts is not None:
            nothing = np.full(self.problem.tasks, NOWHERE)
            fix = no_room(replace(self.problem, budget=math.inf), nothing, self.problem.fails).smallest_fix
        limit = Infeasible(reason, "target", self.reached, self.target, fix)
        return Result("infeasible", None, (), None, reason, limit, self.warnings)
