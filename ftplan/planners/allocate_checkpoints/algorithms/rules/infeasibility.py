"""Why there is no allocation, and the smallest change that makes one possible."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from ftplan.model.plan import Infeasible
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import (
    failover_of,
    limits_of,
    loss_name,
    most_copies,
    ratios,
)
from ftplan.planners.allocate_checkpoints.algorithms.models.integer_model import (
    StretchedLimit,
    find_feasible,
    least_stretch,
)
from ftplan.planners.allocate_checkpoints.algorithms.rules.smallest_limits import (
    UNBOUNDED_BALANCE,
    failover_lower_bound,
    least_balance,
    least_failover,
    number,
    rounded_up,
)
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget


def too_few_domains(problem: CheckpointProblem) -> Infeasible | None:
    """Return what is missing where some unit has fewer allowed nodes (or zones) than copies. Cost O(U N)."""
    if not problem.load.size:
        return None
    domains = np.unique(problem.domain)
    if domains.size == problem.domain.size:
        reachable = problem.allowed.sum(axis=1)
    else:
        reachable = np.zeros(problem.load.size, dtype=np.int64)
        for domain in domains:
            reachable += problem.allowed[:, problem.domain == domain].any(axis=1)
    unit = int(reachable.argmin())
    there = int(reachable[unit])
    if there >= problem.copies:
        return None
    what, missing = problem.domain_kind, problem.copies - there
    more = f"{missing} more {what}{'s' if missing > 1 else ''} "
    more += "with nodes that accept checkpoints" if what == "zone" else f"that accept{'s' * (missing == 1)} checkpoints"
    home = problem.nodes[int(problem.home[unit])]
    return Infeasible(
        reason=f"{problem.unit_names[unit]} with its primary on {home} has {there} other {what}s for "
        f"{problem.copies} copies",
        limit="copies",
        current=there,
        needed=problem.copies,
        smallest_fix=f"--copies {there} (or {more})" if there else f"add {more}",
    )


def infeasible_balance(
    problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget
) -> Infeasible | None:
    """Return the least Δ that works where an explicit one does not; None where none was found in time."""
    least = least_balance(problem, rules, 0.0, seed, budget)
    assert not isinstance(rules.balance, str)
    if least is None and not budget.over():
        return Infeasible(
            reason="nodes without cpu have no fair share of the load, and no others may hold some of the copies",
            limit="balance",
            current=rules.balance,
            needed=None,
            smallest_fix="--balance none",
        )
    if least is None:
        return None
    needed = rounded_up(max(least.value, rules.balance))
    return Infeasible(
        reason=f"no allocation keeps every node within {number(100 * rules.balance)} % of its fair share of load",
        limit="balance",
        current=rules.balance,
        needed=needed,
        smallest_fix=f"--balance {number(needed)}",
    )


def infeasible_count(problem: CheckpointProblem, rules: CheckpointRules) -> Infeasible:
    """Return that the numbers of copies cannot be kept: too much is forbidden to some nodes."""
    most = most_copies(problem, rules.balance == "even-count")
    return Infeasible(
        reason="no allocation keeps the number of copies on every node within its limit, since copies may not lie "
        "with their primaries",
        limit="count",
        current=int(most.max(initial=0.0)),
        needed=None,
        smallest_fix="--algorithm baseline" if rules.balance == "even-count" else "--balance auto",
    )


def infeasible_memory(
    problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget
) -> Infeasible | None:
    """Return by how much every known ``memory_mb`` must grow; None where no growth was found in time.

    The growth is in whole units of 2^20 bytes, the same on every node whose memory is known. *rules* are those that
    are to hold afterwards.
    """
    limits = limits_of(problem, rules)
    row = limits.names.index("memory")
    known = np.isfinite(limits.upper[row])
    unit: FloatArray = np.where(known, MB, 0.0)
    over_full = float(np.sum(np.maximum(-problem.memory_left[np.isfinite(problem.memory_left)], 0.0)))
    most = ceil((over_full + problem.state.sum() * problem.copies) / MB) + 1
    result = least_stretch(problem, limits, StretchedLimit("memory", unit, 0.0, most, 1.0), None, seed, budget)
    if result.copies is None:
        return None
    over = np.where(known, limits.used(result.copies)[row] - limits.upper[row], -np.inf)
    growth = max(1, ceil(float(np.max(np.where(known, over, 0.0))) / MB - ROUNDING))
    node = int(np.argmax(over))
    return Infeasible(
        reason="the state of primaries and copies does not fit into the nodes' memory",
        limit="memory_mb",
        current=float(problem.memory_mb[node]),
        needed=float(problem.memory_mb[node]) + growth,
        smallest_fix=f"raise memory_mb of every node by {growth}",
    )


def unattainable_failover(problem: CheckpointProblem) -> Infeasible | None:
    """Return why no limit at all can be kept: a node without cpu has load, or would have to take some over."""
    failover = failover_of(problem, 1.0)
    if np.isfinite(failover_lower_bound(problem, failover)):
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


def explain(problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget) -> Infeasible | None:
    """Return why rules that are proven infeasible cannot hold, with a fix that works; None where time ran out.

    With a failover limit, looks at the other rules first; of these at the memory alone, then at balance or count
    alone, then at both together.
    """

    def status(some: CheckpointRules) -> str:
        return find_feasible(problem, limits_of(problem, some), seed, budget).status

    if rules.failover_limit is not None:
        others = replace(rules, failover_limit=None)
        if status(others) != "infeasible":
            return infeasible_failover(problem, rules, seed, budget)
        why = explain(problem, others, seed, budget)
        return None if why is None else _with_failover(problem, rules, why, seed, budget)
    without = replace(rules, memory=False)
    if rules.memory:
        alone = replace(rules, balance="none")
        if status(alone) != "feasible":
            fits = rules.balance == "none" or status(without) == "feasible"
            short = infeasible_memory(problem, rules if fits else alone, seed, budget)
            if short is None or fits:
                return short
            return replace(short, smallest_fix=f"{short.smallest_fix}, and --balance auto")
    if isinstance(rules.balance, str):
        if rules.memory and rules.balance == "count" and status(without) == "feasible":
            return infeasible_memory(problem, rules, seed, budget)
        return infeasible_count(problem, rules)
    return infeasible_balance(problem, rules, seed, budget)


def _with_failover(
    problem: CheckpointProblem, rules: CheckpointRules, why: Infeasible, seed: int, budget: Budget
) -> Infeasible | None:
    """Return the fix of the other rules, and with it that of the failover limit where it does not hold afterwards."""
    problem, fixed = _fixed(problem, rules, why)
    unattainable = unattainable_failover(problem)
    if unattainable is not None:
        return replace(why, smallest_fix=f"{why.smallest_fix} and {unattainable.smallest_fix}")
    least = least_failover(problem, replace(fixed, failover_limit=None), seed, budget)
    if least is None:
        return None
    if least.value <= (rules.failover_limit or 0.0):
        return why
    return replace(why, smallest_fix=f"{why.smallest_fix} and --failover-limit {number(least.value)}")


def _fixed(
    problem: CheckpointProblem, rules: CheckpointRules, why: Infeasible
) -> tuple[CheckpointProblem, CheckpointRules]:
    """Return problem and rules with the fix applied."""
    if why.limit == "balance":
        rules = replace(rules, balance="none" if why.needed is None else float(why.needed))
    elif why.limit == "count" or "--balance auto" in why.smallest_fix:
        rules = replace(rules, balance=UNBOUNDED_BALANCE)
    if why.limit == "memory_mb":
        growth = float(why.needed) - float(why.current)
        problem = replace(problem, memory_left=problem.memory_left + growth * MB, memory_mb=problem.memory_mb + growth)
    return problem, rules
