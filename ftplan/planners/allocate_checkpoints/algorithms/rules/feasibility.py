"""From options to rules that can be kept, and to the result: with an allocation, or with why there is none.

Rules come with the balance that ``auto`` stands for and, where known, an allocation to start from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.plan import Infeasible, Warn
from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import LEAST_AUTO_BALANCE, Allocation, AllocationOptions
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits, limits_of
from ftplan.planners.allocate_checkpoints.algorithms.models.integer_model import find_feasible
from ftplan.planners.allocate_checkpoints.algorithms.rules.infeasibility import (
    explain,
    too_few_domains,
    unattainable_failover,
)
from ftplan.planners.allocate_checkpoints.algorithms.rules.smallest_limits import (
    UNBOUNDED_BALANCE,
    LeastLimit,
    least_balance,
    least_failover,
    longest_first,
    number,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result


def spread_idle(problem: CheckpointProblem, limits: Limits, copies: IntArray) -> IntArray:
    """Return copies (U, c) in which those of idle units are spread over the nodes by number; the value stays.

    A unit is idle when it has no load and costs nothing anywhere. Algorithm 3 breaks ties by checkpointed load, which
    an idle unit does not add to, so that all of them would lie on one node (a departure from [Madsen2015]).
    Each copy goes where the fewest are, ties to the first node, within all limits; where that fails, nothing changes.
    Cost O(idle units × c × N).
    """
    idle = np.flatnonzero((problem.load == 0) & ~np.where(problem.allowed, problem.cost, 0.0).any(axis=1))
    if not idle.size or "count" in limits.names:
        return copies
    busy = np.delete(copies, idle, axis=0)
    sizes = np.delete(problem.size, idle)
    held = np.bincount(busy.ravel(), np.repeat(sizes, problem.copies), len(problem.nodes))
    used = limits.used(copies)
    spread = copies.copy()
    for u in idle.tolist():
        used[:, spread[u]] -= limits.weight[:, [u]]
        free = problem.allowed[u] & np.all(used + limits.weight[:, [u]] <= limits.upper, axis=0)
        for k in range(problem.copies):
            if not free.any():
                return copies
            node = int(np.where(free, held, np.inf).argmin())
            spread[u, k] = node
            held[node] += problem.size[u]
            free &= problem.domain != problem.domain[node]
        used[:, spread[u]] += limits.weight[:, [u]]
    return spread if limits.satisfied_by(spread) else copies


def outcome(in_force: RulesInForce, answer: Allocation, bound: float | None, budget: Budget) -> Result[Allocation]:
    """Return the result with its status by the gap: ``optimal`` where a bound closes it, else ``feasible``."""
    problem = answer.problem
    status, bound = problem.judged(answer.value, bound)
    warnings = problem.warnings + in_force.warnings + budget.warnings()
    return Result(status, answer, in_force.rules.names(), bound, warnings=warnings)


#: Parts of the time that is left: for the least failover limit, for the least balance within one, and for the proof
#: that there is no allocation.
FAILOVER_SHARE, BALANCE_SHARE, PROOF_SHARE = 0.5, 0.6, 0.6
#: Seconds that finding the smallest fix may always take.
FIX_S = 1.0


@dataclass(frozen=True, eq=False)
class RulesInForce:
    """Rules without ``auto``, an allocation (U, c) that keeps them, None where none is known yet, and warnings."""

    rules: CheckpointRules
    witness: IntArray | None = None
    warnings: tuple[Warn, ...] = ()


def rules_in_force(
    problem: CheckpointProblem, options: AllocationOptions, budget: Budget
) -> RulesInForce | Result[Allocation]:
    """Return the rules to plan by, or the result where there is no allocation at all."""
    rules = CheckpointRules(
        options.copies, options.anti_affinity, "none", problem.has_memory_rule, options.failover_limit
    )
    blocked = too_few_domains(problem)
    if blocked is not None:
        return infeasible(problem, rules, _fewer_copies(problem, blocked, options, budget), budget)
    witness, warnings = None, []
    if options.failover_limit is not None or options.minimise == "failover":
        unattainable = unattainable_failover(problem)
        if unattainable is not None:
            return infeasible(problem, rules, replace(unattainable, current=options.failover_limit), budget)
    if options.minimise == "failover":
        others = replace(rules, balance=UNBOUNDED_BALANCE if options.balance == "auto" else options.balance)
        part = budget.part(FAILOVER_SHARE)
        least = least_failover(problem, others, options.seed, part)
        budget.cut = budget.cut or part.cut
        if least is None:
            return no_plan(problem, others, options, budget)
        rules, witness = replace(rules, failover_limit=least.value), least.copies
        warnings += _not_proven("failover limit", "FAILOVER_NOT_PROVEN_LEAST", least)
    if options.balance != "auto":
        return RulesInForce(replace(rules, balance=options.balance), witness, tuple(warnings))
    if not problem.load.size:
        return RulesInForce(replace(rules, balance=LEAST_AUTO_BALANCE))
    part = budget if rules.failover_limit is None else budget.part(BALANCE_SHARE)
    least = least_balance(problem, rules, LEAST_AUTO_BALANCE, options.seed, part, witness)
    budget.cut = budget.cut or part.cut
    if least is None:
        return no_plan(problem, replace(rules, balance=UNBOUNDED_BALANCE), options, budget)
    warnings += _not_proven("balance", "BALANCE_NOT_PROVEN_LEAST", least)
    return RulesInForce(replace(rules, balance=least.value), least.copies, tuple(warnings))


def _not_proven(what: str, code: str, least: LeastLimit) -> list[Warn]:
    """Return the warning that a smaller limit may exist, where that is so."""
    message = f"{what} {number(least.value)} works, and a smaller one was not ruled out in the time given"
    return [] if least.proven else [Warn(code, message)]


def feasible_copies(
    problem: CheckpointProblem, in_force: RulesInForce, options: AllocationOptions, budget: Budget
) -> IntArray | Result[Allocation]:
    """Return copies within the rules in force by repair or CP-SAT, else the result that says so."""
    if in_force.witness is not None:
        return in_force.witness
    limits = limits_of(problem, in_force.rules)
    placed = WorkingAllocation.of(problem, limits, longest_first(problem))
    if repair(placed, budget):
        return placed.copies
    result = find_feasible(problem, limits, options.seed, budget)
    if result.copies is not None and limits.satisfied_by(result.copies):
        return result.copies
    return no_plan(problem, in_force.rules, options, budget, proven=result.status == "infeasible")


def no_plan(
    problem: CheckpointProblem,
    rules: CheckpointRules,
    options: AllocationOptions,
    budget: Budget,
    proven: bool | None = None,
) -> Result[Allocation]:
    """Return ``infeasible`` with its fix where that is proven, ``no-plan-in-time`` else."""
    if proven is None:
        part = budget.part(PROOF_SHARE)  # the rest is for the fix
        proven = find_feasible(problem, limits_of(problem, rules), options.seed, part).status == "infeasible"
        budget.cut = budget.cut or part.cut
    if not proven:
        more = "--time-limit" if options.iterations is None else "--iterations"
        return Result(
            "no-plan-in-time",
            None,
            rules.names(),
            reason=f"no allocation was found within the limits, and none was ruled out: raise {more}",
            warnings=problem.warnings + budget.warnings(),
        )
    # The proof stands; finding the smallest fix may take a little beyond the limit.
    extra = Budget(max(budget.left_s, FIX_S), None if options.iterations is None else options.iterations + 100)
    return infeasible(problem, rules, explain(problem, rules, options.seed, extra), budget)


def infeasible(
    problem: CheckpointProblem, rules: CheckpointRules, why: Infeasible | None, budget: Budget
) -> Result[Allocation]:
    """Return the result of rules that no allocation keeps."""
    why = why or Infeasible("no allocation keeps the rules", "rules", None, None, "--balance none")
    warnings = problem.warnings + budget.warnings()
    return Result("infeasible", None, rules.names(), reason=why.reason, infeasible=why, warnings=warnings)


def _fewer_copies(
    problem: CheckpointProblem, blocked: Infeasible, options: AllocationOptions, budget: Budget
) -> Infeasible:
    """Return a fix of too few nodes that meets the other rules too: fewer copies may need a second change."""
    if not blocked.current:
        return blocked
    fewer, fewer_options = replace(problem, copies=int(blocked.current)), replace(options, copies=int(blocked.current))
    outcome: RulesInForce | IntArray | Result[Allocation] = rules_in_force(fewer, fewer_options, budget)
    if isinstance(outcome, RulesInForce):
        outcome = feasible_copies(fewer, outcome, fewer_options, budget)
    if isinstance(outcome, Result) and outcome.infeasible is not None:
        return replace(blocked, smallest_fix=f"--copies {fewer.copies}, and {outcome.infeasible.smallest_fix}")
    return blocked
