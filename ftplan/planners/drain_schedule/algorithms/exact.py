"""The fewest rounds, with a proof."""

from __future__ import annotations

from ftplan.model.plan import Warn
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets
from ftplan.planners.drain_schedule.algorithms.assignment_model import assign_to_rounds
from ftplan.planners.drain_schedule.algorithms.bounds import LeastRounds, least_rounds, raised
from ftplan.planners.drain_schedule.algorithms.greedy import few_rounds, shortest
from ftplan.planners.drain_schedule.algorithms.heaviest_set import AllowedSetRows
from ftplan.planners.drain_schedule.algorithms.outcome import begin, outcome
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.result import Result

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
    budget = Budget.of(options)
    begun = begin(problem, options, budget)
    if isinstance(begun, Result):
        return begun
    sets, without = begun
    least, log = least_rounds(sets), Incumbents[list[int]]("min", "rounds", unit=1.0)
    log.prove(least.rounds, "cliques, zones and numbers")
    first = budget.part(FIRST_SHARE)
    rounds = few_rounds(sets, least, options.seed, first)
    log.offer(rounds, len(rounds), "greedy")
    budget.cut = budget.cut or first.cut
    if not log.closed and not budget.over():
        rounds = _closed(sets, rounds, log, least, budget)
    doubts = _doubts(sets, not log.closed)
    return outcome(sets, without, shortest(sets, rounds), int(log.bound), budget, doubts)


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
