"""Why there is no allocation, and the smallest change that makes one possible."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from ftplan.model.checkpoint_rules import CheckpointRules
from ftplan.model.plan import Infeasible
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.integer_model import find, least_stretch
from ftplan.planners.checkpoints.rules.failover_infeasibility import explain_failover, number
from ftplan.planners.checkpoints.rules.least_balance import least_balance, rounded_up
from ftplan.planners.checkpoints.rules.limits import limits_of, most_copies


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
    what = "zone" if problem.domain_kind == "zone" else "node"
    missing = problem.copies - there
    more = f"{missing} more {what}{'s' if missing > 1 else ''} with nodes that accept checkpoints"
    if what == "node":
        more = f"{missing} more node{'s' if missing > 1 else ''} that accept{'' if missing > 1 else 's'} checkpoints"
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
    found = least_balance(problem, rules.memory, 0.0, seed, budget)
    if found is None or isinstance(rules.balance, str):
        return None
    needed = rounded_up(max(found.balance, rules.balance))
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
    problem: CheckpointProblem, rules: CheckpointRules, hint: IntArray | None, seed: int, budget: Budget
) -> tuple[Infeasible | None, bool]:
    """Return by how much every known ``memory_mb`` must grow, and whether that is proven the least.

    The growth is in whole units of 2^20 bytes, the same on every node whose memory is known. *rules* are those that
    are to hold afterwards. None where no growth was found in time.
    """
    limits = limits_of(problem, rules)
    row = limits.names.index("memory")
    unit: FloatArray = np.where(np.isfinite(limits.upper[row]), MB, 0.0)
    most = float(np.sum(np.maximum(-problem.memory_left[np.isfinite(problem.memory_left)], 0.0)))
    most = ceil((most + problem.state.sum() * problem.copies) / MB) + 1
    answer = least_stretch(problem, limits, "memory", unit, 1.0, most, hint, seed, budget)
    if answer.copies is None:
        return None, False
    used = limits.used(answer.copies)[row]
    over = float(np.max(np.where(np.isfinite(limits.upper[row]), used - limits.upper[row], 0.0)))
    growth = max(1, ceil(over / MB - 1e-9))
    node = int(np.argmax(np.where(np.isfinite(limits.upper[row]), used - limits.upper[row], -np.inf)))
    short = Infeasible(
        reason="the state of primaries and copies does not fit into the nodes' memory",
        limit="memory_mb",
        current=float(problem.memory_mb[node]),
        needed=float(problem.memory_mb[node]) + growth,
        smallest_fix=f"raise memory_mb of every node by {growth}",
    )
    return short, growth <= (answer.least or 0.0) + 1.0


def explain(problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget) -> Infeasible | None:
    """Return why rules that are proven infeasible cannot hold, with a fix that works; None where time ran out.

    With a failover limit, looks at the other rules first; of these at the memory alone, then at balance or count
    alone, then at both together.
    """
    if rules.failover_limit is not None:
        return explain_failover(problem, rules, seed, budget, explain)
    if rules.memory:
        alone = replace(rules, balance="none")
        if find(problem, limits_of(problem, alone), None, seed, budget).status != "found":
            without = replace(rules, memory=False)
            fits = rules.balance == "none"
            if not fits:
                fits = find(problem, limits_of(problem, without), None, seed, budget).status == "found"
            short, _ = infeasible_memory(problem, rules if fits else alone, None, seed, budget)
            if short is None or fits:
                return short
            return replace(short, smallest_fix=f"{short.smallest_fix}, and --balance auto")
    if isinstance(rules.balance, str):
        if rules.memory and rules.balance == "count":
            without = replace(rules, memory=False)
            if find(problem, limits_of(problem, without), None, seed, budget).status == "found":
                return infeasible_memory(problem, rules, None, seed, budget)[0]
        return infeasible_count(problem, rules)
    found = infeasible_balance(problem, rules, seed, budget)
    if found is None and not budget.over():
        return Infeasible(
            reason="nodes without cpu have no fair share of the load, and no others may hold some of the copies",
            limit="balance",
            current=rules.balance,
            needed=None,
            smallest_fix="--balance none",
        )
    return found
