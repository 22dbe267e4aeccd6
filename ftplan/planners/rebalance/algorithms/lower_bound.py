"""A proven lower bound of what a rebalance costs: prices of load for a Lagrangian relaxation.

They come from a linear program over groups that may have to move, and are improved by subgradient steps. Any prices
give a bound, so that the rounding of a solver cannot make it too large.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.candidates import AT_HAND, AWAY, Candidates
from ftplan.planners.rebalance.algorithms.relaxation import LoadDual, LoadPrices, LoadRelaxation
from ftplan.planners.solver import linear_solver, solve_linear

#: Units in which the excess of a node is counted: while prices are sought, and at last.
COARSE, FINE = 1000, 20_000
#: Steps of the subgradient ascent, and rounds in which groups are added to the linear program.
STEPS, ROUNDS = 60, 6
#: Steps without a gain that end the ascent, and a gap, relative, for which it is not worth while.
PATIENCE, CLOSE = 12, 0.005
#: What load outside of a limit costs in the linear program, in mean prices and loads; and multiples of prices that are
#: tried where no placement is known.
OUTSIDE, RAYS = 1e3, (1.0, 1e3, 1e6)
#: Groups that a round adds.
ADDED = 3000


def lower_bound(candidates: Candidates, upper: float, seed: int, budget: Budget) -> LoadDual:
    """Return the best bound that a linear program and a short subgradient ascent find, no more needed than *upper*.

    Infinite where no placement is possible, as far as prices prove it: a bound above what any placement can cost.

    Cost: a linear program over the groups on nodes that are outside of their limits, and O(K + excess units x groups
    there) for each of a few dozen steps.
    """
    relaxation = LoadRelaxation(candidates)
    best = _linear_prices(relaxation, seed, budget)
    if upper - best.bound > CLOSE * abs(upper):
        best = _ascent(relaxation, best, upper, budget)
    if not budget.over():
        best = max((best, relaxation.dual(best.prices, FINE)), key=lambda dual: dual.bound)
    return best if np.isfinite(upper) or not _impossible(relaxation, best.prices) else best._replace(bound=np.inf)


def _impossible(relaxation: LoadRelaxation, prices: LoadPrices) -> bool:
    """Return whether a multiple of some prices proves more than any placement can cost: then there is none."""
    candidates, problem = relaxation.candidates, relaxation.problem
    dearest = np.where(np.isfinite(candidates.price), candidates.price, 0.0).max(axis=(0, 1))
    if relaxation.traffic is not None:
        dearest = dearest + np.maximum(relaxation.traffic.max(axis=1, initial=0.0), 0.0)
    most = float(dearest.sum())
    level = np.where(problem.removed, 0.0, 1.0) * (1.0 + most) / max(float(problem.load.sum()), NOISE)
    for ray in (prices, LoadPrices(level), LoadPrices(-level)):
        for factor in RAYS:
            longer = LoadPrices(factor * ray.load, factor * ray.move, factor * ray.byte)
            if relaxation.dual(longer, COARSE).bound > most * (1.0 + ROUNDING):
                return True
    return False


def _ascent(relaxation: LoadRelaxation, best: LoadDual, upper: float, budget: Budget) -> LoadDual:
    """Improve prices by subgradient steps [Polyak1969] towards *upper*, shorter ones where that does not help."""
    now, stalled = best, 0
    reach = (upper - best.bound) / 2.0 if np.isfinite(upper) else abs(best.bound)
    for _ in range(budget.passes(STEPS)):
        if budget.over() or not np.isfinite(now.bound) or stalled >= PATIENCE:
            break
        slope = relaxation.slope(now)
        norm = float(slope @ slope)
        if norm <= 0.0:
            break
        step = (best.bound + reach - now.bound) / norm
        load, after = now.prices.load, now.prices.load + step * slope
        # A price that would change its sign is 0, since another limit is in force beyond.
        after = np.where((load != 0.0) & (np.sign(after) != np.sign(load)), 0.0, after)
        now = relaxation.dual(replace(now.prices, load=after), COARSE)
        if now.bound > best.bound:
            best, stalled = now, 0
        else:
            stalled += 1
            if stalled % 3 == 0:
                reach, now = reach / 4.0, best
    return best


def _linear_prices(relaxation: LoadRelaxation, seed: int, budget: Budget) -> LoadDual:
    """Return the bound at the prices of a linear program, to which groups are added as these make them move."""
    problem, candidates = relaxation.problem, relaxation.candidates
    inside: BoolArray = candidates.must.copy()
    inside[np.isin(problem.home, relaxation.full)] = True
    best = relaxation.dual(LoadPrices(np.zeros(candidates.nodes)), COARSE)
    for _ in range(ROUNDS):
        prices = _solved(relaxation, np.flatnonzero(inside), seed, budget)
        if prices is None:
            break
        dual = relaxation.dual(prices, COARSE)
        best = max((best, dual), key=lambda item: item.bound)
        leave, _ = relaxation.leaving(dual.prices)
        gain = dual.prices.load[problem.home] * problem.load - leave
        new = np.flatnonzero(~inside & (gain > NOISE * (1.0 + np.abs(leave))))
        if not len(new) or budget.over():
            break
        inside[new[np.argsort(-gain[new], kind="stable")][:ADDED]] = True
    return best


def _solved(relaxation: LoadRelaxation, groups: IntArray, seed: int, budget: Budget) -> LoadPrices | None:
    """Return the prices of the linear program over the moves of some groups; None where it has none in time."""
    solver: Any = linear_solver("GLOP", seed)
    program = _PriceProgram(solver, relaxation)
    for group in groups.tolist():
        if budget.over():
            return None
        program.add(group)
    return program.prices() if solve_linear(solver, budget) == "optimal" else None


class _PriceProgram:
    """Load that moves to hosts of checkpoints, each by itself, and to other nodes, by way of one pool."""

    def __init__(self, solver: Any, relaxation: LoadRelaxation) -> None:
        candidates, problem = relaxation.candidates, relaxation.problem
        self.solver, self.relaxation, self.candidates, self.problem = solver, relaxation, candidates, problem
        infinity = solver.infinity()
        self.scale = max(float(candidates.least_price) / ROUNDING, NOISE)
        self.unit = max(float(problem.load.mean()) if candidates.groups else 1.0, NOISE)
        most, least = candidates.most - problem.start_load, candidates.least - problem.start_load
        self.rows = [
            solver.Constraint(
                float(low) / self.unit if np.isfinite(low) else -infinity,
                float(up) / self.unit if np.isfinite(up) else infinity,
            )
            for low, up in zip(least, most, strict=True)
        ]
        self.pool = solver.Constraint(0.0, 0.0)
        self.objective = solver.Objective()
        self.objective.SetMinimization()
        for row, low, up in zip(self.rows, least, most, strict=True):  # so that few groups have prices too
            for sign in [-1.0] * bool(np.isfinite(up)) + [1.0] * bool(np.isfinite(low)):
                outside = solver.NumVar(0.0, infinity, "")
                row.SetCoefficient(outside, sign)
                self.objective.SetCoefficient(outside, OUTSIDE)
        for node in relaxation.hosts.tolist():
            arrives = solver.NumVar(0.0, infinity, "")
            self.rows[node].SetCoefficient(arrives, 1.0)
            self.pool.SetCoefficient(arrives, -1.0)
        limits = problem.limits
        self.moves = None if limits.max_moves is None else solver.Constraint(-infinity, float(limits.max_moves))
        self.byte_unit = max(float(limits.max_bytes or 0.0), 1.0)
        self.bytes = None
        if limits.max_bytes is not None:
            self.bytes = solver.Constraint(-infinity, float(limits.max_bytes) / self.byte_unit)

    def add(self, group: int) -> None:
        """Add the ways in which a group may leave its node."""
        least = 1.0 if self.candidates.must[group] else 0.0
        row = self.solver.Constraint(least, 1.0)
        size = float(self.problem.load[group]) / self.unit
        home = self.rows[int(self.problem.home[group])]
        traffic = self.relaxation.traffic
        anywhere = 0.0 if traffic is None else float(traffic[group, self.relaxation.hosts].min(initial=0.0))
        ways = [(AWAY, self.pool, anywhere)]
        ways += [
            (AT_HAND, self.rows[node], 0.0 if traffic is None else float(traffic[group, node]))
            for node in self.candidates.hosts_of(group).tolist()
        ]
        for near, into, extra in ways:
            for protocol in self._protocols(near, group):
                leaves = self.solver.NumVar(0.0, 1.0, "")
                row.SetCoefficient(leaves, 1.0)
                home.SetCoefficient(leaves, -size)
                into.SetCoefficient(leaves, size)
                price = float(self.candidates.price[near, protocol, group]) + extra
                self.objective.SetCoefficient(leaves, price / self.scale)
                if self.moves is not None:
                    self.moves.SetCoefficient(leaves, 1.0)
                if self.bytes is not None:
                    self.bytes.SetCoefficient(leaves, float(self.problem.costs.bytes[protocol, group]) / self.byte_unit)

    def _protocols(self, near: int, group: int) -> list[int]:
        """Return the cheapest protocol, and where bytes are limited that with the fewest."""
        price = self.candidates.price[near, :, group]
        if not np.isfinite(price).any():
            return []
        rows = [int(np.argmin(price))]
        if self.bytes is not None:
            sizes = np.where(np.isfinite(price), self.problem.costs.bytes[:, group], np.inf)
            rows.append(int(np.argmin(sizes)))
        return sorted(set(rows))

    def prices(self) -> LoadPrices:
        """Return the prices that the solution tells."""
        load = -np.array([row.dual_value() for row in self.rows]) * self.scale / self.unit
        move = 0.0 if self.moves is None else max(0.0, -self.moves.dual_value() * self.scale)
        byte = 0.0 if self.bytes is None else max(0.0, -self.bytes.dual_value() * self.scale / self.byte_unit)
        return LoadPrices(load, move, byte)
