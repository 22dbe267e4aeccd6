"""From choices to a program: what nodes carry and hold afterwards, and what all moves together may be."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.rebalance.algorithms.models.choices import STAY, ChoiceTable, GroupChoices
from ftplan.planners.rebalance.algorithms.models.program import Builder, Program
from ftplan.planners.rebalance.effects import surviving_copies
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, DIRECT, PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem
from ftplan.planners.rebalance.rules import memory_used

#: What limits may be exceeded by in a model, in what rounding may add: more, since the solver rounds too. What exceeds
#: them by more than rounding is not taken.
SLACK = 2.0
_LOST_ROWS = [PROTOCOLS.index(protocol) for protocol in AFTER_LOSS]


def program_of(table: ChoiceTable, choices: GroupChoices) -> Program:
    """Return the program whose first J variables are the choices, and the least sum of their costs the objective.

    Rows: one choice a group; load, and bytes where memory is limited, of each node within its limits; number and bytes
    of moves; seconds of links before the notice ends. What goes to a class is spread over its nodes in any parts, which
    relaxes the problem; where all choices are nodes the program is exact, but for the order of moves.
    """
    problem = table.problem
    builder = Builder()
    x = builder.add(choices.cost, 1.0, True)
    groups = np.arange(len(problem.home))
    builder.rows(np.ones(len(groups)), np.ones(len(groups)), 1.0, (choices.group, x, 1.0))
    _loads(builder, table, choices, x)
    if table.memory_limited:
        _bytes(builder, table, choices, x)
    _all_moves(builder, problem, choices, x)
    if problem.limits.within_s is not None and problem.removed.any():
        _links(builder, problem, choices, x, problem.limits.within_s)
    return builder.program()


def _loads(builder: Builder, table: ChoiceTable, choices: GroupChoices, x: IntArray) -> None:
    """``lower <= foreign + load of the groups there <= upper`` of each node."""
    problem, load = table.problem, table.problem.load[choices.group]
    upper, lower = np.where(problem.removed, np.inf, problem.upper), np.where(problem.removed, -np.inf, problem.lower)
    size = np.where(np.isfinite(upper), np.abs(upper), 0.0)
    scale = np.maximum(size, np.abs(problem.foreign))
    scale = np.where(scale > 0.0, scale, max(float(problem.load.max(initial=0.0)), TINY))
    here = choices.place >= 0
    parts = [(choices.place[here], x[here], load[here])]
    parts += _inflow(builder, table, choices, x, load, np.minimum(table.candidates.most, load.sum()) - problem.foreign)
    slack = SLACK * ROUNDING
    down = lower - problem.foreign - slack * np.where(np.isfinite(lower), np.abs(lower), 0.0)
    builder.rows(down, upper - problem.foreign + slack * size, scale, *parts)


def _bytes(builder: Builder, table: ChoiceTable, choices: GroupChoices, x: IntArray) -> None:
    """``state and copies there <= memory`` of each node; one that has more already must not get worse."""
    problem = table.problem
    state = problem.state[choices.group]
    limits = memory_limits(problem)
    here = choices.place >= 0
    holder, column = _survivors(table, choices)
    parts = [(choices.place[here], x[here], state[here]), (holder, x[column], state[column])]
    # A node where memory is not limited takes no more than there is.
    parts += _inflow(builder, table, choices, x, state, np.minimum(limits, float(problem.state.sum())))
    most = limits * (1.0 + SLACK * ROUNDING)
    builder.rows(-np.inf, most, np.maximum(np.where(np.isfinite(most), most, 1.0), 1.0), *parts)


def memory_limits(problem: RebalanceProblem) -> FloatArray:
    """Return how many bytes each node may hold, (N,): what it has already at least, and any once it is removed."""
    start = memory_used(problem, problem.home, problem.copies)
    return np.where(problem.removed, np.inf, np.maximum(problem.memory, start))


def memory_chosen(table: ChoiceTable, choices: GroupChoices) -> FloatArray:
    """Return the bytes on each node, (N,), after the choice of every group, all of them nodes."""
    state, nodes = table.problem.state[choices.group], len(table.problem.nodes)
    holder, column = _survivors(table, choices)
    used = np.bincount(choices.place, state, minlength=nodes) + np.bincount(holder, state[column], minlength=nodes)
    return np.asarray(used, dtype=np.float64)


def _inflow(
    builder: Builder, table: ChoiceTable, choices: GroupChoices, x: IntArray, size: FloatArray, room: FloatArray
) -> list[tuple[IntArray, IntArray, FloatArray]]:
    """Spread what goes to classes, *size* (J,) each, over their nodes; return what each node gets, as entries."""
    parts = []
    hosts = np.flatnonzero(table.problem.hosts)
    unit = max(float(size.max(initial=0.0)), TINY)
    for z in np.unique(-1 - choices.place[choices.place < 0]).tolist():
        nodes = hosts[table.classes[hosts] == z]
        share = builder.add(np.zeros(len(nodes)), np.maximum(room[nodes], 0.0) / unit, False)
        into = np.flatnonzero(choices.place == -1 - z)
        zero, all_nodes = np.zeros(len(into), dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
        builder.rows(0.0, 0.0, unit, (zero, x[into], size[into]), (all_nodes, share, -unit))
        parts.append((nodes, share, np.full(len(nodes), unit)))
    return parts


def _survivors(table: ChoiceTable, choices: GroupChoices) -> tuple[IntArray, IntArray]:
    """Return the nodes that hold copies of a group for sure after each choice, and the number of the choice.

    Which copies survive depends on the target only by whether it holds one, and by its domain.
    """
    problem = table.problem
    cache: dict[tuple[int, int, int, bool], frozenset[int]] = {}
    holder: list[int] = []
    column: list[int] = []
    columns = zip(choices.group.tolist(), choices.place.tolist(), choices.row.tolist(), strict=True)
    hosts = np.flatnonzero(problem.hosts)
    members = {z: hosts[table.classes[hosts] == z].tolist() for z in np.unique(table.classes).tolist()}
    for j, (group, place, row) in enumerate(columns):
        if row == STAY:
            left: Iterable[int] = surviving_copies(problem, group, None)
        else:
            lost = row in _LOST_ROWS
            targets = [place] if place >= 0 else members[-1 - place]
            sets = {_after(problem, group, target, lost, cache) for target in targets if target != problem.home[group]}
            left = frozenset.intersection(*sets) if sets else ()
        for node in left:
            holder.append(node)
            column.append(j)
    return np.array(holder, dtype=np.int64), np.array(column, dtype=np.int64)


def _after(
    problem: RebalanceProblem,
    group: int,
    target: int,
    lost: bool,
    cache: dict[tuple[int, int, int, bool], frozenset[int]],
) -> frozenset[int]:
    held = problem.copies[group]
    domain = int(problem.domain[target])
    near = any(int(problem.domain[node]) == domain for node in (int(problem.home[group]), *held))
    key = (group, target if target in held else -1, domain if near else -1, lost)
    if key not in cache:
        protocol = next(p for p in PROTOCOLS if (p in AFTER_LOSS) == lost)
        cache[key] = frozenset(surviving_copies(problem, group, Migration(group, target, protocol)))
    return cache[key]


def _all_moves(builder: Builder, problem: RebalanceProblem, choices: GroupChoices, x: IntArray) -> None:
    """Number and bytes of all moves within their limits."""
    limits, moving = problem.limits, np.flatnonzero(choices.row != STAY)
    zero = np.zeros(len(moving), dtype=np.int64)
    if limits.max_moves is not None:
        builder.rows(-np.inf, float(limits.max_moves), max(1.0, float(limits.max_moves)), (zero, x[moving], 1.0))
    if limits.max_bytes is not None:
        sent = problem.costs.bytes[choices.row[moving], choices.group[moving]]
        scale = max(limits.max_bytes, 1.0)
        builder.rows(-np.inf, limits.max_bytes * (1.0 + SLACK * ROUNDING), scale, (zero, x[moving], sent))


def _links(builder: Builder, problem: RebalanceProblem, choices: GroupChoices, x: IntArray, notice: float) -> None:
    """Transfers of groups that leave removed nodes in time keep no link busy for longer than the notice.

    The last one on a link ends no sooner than all of them have taken their time, in whichever order they are served.
    """
    direct = PROTOCOLS.index(DIRECT)
    leaving = (choices.row != STAY) & problem.removed[problem.home[choices.group]] & ~np.isin(choices.row, _LOST_ROWS)
    busy = np.where(leaving, problem.costs.link_s[choices.row, choices.group], 0.0)
    scale, most = max(notice, TINY), notice * (1.0 + SLACK * ROUNDING)
    inward, outward = leaving & (choices.place >= 0), leaving & (choices.row == direct)
    nodes = len(problem.nodes)
    builder.rows(-np.inf, np.full(nodes, most), scale, (choices.place[inward], x[inward], busy[inward]))
    source = problem.home[choices.group[outward]]
    builder.rows(-np.inf, np.full(nodes, most), scale, (source, x[outward], busy[outward]))
