"""The cheapest rebalance, with a proof."""

from __future__ import annotations

import math
from dataclasses import replace

from ftplan.model.plan import Warn
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents, wanted_gap
from ftplan.planners.rebalance.algorithms.adaptive import adaptive
from ftplan.planners.rebalance.algorithms.infeasibility import why_infeasible
from ftplan.planners.rebalance.algorithms.least_cost import fewest, least_cost
from ftplan.planners.rebalance.algorithms.models.choices import ChoiceTable
from ftplan.planners.rebalance.algorithms.models.node_model import Goal
from ftplan.planners.rebalance.algorithms.models.phase_cuts import impossible_moves
from ftplan.planners.rebalance.algorithms.outcome import outcome
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem, RebalanceSearch
from ftplan.planners.rebalance.rules import rules
from ftplan.planners.result import Result

#: Share of the time for the first moves.
FIRST = 0.1
WITHOUT_PHASES = "BOUND_WITHOUT_PHASES"


def exact(problem: RebalanceProblem, search: RebalanceSearch) -> Result[Rebalance]:
    """Rebalance at least cost under all rules, with a proven bound.

    Starts from :func:`adaptive`. Which groups move where by which protocol is one integer program: with a column for
    each group and node, or where these are many for each group and class of nodes that cost it the same, which bounds
    the cost (:func:`least_cost`). Moves that no order of phases can carry out are cut off, and the rest is solved
    again; that goes for a few moves that share nodes, see :func:`impossible_moves`. Of equal cost the fewest moves.

    Guarantee: ``optimal`` with phases and notice, else ``feasible`` with the proven gap; where phases made moves cost
    more and nobody proved that they have to, a warning ``BOUND_WITHOUT_PHASES``. Infeasible only with a proof. Never
    worse than :func:`adaptive` in a tenth of the time. Deterministic unless the clock cuts it short (warning
    ``TIME_LIMIT``). Cost exponential in the worst case.
    """
    budget = Budget.of(search)
    known = adaptive(problem, replace(search, time_limit_s=FIRST * budget.left_s))
    if known.status == "infeasible":
        return known
    return _Exact(problem, search.seed, budget, known).solved()


class _Exact:
    """The best result, the bound, and the sets of moves that were cut off."""

    def __init__(self, problem: RebalanceProblem, seed: int, budget: Budget, known: Result[Rebalance]) -> None:
        self.problem, self.seed, self.budget = problem, seed, budget
        self.elsewhere = problem.value(())  # traffic that is there without any move
        gap = wanted_gap(problem.load.size * len(problem.nodes))
        self.log: Incumbents[Result[Rebalance]] = Incumbents(
            "min", problem.objective_name, size=self.elsewhere, gap=gap
        )
        self._take(known, "adaptive")
        self.log.prove(0.0 if known.bound is None else known.bound, "adaptive")
        self.assisted = None if known.answer is None else known.answer.assisted
        self.cuts: tuple[frozenset[Migration], ...] = ()
        self.stuck: Result[Rebalance] | None = None

    def solved(self) -> Result[Rebalance]:
        """Return the best result there is, or why there is none."""
        table, open_ = ChoiceTable(self.problem), True
        while open_:
            goal, best = Goal(self.seed, cuts=self.cuts), self.log.answer
            proven = least_cost(table, None if best is None or best.answer is None else best.answer.moves, goal,
                                self.budget)  # fmt: skip
            self.log.prove(proven.bound + self.elsewhere, "SCIP")
            if proven.moves is None:
                break
            moves = fewest(table, proven, goal, self.budget)
            result = outcome(self.problem, moves, self.log.bound, self.budget)
            self.stuck = self.stuck or (result if result.answer is None else None)
            self._take(result, "SCIP")
            phased = result.answer is not None and self._value(result) <= self._within(self.problem.value(moves))
            if phased or self.log.closed or self.budget.over():
                break
            more = set(impossible_moves(self.problem, moves, self.budget)) - set(self.cuts)
            open_, self.cuts = bool(more), (*self.cuts, *sorted(more, key=sorted))
            table = ChoiceTable(self.problem, alternatives=True)
        return self._result()

    def _take(self, result: Result[Rebalance], by: str) -> None:
        """Take a result that is better than the best, or as good with no more moves."""
        if result.answer is None:
            return
        best, value = self.log.answer, self._value(result)
        if best is None or best.answer is None or self.log.value > self._within(value):
            self.log.offer(result, value, by)
        elif value <= self._within(self.log.value) and len(result.answer.moves) <= len(best.answer.moves):
            self.log.answer = result

    def _value(self, result: Result[Rebalance]) -> float:
        return math.inf if result.answer is None else self.problem.value(result.answer.moves)

    def _within(self, value: float) -> float:
        """Return a value with what rounding may add."""
        return value + ROUNDING * max(abs(value), self.elsewhere, LEAST_SCALE)

    def _result(self) -> Result[Rebalance]:
        best = self.log.answer
        if best is None or best.answer is None:
            return self._without_plan()
        said = [w for w in best.warnings if w.code not in ("TIME_LIMIT", WITHOUT_PHASES)]
        if not self.log.proven:
            said += [w for w in best.warnings if w.code == WITHOUT_PHASES][:1]
            if self.stuck is not None and not any(w.code == WITHOUT_PHASES for w in said):
                said.append(
                    Warn(WITHOUT_PHASES, "cheaper moves find no phases: the bound is one for moves without them")
                )
        answer = replace(best.answer, assisted=self.assisted)
        bound = self._value(best) if self.log.proven else self.log.bound
        return Result(self.log.status, answer, rules(self.problem), bound, warnings=(*said, *self.budget.warnings()))

    def _without_plan(self) -> Result[Rebalance]:
        """Return why there is no plan: proven where the bound is infinite."""
        why = None
        if self.log.bound == math.inf:
            why = self.stuck.infeasible if self.stuck else why_infeasible(self.problem, self.seed, self.budget)
        warnings = (*self.problem.warnings, *self.budget.warnings())
        if why is None:
            reason = "no rebalance was seen that keeps all limits"
            return Result("no-plan-in-time", None, rules(self.problem), reason=reason, warnings=warnings)
        return Result("infeasible", None, rules(self.problem), reason=why.reason, infeasible=why, warnings=warnings)
