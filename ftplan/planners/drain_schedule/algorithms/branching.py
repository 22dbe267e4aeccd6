"""The fewest rounds of a few nodes, by branching on the node with fewest rounds left (DSATUR branch and bound)."""

from __future__ import annotations

from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed import AllowedSets, members

#: Nodes of a problem, and of the search tree, up to which it is searched in this way: a few tenths of a second.
SMALL, STEPS = 60, 4000


def branched(sets: AllowedSets, rounds: list[int], least: int, budget: Budget) -> tuple[list[int], int]:
    """Return the fewest rounds and the proven bound, those given where the tree is too large for this.

    [Brelaz1979], the exact algorithm, in an independence system: a node goes to each round that stays allowed with it,
    or to one new round. Each set of rounds is looked at once, since only the first empty round is tried.
    """
    search = _Branching(sets, rounds, least, budget)
    if sets.count > SMALL or len(rounds) <= least:
        return rounds, least
    search.branch([], sets.all)
    proven = search.steps > 0 and not sets.in_doubt
    return search.best, len(search.best) if proven else least


class _Branching:
    def __init__(self, sets: AllowedSets, best: list[int], least: int, budget: Budget) -> None:
        self.sets, self.best, self.least, self.budget = sets, best, least, budget
        self.steps = STEPS

    def branch(self, filled: list[int], waiting: int) -> None:
        """Put the nodes of *waiting* into *filled* or new rounds in all ways that are better than the best."""
        if len(filled) >= len(self.best) or len(self.best) <= self.least or self.steps <= 0:
            return
        if not waiting:
            self.best = list(filled)
            return
        self.steps -= 1
        if self.steps % 32 == 0 and self.budget.over():
            self.steps = 0
            return
        node, places = self._most_constrained(filled, waiting)
        for r in places:
            before = filled[r]
            filled[r] = before | 1 << node
            self.branch(filled, waiting & ~(1 << node))
            filled[r] = before
        if len(filled) + 1 < len(self.best):
            filled.append(1 << node)
            self.branch(filled, waiting & ~(1 << node))
            filled.pop()

    def _most_constrained(self, filled: list[int], waiting: int) -> tuple[int, list[int]]:
        """Return the node that fits fewest rounds, of equals that with most conflicts among those that wait."""
        best: tuple[tuple[int, int, int], int, list[int]] | None = None
        for node in members(waiting):
            places = [r for r, mask in enumerate(filled) if self.sets.simple(mask, node)]
            key = (len(places), -(self.sets.adjacent[node] & waiting).bit_count(), node)
            if best is None or key < best[0]:
                best = (key, node, places)
        assert best is not None
        _, node, places = best
        return node, [r for r in places if self.sets.extends(filled[r], node)]
