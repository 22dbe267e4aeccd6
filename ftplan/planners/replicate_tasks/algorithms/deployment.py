"""Which tasks get an active replica, and on which nodes: a planner's answer next to what is in place.

Of the same value, replicas are spread over the nodes with most room.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Infeasible, Status, Warn
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.fewest import fewest
from ftplan.planners.replicate_tasks.algorithms.planner import (
    EQUAL,
    Replication,
    ReplicationOptions,
    ReplicationPlanner,
)
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, in_place
from ftplan.planners.replicate_tasks.algorithms.search.growth import TreeGrowth
from ftplan.planners.replicate_tasks.algorithms.shortage import NO_ROOM, no_room, too_few_changes
from ftplan.planners.replicate_tasks.problem import NodeByTask, ReplicationProblem
from ftplan.planners.result import Result


def spread(problem: ReplicationProblem, node: IntArray) -> IntArray:
    """Return a solution with the same replicas and no less value, spread over the nodes.

    Those in place stay where they run. The others come largest first, each where it fails least with its primary,
    outside the primary's zone where it can, and on the node with most room. Where that does not work out nothing
    moves. Cost: O(replicas x nodes).
    """
    if problem.hosts is None:
        return node
    hosts, current = problem.hosts, problem.current
    stays = np.zeros(problem.tasks, dtype=np.bool_) if current is None else (node == current) & (node != NOWHERE)
    room = ReplicaPlacement(problem, np.where(stays, node, NOWHERE))
    tasks = np.flatnonzero((node != NOWHERE) & ~stays)
    for task in tasks[np.lexsort((tasks, -hosts.memory_mb[tasks], -hosts.cpu[tasks]))].tolist():
        nodes = room.open_to(task)
        if len(nodes) == 0:
            return node
        near = ~hosts.apart(task)[nodes]
        keys = (nodes, -room.mb[nodes], -np.round(room.cpu[nodes], 9), near, room.risk(task)[nodes])
        room.put(task, int(nodes[np.lexsort(keys)[0]]))
    return room.node if room.value >= problem.value_at(node) - NOISE and room.within_changes else node


def deployed(
    problem: ReplicationProblem,
    planner: ReplicationPlanner,
    options: ReplicationOptions,
    target: float | None = None,
    threshold: float | None = None,
) -> Result[NodeByTask]:
    """Choose replicas with their nodes; never worse than those in place, which stay where less is to be gained.

    With a *target* the fewest (or cheapest) replicas that reach it, instead of the best within the budget; the bound is
    then of what they take of the budget. Those in place stay where a new plan gains less than the *threshold*; the
    result's ``reason`` says why nothing changes.
    """
    if target is not None:
        chosen = fewest(problem, planner, options, target)
        return _finished(problem, chosen, None, Budget.of(options))
    refused = too_few_changes(problem)
    if refused is not None:
        return Result("infeasible", None, (), None, refused.reason, refused)
    chosen = planner.choose(problem, options)
    if chosen.answer is None:
        return _on_nodes(problem, chosen, None)
    node, useless = _without_useless(problem, chosen.answer.nodes())
    shortage = _no_room_at_all(problem, node)
    if shortage is not None:
        return Result("infeasible", None, (), chosen.bound, shortage.reason, shortage, chosen.warnings)
    chosen = replace(chosen, answer=Replication.on(problem, node), warnings=(*chosen.warnings, *useless))
    return _finished(problem, chosen, threshold, Budget.of(options))


def _finished(
    problem: ReplicationProblem, chosen: Result[Replication], threshold: float | None, clock: Budget
) -> Result[NodeByTask]:
    """Let the replicas in place stay where they are as good, and spread the others evenly."""
    if chosen.answer is None:
        return _on_nodes(problem, chosen, None)
    node = chosen.answer.nodes()
    now = None if problem.current is None else in_place(problem)
    reason = None if now is None else _no_change(problem, node, now, threshold)
    if now is not None and reason is not None:
        kept: Status = chosen.status if problem.value_at(now.node) >= problem.value_at(node) - NOISE else "feasible"
        warned = (*chosen.warnings, Warn("NO_CHANGE", reason))
        return _on_nodes(problem, replace(chosen, status=kept, reason=reason, warnings=warned), now.node)
    node = spread(problem, node)
    short = () if "target" in chosen.rules else _short_of_room(problem, node, clock)
    return _on_nodes(problem, replace(chosen, warnings=(*chosen.warnings, *short)), node)


def _no_change(
    problem: ReplicationProblem, node: IntArray, now: ReplicaPlacement, threshold: float | None
) -> str | None:
    """Return why the replicas in place stay; None where a new plan is better, or they cannot stay."""
    if now.cost > now.limit or problem.changes(now.node) > 0:
        return None
    same = bool(((node != NOWHERE) == now.replicated).all())
    gain, saved = problem.value_at(node) - now.value, now.cost - problem.cost(node != NOWHERE)
    if threshold is not None and gain < threshold - NOISE:
        return f"no change: a fresh plan would gain {max(0.0, gain):.6g}, below --threshold {threshold:.6g}"
    if gain > NOISE or (threshold is None and gain >= -NOISE and saved > EQUAL * max(1.0, now.cost)):
        return None
    if problem.max_changes is not None:
        return f"no change: nothing within --max-changes {problem.max_changes} gains anything"
    if same and threshold is None:
        return "no change: a fresh plan has the replicas that are in place"
    return "no change: a fresh plan is no better than the replicas in place"


def _on_nodes(problem: ReplicationProblem, chosen: Result[Replication], node: IntArray | None) -> Result[NodeByTask]:
    """Return a planner's answer with the nodes of its replicas by name in its place, None without any."""
    answer: NodeByTask | None = None
    if node is not None:
        tasks = np.flatnonzero(node != NOWHERE)
        hosts = problem.hosts
        answer = dict.fromkeys(tasks.tolist()) if hosts is None else hosts.names(tasks, node[tasks])
    return Result(chosen.status, answer, chosen.rules, chosen.bound, chosen.reason, chosen.infeasible, chosen.warnings)


