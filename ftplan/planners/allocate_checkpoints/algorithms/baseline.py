"""Random checkpoints, the paper's simplest baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions, allocation
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import proven_bound
from ftplan.planners.allocate_checkpoints.algorithms.rules.feasibility import infeasible
from ftplan.planners.allocate_checkpoints.algorithms.rules.infeasibility import too_few_domains
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result

#: Rows of random numbers that are drawn at once.
ROWS_AT_ONCE = 4096


def without_zones(problem: CheckpointProblem) -> CheckpointProblem:
    """Return the problem by key groups under R1 and R2 alone: any accepting node but the primary's."""
    p = problem.by_group
    nodes = np.arange(len(p.nodes))
    allowed = p.accepts[None, :] & (nodes[None, :] != p.home[:, None])
    return replace(p, domain=nodes, domain_kind="node", allowed=allowed, warnings=problem.warnings)


def random_copies(problem: CheckpointProblem, seed: int) -> IntArray:
    """Return different allowed nodes for every group, each set equally likely, shape (K, copies). Cost O(K N)."""
    rng = np.random.default_rng(seed)
    rows = []
    for start in range(0, problem.load.size, ROWS_AT_ONCE):
        allowed = problem.allowed[start : start + ROWS_AT_ONCE]
        draw = np.where(allowed, rng.random(allowed.shape), np.inf)
        rows.append(np.argsort(draw, axis=1, kind="stable")[:, : problem.copies])
    return np.concatenate(rows) if rows else np.zeros((0, problem.copies), dtype=np.int64)


def baseline(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Place each copy at random, not with its primary and copies of a group on different nodes (R1, R2).

    Guarantee: none on the cost. It keeps, and lists, only these two rules, whatever the options ask for. Estimated
    statistics change nothing: every key group is drawn alone. Cost O(K N).

    Source: [Madsen2015], sections 6 and 7 (Baseline).
    """
    budget = Budget.of(options)
    rules = CheckpointRules(options.copies)
    p = without_zones(problem)
    blocked = too_few_domains(p)
    if blocked is not None:
        return infeasible(p, rules, blocked, budget)
    return random_plan(allocation(p, random_copies(p, options.seed), rules), options, budget)


def random_plan(answer: Allocation, options: AllocationOptions, budget: Budget) -> Result[Allocation]:
    """Return the result of a plan that nobody tried to make cheap, with a bound where the options ask for one."""
    p, bound = answer.problem, None
    if options.bound:
        bound = proven_bound(p, answer.rules, answer.value, options.seed, budget)
        bound = p.judged(answer.value, bound)[1]
    return Result("feasible", answer, answer.rules.names(), bound, warnings=p.warnings + budget.warnings())
