"""Why no allocation keeps a failover limit, and the least limit that works."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.checkpoint_rules import CheckpointRules
from ftplan.model.plan import Infeasible
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.rules.failover import failover_of, loss_name, ratios
from ftplan.planners.checkpoints.rules.least_failover import least_conceivable, least_failover
from ftplan.planners.checkpoints.rules.least_limit import number, rounded_up


def unattainable_failover(problem: CheckpointProblem) -> Infeasible | None:
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
    unattainable = unattainable_failover(problem)
    limit = rules.failover_limit
    if unattainable is not None or limit is None:
        return unattainable
    least = least_failover(problem, replace(rules, failover_limit=None), seed, budget)
    if least is None:
        return None
    failover = failover_of(problem, limit)
    needed = rounded_up(max(least.value, limit))
    own = ratios(failover, np.zeros_like(failover.fair))
    if bool(own.max(initial=0.0) > limit):
        reason = _worst(problem, own, limit, "by its own primaries alone")
    else:
        reason = _worst(problem, ratios(failover, failover.taken(least.copies[:, 0])), limit, "at best")
    return Infeasible(reason, "failover_limit", limit, needed, f"--failover-limit {number(needed)}")


def _worst(problem: CheckpointProblem, ratio: FloatArray, limit: float, how: str) -> str:
    loss, node = divmod(int(ratio.argmax()), ratio.shape[1])
    carried = f"{problem.nodes[node]} carries {number(float(ratio[loss, node]))} times its fair share"
    return f"after the loss of {loss_name(problem, loss)}, {carried} {how}, above the failover limit {number(limit)}"