def _without_useless(problem: ReplicationProblem, node: IntArray) -> tuple[IntArray, tuple[Warn, ...]]:
    """Return a solution without replicas of no use; where changes are limited those in place stay."""
    useful = problem.without_useless(node)
    dropped = int((node != NOWHERE).sum() - (useful != NOWHERE).sum())
    if dropped == 0:
        return useful, ()
    what, were = ("1 replica completes", "was") if dropped == 1 else (f"{dropped:,} replicas complete", "were")
    text = f"{what} no tree of live tasks up to an output and {were} dropped: the plan is as good and cheaper"
    return useful, (Warn("USELESS_REPLICAS", text),)


def _no_room_at_all(problem: ReplicationProblem, node: IntArray) -> Infeasible | None:
    """Return what is missing where the budget holds replicas and no node has room for any; None otherwise."""
    if problem.hosts is None or (node != NOWHERE).any() or problem.current is not None:
        return None
    affordable = problem.fails & (problem.weight <= problem.limit)
    if not affordable.any() or (ReplicaPlacement(problem).possible() & affordable).any():
        return None
    return no_room(problem, node, affordable)


def _short_of_room(problem: ReplicationProblem, node: IntArray, clock: Budget) -> tuple[Warn, ...]:
    """Say where the budget holds more replicas that would gain something than the nodes."""
    room = ReplicaPlacement(problem, node)
    affordable = problem.fails & ~room.replicated & (problem.weight <= room.limit - room.cost)
    if problem.hosts is None or not affordable.any():
        return ()
    anywhere = replace(problem, hosts=None, current=None, max_changes=None)
    growth = TreeGrowth(anywhere, clock)
    more = growth.grown(ReplicaPlacement(anywhere, np.where(room.replicated, 0, NOWHERE)), growth.prices[0]).replicated
    lacking = more & ~room.replicated
    if not lacking.any() or not room.add(np.flatnonzero(lacking).tolist()):
        return ()
    short = no_room(problem, node, lacking)
    return (Warn(NO_ROOM, f"{short.reason}; for all of these, {short.smallest_fix}"),)
