"""The Lagrangian dual of a large problem: prices from a sample of the units, then from a few nodes of each unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import Scan, allowed_cost, scan
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import AllocationDual, dual_of, mean_use
from ftplan.planners.allocate_checkpoints.algorithms.bounds.subgradient import (
    Blocks,
    Lagrangian,
    LimitBlock,
    Minimum,
    StepRule,
    paid,
    subgradient_ascent,
)
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.search.greedy import regret_greedy
from ftplan.planners.budget import Budget

#: Steps over the candidates of each unit, and over the sample. All nodes of a sample are looked at: its optimum is not
#: known, and a plan that breaks limits may lie below it, so that the target is raised.
CANDIDATE_STEPS = StepRule(momentum=0.7, patience=8, small_rise=1e-5, return_passes=1)
SAMPLE_STEPS = CANDIDATE_STEPS._replace(patience=24, raised=0.05)
#: Units in the sample, for each node, about, and steps on the sample.
SAMPLE_UNITS_PER_NODE = 10
LEAST_SAMPLE = 4
SAMPLE_PAIRS = 4_000_000
SAMPLE_PASSES = 400
#: What the sample's target exceeds the whole's by, as a part of what a random plan loses against it.
SAMPLE_MARGIN = 0.05
#: Nodes kept for each unit, and steps between two looks at all nodes.
CANDIDATE_NODES = 32
CANDIDATE_PASSES = 100
#: How far above the bound the steps aim at most, as a part of what a random plan loses: the candidates say nothing
#: of prices far away.
REACH = 1e-3
#: Looks at all nodes at most, and the part of what a random plan loses below which a rise ends the ascent.
MOST_ROUNDS = 16
LEAST_RISE = 2e-5


def restricted(problem: CheckpointProblem, limits: Limits, cost: FloatArray, nodes: IntArray | None) -> Lagrangian:
    """Return the Lagrangian of the problem with k columns for each unit.

    *nodes* (U, k) are the nodes of the columns, None where they are all nodes in order; *cost* (U, k) is infinite
    where a copy may not be. Cost O(U k R) a minimum.
    """
    out, units = np.empty_like(cost), np.arange(len(cost))

    def minimum(prices: Blocks) -> Minimum:
        np.copyto(out, cost)
        for weight, price in zip(limits.weight, prices[0], strict=True):
            if price.any():
                np.add(out, weight[:, None] * (price[None, :] if nodes is None else price[nodes]), out=out)
        total, used, chosen = 0.0, np.zeros_like(limits.lower), []
        for k in range(problem.copies):
            column = out.argmin(axis=1)
            node = column if nodes is None else nodes[units, column]
            chosen.append(node)
            total += float(out[units, column].sum())
            used += limits.used(node[:, None])
            if k + 1 < problem.copies:
                domains = problem.domain[None, :] if nodes is None else problem.domain[nodes]
                out[domains == problem.domain[node][:, None]] = np.inf
        payment = paid(prices[0], limits.lower, limits.upper)
        return Minimum(total - float(payment.sum()), (used,), np.column_stack(chosen))

    return Lagrangian((LimitBlock(limits.lower, limits.upper, mean_use(limits, problem.copies)),), minimum)


def sampled_prices(problem: CheckpointProblem, limits: Limits, budget: Budget) -> FloatArray:
    """Return prices (R, N) that are good for every n-th unit, with the limits in proportion: a start, no more.

    Prices belong to nodes, and what units want is spread alike in the sample; so they are nearly right for all. The
    steps aim at what Algorithm 3 reaches on the sample.
    """
    units, nodes = problem.cost.shape
    wanted = max(LEAST_SAMPLE * nodes, min(SAMPLE_UNITS_PER_NODE * nodes, SAMPLE_PAIRS // nodes))
    chosen = np.arange(0, units, max(1, units // wanted))
    total = limits.weight.sum(axis=1)
    ratio = np.where(total > 0, limits.weight[:, chosen].sum(axis=1) / np.where(total > 0, total, 1.0), 1.0)[:, None]
    arrays = {name: getattr(problem, name)[chosen] for name in ("home", "cost", "allowed", "load", "size", "state")}
    sample = replace(problem, **arrays)
    fewer = Limits(limits.names, limits.weight[:, chosen], limits.lower * ratio, limits.upper * ratio)
    target = sample.value(regret_greedy(sample, fewer))
    target += SAMPLE_MARGIN * max(sample.random_value - target, 0.0)
    lagrangian = restricted(sample, fewer, allowed_cost(sample), None)
    start = (np.zeros(limits.lower.shape),)
    passes = budget.passes(SAMPLE_PASSES) - 1
    return subgradient_ascent(lagrangian, start, target, passes, budget, SAMPLE_STEPS).prices[0]


def ascend_at_scale(
    problem: CheckpointProblem, limits: Limits, target: float, budget: Budget, start: FloatArray | None = None
) -> tuple[AllocationDual, Scan]:
    """Return the best dual found, with the scan at its prices.

    Steps look at the candidates of a scan only, which overrates the bound where other nodes have become cheaper;
    each round ends with a scan of all nodes, whose bound is proven. Deterministic but for the clock.
    """

    def at(prices: FloatArray) -> tuple[AllocationDual, Scan]:
        scanned = scan(problem, limits, prices, CANDIDATE_NODES)
        return dual_of(problem, limits, prices, scanned), scanned

    best, scanned = at(np.zeros(limits.lower.shape) if start is None else start)
    if start is None:
        if problem.reached(best.bound, target) or budget.over():
            return best, scanned
        dual, again = at(sampled_prices(problem, limits, budget))
        if dual.bound > best.bound:
            best, scanned = dual, again
    theta, failed, reach = 1.0, 0, REACH
    for _ in range(budget.passes(MOST_ROUNDS)):
        if budget.over() or not np.isfinite(best.bound) or problem.reached(best.bound, target):
            break
        distance = reach * max(problem.random_value - best.bound, 0.0)
        near = min(target, best.bound + distance)
        lagrangian = restricted(problem, limits, scanned.cost, scanned.nodes)
        passes = budget.passes(CANDIDATE_PASSES) - 1
        ascent = subgradient_ascent(lagrangian, (best.prices,), near, passes, budget, CANDIDATE_STEPS, max(theta, 0.01))
        theta = ascent.theta
        dual, again = at(ascent.prices[0])
        rise = dual.bound - best.bound
        reach = 4 * reach if rise > 0.5 * distance else REACH
        if rise > 0:
            best, scanned = dual, again
        else:
            theta /= 8
        failed = failed + 1 if rise <= LEAST_RISE * (problem.random_value - best.bound) else 0
        if failed == 2:
            break
    return best, scanned
