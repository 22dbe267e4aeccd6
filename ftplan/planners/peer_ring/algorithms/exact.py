"""The ring with the fewest losses by one zone, zone violations, the least largest load, the fewest bytes moved."""

from __future__ import annotations

from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms.bounds import least_load
from ftplan.planners.peer_ring.algorithms.moves.evening import EvenCuts, evened
from ftplan.planners.peer_ring.algorithms.outcome import too_few_positions, unchanged_ring
from ftplan.planners.peer_ring.algorithms.partition import ring_of
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem, RingStep
from ftplan.planners.result import Result


def exact(problem: RingProblem, search: SearchOptions) -> Result[RingAnswer]:
    """Give each member one token: fewest arcs that one zone destroys, fewest zone violations, least load, fewest bytes.

    Copies lie on the next nodes clockwise ([Kumbhare2015], V), so that a violation is an arc whose holders share a
    zone. Where nothing but a failure is asked for, the ring in place stays.

    Guarantee: ``optimal`` where every level meets its bound; else ``feasible`` with what is proven of each.
    Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``). Cost: milliseconds to seconds with equal cpu;
    with unequal cpu the load also depends on the order of nodes, which is exponential in the worst case.
    """
    budget = Budget.of(search)
    if problem.keep:
        return unchanged_ring(problem)
    why = too_few_positions(problem)
    if why is not None:
        return Result("infeasible", None, (), reason=why.reason, infeasible=why, warnings=problem.warnings)
    best = least_load(problem, search, budget)
    if problem.current is not None:
        from ftplan.planners.peer_ring.algorithms.moves.from_current import from_current

        return from_current(problem, best, budget)
    even = evened(problem, EvenCuts(best.order, best.first), best.largest, ())
    ring = tiered(problem, ring_of(problem, *even))
    answer = RingAnswer((RingStep("re-plan", ring),), ring, best.violations_bound)
    proven = best.zones.violations <= best.violations_bound and best.largest <= best.bound
    return Result("optimal" if proven else "feasible", answer, (), best.bound, warnings=budget.warnings())
