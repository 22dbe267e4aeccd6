"""From options to rules that can be kept: the balance that ``auto`` stands for, and an allocation to start from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ftplan.model.checkpoint_rules import CheckpointRules
from ftplan.model.plan import Infeasible, Warn
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.allocation import Allocation
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.integer_model import find
from ftplan.planners.checkpoints.options import LEAST_AUTO_BALANCE, AllocationOptions
from ftplan.planners.checkpoints.rules.failover_infeasibility import UNSETTLED_BALANCE, hopeless_failover, number
from ftplan.planners.checkpoints.rules.infeasibility import explain, too_few_domains
from ftplan.planners.checkpoints.rules.least_balance import least_balance, spread_out
from ftplan.planners.checkpoints.rules.least_failover import least_failover
from ftplan.planners.checkpoints.rules.limits import limits_of
from ftplan.planners.checkpoints.search.repair import repair
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation
from ftplan.planners.result import Result

#: Part of the time that is left for the proof that there is no allocation.
PROOF = 0.6
#: Seconds that finding the smallest fix may always take.
FIX_S = 1.0


@dataclass(frozen=True, eq=False)
class Settled:
    """Rules without ``auto``, warnings, and an allocation (U, c) that keeps them, None where none is known yet."""

    rules: CheckpointRules
    witness: IntArray | None = None
    warnings: tuple[Warn, ...] = ()


def settle(problem: CheckpointProblem, options: AllocationOptions, budget: Budget) -> Settled | Result[Allocation]:
    """Return the rules to plan by, or the result where there is no allocation at all."""
    base = CheckpointRules(
        options.copies, options.anti_affinity, "none", problem.has_memory_rule, options.failover_limit
    )
    blocked = too_few_domains(problem)
    if blocked is not None:
        return infeasible(problem, base, _checked(problem, blocked, options, budget), budget)
    known, warnings = None, []
    limited = options.failover_limit is not None or options.minimise == "failover"
    if limited and (hopeless := hopeless_failover(problem)) is not None:
        return infeasible(problem, base, replace(hopeless, current=options.failover_limit), budget)
    if options.minimise == "failover":
        rules = replace(base, balance=UNSETTLED_BALANCE if options.balance == "auto" else options.balance)
        part = budget.part(0.5)  # the rest of the clock is for what follows
        least = least_failover(problem, rules, options.seed, part)
        budget.cut = budget.cut or part.cut
        if least is None:
            return no_plan(problem, rules, options, budget)
        base, known = replace(base, failover_limit=least.limit), least.copies
        if not least.proven:
            message = (
                f"failover limit {number(least.limit)} works, and a smaller one was not ruled out in the time given"
            )
            warnings.append(Warn("FAILOVER_NOT_PROVEN_LEAST", message))
    if options.balance != "auto":
        return Settled(replace(base, balance=options.balance), known, tuple(warnings))
    if not problem.load.size:
        return Settled(replace(base, balance=LEAST_AUTO_BALANCE))
    part = budget if base.failover_limit is None else budget.part(0.6)
    found = least_balance(problem, base.memory, LEAST_AUTO_BALANCE, options.seed, part, base.failover_limit, known)
    budget.cut = budget.cut or part.cut
    if found is None:
        return no_plan(problem, replace(base, balance=UNSETTLED_BALANCE), options, budget)
    if not found.proven:
        warnings.append(
            Warn(
                "BALANCE_NOT_PROVEN_LEAST",
                f"balance {number(found.balance)} works, and a smaller one was not ruled out in the time given",
            )
        )
    return Settled(replace(base, balance=found.balance), found.copies, tuple(warnings))


def feasible_copies(
    problem: CheckpointProblem, settled: Settled, options: AllocationOptions, budget: Budget
) -> IntArray | Result[Allocation]:
    """Return copies within the settled rules by repair or CP-SAT, else the result that says so."""
    if settled.witness is not None:
        return settled.witness
    limits = limits_of(problem, settled.rules)
    placed = WorkingAllocation.of(problem, limits, spread_out(problem))
    if repair(placed, budget):
        return placed.copies
    answer = find(problem, limits, None, options.seed, budget)
    if answer.copies is not None and limits.kept(answer.copies):
        return answer.copies
    return no_plan(problem, settled.rules, options, budget, proven=answer.status == "infeasible")


def no_plan(
    problem: CheckpointProblem,
    rules: CheckpointRules,
    options: AllocationOptions,
    budget: Budget,
    proven: bool | None = None,
) -> Result[Allocation]:
    """Return ``infeasible`` with its fix where that is proven, ``no-plan-in-time`` else."""
    if proven is None:
        part = budget.part(PROOF)  # the rest is for the fix
        proven = find(problem, limits_of(problem, rules), None, options.seed, part).status == "infeasible"
        budget.cut = budget.cut or part.cut
    if not proven:
        return Result(
            "no-plan-in-time",
            None,
            rules.names(),
            reason="no allocation was found within the limits, and none was ruled out: raise --time-limit",
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
    return Result(
        "infeasible",
        None,
        rules.names(),
        reason=why.reason,
        infeasible=why,
        warnings=problem.warnings + budget.warnings(),
    )


def _checked(problem: CheckpointProblem, blocked: Infeasible, options: AllocationOptions, budget: Budget) -> Infeasible:
    """Return a fix of too few nodes that meets the other rules too: fewer copies may need a second change."""
    if not blocked.current:
        return blocked
    fewer, fewer_options = replace(problem, copies=int(blocked.current)), replace(options, copies=int(blocked.current))
    outcome: Settled | IntArray | Result[Allocation] = settle(fewer, fewer_options, budget)
    if isinstance(outcome, Settled):
        outcome = feasible_copies(fewer, outcome, fewer_options, budget)
    if isinstance(outcome, Result) and outcome.infeasible is not None:
        return replace(blocked, smallest_fix=f"--copies {fewer.copies}, and {outcome.infeasible.smallest_fix}")
    return blocked
