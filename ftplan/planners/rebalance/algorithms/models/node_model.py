"""The model in which each choice is a node: exact, but for the order of moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.models.choices import STAY, ChoiceTable, GroupChoices
from ftplan.planners.rebalance.algorithms.models.program import Program
from ftplan.planners.rebalance.algorithms.models.rows import program_of
from ftplan.planners.rebalance.algorithms.models.solving import branch_and_cut
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.problem import Migration

#: Largest cost over the largest that may still be part of anything better, above which a model is solved once more.
SPREAD = 10.0


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

    def __init__(self, table: ChoiceTable, choices: GroupChoices, goal: Goal, penalty: float = 0.0) -> None:
        self.table, self.choices, self.goal = table, choices, goal
        self.groups = len(table.problem.home)
        program = program_of(table, choices)
        for cut in goal.cuts:
            agreeing = np.flatnonzero(self._agrees(cut))
            program = program.with_row(agreeing, 1.0, -np.inf, self.groups - 1.0)
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
        self, budget: Budget, start: Sequence[Migration] | None = None, gap: float = 0.0
    ) -> tuple[tuple[Migration, ...] | None, float]:
        """Return the best moves, or None, and a bound for these choices alone: inf where there are no moves.

        Solvers work within a tolerance of the largest cost. Where that is far above the value of what they found, what
        costs too much to be part of anything better is left out, and the rest is solved once more.
        """
        live = np.ones(len(self.choices), dtype=np.bool_)
        best = None if start is None else self.values(start)
        if best is not None and not self.kept(best):
            best = None
        while True:
            x, bound = self.solved(live, best, budget, gap)
            if x is None or not self.kept(x):
                break
            best = x if best is None or self.value(x) < self.value(best) else best
            value, cost = self.value(best), self.program.cost[: len(live)]
            kept = live & (self._excess() <= value + ROUNDING * abs(value))
            if np.abs(cost[kept]).max(initial=0.0) * SPREAD >= np.abs(cost[live]).max(initial=0.0):
                break
            live = kept
        return None if best is None else self.moves(best), bound

    def solved(
        self, live: BoolArray, start: FloatArray | None, budget: Budget, gap: float, tree_nodes: int | None = None
    ) -> tuple[FloatArray | None, float]:
        """Return the best values, (V,), or None, and a bound, for live choices, (J,).

        Groups with a single live choice are no part of the search.
        """
        count = len(self.choices)
        single = np.bincount(self.choices.group[live], minlength=self.groups) == 1
        free = np.ones(len(self.program.cost), dtype=np.bool_)
        free[:count] = live & ~single[self.choices.group]
        fixed = np.zeros(len(free))
        fixed[:count] = live & single[self.choices.group]
        known = None if start is None or start[:count][~live].any() else start[free]
        inner = self.program.restricted(free, fixed)
        searched = branch_and_cut(inner, self.goal.seed, budget, known, gap, tree_nodes)
        bound = searched.bound + self.value(fixed)
        if searched.x is None:
            return None, bound
        x = fixed.copy()
        x[free] = np.round(searched.x)
        return self._completed(x[:count]), bound

    def _completed(self, x: FloatArray) -> FloatArray:
        """Return values of the choices, (J,), with what they break, (V,)."""
        if self.program is self.strict:
            return x
        used, low, high = (side[self.groups :] for side in (self.strict.activity(x), self.strict.low, self.strict.high))
        return np.concatenate([x, np.maximum(low - used, 0.0), np.maximum(used - high, 0.0)])

    def _excess(self) -> FloatArray:
        """Return what moves with each choice cost at least, (J,)."""
        cost = self.strict.cost
        least = np.full(self.groups, np.inf)
        np.minimum.at(least, self.choices.group, cost)
        return np.asarray(cost - least[self.choices.group] + float(least[np.isfinite(least)].sum()))


def fixed_choices(table: ChoiceTable, moves: Iterable[Migration]) -> GroupChoices:
    """Return the columns of moves, and of groups that stay."""
    problem = table.problem
    place, row, cost = problem.home.copy(), np.full(len(problem.home), STAY), np.zeros(len(problem.home))
    for move in moves:
        place[move.group], row[move.group] = move.target, PROTOCOLS.index(move.protocol)
        cost[move.group] = problem.cost(move)
    groups: IntArray = np.arange(len(place))
    return GroupChoices(groups, place, row, cost)
