"""Large neighbourhood search: a few nodes at a time exchange their key groups in the best way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.local_search import NeighbourhoodSizes, large_neighbourhood_search
from ftplan.planners.rebalance.algorithms.models.choices import STAY, ChoiceTable, GroupChoices
from ftplan.planners.rebalance.algorithms.models.node_model import Goal, NodeChoiceModel, fixed_choices
from ftplan.planners.rebalance.algorithms.models.rows import memory_chosen, memory_limits
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.problem import Migration

#: Columns of the first neighbourhoods, about, and the fewest nodes of one.
COLUMNS, FEWEST_NODES = 600, 4
#: Nodes of each search tree.
TREE_NODES = 100
#: Rounds, and by how many nodes neighbourhoods grow after as many without success as cover all nodes.
ROUNDS, GROWTH = 100_000, 1
#: Share of the time that is left that one round may take.
PART = 0.2
#: What breaking a limit of a node costs, in mean costs of the moves that it takes to fill one.
PENALTY = 20.0
#: Seconds below which no neighbourhood is searched.
LEAST_TIME_S = 0.1

Moves = tuple[Migration, ...]


class Guide:
    """What choices cost beyond the prices of a relaxation, whose columns are classes of nodes or single ones."""

    def __init__(self, table: ChoiceTable, wide: GroupChoices, reduced: FloatArray) -> None:
        keys = zip(wide.group.tolist(), wide.place.tolist(), wide.row.tolist(), strict=True)
        self._table, self._reduced = table, dict(zip(keys, np.maximum(reduced, 0.0).tolist(), strict=True))
        groups = len(table.problem.home)
        self._least = np.full((2, groups), np.inf)  # where the group stays, and where it moves
        np.minimum.at(self._least, ((wide.row != STAY).astype(np.int64), wide.group), np.maximum(reduced, 0.0))

    def excess(self, choices: GroupChoices) -> FloatArray:
        """Return what each choice of nodes pays beyond the prices, (J,)."""
        columns = zip(choices.group.tolist(), choices.place.tolist(), choices.row.tolist(), strict=True)
        classes = (-1 - self._table.classes).tolist()
        get = self._reduced.get
        return np.array([get((k, n, p), get((k, classes[n], p), 0.0)) for k, n, p in columns])

    def regret(self, choices: GroupChoices) -> FloatArray:
        """Return what groups, one choice each, would pay if they moved instead of staying, or stayed, (K,)."""
        return np.asarray(self._least[(choices.row == STAY).astype(np.int64), choices.group])


class _Solution(NamedTuple):
    """A choice for each group, and its value with what it pays for broken limits: -inf where these were to be met."""

    choices: GroupChoices
    value: float

    @property
    def moves(self) -> Moves:
        """The moves."""
        return self.choices.moves(np.arange(len(self.choices)))


class NeighbourhoodSearch:
    """The moves at hand, broken limits paid for or not, and the best that keep all limits."""

    def __init__(self, table: ChoiceTable, goal: Goal, guide: Guide, bound: float) -> None:
        self.table, self.goal, self.guide, self.bound = table, goal, guide, bound
        problem = table.problem
        self.hosts = np.flatnonzero(problem.hosts | (problem.start_load > 0.0))
        self.rng, self.turns = np.random.default_rng(goal.seed), 0
        self.groups = len(problem.home) / max(1, len(self.hosts))
        self.first_size = max(FEWEST_NODES, int((COLUMNS / max(self.groups, 1.0)) ** 0.5))
        finite = table.candidates.price[np.isfinite(table.candidates.price)]
        self.penalty = PENALTY * max(float(finite.mean()) if len(finite) else 0.0, 1.0) * max(self.groups, 1.0)

    def within_limits(self, moves: Moves, budget: Budget) -> Moves | None:
        """Return moves that keep all limits, from some that need not; None where none are seen.

        Broken limits are paid for, and nodes that break theirs are in every neighbourhood.
        """
        return self._searched(moves, budget, self.penalty)

    def improved(self, moves: Moves, budget: Budget) -> Moves:
        """Return moves that cost no more, from some that keep all limits."""
        return self._searched(moves, budget, 0.0) or moves

    def _searched(self, moves: Moves, budget: Budget, penalty: float) -> Moves | None:
        def solution(model: NodeChoiceModel, x: FloatArray) -> _Solution:
            ended = penalty > 0.0 and model.kept(x)
            return _Solution(fixed_choices(self.table, model.moves(x)), -np.inf if ended else model.value(x))

        def exchanged(now: _Solution, size: int) -> _Solution | None:
            model = NodeChoiceModel(self.table, self._neighbourhood(now.choices, size, penalty), self.goal, penalty)
            before = model.values(now.moves)
            assert before is not None
            after = model.improved(before, budget.part(PART), TREE_NODES)
            if after is None or not (penalty or model.kept(after)):
                return None
            other = solution(model, after)
            return other if other.value < now.value - ROUNDING * max(abs(now.value), TINY) else None

        choices = fixed_choices(self.table, moves)
        model = NodeChoiceModel(self.table, choices, self.goal, penalty)
        begin = model.values(moves)
        assert begin is not None
        best = large_neighbourhood_search(
            solution(model, begin),
            lambda now: now.value,
            [exchanged],
            sizes=NeighbourhoodSizes(self.first_size, len(self.hosts), GROWTH, lambda size: len(self.hosts) // size),
            rounds=ROUNDS,
            budget=budget,
            enough=lambda value: value <= (-np.inf if penalty else self.bound + ROUNDING * abs(self.bound)),
            least_time_s=LEAST_TIME_S,
        )
        return None if penalty and best.value > -np.inf else best.moves

    def _neighbourhood(self, now: GroupChoices, size: int, penalty: float) -> GroupChoices:
        """Return the columns of some groups: to a few nodes, their homes, and where they are.

        By turns the groups on, and from, these nodes; or with fewer nodes those on them, and others near to a tie.
        """
        self.turns += 1
        home, few = self.table.problem.home, self.turns % 2 == 0
        chosen = self._nodes(self._arriving(now) if few else self._wasteful(now), max(2, size // 2) if few else size)
        if penalty:
            chosen[self.rng.permutation(self._broken(now))[: max(1, size // 2)]] = True
        free: BoolArray = chosen[now.place] & (now.row != STAY) if few else chosen[now.place] | chosen[home]
        if few:
            regret = self.guide.regret(now) * self.rng.uniform(0.5, 1.5, len(now))
            regret[free] = np.inf
            many = int(self.groups * size * size / max(2, size // 2))
            free[np.argsort(regret, kind="stable")[:many]] = True
        groups = np.flatnonzero(free)
        every = self.table.to_nodes(groups)
        there = chosen[every.place] | (every.row == STAY) | (every.place == now.place[every.group])
        return GroupChoices.joined([now, every.where(there)])

    def _nodes(self, weight: FloatArray, size: int) -> BoolArray:
        """Return some nodes, (N,), drawn by their weights, (N,)."""
        likely = weight[self.hosts] + 0.3 * max(float(weight[self.hosts].mean()), TINY)
        size = min(size, len(self.hosts))
        chosen = np.zeros(len(weight), dtype=np.bool_)
        chosen[self.rng.choice(self.hosts, size, replace=False, p=likely / likely.sum())] = True
        return chosen

    def _wasteful(self, now: GroupChoices) -> FloatArray:
        """Return what the groups on a node, or from it, cost beyond the prices, (N,)."""
        nodes, excess = len(self.table.problem.nodes), self.guide.excess(now)
        away = now.row != STAY
        home = self.table.problem.home[now.group[away]]
        return np.asarray(np.bincount(now.place, excess, nodes) + np.bincount(home, excess[away], nodes))

    def _arriving(self, now: GroupChoices) -> FloatArray:
        """Return what the groups that come to a node cost, (N,)."""
        return np.asarray(np.bincount(now.place, np.maximum(now.cost, 0.0), len(self.table.problem.nodes)))

    def _broken(self, now: GroupChoices) -> IntArray:
        """Return the nodes outside of their limits, or else all hosts."""
        problem, candidates = self.table.problem, self.table.candidates
        load = problem.foreign + np.bincount(now.place, problem.load[now.group], minlength=len(problem.nodes))
        out = (load > candidates.most) | (load < candidates.least)
        if self.table.memory_limited:
            out |= memory_chosen(self.table, now) > memory_limits(problem)
        broken = np.flatnonzero(out)
        return broken if len(broken) else self.hosts


def roughly_placed(table: ChoiceTable, chosen: GroupChoices) -> Moves:
    """Return chosen columns as moves; those to a class, the largest first, to the node of it with the most room."""
    problem = table.problem
    wide = chosen.place < 0
    load = problem.foreign + np.bincount(
        chosen.place[~wide], problem.load[chosen.group[~wide]], minlength=len(problem.nodes)
    )
    middle = np.where(np.isfinite(problem.lower), 0.5 * (problem.lower + problem.upper), problem.upper)
    place = chosen.place.copy()
    for j in sorted(np.flatnonzero(wide).tolist(), key=lambda j: (-problem.load[chosen.group[j]], j)):
        group = int(chosen.group[j])
        able = problem.hosts & (table.classes == -1 - chosen.place[j])
        able[problem.home[group]] = False
        place[j] = int(np.argmax(np.where(able, middle - load, -np.inf)))
        load[place[j]] += problem.load[group]
    moves = GroupChoices(chosen.group, place, chosen.row, chosen.cost).moves(np.arange(len(chosen)))
    return tuple(_able(table, move) for move in moves)


def _able(table: ChoiceTable, move: Migration) -> Migration:
    """Return a move by its protocol, or by the cheapest to a host of a checkpoint where the protocol is for others."""
    at = table.candidates.at_hand(move.group, move.target)
    if table.kept[at, PROTOCOLS.index(move.protocol), move.group]:
        return move
    row = int(np.argmin(np.where(table.kept[at, :, move.group], table.candidates.price[at, :, move.group], np.inf)))
    return move._replace(protocol=PROTOCOLS[row])
