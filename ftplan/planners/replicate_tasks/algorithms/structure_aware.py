"""Structure-aware: again and again the MC-tree of most fidelity for each new replica ([SuZhou2016], algorithms 3-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.greedy import placed, ranking
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement
from ftplan.planners.replicate_tasks.algorithms.search.climbing import First, climbed_within, grown_within
from ftplan.planners.replicate_tasks.algorithms.search.growth import trimmed
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result


def structure_aware(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Grow a plan by MC-trees, always by the one of most fidelity for each unit of cost that it adds.

    The densest tree through each task is a candidate. With hosts a tree is taken only where all its replicas find
    nodes that do not fail with it.

    Not in the paper: plans also grow from greedy's, and from the densest tree through each operator of small jobs; and
    the best of these is improved: replicas are given up for what grows in their place, where that is better. With hosts
    the plan climbs a ladder of budgets so, on each rung from the plan below, and trees are priced by what they take of
    the budget and of the nodes. Jobs of few failing tasks are searched completely.

    Cost: a round prices all candidates in O(tasks + substreams) and takes trees for 1 % of the plan, at least one:
    about 100 (1 + ln(replicas / 100)) rounds, on each rung of a ladder fewer. Guarantee: no useless replica; no worse
    than greedy without hosts, never worse with more budget on hosts; optimal on a chain of full edges up to 100
    replicas of equal cost. Several failure cases are priced one by one and added up.

    References: [SuZhou2016], section IV-C, algorithms 3, 4 and 5.
    """
    # Departures: the paper cuts the topology into sub-topologies and units, whose segments are the increments, and the
    # three listings call each other for one at a time; here one loop sees the densest tree through every task, which
    # finds the same plans. Profit density uses the fidelity of the whole topology, not of the sub-topology: in series
    # fidelities multiply, and .5 to .6 alone looks better than .1 to .19, which keeps more. The budget test counts only
    # new replicas against what is left, plans are united, not cut (line 19 of algorithm 3), usage is raised after each
    # increment, and the loop ends when no candidate gains or fits. A budget below the number of operators may still
    # hold an MC-tree of independent operators: the cheapest trees are tried when none else fits. In a full sub-topology
    # all tasks of an operator are fed alike, so its densest candidate is the next in the order of algorithm 4's δ; the
    # plan of largest fidelity is taken (the listing), not the largest δ (the prose).
    clock = Budget.of(options)
    first = _first(problem, clock)
    if problem.hosts is None and problem.max_changes is None and problem.current is None:
        room = grown_within(problem, first, options.seed, clock)
    else:
        (room,) = climbed_within(problem, [problem.budget], first, options.seed, clock, trees=True)
    return Result("feasible", Replication.on(problem, room.node), ("budget",), warnings=clock.warnings())


def plans(problem: ReplicationProblem, budgets: Sequence[float], options: ReplicationOptions) -> list[IntArray]:
    """Return the nodes of replicas for each of some ascending budgets, (T,) each, from one climb."""
    clock = Budget.of(options)
    first = _first(problem, clock)
    rooms = climbed_within(problem, budgets, first, options.seed, clock, trees=True)
    if problem.hosts is None and problem.max_changes is None:  # greedy's plans grow with the budget too
        greedy = (trimmed(first(ReplicaPlacement(replace(problem, budget=budget)))) for budget in budgets)
        rooms = [min(pair, key=lambda room: room.rank) for pair in zip(rooms, greedy, strict=True)]
    return [room.node for room in rooms]


def _first(problem: ReplicationProblem, clock: Budget) -> First:
    """Return how greedy fills what is left of a budget."""
    order = ranking(problem, clock)
    return lambda room: placed(room, order)
