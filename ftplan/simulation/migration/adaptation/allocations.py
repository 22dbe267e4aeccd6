"""The checkpoint allocations that an adaptation is simulated with, and their upkeep while key groups move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeVar

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Placement
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import MoveLimits
from ftplan.planners.allocate_checkpoints.maintenance import maintain_current
from ftplan.planners.allocate_checkpoints.objective import ObjectiveName
from ftplan.planners.allocate_checkpoints.problem import build
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.problem import RebalanceProblem
from ftplan.planners.result import Result
from ftplan.simulation.migration.adaptation.run import CopyPlaces, Upkeep

Held = TypeVar("Held")


class Technique(NamedTuple):
    """How copies are allocated: by which planner and for what, and whether it draws at random.

    ``full``: checkpoints are full, so that the next one may be stored on the target of a move.
    """

    planner: Literal["baseline", "even", "correlated"]
    objective: ObjectiveName = "correlation"
    random: bool = False
    full: bool = False


#: The curves of [Madsen2015], figures 7 to 9, and Algorithm 3 with the objective ``usable``. Lazy moves need no
#: allocation: theirs is the baseline.
TECHNIQUES: Mapping[str, Technique] = {
    "baseline": Technique("baseline", random=True),
    "even": Technique("even", random=True),
    "correlated": Technique("correlated"),
    "usable": Technique("correlated", "usable"),
    "lazy-move": Technique("baseline", random=True, full=True),
}


@dataclass(frozen=True, eq=False)
class Allocator:
    """What allocations are made from: the inputs, all windows of the statistics, and what planners are told.

    Of ``settings`` a technique sets the objective, and a draw the seed.
    """

    topology: Topology
    cluster: Cluster
    series: KeyGroupSeries
    settings: AllocationOptions

    def copies(self, technique: Technique, now: RebalanceProblem, windows: int, seed: int = 0) -> CopyPlaces:
        """Return the copies of each key group, (K,), as planned on the first windows with groups where they are now.

        Raises FtplanError if there is no allocation under the rules.
        """
        _, result = self._fresh(technique, now, windows, seed)
        if result.answer is None:
            why = result.reason if result.infeasible is None else result.infeasible.reason
            raise FtplanError(f"the checkpoints cannot be allocated by {technique.planner}: {why}")
        return _copies(result.answer, now)

    def upkeep(
        self, technique: Technique, windows: Callable[[int], int], every: int, threshold: float, seed: int = 0
    ) -> Upkeep:
        """Return the upkeep of a technique's allocation in every so many periods, but not in the first.

        A fresh allocation is made on the windows before the period (*windows* says how many these are); the copies
        that improve most are moved until the difference is within the threshold, which is a share of what a random
        plan loses against the fresh one. Where rules cannot be kept the copies stay. [Madsen2015], section 6,
        Temporal changes.
        """

        def upkeep(period: int, now: RebalanceProblem) -> CopyPlaces:
            if period == 0 or period % every:
                return now.copies
            settings, fresh = self._fresh(technique, now, windows(period), seed)
            seen, cluster = self._seen(windows(period)), self._cluster(now)
            budget = Budget(settings.time_limit_s, settings.iterations, ends=settings.ends)
            kept, report = maintain_current(
                fresh, MoveLimits(threshold), cluster, self.topology, seen, settings, budget
            )
            if kept.answer is None or (report is not None and report.still_broken):
                return now.copies
            return _copies(kept.answer, now)

        return upkeep

    def _fresh(
        self, technique: Technique, now: RebalanceProblem, windows: int, seed: int
    ) -> tuple[AllocationOptions, Result[Allocation]]:
        """Return what the planner is told, and its answer."""
        objective = replace(self.settings.objective, name=technique.objective)
        settings = replace(self.settings, objective=objective, seed=seed)
        cluster = self._cluster(now)
        problem = build(self.topology, cluster, cluster.placement, self._seen(windows), settings)
        planner = registry.load(registry.row(ALLOCATE_CHECKPOINTS.name, technique.planner))
        result: Result[Allocation] = planner(problem, settings)
        return settings, result

    def _seen(self, windows: int) -> KeyGroupSeries:
        return replace(self.series, loads=self.series.loads[:windows])

    def _cluster(self, now: RebalanceProblem) -> Cluster:
        """Return the cluster with key groups and copies where they are now."""
        homes: dict[str, dict[int, str]] = {}
        copies: dict[str, dict[int, tuple[str, ...]]] = {}
        for operator, number, home, hosts in zip(
            now.operators, now.key_group.tolist(), now.home.tolist(), now.copies, strict=True
        ):
            homes.setdefault(operator, {})[number] = now.nodes[home]
            copies.setdefault(operator, {})[number] = tuple(now.nodes[host] for host in hosts)
        before = self.cluster.placement or Placement()
        placement = replace(
            before,
            key_groups={**before.key_groups, **{name: _in_order(of_group) for name, of_group in homes.items()}},
            checkpoints={name: _in_order(of_group) for name, of_group in copies.items()},
        )
        return replace(self.cluster, placement=placement)


def _in_order(of_group: Mapping[int, Held]) -> tuple[Held, ...]:
    return tuple(of_group[number] for number in sorted(of_group))


def _copies(answer: Allocation, now: RebalanceProblem) -> CopyPlaces:
    """Return the copies of each key group of a rebalance, (K,), those that are not planned as they are."""
    planned = answer.problem.by_group
    found = {
        (operator, number): tuple(sorted(nodes))
        for operator, number, nodes in zip(
            planned.operators, planned.key_group.tolist(), answer.copies.tolist(), strict=True
        )
    }
    names = zip(now.operators, now.key_group.tolist(), strict=True)
    return tuple(found.get(name, before) for name, before in zip(names, now.copies, strict=True))
