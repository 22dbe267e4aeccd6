"""Where some key groups go, and by which protocol, while others stay where they are meant to be: an integer program."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.interrupts import solve_sat
from ftplan.planners.rebalance.algorithms.candidates import Candidates, memory_changes
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, PROTOCOLS
from ftplan.planners.rebalance.problem import Migration

#: Units in which CP-SAT counts the load of all nodes, and what all moves cost, together.
UNITS, COST_UNITS = 2.0**40, 2.0**46
#: Choices up to which a whole problem is put into one model.
MAX_WHOLE_CHOICES = 20_000


class ChosenPlacement(NamedTuple):
    """A placement, None where there is none or none was seen in time.

    ``proven`` says that it is the cheapest, or that there is none. ``bound`` is a proven bound of what moves cost.
    """

    placement: WorkingPlacement | None
    proven: bool
    bound: float | None = None


def choices(candidates: Candidates) -> int:
    """Return about how many choices a whole problem has."""
    return candidates.groups * int(candidates.problem.hosts.sum())


def chosen(
    now: WorkingPlacement,
    free: IntArray,
    budget: Budget,
    work_s: float,
    targets: BoolArray | None = None,
    feasible: bool = False,
    first: BoolArray | None = None,
) -> ChosenPlacement:
    """Choose the best places and protocols of some groups, the others' as they are, by CP-SAT.

    Loads are rounded down and limits up: a relaxation by the last digits, so that what is infeasible here is proven to
    be. From a placement that keeps all limits, what costs more than all of it is left out.

    Parameters
    ----------
    free
        Groups that are placed anew.
    work_s
        Deterministic seconds of the solver.
    targets
        Nodes that they may go to, (N,); where they are, and their homes, are among them anyway.
    feasible
        Any placement will do.
    first
        Groups, (K,), for all of which nodes have room before anything leaves these, unless they come after a loss:
        their moves need but one phase.
    """
    if budget.over():
        return ChosenPlacement(None, proven=False)
    return _ChoiceModel(now, free, targets, feasible, first).solved(budget, work_s)


class _GroupChoice(NamedTuple):
    group: int
    target: int
    protocol: int  # row, -1 where it is at home
    cost: float
    bytes: float

    @property
    def moves(self) -> bool:
        """Whether the group leaves its node while that is there."""
        return self.protocol >= 0 and PROTOCOLS[self.protocol] not in AFTER_LOSS


class _ChoiceModel:
    def __init__(
        self, now: WorkingPlacement, free: IntArray, targets: BoolArray | None, feasible: bool, first: BoolArray | None
    ) -> None:
        from ortools.sat.python import cp_model

        self.now, self.feasible, self.candidates, self.problem = now, feasible, now.candidates, now.problem
        self.free = np.sort(free)
        self.targets = self.problem.hosts if targets is None else targets & self.problem.hosts
        self.cutoff = self._cutoff()
        self.model = cp_model.CpModel()
        self.choices: list[_GroupChoice] = []
        self.taken: list[Any] = []
        self.of: dict[int, list[int]] = {}
        for group in self.free.tolist():
            mine = self._choices_of(group)
            self.of[group] = list(range(len(self.choices), len(self.choices) + len(mine)))
            self.choices += mine
            self.taken += [self.model.new_bool_var("") for _ in mine]
            self.model.add_exactly_one(self.taken[c] for c in self.of[group])
            current = int(now.place[group])
            for c in self.of[group]:
                self.model.add_hint(self.taken[c], self.choices[c].target == current)
        self._loads(first)
        if now.by_memory:
            self._memory()
        self._budgets()

    def _cutoff(self) -> float:
        """Return the most that a single move can cost in a placement that costs no more than the present one."""
        if self.feasible or self.problem.traffic is not None or not self.now.feasible():
            return np.inf
        moves = [move for move in self.now.moves if move.group in set(self.free.tolist())]
        own = sum(self.problem.cost(move) for move in moves)
        return own * (1.0 + ROUNDING) + self.candidates.least_price

    def _choices_of(self, group: int) -> list[_GroupChoice]:
        """Return the places of a group, by each protocol that no other beats in cost and bytes."""
        candidates, problem = self.candidates, self.problem
        home, now_at, kept = int(problem.home[group]), int(self.now.place[group]), []
        if not candidates.must[group]:
            kept.append(_GroupChoice(group, home, -1, 0.0, 0.0))
        frugal = problem.limits.max_bytes is not None
        sizes = problem.costs.bytes[:, group]
        undominated: list[list[int]] = []
        for near in (0, 1):
            price = candidates.price[near, :, group]
            order = sorted(np.flatnonzero(np.isfinite(price)).tolist(), key=lambda r: (price[r], r))
            best = np.inf
            rows: list[int] = []
            for row in order:
                if sizes[row] < best and (frugal or not rows):
                    rows.append(row)
                    best = sizes[row]
            undominated.append(rows)
        traffic = np.zeros(candidates.nodes)
        if problem.traffic is not None:
            traffic = problem.traffic[group] - problem.traffic[group, home]
        near_hosts = set(candidates.hosts_of(group).tolist())
        allowed = self.targets.copy()
        allowed[now_at] = now_at != home
        for target in np.flatnonzero(allowed).tolist():
            near = int(problem.remote or target in near_hosts)
            for row in undominated[near] if target != home else ():
                cost = float(candidates.price[near, row, group] + traffic[target])
                if cost <= self.cutoff:
                    kept.append(_GroupChoice(group, target, row, cost, float(sizes[row])))
        return kept

    def _loads(self, first: BoolArray | None) -> None:
        problem, candidates = self.problem, self.candidates
        others = np.ones(candidates.groups, dtype=np.bool_)
        others[self.free] = False
        fixed = problem.foreign + np.bincount(self.now.place[others], problem.load[others], minlength=candidates.nodes)
        unit = (float(problem.load[self.free].sum()) or 1.0) / UNITS
        size = np.floor(problem.load / unit).astype(np.int64)
        on: dict[int, list[int]] = {}
        for c, choice in enumerate(self.choices):
            on.setdefault(choice.target, []).append(c)
        whole = UNITS + 1.0
        for node in range(candidates.nodes):
            mine = on.get(node, [])
            most, least = (candidates.most[node] - fixed[node]) / unit, (candidates.least[node] - fixed[node]) / unit
            total: Any = sum(int(size[self.choices[c].group]) * self.taken[c] for c in mine)
            slack = len(mine)  # what rounding took off the sizes, where load has to be enough
            if most < whole:
                self.model.add(total <= int(np.ceil(most)))
            if first is not None:
                room = max(0.0, float(problem.transient[node] - problem.start_load[node])) / unit
                arriving = [c for c in mine if first[self.choices[c].group] and self.choices[c].moves]
                load = sum(int(size[self.choices[c].group]) * self.taken[c] for c in arriving)
                self.model.add(load <= int(min(np.floor(room), whole)))
            if least > 0.0:
                self.model.add(total + slack >= int(np.floor(min(least, whole))))

    def _memory(self) -> None:
        now, problem = self.now, self.problem
        size = (3.0 * float(problem.state[self.free].sum()) or 1.0) / UNITS
        rows: dict[int, list[tuple[int, int]]] = {}
        used = now.used.copy()
        for c, choice in enumerate(self.choices):
            for node, by in memory_changes(problem, choice.group, self._move(choice)).items():
                rows.setdefault(node, []).append((c, int(np.floor(by / size))))
        for group in self.free.tolist():
            current = int(now.place[group])
            move = None if current == problem.home[group] else now.candidates.move(group, current, now.tariff)
            for node, by in memory_changes(problem, group, move).items():
                used[node] -= by
        for node, terms in rows.items():
            if np.isfinite(now.room[node]):
                room = int(np.ceil((now.room[node] - used[node]) / size))
                self.model.add(sum(by * self.taken[c] for c, by in terms) <= room)

    def _budgets(self) -> None:
        limits, moved = self.problem.limits, self.now.moved
        fixed = moved[~np.isin(moved, self.free)]
        away = [c for c, choice in enumerate(self.choices) if choice.protocol >= 0]
        if limits.max_moves is not None:
            self.model.add(sum(self.taken[c] for c in away) <= limits.max_moves - len(fixed))
        sizes = np.array([choice.bytes for choice in self.choices])
        self.byte_unit = (float(sizes.max(initial=0.0)) * len(self.free) or 1.0) / UNITS
        self.sizes = np.floor(sizes / self.byte_unit).astype(np.int64)
        if limits.max_bytes is not None:
            spent = sum(
                float(self.now.tariff.bytes[self.now.row(k, int(self.now.place[k])), k]) for k in fixed.tolist()
            )
            room = (limits.max_bytes * (1.0 + 1e-9) - spent) / self.byte_unit
            self.model.add(sum(int(self.sizes[c]) * self.taken[c] for c in away) <= int(min(np.ceil(room), UNITS * 2)))

    def _move(self, choice: _GroupChoice) -> Migration | None:
        if choice.protocol < 0:
            return None
        return Migration(choice.group, choice.target, PROTOCOLS[choice.protocol])

    def _objective(self) -> tuple[Any, float]:
        """Return what moves cost, of as much the number of moves, and the unit in which that is counted."""
        cost = np.array([choice.cost for choice in self.choices])
        unit = (float(np.abs(cost).max(initial=0.0)) * len(self.free) or 1.0) / COST_UNITS
        rounded = np.floor(cost / unit).astype(np.int64)
        count = len(self.free) + 1
        terms = (
            (int(rounded[c]) * count + int(self.choices[c].protocol >= 0)) * self.taken[c]
            for c in range(len(self.choices))
        )
        return sum(terms), unit / count

    def solved(self, budget: Budget, work_s: float) -> ChosenPlacement:
        from ortools.sat.python import cp_model

        cost, unit = self._objective()
        if self.choices and not self.feasible:
            self.model.minimize(cost)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if budget.iterations is not None:
            work_s = min(work_s, budget.iterations * SOLVER_SECONDS_PER_ITERATION)
        solver.parameters.max_deterministic_time = work_s
        status = solve_sat(self.model, solver, budget.left_s)
        if status == cp_model.INFEASIBLE:
            return ChosenPlacement(None, proven=True)
        if status is None:
            budget.unfinished()
            return ChosenPlacement(None, proven=False)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE) and budget.left_s <= 0.0:
            budget.unfinished()
        bound = None if self.feasible else (float(solver.best_objective_bound) - len(self.free)) * unit
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return ChosenPlacement(None, proven=False, bound=bound)
        picked = [self.choices[c] for c in range(len(self.choices)) if solver.value(self.taken[c])]
        return ChosenPlacement(self._placement(picked), status == cp_model.OPTIMAL, bound)

    def _placement(self, picked: list[_GroupChoice]) -> WorkingPlacement:
        moves = [move for choice in picked if (move := self._move(choice)) is not None]
        near = [self.candidates.at_hand(move.group, move.target) for move in moves]
        after = self.now.copy()
        for choice in picked:  # by memory as the protocols until now have it
            after.put(choice.group, choice.target)
        after.tariff = self.now.tariff.with_rows(self.problem, moves, near)
        after.recount()
        return after
