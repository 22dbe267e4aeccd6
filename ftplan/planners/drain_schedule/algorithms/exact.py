"""The fewest rounds, with a proof; of a few nodes by branching on the node with fewest rounds left.

That is the branch and bound of DSATUR ([Brelaz1979]).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.plan import Warn
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members
from ftplan.planners.drain_schedule.algorithms.bounds import LeastRounds, least_rounds
from ftplan.planners.drain_schedule.algorithms.greedy import few_rounds, shortest
from ftplan.planners.drain_schedule.algorithms.outcome import begin, outcome
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem
from ftplan.planners.result import Result

if TYPE_CHECKING:
    from ftplan.planners.drain_schedule.algorithms.covering import Covering


#: Nodes of a problem, and of the search tree, up to which it is searched in this way: a few tenths of a second.
MOST_BRANCHED_NODES, MOST_BRANCHES = 60, 4000


def fewest_by_branching(sets: AllowedSets, rounds: list[int], least: int, budget: Budget) -> tuple[list[int], int]:
    """Return the fewest rounds and the proven bound, those given where the tree is too large for this.

    [Brelaz1979], the exact algorithm, in an independence system: a node goes to each round that stays allowed with it,
    or to one new round. Each set of rounds is looked at once, since only the first empty round is tried.
    """
    search = _Branching(sets, rounds, least, budget)
    if sets.count > MOST_BRANCHED_NODES or len(rounds) <= least:
        return rounds, least
    search.branch([], sets.all)
    proven = search.steps > 0 and not sets.in_doubt
    return search.best, len(search.best) if proven else least


class _Branching:
    def __init__(self, sets: AllowedSets, best: list[int], least: int, budget: Budget) -> None:
        self.sets, self.best, self.least, self.budget = sets, best, least, budget
        self.steps = MOST_BRANCHES

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
            places = [r for r, mask in enumerate(filled) if self.sets.fits_pairwise(mask, node)]
            key = (len(places), -(self.sets.adjacent[node] & waiting).bit_count(), node)
            if best is None or key < best[0]:
                best = (key, node, places)
        assert best is not None
        _, node, places = best
        return node, [r for r in places if self.sets.extends(filled[r], node)]


#: Share of the time for the first rounds, shares of the rest for the bound by column generation, and for rounds of the
#: sets that it saw.
FIRST_SHARE, BOUND_SHARE, COVER_SHARE = 0.2, 0.9, 0.5
#: Nodes times rounds up to which an integer program of both is tried before columns are generated, and at all.
SMALL_PROGRAM, LARGEST_PROGRAM = 1500, 10_000


def exact(problem: DrainProblem, options: DrainOptions) -> Result[Drain]:
    """Restart nodes in the fewest rounds, or say how far from it the rounds may be.

    What may go together is an independence system, see :class:`AllowedSets`. Rounds of :func:`few_rounds` that meet a
    cheap bound are optimal; few nodes are searched by branch and bound; then an integer program of nodes and rounds
    asks whether one round less is enough, and column generation ([MehrotraTrick1996]) over the allowed sets raises the
    bound, whichever is likely to be quicker first.

    Guarantee: ``optimal``, or ``feasible`` with the proven gap at the time limit. Among as few rounds it prefers those
    that are shorter in all, without proof. Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``).
    Cost exponential in the worst case.
    """
    budget = Budget.of(options)
    begun = begin(problem, options, budget)
    if isinstance(begun, Result):
        return begun
    sets, without = begun
    cheap = least_rounds(sets)
    first = budget.part(FIRST_SHARE)
    rounds = few_rounds(sets, cheap, options.seed, first)
    budget.cut = budget.cut or first.cut
    rounds, least = fewest_by_branching(sets, rounds, cheap.rounds, budget)
    if len(rounds) > least and not budget.over():
        rounds, least = _closed(sets, rounds, LeastRounds(least, cheap.clique), options.seed, budget)
    return outcome(sets, without, shortest(sets, rounds), least, budget, _doubts(sets, len(rounds) > least))


def _closed(
    sets: AllowedSets, rounds: list[int], least: LeastRounds, seed: int, budget: Budget
) -> tuple[list[int], int]:
    """Return fewer rounds and a larger bound, until they meet or the time is over."""
    from ftplan.planners.drain_schedule.algorithms.covering import Covering

    covering, cut = Covering(sets, rounds, least.rounds, seed), budget.cut
    size = sets.count * len(rounds)
    small = size <= SMALL_PROGRAM and not sets.limits_output
    for share, program in ((0.5, True), (BOUND_SHARE, False), (1.0, True)):
        if len(rounds) <= covering.least or budget.over():
            break
        if program and (size > LARGEST_PROGRAM or (share < 1.0 and not small)):
            continue
        part = budget.part(share)
        if program:
            rounds = _fewer(covering, rounds, least.clique, part)
        else:
            covering.raise_bound(len(rounds), part)
            if len(rounds) > covering.least:
                rounds = covering.fewer_rounds(rounds, part if part.left_s else budget.part(COVER_SHARE))
        cut = cut or part.cut
    budget.cut = budget.cut or (cut and len(rounds) > covering.least)  # what was cut short made no difference else
    return rounds, covering.least


def _fewer(covering: Covering, rounds: list[int], clique: tuple[int, ...], budget: Budget) -> list[int]:
    """Ask for one round less while there is an answer; a proof that there is none raises the bound."""
    from ftplan.planners.drain_schedule.algorithms.assignment_model import assign_to_rounds

    while len(rounds) > covering.least and not budget.over():
        answer = assign_to_rounds(covering.sets, len(rounds) - 1, clique, covering.rows, budget)
        if answer.rounds is None:
            if answer.proven:
                covering.least = len(rounds)
            break
        rounds = answer.rounds
        for mask in rounds:
            covering.add(mask)
    return rounds


def _doubts(sets: AllowedSets, open_: bool) -> tuple[Warn, ...]:
    """Return a warning where the bound may count on sets that have no room, which nobody could prove in time."""
    if not (sets.in_doubt and open_):
        return ()
    text = "for some sets of nodes no room was found for what must move, nor proof that there is none: the bound may "
    return (Warn("BOUND_WITHOUT_ROOM", text + "count on them"),)
