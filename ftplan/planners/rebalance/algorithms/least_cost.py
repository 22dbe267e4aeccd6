"""The moves of least cost, phases left aside, with a proven bound: all at once, or who moves before where to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import PROVEN, ROUNDING, TINY
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.models.choices import STAY, ChoiceTable, GroupChoices
from ftplan.planners.rebalance.algorithms.models.neighbourhoods import Guide, Moves, NeighbourhoodSearch, roughly_placed
from ftplan.planners.rebalance.algorithms.models.node_model import Goal, NodeChoiceModel, fixed_choices
from ftplan.planners.rebalance.algorithms.models.rows import program_of
from ftplan.planners.rebalance.algorithms.models.solving import linear_prices, minimised
from ftplan.planners.rebalance.algorithms.search.improved_placements import improved_starts
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.problem import Migration

#: Columns up to which all choices are solved at once, and up to which a model of nodes is solved at all.
FEW_COLUMNS, MOST_COLUMNS = 2_500, 20_000
#: Shares of the time that is left for each step: the model of classes, placing those who move, moves near to these,
#: and neighbourhoods.
CLASSES, PLACED, NEAR, SEARCH = 0.4, 0.1, 0.3, 0.9
#: Share for each look for fewer moves.
FEWER = 0.3


class ProvenMoves(NamedTuple):
    """Moves, or None, and a bound below the cost of any: inf where it is proven that there are none."""

    moves: Moves | None
    bound: float


def least_cost(table: ChoiceTable, start: Moves | None, goal: Goal, budget: Budget) -> ProvenMoves:
    """Return the best moves, *start* or better, and a bound.

    Few columns are solved at once. With more, the model of classes says who moves, and bounds the cost; if those who
    move find nodes, that is the optimum. Else moves near to these are looked for, and improved by a few nodes at a
    time (:class:`NeighbourhoodSearch`); at last all columns that reduced costs leave open are solved if they are few,
    which raises the bound. Cost exponential in the worst case.
    """
    groups = np.arange(len(table.problem.home))
    if len(groups) * len(table.problem.nodes) <= FEW_COLUMNS:
        moves, bound = NodeChoiceModel(table, table.to_nodes(groups), goal).best(budget, start)
        return _better(table, goal, ProvenMoves(start, bound), moves)
    return _Classes(table, goal, budget).solved(start)


def value_of(table: ChoiceTable, goal: Goal, moves: Sequence[Migration] | None) -> float:
    """Return what moves are worth by the goal, inf for none."""
    if moves is None:
        return math.inf
    return float(len(moves)) if goal.most is not None else math.fsum(table.problem.cost(move) for move in moves)


def _better(table: ChoiceTable, goal: Goal, proven: ProvenMoves, moves: Moves | None) -> ProvenMoves:
    """Return the better moves of two, those known where they tie."""
    if moves is None or value_of(table, goal, proven.moves) <= value_of(table, goal, moves):
        return proven
    return proven._replace(moves=moves)


def is_closed(value: float, bound: float) -> bool:
    """Return whether nothing better than the value is left above the bound, but for rounding."""
    return math.isfinite(value) and value <= bound + PROVEN * max(abs(value), abs(bound), TINY)


class _Classes:
    """The search where there are too many columns for one model."""

    def __init__(self, table: ChoiceTable, goal: Goal, budget: Budget) -> None:
        self.table, self.goal, self.budget = table, goal, budget
        self.wide = table.to_classes()
        self.program = goal.aimed(program_of(table, self.wide), self.wide)
        self.linear = linear_prices(self.program, goal.seed, budget)
        self.reduced = self.program.reduced_costs(self.linear.prices)[: len(self.wide)]
        self.parts: list[Budget] = []

    def solved(self, start: Moves | None) -> ProvenMoves:
        """Return the best moves and a bound: see :func:`least_cost`."""
        least, value = self.linear.bound + np.maximum(self.reduced, 0.0), value_of(self.table, self.goal, start)
        part = self._part(CLASSES)
        searched = minimised(self.program, self.wide.group, self.goal.seed, part, most=value, least=least)
        best = ProvenMoves(start, max(self.linear.bound, searched.bound))
        if best.bound == math.inf:
            return ProvenMoves(None, math.inf)
        if searched.x is not None and not self._closed(best):
            chosen = self.wide.where(searched.x[: len(self.wide)] > 0.5)
            best = self._placed(chosen, best)
            if not self._closed(best):
                best = self._near(chosen, best)
        if not self._closed(best):
            best = self._searched(best)
        self.budget.cut = self.budget.cut or (any(part.cut for part in self.parts) and not self._closed(best))
        return best

    def _part(self, share: float) -> Budget:
        self.parts.append(self.budget.part(share))
        return self.parts[-1]

    def _closed(self, best: ProvenMoves) -> bool:
        return is_closed(value_of(self.table, self.goal, best.moves), best.bound)

    def _placed(self, chosen: GroupChoices, best: ProvenMoves) -> ProvenMoves:
        """Return those that move on nodes of their classes, if they find such."""
        model = NodeChoiceModel(self.table, self.table.in_class(chosen), self.goal)
        return _better(self.table, self.goal, best, model.best(self._part(PLACED), best.moves)[0])

    def _near(self, chosen: GroupChoices, best: ProvenMoves) -> ProvenMoves:
        """Return moves near to what was chosen, which itself finds no nodes: by local search, or neighbourhoods."""
        rough = roughly_placed(self.table, chosen)
        now = WorkingPlacement(self.table.candidates)
        for move in rough:
            now.put(move.group, move.target)
        starts = improved_starts([now], self.goal.seed, self._part(NEAR), models=False)
        if starts:
            return _better(self.table, self.goal, best, starts[0].moves)
        return _better(self.table, self.goal, best, self._search(best).within_limits(rough, self._part(NEAR)))

    def _searched(self, best: ProvenMoves) -> ProvenMoves:
        """Improve the best moves by neighbourhoods, and by all columns that may be part of better ones if few are."""
        open_ = self._open(best)
        if best.moves is not None and (open_ is None or len(open_) > FEW_COLUMNS):
            best = best._replace(moves=self._search(best).improved(best.moves, self._part(SEARCH)))
            open_ = self._open(best)
        if open_ is None or len(open_) > MOST_COLUMNS or self._closed(best):
            return best
        moves, bound = NodeChoiceModel(self.table, open_, self.goal).best(self.budget, best.moves)
        value = value_of(self.table, self.goal, best.moves)
        # What was left out costs at least as much as the best known when it was left out.
        return _better(self.table, self.goal, best._replace(bound=max(best.bound, min(bound, value))), moves)

    def _search(self, best: ProvenMoves) -> NeighbourhoodSearch:
        return NeighbourhoodSearch(self.table, self.goal, Guide(self.table, self.wide, self.reduced), best.bound)

    def _open(self, best: ProvenMoves) -> GroupChoices | None:
        """Return the columns to nodes that may be part of something better than the best, None where they are many."""
        value = value_of(self.table, self.goal, best.moves)
        most = value + ROUNDING * max(abs(value), TINY)
        wide = self.wide.where(self.linear.bound + np.maximum(self.reduced, 0.0) <= most)
        few = int((wide.place >= 0).sum()) + int((wide.place < 0).sum()) * len(self.table.problem.nodes)
        return self.table.in_class(wide) if few <= 2 * MOST_COLUMNS else None


def fewest(table: ChoiceTable, proven: ProvenMoves, goal: Goal, budget: Budget) -> Moves:
    """Return moves that cost no more than the best, and are fewer if that is seen to be possible.

    No move of them can be left out. That there are no fewer is proven in time where there are few columns, or moves
    that cost nothing, or fewer moves of equal cost would be a coincidence.
    """
    moves = proven.moves or ()
    value = math.fsum(table.problem.cost(move) for move in moves)
    counting = Goal(goal.seed, value, goal.cuts)
    known = fixed_choices(table, moves)
    with_stays = GroupChoices.joined([known, table.stays(known.group[known.row != STAY])])
    left, _ = NodeChoiceModel(table, with_stays, counting).best(budget.part(FEWER), moves)
    moves = moves if left is None else left
    few = len(known) * len(table.problem.nodes) <= FEW_COLUMNS
    free = bool((known.cost[known.row != STAY] <= 0.0).any())
    if not moves or not (few or free) or not is_closed(value, proven.bound):
        return moves
    part = budget.part(FEWER)
    return least_cost(table, moves, counting, part).moves or moves
