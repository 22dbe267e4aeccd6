"""Structure-aware: again and again the MC-tree of most fidelity for each new replica ([SuZhou2016], algorithms 3-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.greedy import ranking, taken
from ftplan.planners.replication.planner import Replication, ReplicationOptions
from ftplan.planners.replication.search.growth import TreeGrowth
from ftplan.planners.result import Result


def structure_aware(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Grow a plan by MC-trees, always by the one of most fidelity for each unit of cost that it adds.

    The topology is cut into full and structured sub-topologies, the structured ones into units; each segment of a
    unit, and each task of a full sub-topology, is a candidate together with what it still needs elsewhere.

    Not in the paper: plans of small topologies are also begun with the densest tree through each operator; one more
    begins with what is of use in greedy's; and the best of all is improved: each replica in turn, that of least gain
    first, is given up for what grows in its place, where that is better.

    Cost: a round prices all candidates in O(tasks + substreams) and takes trees for 1 % of the plan, at least one:
    about 100 (1 + ln(replicas / 100)) rounds. Guarantee: no worse than greedy, no useless replica; optimal on a chain
    of full edges up to 100 replicas of equal cost. Several failure cases are priced one by one and added up.

    References: [SuZhou2016], section IV-C, algorithms 3, 4 and 5.
    """
    # Departures: the three listings call each other for one increment at a time, from one sub-topology; here one loop
    # sees the increments of all. Profit density uses the fidelity of the whole topology, not of the sub-topology: in
    # series fidelities multiply, and .5 to .6 alone looks better than .1 to .19, which keeps more. The budget test
    # counts only new replicas against what is left, plans are united, not cut (line 19 of algorithm 3), usage is
    # raised after each increment, and the loop ends when no candidate gains or fits. A budget below the number of
    # operators may still hold an MC-tree of independent operators: the cheapest trees are tried when none else fits.
    # In a full sub-topology all tasks of an operator are fed alike, so its densest candidate is the next in the order
    # of algorithm 4's δ; the plan of largest fidelity is taken (the listing), not the largest δ (the prose).
    budget = Budget.of(options)
    growth = TreeGrowth(problem, budget)
    ranked = taken(problem, ranking(problem, budget))
    starts = (problem.free, problem.useful(ranked), *growth.starts(problem.free))
    best = growth.improved(_best(problem, [growth.grown(start) for start in starts]))
    return Result("feasible", Replication(best), ("budget",), warnings=budget.warnings())


def plans(problem: ReplicationProblem, budgets: Sequence[float], options: ReplicationOptions) -> list[BoolArray]:
    """Return replicas for each budget, from one growth up to the largest, or greedy's where these are better.

    What :func:`structure_aware` does for one budget alone, other first trees and the improvement at the end, is left
    out: a smaller budget's plan is what had grown until then. Where the clock runs out the last budgets have none.
    """
    largest = replace(problem, budget=max(budgets, default=0.0))
    grown: list[BoolArray] = []
    budget = Budget.of(options)
    TreeGrowth(largest, budget).grown(problem.free, steps=grown)
    costs = [problem.cost(plan) for plan in grown]
    order = ranking(problem, budget)
    best = []
    for limit in budgets:
        if budget.over():
            break
        here = replace(problem, budget=limit)
        fitting = [plan for plan, cost in zip(grown, costs, strict=True) if here.fits(cost)]
        best.append(_best(here, [*fitting[-1:], taken(here, order)]))
    return best


def _best(problem: ReplicationProblem, plans: list[BoolArray]) -> BoolArray:
    """Return the plan of most value, of equal ones the cheapest, of those the first."""
    return min(plans, key=lambda plan: (-round(problem.value(plan), 12), problem.cost(plan)))
