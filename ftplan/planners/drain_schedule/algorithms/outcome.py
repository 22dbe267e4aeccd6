"""From rounds as masks to the result of a planner; which nodes may restart at all, and what would let the others."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ftplan.model.plan import Infeasible, Status, Warn, canonical_number
from ftplan.model.violation import Breach
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets
from ftplan.planners.drain_schedule.algorithms.first_fit import in_order
from ftplan.planners.drain_schedule.packing import pack
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem
from ftplan.planners.drain_schedule.rules import (
    COPIES,
    FIDELITY,
    PRIORITY,
    REPLICA,
    ROOM,
    RULES,
    broken,
    rules,
    to_move,
)
from ftplan.planners.result import Result

#: Cores and units of 2^20 bytes by which an added node is larger or smaller.
GRAIN_CPU, GRAIN_MB = 0.25, 256.0


class Restartable(NamedTuple):
    """The chosen nodes that may restart alone, ascending, and what each other one breaks, by number.

    ``proven`` tells whether the others break that for certain: a packing may have been undecided in time.
    """

    nodes: tuple[int, ...]
    others: dict[int, tuple[Breach, ...]]
    proven: bool


def restartable(problem: DrainProblem, budget: Budget, seed: int = 0) -> Restartable:
    """Try each chosen node alone. Cost O(nodes * (tasks + substreams + copies)), and a packing each where tasks move.

    Since limits are monotone, a node that may not go alone may go in no round.
    """
    nodes, others, proven = [], {}, True
    for node in problem.to_restart:
        breaches = broken(problem, [node])
        if problem.limits.move:
            packing = pack(problem, problem.mask([node]), budget, seed)
            proven = proven and packing.proven
            if packing.moves is None:
                breaches.append(_no_room(problem, node))
        if breaches:
            others[node] = tuple(sorted(breaches, key=lambda breach: RULES.index(breach.rule)))
        else:
            nodes.append(node)
    return Restartable(tuple(nodes), others, proven)


def _no_room(problem: DrainProblem, node: int) -> Breach:
    assert problem.room is not None
    tasks, name = to_move(problem, problem.mask([node])), problem.nodes[node]
    cores = float(problem.room.task_cpu[tasks].sum())
    stay = problem.room.accepting & ~problem.mask([node])
    free = max(0.0, round(float(np.maximum(problem.room.cpu[stay], 0.0).sum()), 9))
    text = f"the {free:.6g} cores free on other nodes have no room for its {len(tasks)} tasks of {cores:.6g} cores"
    return Breach(ROOM, free, cores, cores, f"node:{name}", text)


def infeasible(problem: DrainProblem, others: dict[int, tuple[Breach, ...]]) -> Infeasible:
    """Say why some nodes cannot restart: the first of them, its limit, and a change that helps all of them.

    The fix loosens each limit that some node breaks alone just so far that none does. Any set of rounds of one node
    each is then a plan.
    """
    node = min(others)
    breach = others[node][0]
    more = f"; {len(others) - 1} more cannot either" if len(others) > 1 else ""
    reason = f"node {problem.nodes[node]} cannot restart even alone: {breach.message}{more}"
    by_rule = {
        rule: {node: breach for node, some in others.items() for breach in some if breach.rule == rule}
        for rule in RULES
    }
    fixes = [_fix(problem, rule, breaches) for rule, breaches in by_rule.items() if breaches]
    needed = breach.needed
    if breach.rule == FIDELITY:
        needed = min(float(each.needed) for each in by_rule[FIDELITY].values())
    return Infeasible(reason, breach.rule, breach.limit, needed, " and ".join(fixes))


def _fix(problem: DrainProblem, rule: str, breaches: dict[int, Breach]) -> str:
    """Return what lets all nodes keep a rule that some break alone."""
    if rule == FIDELITY:
        least = canonical_number(min(float(breach.needed) for breach in breaches.values()))
        return f"--min-fidelity {least!r}"
    if rule == PRIORITY:
        needed = max(breaches.values(), key=lambda breach: float(breach.current)).needed
        return "no --keep-priority" if needed is None else f"--keep-priority {canonical_number(needed)!r}"
    if rule == COPIES:
        return "--keep-copies none"
    if rule == REPLICA:
        first = breaches[min(breaches)].where
        others_too = f" ({len(breaches) - 1} more nodes likewise)" if len(breaches) > 1 else ""
        return f"place the replica of {first} on another node than its primary{others_too}"
    assert rule == ROOM
    return _larger(problem, tuple(breaches))


def _larger(problem: DrainProblem, nodes: tuple[int, ...]) -> str:
    """Return the node that would take the tasks of any one of some nodes."""
    room = problem.room
    assert room is not None
    tasks = [to_move(problem, problem.mask([node])) for node in nodes]
    cpu = max(float(room.task_cpu[some].sum()) for some in tasks) / room.max_cpu
    mb = max(float(room.task_mb[some].sum()) for some in tasks)
    name = next(f"extra-{k}" for k in range(1, len(problem.nodes) + 2) if f"extra-{k}" not in problem.nodes)
    size = max(GRAIN_CPU, math.ceil(round(cpu / GRAIN_CPU, 6)) * GRAIN_CPU)
    memory = f", memory_mb: {math.ceil(round(mb / GRAIN_MB, 6)) * GRAIN_MB:.10g}" if mb > 0.0 else ""
    return f"add to the nodes of the cluster file: {{id: {name}, cpu: {size:.10g}{memory}}}"


def begin(problem: DrainProblem, options: DrainOptions, budget: Budget) -> Result[Drain] | tuple[AllowedSets, Drain]:
    """Return the sets to choose from, and a drain without rounds that names what cannot restart; or why there is none.

    Raises RuntimeError if tasks are to be moved and the problem does not say where there is room.
    """
    if problem.limits.move and problem.room is None:
        raise RuntimeError("a drain that moves tasks needs to know the room of nodes")
    able = restartable(problem, budget, options.seed)
    if able.others and not options.partial:
        return _refused(problem, able, budget)
    unplaced = tuple((node, able.others[node][0].message) for node in sorted(able.others))
    return AllowedSets(problem, able.nodes, budget, options.seed), Drain((), (), unplaced)


def _refused(problem: DrainProblem, able: Restartable, budget: Budget) -> Result[Drain]:
    why = infeasible(problem, able.others)
    warnings = problem.warnings + budget.warnings()
    if not able.proven:
        return Result("no-plan-in-time", None, rules(problem), reason=why.reason, warnings=warnings)
    return Result("infeasible", None, rules(problem), reason=why.reason, infeasible=why, warnings=warnings)


def outcome(
    sets: AllowedSets, without: Drain, rounds: list[int], least: int, budget: Budget, warnings: tuple[Warn, ...] = ()
) -> Result[Drain]:
    """Return rounds as a result, in the order of their first nodes: optimal where there are no more than *least*."""
    rounds = in_order(rounds)
    sets.check(rounds, "drain-schedule")
    moves = tuple((sets.packing(mask).moves or ()) if sets.limits_room else () for mask in rounds)
    drain = Drain(tuple(sets.numbers(mask) for mask in rounds), moves, without.unplaced)
    status: Status = "optimal" if len(rounds) <= least else "feasible"
    said = (*sets.problem.warnings, *warnings, *budget.warnings())
    return Result(status, drain, rules(sets.problem), float(least), warnings=said)
