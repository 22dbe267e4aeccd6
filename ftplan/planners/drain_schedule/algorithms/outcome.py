"""From rounds as masks to the result of a planner; which nodes may restart at all, and what would let the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.plan import Infeasible, Status, Warn, canonical_number
from ftplan.model.violation import Breach
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, parts_of
from ftplan.planners.drain_schedule.algorithms.first_fit import in_order
from ftplan.planners.drain_schedule.packing import AddedRoom, least_room, pack
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem, Move
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

#: Digits after the point of the cores and units of 2^20 bytes of an added node, rounded up.
ROOM_DIGITS = 6


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


def infeasible(
    problem: DrainProblem, others: dict[int, tuple[Breach, ...]], budget: Budget, seed: int = 0
) -> Infeasible:
    """Say why some nodes cannot restart: the first of them, its limit, and a change that helps all of them.

    The fix loosens each limit that some node breaks alone just so far that none does, and adds the node of fewest
    cores, then least memory, with which what moves finds room. Any set of rounds of one node each is then a plan.
    """
    node = min(others)
    breach = others[node][0]
    more = f"; {len(others) - 1} more cannot either" if len(others) > 1 else ""
    reason = f"node {problem.nodes[node]} cannot restart even alone: {breach.message}{more}"
    by_rule = {
        rule: {node: breach for node, some in others.items() for breach in some if breach.rule == rule}
        for rule in RULES
    }
    crowded = tuple(by_rule.pop(ROOM))
    fixes = [_fix(problem, rule, breaches) for rule, breaches in by_rule.items() if breaches]
    needed = breach.needed
    if crowded:
        added = _added(problem, crowded, budget, seed)
        fixes.append(_larger(problem, added))
        if breach.rule == ROOM:
            needed = round(float(breach.limit) + added.cpu, 9)
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
    assert rule == REPLICA
    first = breaches[min(breaches)].where
    others_too = f" ({len(breaches) - 1} more nodes likewise)" if len(breaches) > 1 else ""
    return f"place the replica of {first} on another node than its primary{others_too}"


def _added(problem: DrainProblem, nodes: tuple[int, ...], budget: Budget, seed: int) -> AddedRoom:
    """Return what the tasks of any one of some nodes take on an added one: fewest cores, then least memory.

    The largest first: nodes whose tasks are no more than is added anyway are not looked at.
    """
    room, cpu, mb = problem.room, 0.0, 0.0
    assert room is not None
    masks = {node: problem.mask([node]) for node in nodes}
    tasks = {node: to_move(problem, masks[node]) for node in nodes}
    cores, memory = ({node: float(size[tasks[node]].sum()) for node in nodes} for size in (room.task_cpu, room.task_mb))
    for node in sorted(nodes, key=lambda one: -cores[one]):
        if cores[node] > cpu:
            cpu = max(cpu, least_room(problem, masks[node], budget, seed).cpu)
    for node in sorted(nodes, key=lambda one: -memory[one]):
        if memory[node] > mb:
            mb = max(mb, least_room(problem, masks[node], budget, seed, cpu).memory_mb)
    return AddedRoom(cpu, mb)


def _larger(problem: DrainProblem, added: AddedRoom) -> str:
    """Return the node to add, as an entry of the cluster file."""
    assert problem.room is not None
    name = next(f"extra-{k}" for k in range(1, len(problem.nodes) + 2) if f"extra-{k}" not in problem.nodes)
    cpu, mb = (_up(size) for size in (added.cpu / problem.room.max_cpu, added.memory_mb))
    memory = f", memory_mb: {mb:.15g}" if mb > 0.0 else ""
    return f"add to the nodes of the cluster file: {{id: {name}, cpu: {max(cpu, 10.0**-ROOM_DIGITS):.15g}{memory}}}"


def _up(size: float) -> float:
    return math.ceil(round(size * 10.0**ROOM_DIGITS, 3)) / 10.0**ROOM_DIGITS


#: Rounds of a part, as masks of its nodes, and a number that none go below.
PartRounds = tuple[list[int], int]


def solved(
    problem: DrainProblem,
    options: DrainOptions,
    solve: Callable[[AllowedSets, Budget], PartRounds],
    doubts: Callable[[AllowedSets, bool], tuple[Warn, ...]] = lambda *_: (),
) -> Result[Drain]:
    """Return the rounds of all parts of a problem, each solved within its share of the time; or why there are none.

    *doubts* are what is to be said of a part, given whether its rounds are more than is proven to be needed.
    """
    budget = Budget.of(options)
    begun = begin(problem, options, budget)
    if isinstance(begun, Result):
        return begun
    parts, without = begun
    found, warnings = list[PartRounds](), list[Warn]()
    for k, sets in enumerate(parts):
        sets.budget = part = budget.part(1.0 / (len(parts) - k))
        rounds, least = solve(sets, part)
        found.append((rounds, least))
        sets.budget = budget
        budget.cut = budget.cut or part.cut
        warnings += doubts(sets, len(rounds) > least)
    return outcome(problem, parts, without, found, budget, tuple(dict.fromkeys(warnings)))


def begin(
    problem: DrainProblem, options: DrainOptions, budget: Budget
) -> Result[Drain] | tuple[list[AllowedSets], Drain]:
    """Return the sets to choose from, and a drain without rounds that names what cannot restart; or why there is none.

    Raises RuntimeError if tasks are to be moved and the problem does not say where there is room.
    """
    if problem.limits.move and problem.room is None:
        raise RuntimeError("a drain that moves tasks needs to know the room of nodes")
    able = restartable(problem, budget, options.seed)
    if able.others and not options.partial:
        return _refused(problem, able, budget, options.seed)
    unplaced = tuple((node, able.others[node][0].message) for node in sorted(able.others))
    return parts_of(problem, able.nodes, budget, options.seed), Drain((), (), unplaced)


def _refused(problem: DrainProblem, able: Restartable, budget: Budget, seed: int) -> Result[Drain]:
    why = infeasible(problem, able.others, budget, seed)
    warnings = problem.warnings + budget.warnings()
    if not able.proven:
        return Result("no-plan-in-time", None, rules(problem), reason=why.reason, warnings=warnings)
    return Result("infeasible", None, rules(problem), reason=why.reason, infeasible=why, warnings=warnings)


def outcome(
    problem: DrainProblem,
    parts: Sequence[AllowedSets],
    without: Drain,
    found: Sequence[PartRounds],
    budget: Budget,
    warnings: tuple[Warn, ...] = (),
) -> Result[Drain]:
    """Return the rounds of all parts as a result, in the order of their first nodes: optimal where none is too many."""
    listed = list[tuple[tuple[int, ...], tuple[Move, ...]]]()
    for sets, (masks, _) in zip(parts, found, strict=True):
        masks = in_order(masks)
        sets.check(masks, "drain-schedule")
        listed += [(sets.numbers(mask), (sets.packing(mask).moves or ()) if sets.limits_room else ()) for mask in masks]
    listed.sort(key=lambda one: one[0][0])
    drain = Drain(tuple(nodes for nodes, _ in listed), tuple(moves for _, moves in listed), without.unplaced)
    least = sum(bound for _, bound in found)
    status: Status = "optimal" if len(listed) <= least else "feasible"
    said = (*problem.warnings, *warnings, *budget.warnings())
    return Result(status, drain, rules(problem), float(least), warnings=said)
