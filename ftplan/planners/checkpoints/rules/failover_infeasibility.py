"""Why no allocation keeps a failover limit, and the least limit that works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ftplan.model.checkpoint_rules import CheckpointRules
from ftplan.model.plan import Infeasible
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.integer_model import find
from ftplan.planners.checkpoints.rules.failover import Failover, failover_of, loss_name, ratios
from ftplan.planners.checkpoints.rules.least_balance import rounded_up
from ftplan.planners.checkpoints.rules.least_failover import least_conceivable, least_failover
from ftplan.planners.checkpoints.rules.limits import limits_of

#: A balance that stands for ``auto`` before it is settled: it never binds where nodes have a share.
UNSETTLED_BALANCE = 1e6

Explain = Callable[[CheckpointProblem, CheckpointRules, int, Budget], Infeasible | None]


def number(value: float) -> str:
    """Return a number as a person would type it: at most six digits after the point."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def hopeless_failover(problem: CheckpointProblem) -> Infeasible | None:
    """Return why no limit at all can be kept: a node without cpu has load, or would have to take some over."""
    failover = failover_of(problem, 1.0)
    if np.isfinite(least_conceivable(problem, failover)):
        return None
    own = ratios(failover, np.zeros_like(failover.fair))
    loss, node = divmod(int(own.argmax()), own.shape[1])
    if np.isfinite(own[loss, node]):
        reason = "only nodes without cpu may take over some key group, and these have no fair share"
        fix = "give every node that accepts checkpoints some cpu"
    else:
        reason = f"{problem.nodes[node]} holds primaries but has no cpu, so it has no fair share of the load"
        fix = f"give {problem.nodes[node]} some cpu"
    return Infeasible(reason, "failover_limit", None, None, f"{fix}, or leave out the failover rule")


def infeasible_failover(
    problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget
) -> Infeasible | None:
    """Return the worst loss and the least limit under the other rules; None where none was found in time."""
    hopeless = hopeless_failover(problem)
    limit = rules.failover_limit
    if hopeless is not None or limit is None:
        return hopeless
    found = least_failover(problem, replace(rules, failover_limit=None), seed, budget)
    if found is None:
        return None
    failover = failover_of(problem, limit)
    needed = rounded_up(max(found.limit, limit))
    return Infeasible(
        reason=_worst(problem, failover, ratios(failover, failover.taken(found.copies[:, 0])), limit),
        limit="failover_limit",
        current=limit,
        needed=needed,
        smallest_fix=f"--failover-limit {number(needed)}",
    )


def _worst(problem: CheckpointProblem, failover: Failover, after: FloatArray, limit: float) -> str:
    own = ratios(failover, np.zeros_like(failover.fair))
    alone = bool(own.max(initial=0.0) > limit)
    ratio = own if alone else after
    loss, node = divmod(int(ratio.argmax()), ratio.shape[1])
    carried = f"{problem.nodes[node]} carries {number(float(ratio[loss, node]))} times its fair share"
    how = "by its own primaries alone" if alone else "at best"
    return f"after the loss of {loss_name(problem, loss)}, {carried} {how}, above the failover limit {number(limit)}"


def explain_failover(
    problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget, explain: Explain
) -> Infeasible | None:
    """Return why rules with a failover limit cannot hold; *explain* does so for those without one.

    Where the other rules are infeasible by themselves, their fix comes first, and the limit that works with it.
    """
    others = replace(rules, failover_limit=None)
    if find(problem, limits_of(problem, others), None, seed, budget).status != "infeasible":
        return infeasible_failover(problem, rules, seed, budget)
    why = explain(problem, others, seed, budget)
    if why is None:
        return None
    fixed, relaxed = _applied(problem, rules, why)
    short = hopeless_failover(fixed)
    if short is None:
        found = least_failover(fixed, replace(relaxed, failover_limit=None), seed, budget)
        if found is None:
            return None
        if found.limit <= (rules.failover_limit or 0.0):
            return why
        return replace(why, smallest_fix=f"{why.smallest_fix} and --failover-limit {number(found.limit)}")
    return replace(why, smallest_fix=f"{why.smallest_fix} and {short.smallest_fix}")


def _applied(
    problem: CheckpointProblem, rules: CheckpointRules, why: Infeasible
) -> tuple[CheckpointProblem, CheckpointRules]:
    """Return problem and rules with the fix applied."""
    if why.limit == "balance":
        rules = replace(rules, balance="none" if why.needed is None else float(why.needed))
    elif why.limit == "count" or "--balance auto" in why.smallest_fix:
        rules = replace(rules, balance=UNSETTLED_BALANCE)
    if why.limit == "memory_mb":
        growth = float(why.needed) - float(why.current)
        problem = replace(problem, memory_left=problem.memory_left + growth * MB, memory_mb=problem.memory_mb + growth)
    return problem, rules
