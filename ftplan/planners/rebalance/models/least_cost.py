"""The moves of least cost, phases left aside, with a proven bound: all at once, or who moves before where to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.metrics.rebalance_problem import Migration
from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.models.choices import Choices, ChoiceTable
from ftplan.planners.rebalance.models.node_model import Goal, NodeModel, fixed_choices
from ftplan.planners.rebalance.models.rows import program_of
from ftplan.planners.rebalance.models.solving import branch_and_cut, linear_prices

#: Columns up to which all choices are solved at once, and up to which a model of nodes is solved at all.
FEW_COLUMNS, MOST_COLUMNS = 2_500, 20_000
#: Shares of the time for the model of classes, and of what is then left for each model of nodes.
CLASSES, NODES = 0.5, 0.4
#: Columns of the first neighbourhood; the next ones are larger by a factor. Relative gap at which one is left.
NEAR_COLUMNS, GROWTH, NEAR_GAP = 2_000, 2, 1e-6

Moves = tuple[Migration, ...]


class Proven(NamedTuple):
    """Moves, or None, and a bound below the cost of any: inf where it is proven that there are none."""

    moves: Moves | None
    bound: float


def least_cost(table: ChoiceTable, start: Moves | None, goal: Goal, budget: Budget) -> Proven:
    """Return the best moves, *start* or better, and a bound.

    Few columns are solved at once. With more, the model of classes says who moves, and bounds the cost; if those who
    move find nodes, that is the optimum. Else groups whose choice is near a tie, by reduced costs, are decided anew
    with all their nodes, in growing neighbourhoods; at last all columns that reduced costs leave open, which raises the
    bound. Cost exponential in the worst case.
    """
    groups = np.arange(len(table.problem.home))
    if len(groups) * len(table.problem.nodes) <= FEW_COLUMNS:
        moves, bound = NodeModel(table, table.to_nodes(groups), goal).best(budget, start)
        return _better(table, goal, Proven(start, bound), moves)
    return _Classes(table, goal, budget).solved(start)


def value_of(table: ChoiceTable, goal: Goal, moves: Sequence[Migration] | None) -> float:
    """Return what moves are worth by the goal, inf for none."""
    if moves is None:
        return math.inf
    return float(len(moves)) if goal.most is not None else math.fsum(table.problem.cost(move) for move in moves)


def _better(table: ChoiceTable, goal: Goal, proven: Proven, moves: Moves | None) -> Proven:
    """Return the better moves of two, those known where they tie."""
    if moves is None or value_of(table, goal, proven.moves) <= value_of(table, goal, moves):
        return proven
    return proven._replace(moves=moves)


def is_closed(value: float, bound: float) -> bool:
    """Return whether nothing better than the value is left above the bound, but for rounding."""
    return math.isfinite(value) and value <= bound + ROUNDING * max(abs(value), abs(bound), TINY)


class _Classes:
    """The search where there are too many columns for one model."""

    def __init__(self, table: ChoiceTable, goal: Goal, budget: Budget) -> None:
        self.table, self.goal, self.budget = table, goal, budget
        self.wide = table.to_classes()
        self.program = goal.aimed(program_of(table, self.wide), self.wide)
        self.linear = linear_prices(self.program, budget)
        self.reduced = self.program.reduced_costs(self.linear.prices)[: len(self.wide)]
        self.parts: list[Budget] = []

    def solved(self, start: Moves | None) -> Proven:
        """Return the best moves and a bound: see :func:`least_cost`."""
        searched = branch_and_cut(self.program, self.goal.seed, self._part(CLASSES))
        best = Proven(start, max(self.linear.bound, searched.bound))
        if best.bound == math.inf:
            return Proven(None, math.inf)
        chosen: Choices | None = None
        if searched.x is not None:
            chosen = self.wide.where(searched.x[: len(self.wide)] > 0.5)
        elif start is not None:
            chosen = fixed_choices(self.table, start)
        if chosen is not None and not self._closed(best):
            best = self._placed(chosen, best)
            best = self._neighbourhoods(chosen, best)
        self.budget.cut = self.budget.cut or (any(part.cut for part in self.parts) and not self._closed(best))
        return best

    def _part(self, share: float) -> Budget:
        self.parts.append(self.budget.part(share))
        return self.parts[-1]

    def _closed(self, best: Proven) -> bool:
        return is_closed(value_of(self.table, self.goal, best.moves), best.bound)

    def _placed(self, chosen: Choices, best: Proven) -> Proven:
        """Return those that move on nodes of their classes, if they find such."""
        model = NodeModel(self.table, self.table.in_class(chosen), self.goal)
        return _better(self.table, self.goal, best, model.best(self._part(NODES), best.moves)[0])

    def _neighbourhoods(self, chosen: Choices, best: Proven) -> Proven:
        """Decide anew, with all their nodes, the groups that are nearest to a tie, and more of them each time.

        All others do as was chosen for classes until that gives moves, then as in the best moves.
        """
        size, order, base = NEAR_COLUMNS, self._nearest(chosen), chosen
        width = max(1, int(self.table.problem.hosts.sum()))
        while not self.budget.over() and not self._closed(best):
            open_ = self._open(best)
            if open_ is not None and (len(open_) <= size or size >= MOST_COLUMNS):
                moves, bound = NodeModel(self.table, open_, self.goal).best(self.budget, best.moves)
                value = value_of(self.table, self.goal, best.moves)
                # What was left out costs at least as much as the best known when it was left out.
                return _better(self.table, self.goal, best._replace(bound=max(best.bound, min(bound, value))), moves)
            if size > MOST_COLUMNS:
                break
            groups = order[: max(1, size // width)]
            others = self.table.in_class(base.where(~np.isin(base.group, groups)))
            model = NodeModel(self.table, Choices.joined([others, self.table.to_nodes(groups)]), self.goal)
            moves, _ = model.best(self._part(NODES), best.moves, NEAR_GAP)
            best = _better(self.table, self.goal, best, moves)
            base = base if best.moves is None or moves is None else fixed_choices(self.table, best.moves)
            size *= GROWTH
        return best

    def _nearest(self, chosen: Choices) -> IntArray:
        """Return the groups, those that go to classes first, then by what another choice costs more."""
        count = len(self.table.problem.home)
        least, second = np.full(count, np.inf), np.full(count, np.inf)
        for group, cost in zip(self.wide.group.tolist(), self.reduced.tolist(), strict=True):
            if cost < least[group]:
                least[group], second[group] = cost, least[group]
            elif cost < second[group]:
                second[group] = cost
        regret: FloatArray = np.where(np.isfinite(second), second - np.where(np.isfinite(least), least, 0.0), np.inf)
        first: BoolArray = np.ones(count, dtype=np.bool_)
        first[chosen.group[chosen.place < 0]] = False
        return np.lexsort((np.arange(count), regret, first))

    def _open(self, best: Proven) -> Choices | None:
        """Return the columns to nodes that may be part of something better than the best, None where they are many."""
        value = value_of(self.table, self.goal, best.moves)
        most = value + ROUNDING * max(abs(value), TINY) if best.moves is not None else math.inf
        wide = self.wide.where(self.linear.bound + np.maximum(self.reduced, 0.0) <= most)
        few = int((wide.place >= 0).sum()) + int((wide.place < 0).sum()) * len(self.table.problem.nodes)
        return self.table.in_class(wide) if few <= 2 * MOST_COLUMNS else None
