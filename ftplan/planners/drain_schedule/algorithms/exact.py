"""The fewest rounds, with a proof: by bounds, and by an integer program of nodes and rounds (CP-SAT)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ftplan.model.plan import Warn
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members
from ftplan.planners.drain_schedule.algorithms.bounds import LeastRounds, least_rounds, raised
from ftplan.planners.drain_schedule.algorithms.greedy import few_rounds, shortest
from ftplan.planners.drain_schedule.algorithms.heaviest_set import AllowedSetRows
from ftplan.planners.drain_schedule.algorithms.outcome import PartRounds, solved
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.result import Result
from ftplan.planners.solver import solve_sat

#: Rounds of cuts for sets that break output or room.
MOST_REPAIRS = 300
#: Units in which rows of real numbers are counted; coefficients are rounded down and limits up, a relaxation.
ROW_UNITS = 1 << 30


class RoundAssignment(NamedTuple):
    """Rounds that hold all nodes, or None, and then whether it is proven that there are none."""

    rounds: list[int] | None
    proven: bool


def assign_to_rounds(
    sets: AllowedSets, rounds: int, clique: tuple[int, ...], rows: AllowedSetRows, budget: Budget
) -> RoundAssignment:
    """Put all nodes into so many rounds, or prove that this cannot be.

    ``sum over r of x[i, r] = 1``; cliques of conflicts, zones, numbers and the rows that allowed sets keep in each
    round. Rounds are alike: the nodes of a clique each have their own. What rows do not know is cut off when it turns
    up, in all rounds. Raises :class:`KeyboardInterrupt` as it comes.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [[model.new_bool_var("") for _ in range(rounds)] for _ in range(sets.count)]
    for by_round in x:
        model.add_exactly_one(by_round)
    for r, node in enumerate(clique):
        model.add(x[node][r] == 1)
    for cover in edge_cliques(sets):
        for r in range(rounds):
            model.add_at_most_one(x[k][r] for k in cover)
    for r in range(rounds):
        if sets.most < sets.count:
            model.add(sum(by_round[r] for by_round in x) <= sets.most)
        for mask in sets.zone_mask:
            if sets.per_zone < mask.bit_count():
                model.add(sum(x[k][r] for k in members(mask)) <= sets.per_zone)
    known = 0
    for _ in range(MOST_REPAIRS):
        for row, limit in zip(rows.rows[known:], rows.limits[known:], strict=True):
            _add_row(model, x, row.tolist(), limit)
        known = len(rows.rows)
        answer = solve_sat(model, budget, sets.seed)
        if not answer.found:
            return RoundAssignment(None, answer.proven)
        masks = [sum(1 << k for k in range(sets.count) if answer.value(x[k][r])) for r in range(rounds)]
        wrong = [mask for mask in masks if mask and not sets.keeps_limits(mask)]
        if not wrong:
            return RoundAssignment([mask for mask in masks if mask], proven=True)
        cut = [not budget.over() and rows.cut(mask) for mask in wrong]
        if not any(cut) or budget.over():
            break
    return RoundAssignment(None, proven=False)


def _add_row(model: Any, x: list[list[Any]], row: Iterable[float], limit: float) -> None:
    """``sum over i of row[i] x[i, r] <= limit`` in each round, relaxed by rounding."""
    values = list(row)
    scale = ROW_UNITS / max(limit, max(values, default=0.0), 1e-300)
    whole = [int(value * scale) for value in values]
    for r in range(len(x[0])):
        model.add(sum(w * by_round[r] for w, by_round in zip(whole, x, strict=True) if w) <= int(limit * scale) + 1)


def edge_cliques(sets: AllowedSets) -> list[list[int]]:
    """Return cliques of conflicts that cover each conflict, grown from each that is not covered yet."""
    left, cliques = list(sets.adjacent), []
    for a in range(sets.count):
        while above := left[a] >> (a + 1) << (a + 1):
            clique, common = 1 << a, sets.adjacent[a]
            b = (above & -above).bit_length() - 1
            while True:
                clique, common = clique | 1 << b, common & sets.adjacent[b]
                useful = common & left[a] or common
                if not useful:
                    break
                b = (useful & -useful).bit_length() - 1
            for k in members(clique):
                left[k] &= ~clique
            cliques.append(list(members(clique)))
    return cliques


