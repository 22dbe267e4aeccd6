"""The Lagrangian dual of a large problem: prices from a sample of the units, then from a few nodes of each unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.candidates import Scan, scan
from ftplan.planners.checkpoints.bounds.lagrangian import Dual, dual_of
from ftplan.planners.checkpoints.bounds.subgradient import Part, climb
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.checkpoints.search.greedy import regret_greedy

#: Units in the sample, for each node, about, and steps on the sample.
SAMPLE = 10
LEAST_SAMPLE = 4
SAMPLE_PAIRS = 4_000_000
SAMPLE_PASSES = 400
SAMPLE_PATIENCE = 24
#: What the sample's target exceeds the whole's by, as a part of what a random plan loses against it.
SAMPLE_MARGIN = 0.05
#: Nodes kept for each unit, and steps between two looks at all nodes.
CANDIDATES = 32
PASSES = 100
#: How far above the bound the steps aim at most, as a part of what a random plan loses: the candidates say nothing
#: of prices far away.
REACH = 1e-3
#: Looks at all nodes at most, and the part of what a random plan loses below which a rise ends the ascent.
ROUNDS = 16
LEAST_RISE = 2e-5


def sampled_prices(problem: CheckpointProblem, limits: Limits, budget: Budget) -> FloatArray:
    """Return prices that are good for every n-th unit, with the limits in proportion: a start, no more.

    Prices belong to nodes, and what units want is spread alike in the sample; so they are nearly right for all. The
    steps aim at what Algorithm 3 reaches on the sample.
    """
    units, nodes = problem.cost.shape
    wanted = max(LEAST_SAMPLE * nodes, min(SAMPLE * nodes, SAMPLE_PAIRS // nodes))
    chosen = np.arange(0, units, max(1, units // wanted))
    total = limits.weight.sum(axis=1)
    ratio = np.where(total > 0, limits.weight[:, chosen].sum(axis=1) / np.where(total > 0, total, 1.0), 1.0)[:, None]
    sample = replace(
        problem,
        home=problem.home[chosen],
        cost=problem.cost[chosen],
        allowed=problem.allowed[chosen],
        load=problem.load[chosen],
        size=problem.size[chosen],
        state=problem.state[chosen],
    )
    fewer = Limits(limits.names, limits.weight[:, chosen], limits.lower * ratio, limits.upper * ratio)
    target = sample.value(regret_greedy(sample, fewer))
    target += SAMPLE_MARGIN * max(sample.random_value - target, 0.0)
    cost = np.where(sample.allowed, sample.cost, np.inf)
    part = Part(cost, None, fewer.weight, fewer.lower, fewer.upper, problem.domain, problem.copies)
    return climb(
        part, np.zeros(limits.lower.shape), target, budget.passes(SAMPLE_PASSES), 1.0, budget, SAMPLE_PATIENCE
    )[0]


def ascend_at_scale(
    problem: CheckpointProblem, limits: Limits, target: float, budget: Budget, start: FloatArray | None = None
) -> tuple[Dual, Scan]:
    """Return the best dual found, with the scan at its prices.

    Steps look at the candidates of a scan only, which overrates the bound where other nodes have become cheaper;
    each round ends with a scan of all nodes, whose bound is proven. Deterministic but for the clock.
    """
    if start is None:
        free = np.zeros(limits.lower.shape)
        found = scan(problem, limits, free, CANDIDATES)
        best = dual_of(problem, limits, free, found)
        if problem.rounded(best.bound) >= target or budget.over():
            return best, found
        prices = sampled_prices(problem, limits, budget)
        priced = scan(problem, limits, prices, CANDIDATES)
        dual = dual_of(problem, limits, prices, priced)
        if dual.bound > best.bound:
            best, found = dual, priced
    else:
        found = scan(problem, limits, start, CANDIDATES)
        best = dual_of(problem, limits, start, found)
    theta, failed, reach = 1.0, 0, REACH
    for _ in range(budget.passes(ROUNDS)):
        if budget.over() or not np.isfinite(best.bound) or problem.rounded(best.bound) >= target:
            break
        part = Part(found.cost, found.nodes, limits.weight, limits.lower, limits.upper, problem.domain, problem.copies)
        distance = reach * max(problem.random_value - best.bound, 0.0)
        near = min(target, best.bound + distance)
        prices, theta = climb(part, best.prices, near, budget.passes(PASSES), max(theta, 0.01), budget)
        again = scan(problem, limits, prices, CANDIDATES)
        dual = dual_of(problem, limits, prices, again)
        rise = dual.bound - best.bound
        reach = 4 * reach if rise > 0.5 * distance else REACH
        if rise > 0:
            best, found = dual, again
        else:
            theta /= 8
        failed = failed + 1 if rise <= LEAST_RISE * (problem.random_value - best.bound) else 0
        if failed == 2:
            break
    return best, found
