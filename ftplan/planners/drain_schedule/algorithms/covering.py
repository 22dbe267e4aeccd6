"""A proven bound on rounds by column generation: cover the nodes by allowed sets, in fractions.

Nodes have prices, and no allowed set is worth more than 1: then the sum of all prices is a bound on rounds. Where the
dearest set is worth M, the sum over M is ([Farley1990]). Prices come from a linear program over the sets seen so far,
and the dearest set from :func:`heaviest_set`, in whole numbers, so that no rounding error makes the bound too large
([Held2012]).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members
from ftplan.planners.drain_schedule.algorithms.heaviest_set import AllowedSetRows, heaviest_set
from ftplan.planners.interrupts import SolverStuck, solve_linear, solve_sat

#: The dearest node's price in whole numbers.
PRICE_UNITS = 1 << 30
#: A set that is worth more by less than this is no gain.
LEAST_GAIN = 1e-6
#: Share of the time that may go into prices, and linear programs without a lower value after which they are left be.
PRICES_SHARE, MOST_STALLED_PROGRAMS = 0.7, 10
#: Share of the rest in which a bound of one round less than known is tried at once, before it is raised one by one.
CLOSING_SHARE = 0.85
#: Sets of local search for one linear program, and nodes of the tree when sets are only sought, not excluded.
MOST_DIVES, QUICK_TREE_NODES = 40, 60_000


class Covering:
    """Sets seen so far, the linear program over them, and the bound proven so far."""

    def __init__(self, sets: AllowedSets, rounds: list[int], least: int, seed: int) -> None:
        from ortools.linear_solver import pywraplp

        self.sets, self.least, self.rows = sets, least, AllowedSetRows(sets)
        self.attainable = sets.count  # rounds that suffice in fractions: no prices prove more
        self.rng = np.random.default_rng(seed)
        self.columns: dict[int, None] = {}
        self.solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        self.price = [self.solver.NumVar(0.0, 1.0, "") for _ in range(sets.count)]
        self.solver.Maximize(sum(self.price))
        for mask in rounds:
            self.add(mask)

    def add(self, mask: int) -> bool:
        """Add a set, filled up with other nodes: the prices of its nodes sum to at most 1. Return whether it is new."""
        mask = self._filled(mask)
        if mask in self.columns:
            return False
        self.columns[mask] = None
        row = self.solver.Constraint(-self.solver.infinity(), 1.0)
        for k in members(mask):
            row.SetCoefficient(self.price[k], 1.0)
        return True

    def _filled(self, mask: int) -> int:
        for k in self.rng.permutation(self.sets.count).tolist():
            if not mask >> k & 1 and not self.sets.budget.over() and self.sets.extends(mask, k):
                mask |= 1 << k
        return mask

    def prices(self, budget: Budget) -> FloatArray | None:
        """Return the prices (m,) at which the sets seen so far are worth at most 1 and all nodes most; None: late."""
        try:
            status = solve_linear(self.solver, budget.left_s)
        except SolverStuck:
            return None
        if status != self.solver.OPTIMAL:
            budget.unfinished()
            return None
        return np.maximum([price.solution_value() for price in self.price], 0.0)

    def fewer_rounds(self, rounds: list[int], budget: Budget) -> list[int]:
        """Return rounds chosen from the sets seen so far where fewer of them hold all nodes, else *rounds* (CP-SAT)."""
        from ortools.sat.python import cp_model

        model, sets = cp_model.CpModel(), list(self.columns)
        taken = [model.new_bool_var("") for _ in sets]
        for k in range(self.sets.count):
            model.add_at_least_one(x for x, mask in zip(taken, sets, strict=True) if mask >> k & 1)
        model.add(sum(taken) <= len(rounds) - 1)
        model.add(sum(taken) >= self.least)
        model.minimize(sum(taken))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if budget.iterations is not None:
            solver.parameters.max_deterministic_time = budget.iterations * SOLVER_SECONDS_PER_ITERATION
        status = solve_sat(model, solver, budget.left_s)
        if status not in (cp_model.OPTIMAL, cp_model.INFEASIBLE):
            budget.unfinished()
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return rounds
        left, chosen = self.sets.all, []
        for x, mask in zip(taken, sets, strict=True):
            if solver.value(x) and mask & left:
                chosen.append(mask & left)
                left &= ~mask
        return chosen

    def raise_bound(self, most: int, budget: Budget) -> int:
        """Prove that more rounds are needed, up to *most*, as far as the budget goes; return the bound.

        First with equal prices, and with those at which each known round is worth 1; then with prices of the linear
        program, drawn half-way to the best known ones since its own are extreme ([Wentges1997]);
        at last with the best prices again, for all the time that is left.
        """
        known = np.zeros(self.sets.count)
        for mask in self.columns:
            known[list(members(mask))] = np.maximum(known[list(members(mask))], 1.0 / mask.bit_count())
        equal, inner = np.ones(self.sets.count), known
        for steps, times in ((QUICK_TREE_NODES, 30), (10 * QUICK_TREE_NODES, 10**6), (None, 0)):
            for prices in (known, equal) if steps else (equal, known):
                self._close(prices, min(most, self.attainable), budget, steps)
            part = budget.part(PRICES_SHARE)
            inner = self._generate(inner, most, part, times)
            budget.cut = budget.cut or part.cut
        return self.least

    def _close(self, prices: FloatArray, most: int, budget: Budget, steps: int | None) -> None:
        """Prove a bound of one round less than is known to do, else raise it one by one, with given prices."""
        if steps is None and self.least + 1 < most - 1:
            part = budget.part(CLOSING_SHARE)
            if self._too_dear(prices, most - 1, part, None) == (0, True):
                self.least = most - 1
            budget.cut = budget.cut or part.cut
        self._prove(prices, most, budget, steps)

    def _generate(self, inner: FloatArray, most: int, budget: Budget, times: int) -> FloatArray:
        """Add sets that are worth more than 1 at prices between *inner* ones and those of the linear program.

        Returns the best prices so far.
        """
        lowest, stalled = math.inf, 0
        for _ in range(budget.passes(times)):
            if self.least >= most or budget.over() or stalled > MOST_STALLED_PROGRAMS:
                break
            outer = self.prices(budget)
            if outer is None:
                break
            self.attainable = min(self.attainable, math.ceil(float(outer.sum()) - LEAST_GAIN))
            if self.attainable <= self.least:
                break
            stalled = 0 if outer.sum() < lowest - LEAST_GAIN else stalled + 1
            lowest = min(lowest, float(outer.sum()))
            inner = self._worth_one(inner)
            prices = self._worth_one((inner + outer) / 2.0)
            before, seen = self.least, len(self.columns)
            for asked in (prices, outer):
                if not self._dive(asked):
                    self._prove(asked, min(most, self.attainable), budget, QUICK_TREE_NODES)
            new = (self.least, len(self.columns)) != (before, seen)
            if prices.sum() > inner.sum():
                inner = prices
            if not new:
                break
        return inner

    def _worth_one(self, prices: FloatArray) -> FloatArray:
        """Return prices scaled so that the dearest set seen so far is worth 1."""
        return np.asarray(prices / max(float(prices[list(members(mask))].sum()) for mask in self.columns))

    def _prove(self, prices: FloatArray, most: int, budget: Budget, steps: int | None) -> bool:
        """Raise the bound one by one as far as no set is too dear; return whether a new set turned out to be."""
        while self.least < most and not budget.over():
            mask, proven = self._too_dear(prices, self.least + 1, budget, steps)
            if not proven:
                return mask > 0 and self.add(mask)
            self.least += 1
        return False

    def _too_dear(self, prices: FloatArray, rounds: int, budget: Budget, steps: int | None) -> tuple[int, bool]:
        """Return a set that is too dear for a bound of so many rounds, or 0 and whether it is proven that none is."""
        weight = np.floor(prices / prices.max() * PRICE_UNITS).astype(np.int64)
        weight //= max(1, int(np.gcd.reduce(weight)))
        above = (int(weight.sum()) - 1) // max(1, rounds - 1)
        answer = heaviest_set(self.sets, weight, self.rows, above, budget, steps)
        return answer.mask, answer.proven

    def _dive(self, prices: FloatArray) -> bool:
        """Add sets worth more than 1 by greedy choice and exchange; return whether there was one."""
        before, count = len(self.columns), self.sets.count
        worth = set()
        for _ in range(MOST_DIVES):
            if self.sets.budget.over():
                break
            noise = prices * self.rng.uniform(0.6, 1.4, count)
            mask = self._improved(self._chosen(noise), prices)
            value = float(prices[list(members(mask))].sum())
            if value > 1.0 + LEAST_GAIN:
                worth.add((-value, mask))
        for _, mask in sorted(worth)[:10]:
            self.add(mask)
        return len(self.columns) > before

    def _chosen(self, key: FloatArray) -> int:
        """Return a set by first fit in the order of a key, the largest first, divided by conflicts."""
        sets, mask = self.sets, 0
        degree = sets.conflict @ key
        order: IntArray = np.argsort(-key / (1.0 + degree), kind="stable")
        for k in order.tolist():
            if key[k] > 0.0 and not sets.budget.over() and sets.extends(mask, k):
                mask |= 1 << k
        return mask

    def _improved(self, mask: int, prices: FloatArray) -> int:
        """Exchange nodes for dearer ones that they alone keep out, until that gains nothing."""
        sets, changed = self.sets, True
        while changed:
            changed = False
            for k in self.rng.permutation(sets.count).tolist():
                if mask >> k & 1 or prices[k] <= 0.0 or sets.budget.over():
                    continue
                out = mask & sets.adjacent[k]
                if out and float(prices[list(members(out))].sum()) >= prices[k] - LEAST_GAIN:
                    continue
                if sets.extends(mask & ~out, k):
                    mask, changed = mask & ~out | 1 << k, True
        return mask
