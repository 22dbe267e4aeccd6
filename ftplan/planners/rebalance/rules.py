"""Which limits of a rebalance there are, and which of them moves break."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.model.violation import Breach, over
from ftplan.planners.rebalance.effects import loads_in_phases, places_after, surviving_copies
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, PROTOCOLS
from ftplan.planners.rebalance.migration_phases import PhaseFigures, phase_figures
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem

CAPACITY, BALANCE, FILLED, DRAINED = "capacity", "balance", "filled", "drained"
PHASE_CAPACITY, COPIES, MEMORY = "phase-capacity", "copies-apart", "memory"
MOST_MOVES, MOST_BYTES, MOST_PAUSE, PHASE_BYTES = "max-moves", "max-bytes", "max-pause", "phase-bytes"
WITHIN, PROTOCOL = "within", "protocol"
#: What a new copy may be too near to: ``current`` of a breach of :data:`COPIES`.
ITS_GROUP, A_COPY, ZONE = "its key group", "another copy", "one of its zone"
#: The rules that a rebalance can name, in the order in which :func:`broken` looks at them.
RULES = (
    CAPACITY, BALANCE, FILLED, DRAINED, PHASE_CAPACITY, COPIES, MEMORY, MOST_MOVES, MOST_BYTES, MOST_PAUSE,
    PHASE_BYTES, WITHIN, PROTOCOL,
)  # fmt: skip
#: The code of each broken rule.
CODES = {
    CAPACITY: "OVER_CAPACITY",
    MEMORY: "OVER_CAPACITY",
    BALANCE: "OVER_BALANCE",
    FILLED: "NOT_FILLED",
    DRAINED: "NOT_DRAINED",
    PHASE_CAPACITY: "OVER_PHASE_CAPACITY",
    MOST_MOVES: "OVER_BUDGET",
    MOST_BYTES: "OVER_BUDGET",
    PHASE_BYTES: "OVER_BUDGET",
    MOST_PAUSE: "OVER_PAUSE",
    WITHIN: "OVER_NOTICE",
    PROTOCOL: "WRONG_PROTOCOL",
}
#: Of ``copies-apart``, by what a new copy is too near to.
NEAR_CODES = {ITS_GROUP: "COPY_WITH_PRIMARY", A_COPY: "COPIES_ON_ONE_NODE", ZONE: "COPY_IN_SAME_ZONE"}


def rules(problem: RebalanceProblem) -> tuple[str, ...]:
    """Return the names of the rules in force."""
    limits, even = problem.limits, problem.hosts & ~problem.added
    given = {
        CAPACITY: True,
        BALANCE: bool(((problem.lower > -np.inf) & even).any()),
        FILLED: bool((problem.lower[problem.added] > -np.inf).any()),
        DRAINED: bool(problem.removed.any()),
        PHASE_CAPACITY: True,
        COPIES: any(problem.copies),
        MEMORY: bool(np.isfinite(problem.memory).any()),
        MOST_MOVES: limits.max_moves is not None,
        MOST_BYTES: limits.max_bytes is not None,
        MOST_PAUSE: limits.max_pause_s is not None,
        PHASE_BYTES: limits.phase_bytes is not None,
        WITHIN: limits.within_s is not None,
        PROTOCOL: True,
    }
    return tuple(rule for rule in RULES if given[rule])


def copies_after(problem: RebalanceProblem, answer: Rebalance) -> tuple[tuple[int, ...], ...]:
    """Return the nodes of the copies of each key group, (K,), when all is done. Cost O(groups x copies)."""
    moved = {move.group: move for move in answer.moves}
    copies = [surviving_copies(problem, group, moved.get(group)) for group in range(len(problem.home))]
    for copy in answer.new_copies:
        copies[copy.group] = tuple(sorted((*copies[copy.group], copy.target)))
    return tuple(copies)


def memory_used(problem: RebalanceProblem, place: IntArray, copies: Sequence[Sequence[int]]) -> FloatArray:
    """Return the bytes of state and copies on each node, (N,), with groups on *place*, (K,)."""
    used = np.bincount(place, problem.state, minlength=len(problem.nodes))
    for group, nodes in enumerate(copies):
        for node in nodes:
            used[node] += problem.state[group]
    return np.asarray(used, dtype=np.float64)


def broken(problem: RebalanceProblem, answer: Rebalance) -> list[Breach]:
    """Return every rule in force that moves and new copies break, a breach for each node, phase or key group of it.

    Cost O(groups x copies + phases x nodes + moves).
    """
    figures = phase_figures(problem, answer.phases)
    return [
        *_loads(problem, answer),
        *_drained(problem, answer),
        *_between(problem, answer),
        *_copies(problem, answer),
        *_budgets(problem, answer, figures),
        *_notice(problem, answer, figures),
        *_protocols(problem, answer),
    ]


def _loads(problem: RebalanceProblem, answer: Rebalance) -> Iterator[Breach]:
    """Load of nodes afterwards: at most the ceiling, and as even as was asked."""
    load = problem.loads(places_after(problem, answer.moves))
    for node, name in enumerate(problem.nodes):
        if problem.removed[node]:
            continue
        where, is_so = f"node:{name}", float(load[node])
        ceiling, upper, lower = (float(some[node]) for some in (problem.ceiling, problem.upper, problem.lower))
        if over(is_so, ceiling):
            text = f"{name} has a load of {is_so:.6g} afterwards, at most {ceiling:.6g} is no overload"
            yield Breach(CAPACITY, ceiling, is_so, is_so, where, text)
        elif over(is_so, upper):
            text = f"{name} has a load of {is_so:.6g} afterwards, at most {upper:.6g} is even"
            yield Breach(BALANCE, upper, is_so, is_so, where, text)
        if over(lower, is_so):
            rule = FILLED if problem.added[node] else BALANCE
            text = f"{name} has a load of {is_so:.6g} afterwards, at least {lower:.6g} is its share"
            yield Breach(rule, lower, is_so, is_so, where, text)


def _drained(problem: RebalanceProblem, answer: Rebalance) -> Iterator[Breach]:
    place, gone = places_after(problem, answer.moves), problem.removed
    left = np.bincount(place, minlength=len(problem.nodes))
    for copies in copies_after(problem, answer) if gone.any() else ():
        for node in copies:
            left[node] += 1
    for node in np.flatnonzero(gone & (left > 0)).tolist():
        name, count = problem.nodes[node], int(left[node])
        text = f"{name} is to be drained, and {count:,} key groups and copies are on it afterwards"
        yield Breach(DRAINED, 0, count, None, f"node:{name}", text)


def _between(problem: RebalanceProblem, answer: Rebalance) -> Iterator[Breach]:
    """Load of nodes in phases: at most the ceiling, or what it was at first."""
    limit = problem.transient
    for number, (during, _) in enumerate(loads_in_phases(problem, answer.phases)):
        for node in np.flatnonzero(during > limit + ROUNDING * np.maximum(during, limit) + NOISE).tolist():
            name, load, most = problem.nodes[node], float(during[node]), float(limit[node])
            text = f"phase {number}: {name} has a load of {load:.6g}, at most {most:.6g} may be"
            yield Breach(PHASE_CAPACITY, most, load, load, f"node:{name}", text)


def _copies(problem: RebalanceProblem, answer: Rebalance) -> Iterator[Breach]:
    """New copies lie apart from their group and from each other, and nodes have the memory for all of it."""
    place, copies = places_after(problem, answer.moves), copies_after(problem, answer)
    for copy in answer.new_copies:
        group, where = copy.group, name_of(problem, copy.group)
        others = list(copies[group])
        others.remove(copy.target)
        near = _near(problem, copy.target, int(place[group]), others)
        if near is not None:
            text = f"{where}: its new copy on {problem.nodes[copy.target]} is with {near}"
            yield Breach(COPIES, None, near, None, where, text)
    used = memory_used(problem, place, copies)
    before = memory_used(problem, problem.home, problem.copies)
    for node in np.flatnonzero(np.isfinite(problem.memory) & ~problem.removed).tolist():
        name, has, most = problem.nodes[node], float(used[node]), float(problem.memory[node])
        if over(has, most) and over(has, float(before[node])):
            text = f"{name} would hold {has / MB:.6g} MiB of state and copies, it has {most / MB:.6g}"
            yield Breach(MEMORY, most, has, has, f"node:{name}", text)


def _near(problem: RebalanceProblem, node: int, home: int, others: Sequence[int]) -> str | None:
    """Return what a copy on a node is too near to, :data:`ITS_GROUP`, :data:`A_COPY` or :data:`ZONE`; None: nothing."""
    if node == home:
        return ITS_GROUP
    if node in others:
        return A_COPY
    return ZONE if any(problem.domain[node] == problem.domain[other] for other in (home, *others)) else None


def _budgets(problem: RebalanceProblem, answer: Rebalance, figures: Sequence[PhaseFigures]) -> Iterator[Breach]:
    limits, count = problem.limits, len(answer.moves)
    if limits.max_moves is not None and count > limits.max_moves:
        text = f"{count:,} key groups move, at most {limits.max_moves:,} may"
        yield Breach(MOST_MOVES, limits.max_moves, count, count, None, text)
    size = math.fsum(item.bytes for item in figures)
    if limits.max_bytes is not None and over(size, limits.max_bytes):
        text = f"moves transfer {size:.6g} bytes, at most {limits.max_bytes:.6g} may"
        yield Breach(MOST_BYTES, limits.max_bytes, size, size, None, text)
    for number, (phase, item) in enumerate(zip(answer.phases, figures, strict=True)):
        most = limits.phase_bytes if len(phase) > 1 and not AFTER_LOSS.intersection(m.protocol for m in phase) else None
        if most is not None and over(item.bytes, most):
            text = f"phase {number} transfers {item.bytes:.6g} bytes, at most {most:.6g} may"
            yield Breach(PHASE_BYTES, most, item.bytes, item.bytes, None, text)
        longest = limits.max_pause_s
        for move, pause in zip(phase, item.pause_s.tolist(), strict=True):
            if longest is not None and over(pause, longest):
                where = name_of(problem, move.group)
                text = f"phase {number}: {where} is paused for {pause:.6g} s, at most {longest:.6g} s may be"
                yield Breach(MOST_PAUSE, longest, pause, pause, where, text)


def _notice(problem: RebalanceProblem, answer: Rebalance, figures: Sequence[PhaseFigures]) -> Iterator[Breach]:
    """What leaves a removed node does so in time; what does not comes back in one phase, alone, when all have left."""
    notice, gone = problem.limits.within_s, False
    for number, (phase, item) in enumerate(zip(answer.phases, figures, strict=True)):
        lost = [move for move in phase if move.protocol in AFTER_LOSS]
        leaves = any(problem.removed[problem.home[move.group]] for move in phase)
        if (lost and len(lost) < len(phase)) or (gone and leaves):
            where = name_of(problem, (lost or list(phase))[0].group)
            text = f"phase {number}: {where} leaves a node with or after what comes back after its loss"
            yield Breach(WITHIN, None, None, None, where, text)
        gone = gone or bool(lost)
        for move, end in zip(phase, item.end_s.tolist(), strict=True):
            leaving = move.protocol not in AFTER_LOSS and problem.removed[problem.home[move.group]]
            if notice is None or not leaving:
                continue
            if over(end, notice):
                where = name_of(problem, move.group)
                text = f"phase {number}: {where} has left at {end:.6g} s, its node is gone after {notice:.6g} s"
                yield Breach(WITHIN, notice, end, end, where, text)


def _protocols(problem: RebalanceProblem, answer: Rebalance) -> Iterator[Breach]:
    for move in answer.moves:
        able = problem.possible(move.group, move.target)
        if move.protocol not in able:
            where = name_of(problem, move.group)
            can = f"{' or '.join(able)} can be" if able else "nothing can be"
            text = f"{where} to {problem.nodes[move.target]} by {move.protocol}: {can}"
            yield Breach(PROTOCOL, list(able), move.protocol, None, where, text)


def name_of(problem: RebalanceProblem, group: int) -> str:
    """Return a key group as a selector."""
    return f"key-group:{problem.operators[group]}/{int(problem.key_group[group])}"


def cheapest(problem: RebalanceProblem, group: int, target: int) -> Migration | None:
    """Return the move of a key group by the protocol that costs least by the criterion, None where none can be.

    The first in the order of protocols of several that cost the same.
    """
    able = problem.possible(group, target)
    if not able:
        return None
    moves = [Migration(group, target, protocol) for protocol in able]
    return min(moves, key=lambda move: (problem.cost(move), PROTOCOLS.index(move.protocol)))
