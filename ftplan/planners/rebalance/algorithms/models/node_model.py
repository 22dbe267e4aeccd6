"""The model in which each choice is a node: exact, but for the order of moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.candidates import Candidates
from ftplan.planners.rebalance.algorithms.models.choices import STAY, ChoiceTable, GroupChoices
from ftplan.planners.rebalance.algorithms.models.program import Program
from ftplan.planners.rebalance.algorithms.models.rows import program_of
from ftplan.planners.rebalance.algorithms.models.solving import branch_and_cut, in_integers, minimised
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: Choices up to which a whole problem is put into one model.
MAX_WHOLE_CHOICES = 20_000


@dataclass(frozen=True)
class Goal:
    """What is minimised: cost, or with ``most`` the number of moves that cost no more; and what was cut off.

    ``cuts`` are sets of moves that cannot be made if nothing else arrives at their nodes or leaves them.
    """

    seed: int = 0
    most: float | None = None
    cuts: tuple[frozenset[Migration], ...] = ()

    def aimed(self, program: Program, choices: GroupChoices) -> Program:
        """Return a program, whose first variables are the choices, with the objective of this goal."""
        if self.most is None:
            return program
        columns = np.arange(len(choices))
        unit = max(float(np.abs(choices.cost).max(initial=0.0)), abs(self.most)) or 1.0
        limit = self.most / unit
        limited = program.with_row(columns, choices.cost / unit, -np.inf, limit + 0.1 * ROUNDING * max(1.0, abs(limit)))
        count = np.zeros(len(program.cost))
        count[columns] = choices.row != STAY
        return replace(limited, cost=count)


class NodeChoiceModel:
    """A program whose first J variables are choices of nodes.

    With a *penalty* above 0 rows other than one choice a group may be broken, for so much each 1 of a scaled row.
    """

    def __init__(
        self,
        table: ChoiceTable,
        choices: GroupChoices,
        goal: Goal,
        penalty: float = 0.0,
        first: BoolArray | None = None,
    ) -> None:
        self.table, self.choices, self.goal = table, choices, goal
        self.groups = len(table.problem.home)
        program = program_of(table, choices)
        for cut in goal.cuts:
            agreeing = np.flatnonzero(self._agrees(cut))
            program = program.with_row(agreeing, 1.0, -np.inf, self.groups - 1.0)
        if first is not None:
            program = _in_one_phase(program, table.problem, choices, first)
        self.strict = goal.aimed(program, choices)
        self.program = self.strict.elastic(self.groups, penalty) if penalty > 0.0 else self.strict

    def _agrees(self, cut: frozenset[Migration]) -> BoolArray:
        """Return which choices are part of a cut, or have nothing to do with its nodes, (J,)."""
        c, home = self.choices, self.table.problem.home
        of = {move.group: (move.target, PROTOCOLS.index(move.protocol)) for move in cut}
        nodes = np.zeros(len(self.table.problem.nodes), dtype=np.bool_)
        nodes[[move.target for move in cut] + [int(home[move.group]) for move in cut]] = True
        apart = (c.row == STAY) | ~(nodes[c.place] | nodes[home[c.group]])
        columns = zip(c.group.tolist(), c.place.tolist(), c.row.tolist(), apart.tolist(), strict=True)
        return np.array([of[k] == (n, row) if k in of else other for k, n, row, other in columns], dtype=np.bool_)

    def values(self, moves: Iterable[Migration]) -> FloatArray | None:
        """Return moves as values of the variables, (V,); None where one of them has no column."""
        c, home = self.choices, self.table.problem.home
        place, row = home.copy(), np.full(len(home), STAY)
        for move in moves:
            place[move.group], row[move.group] = move.target, PROTOCOLS.index(move.protocol)
        x = (c.place == place[c.group]) & (c.row == row[c.group])
        return self._completed(x.astype(np.float64)) if int(x.sum()) == len(home) else None

    def moves(self, x: FloatArray) -> tuple[Migration, ...]:
        """Return the moves that whole values, (V,), stand for."""
        return self.choices.moves(np.flatnonzero(x[: len(self.choices)] > 0.5))

    def value(self, x: FloatArray) -> float:
        """Return the objective of values, (V,), with what they pay for broken rows."""
        return float(self.program.cost @ x)

    def kept(self, x: FloatArray) -> bool:
        """Return whether whole values, (V,), keep all rows, and loads their limits."""
        used, program = self.strict.activity(x[: len(self.choices)]), self.strict
        if ((used < program.low - ROUNDING) | (used > program.high + ROUNDING)).any():
            return False
        problem, candidates = self.table.problem, self.table.candidates
        load = problem.loads(places_after(problem, self.moves(x)))
        return bool((load <= candidates.most).all() and (load >= candidates.least).all())

    def best(
        self, budget: Budget, start: Sequence[Migration] | None = None, tree_nodes: int | None = None
    ) -> tuple[tuple[Migration, ...] | None, float]:
        """Return the best moves, or None, and a bound for these choices alone: inf where there are no moves."""
        known = None if start is None else self.values(start)
        if known is not None and not self.kept(known):
            known = None
        group, seed = self.choices.group, self.goal.seed
        x, bound = minimised(self.program, group, seed, budget, known, kept=self.kept, tree_nodes=tree_nodes)
        return None if x is None else self.moves(x), bound

    def in_integers(
        self, budget: Budget, work_s: float, start: Sequence[Migration] | None = None
    ) -> tuple[tuple[Migration, ...] | None, float]:
        """Return the best moves, the fewest of as good ones, or None, and a bound, by CP-SAT: exact to the last digits.

        For few choices, or limits that leave hardly any way. Moves that cost more than all of *start* are left out.
        """
        known, program = None if start is None else self.values(start), self.program
        if known is not None and self.kept(known) and (program.cost >= 0.0).all():
            value = self.value(known)
            live = program.cost <= value + ROUNDING * value
            program, known = program.restricted(live, np.zeros(len(live))), known[live]
        else:
            live = np.ones(len(program.cost), dtype=np.bool_)
        moving = (self.choices.row != STAY)[live].astype(np.float64)
        found = in_integers(program, moving, self.goal.seed, budget, work_s, known)
        bound = found.bound if live.all() or start is None else min(found.bound, value)
        if found.x is None:
            return None, bound
        x = np.zeros(len(live))
        x[live] = found.x
        return self.moves(x), bound

    def improved(self, x: FloatArray, budget: Budget, tree_nodes: int) -> FloatArray | None:
        """Return values, (V,), that are better or as good, what they pay for broken rows counted; None where late."""
        found = branch_and_cut(self.program, self.goal.seed, budget, x, tree_nodes).x
        return None if found is None else self._completed(np.round(found[: len(self.choices)]))

    def _completed(self, x: FloatArray) -> FloatArray:
        """Return values of the choices, (J,), with what they break, (V,)."""
        if self.program is self.strict:
            return x
        used, low, high = (side[self.groups :] for side in (self.strict.activity(x), self.strict.low, self.strict.high))
        return np.concatenate([x, np.maximum(low - used, 0.0), np.maximum(used - high, 0.0)])


def _in_one_phase(program: Program, problem: RebalanceProblem, choices: GroupChoices, first: BoolArray) -> Program:
    """Return the program in which nodes have room for some groups, (K,), before anything leaves them."""
    lost = [PROTOCOLS.index(protocol) for protocol in AFTER_LOSS]
    comes = first[choices.group] & (choices.row != STAY) & ~np.isin(choices.row, lost)
    room = np.maximum(problem.transient - problem.start_load, 0.0)
    for node in np.unique(choices.place[comes]).tolist():
        arriving = np.flatnonzero(comes & (choices.place == node))
        load = problem.load[choices.group[arriving]]
        scale = max(float(problem.transient[node]), TINY)
        if np.isfinite(scale):
            program = program.with_row(arriving, load / scale, -np.inf, float(room[node]) / scale)
    return program


def choices(candidates: Candidates) -> int:
    """Return about how many choices a whole problem has."""
    return candidates.groups * int(candidates.problem.hosts.sum())


class ChosenPlacement(NamedTuple):
    """A placement, None where there is none or none was seen, and a bound of what moves cost: inf where there is none.

    With groups that are not free it is a bound for the placements of the others as they are.
    """

    placement: WorkingPlacement | None
    bound: float


def chosen(
    now: WorkingPlacement,
    free: IntArray,
    seed: int,
    budget: Budget,
    work_s: float,
    targets: BoolArray | None = None,
    feasible: bool = False,
    first: BoolArray | None = None,
) -> ChosenPlacement:
    """Choose the best places and protocols of some groups, the others' as they are, by CP-SAT.

    *free*: groups that are placed anew. *work_s*: deterministic seconds of the solver. *targets*: nodes that they may
    go to, (N,); where they are, and their homes, are among them anyway. *feasible*: any placement will do. *first*:
    groups, (K,), for all of which nodes have room before anything leaves these, unless they come after a loss: their
    moves need but one phase.
    """
    if budget.over():
        return ChosenPlacement(None, -np.inf)
    table = ChoiceTable(now.problem)
    fixed, every = fixed_choices(table, now.moves), table.to_nodes(free)
    if targets is not None:
        every = every.where(targets[every.place] | (every.row == STAY) | (every.place == now.place[every.group]))
    columns = GroupChoices.joined([fixed.where(~np.isin(fixed.group, free)), every])
    if len(np.unique(columns.group)) < len(now.place):  # a group that must leave, and can go nowhere
        return ChosenPlacement(None, np.inf)
    if feasible:
        columns = replace(columns, cost=np.zeros(len(columns)))
    model = NodeChoiceModel(table, columns, Goal(seed), first=first)
    moves, bound = model.in_integers(budget, work_s, now.moves if now.feasible() and not feasible else None)
    return ChosenPlacement(None if moves is None else WorkingPlacement.of(now.candidates, moves), bound)


def fixed_choices(table: ChoiceTable, moves: Iterable[Migration]) -> GroupChoices:
    """Return the columns of moves, and of groups that stay."""
    problem = table.problem
    place, row, cost = problem.home.copy(), np.full(len(problem.home), STAY), np.zeros(len(problem.home))
    for move in moves:
        place[move.group], row[move.group] = move.target, PROTOCOLS.index(move.protocol)
        cost[move.group] = problem.cost(move)
    groups: IntArray = np.arange(len(place))
    return GroupChoices(groups, place, row, cost)