#: Share of the time for the first rounds, and of the rest for the integer program of few nodes, and for the bound.
FIRST_SHARE, SMALL_SHARE, BOUND_SHARE = 0.2, 0.5, 0.8
#: Nodes times rounds up to which an integer program of both is tried before the bound is raised, and at all.
SMALL_PROGRAM, LARGEST_PROGRAM = 400, 10_000


def exact(problem: DrainProblem, options: DrainOptions) -> Result[Drain]:
    """Restart nodes in the fewest rounds, or say how far from it the rounds may be.

    What may go together is an independence system, see :class:`AllowedSets`. Rounds of :func:`few_rounds` that meet a
    cheap bound are optimal; else prices of nodes raise the bound (:func:`raised`), and an integer program of nodes and
    rounds asks whether one round less is enough, first where it is small.

    Guarantee: ``optimal``, or ``feasible`` with the proven gap at the time limit. Among as few rounds it prefers those
    that are shorter in all, without proof. Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``).
    Cost exponential in the worst case.
    """
    return solved(problem, options, _exact, _doubts)


def _exact(sets: AllowedSets, budget: Budget) -> PartRounds:
    least, log = least_rounds(sets), Incumbents[list[int]]("min", "rounds", unit=1.0)
    log.prove(least.rounds, "cliques, zones and numbers")
    first = budget.part(FIRST_SHARE)
    rounds = few_rounds(sets, least, sets.seed, first)
    log.offer(rounds, len(rounds), "greedy")
    budget.cut = budget.cut or first.cut
    if not log.closed and not budget.over():
        rounds = _closed(sets, rounds, log, least, budget)
    return shortest(sets, rounds), int(log.bound)


def _closed(
    sets: AllowedSets, rounds: list[int], log: Incumbents[list[int]], least: LeastRounds, budget: Budget
) -> list[int]:
    """Return fewer rounds, and raise the bound, until they meet or the time is over."""
    rows, cut, size = AllowedSetRows(sets), budget.cut, sets.count * len(rounds)
    small, whole = size <= SMALL_PROGRAM and not sets.limits_output, size <= LARGEST_PROGRAM
    for share, program in ((SMALL_SHARE, True), (BOUND_SHARE if whole else 1.0, False), (1.0, True)):
        if log.closed or budget.over():
            break
        part = budget.part(share)
        if not program:
            log.prove(raised(sets, rows, rounds, int(log.bound), part), "prices")
        elif small if share < 1.0 else whole:
            rounds = _fewer(sets, rows, rounds, log, least.clique, part)
        cut = cut or part.cut
    budget.cut = budget.cut or (cut and not log.closed)  # what was cut short made no difference else
    return rounds


def _fewer(
    sets: AllowedSets,
    rows: AllowedSetRows,
    rounds: list[int],
    log: Incumbents[list[int]],
    clique: tuple[int, ...],
    budget: Budget,
) -> list[int]:
    """Ask for one round less while there is an answer; a proof that there is none raises the bound."""
    while not log.closed and not budget.over():
        answer = assign_to_rounds(sets, len(rounds) - 1, clique, rows, budget)
        if answer.rounds is None:
            if answer.proven:
                log.prove(len(rounds), "CP-SAT")
            break
        rounds = answer.rounds
        log.offer(rounds, len(rounds), "CP-SAT")
    return rounds


def _doubts(sets: AllowedSets, open_: bool) -> tuple[Warn, ...]:
    """Return a warning where the bound may count on sets that have no room, which nobody could prove in time."""
    if not (sets.in_doubt and open_):
        return ()
    text = "for some sets of nodes no room was found for what must move, nor proof that there is none: the bound may "
    return (Warn("BOUND_WITHOUT_ROOM", text + "count on them"),)
