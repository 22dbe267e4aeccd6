"""On which node each active replica runs.

[SuZhou2016] leaves this open: its replicas have a standby node each. Here they share the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.interrupts import solve_sat
from ftplan.planners.replication.planner import ReplicationOptions

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

#: Without a node.
NOWHERE = -1
#: More pairs of replica and node than this are not handed to the solver.
MOST_PAIRS = 300_000
#: Pairs that are handed to the solver, and looked through by it, in a second, about.
PAIRS_PER_SECOND = 40_000
#: At most so many changes of the placement are scored exactly.
MOST_SCORED = 300
#: Whole numbers of the solver: cores and 2^20 bytes are counted in millionths, risks in thousandths of the largest.
_FINE, _RISKS = 1e6, 1000
#: The solver's sums must stay below 2^63: the largest number of units that a replica or a node may have.
_MOST_UNITS = 1e15

#: The expected value of a placement, shape (R,).
Value = Callable[[IntArray], float]


@dataclass(frozen=True, eq=False)
class PlacementProblem:
    """R replicas and N nodes. Residual capacity is what the primaries leave, infinite where unlimited."""

    task: IntArray  # (R,) ascending
    cpu: FloatArray  # (R,) cores
    memory_mb: FloatArray  # (R,)
    primary: IntArray  # (R,) node of the primary, or NOWHERE
    current: IntArray  # (R,) node of the replica now in place, or NOWHERE
    residual_cpu: FloatArray  # (N,)
    residual_mb: FloatArray  # (N,)
    zone: IntArray  # (N,)
    accepting: BoolArray  # (N,)
    risk: FloatArray  # (R, N) what is lost because the replica's node fails with the primary's, to first order

    def allowed(self, replica: int) -> BoolArray:
        """Return the nodes that take tasks and are not in the primary's zone, whatever their room, shape (N,)."""
        home = int(self.primary[replica])
        apart = np.ones(len(self.zone), dtype=np.bool_) if home == NOWHERE else self.zone != self.zone[home]
        return np.asarray(self.accepting & apart, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaPlacement:
    """The node of each replica, shape (R,), NOWHERE where none was found; ``proven``: more of them cannot be placed."""

    node: IntArray
    proven: bool = True

    @property
    def left(self) -> IntArray:
        """The replicas without a node."""
        return np.flatnonzero(self.node == NOWHERE)


@dataclass(slots=True)
class _Residual:
    """What is left on each node while replicas are placed."""

    problem: PlacementProblem
    cpu: FloatArray = field(init=False)
    mb: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.cpu, self.mb = self.problem.residual_cpu.copy(), self.problem.residual_mb.copy()

    def fits(self, replica: int) -> BoolArray:
        """Return the nodes that have room for a replica, shape (N,)."""
        needs = ((self.problem.cpu[replica], self.cpu), (self.problem.memory_mb[replica], self.mb))
        enough = [
            need <= have + ROUNDING * np.maximum(1.0, np.abs(np.where(np.isinf(have), 1, have))) for need, have in needs
        ]
        return np.asarray(enough[0] & enough[1], dtype=np.bool_)

    def take(self, replica: int, node: int, sign: float = 1.0) -> None:
        """Let a replica take its room on a node, or with *sign* -1 give it back."""
        self.cpu[node] -= sign * self.problem.cpu[replica]
        self.mb[node] -= sign * self.problem.memory_mb[replica]


def place(
    problem: PlacementProblem,
    options: ReplicationOptions,
    value: Value | None = None,
    known: IntArray | None = None,
) -> ReplicaPlacement:
    """Give every replica a node that is neither its primary's nor in its zone and has room in cpu and memory.

    Those in place come first, then the others in descending cpu, each where the least is lost should nodes fail
    together, then where it is now, then on the node with most room; what does not fit is repaired by an integer
    program. With *value* single moves and swaps follow, as long as they raise it. A *known* placement (R,) is taken
    where none is found in time.

    Cost: O(replicas x nodes), beside the program. Guarantee: finds a placement wherever there is one, within the time
    limit and :data:`MOST_PAIRS`; no guarantee on the value.
    """
    budget = Budget.of(options)
    placement = _packed(problem)
    if len(placement.left):
        placement = _repaired(problem, placement, budget)
    if len(placement.left) and known is not None and not (known == NOWHERE).any():
        placement = ReplicaPlacement(known)
    if value is not None and not len(placement.left):
        return ReplicaPlacement(_improved(problem, placement.node, value, budget), placement.proven)
    return placement


def _packed(problem: PlacementProblem) -> ReplicaPlacement:
    residual = _Residual(problem)
    node = np.full(len(problem.task), NOWHERE, dtype=np.int64)
    for replica in np.lexsort((problem.task, -problem.memory_mb, -problem.cpu, problem.current == NOWHERE)).tolist():
        open_to = np.flatnonzero(problem.allowed(replica) & residual.fits(replica))
        if len(open_to) == 0:
            continue
        away = open_to != problem.current[replica]
        risk = np.round(problem.risk[replica, open_to], 12)
        best = open_to[np.lexsort((open_to, -residual.mb[open_to], -np.round(residual.cpu[open_to], 9), away, risk))[0]]
        node[replica] = best
        residual.take(replica, int(best))
    return ReplicaPlacement(node, len(node) == 0 or not (node == NOWHERE).any())


def _repaired(problem: PlacementProblem, packed: ReplicaPlacement, budget: Budget) -> ReplicaPlacement:
    """Place as many as possible, then with the least risk: maximise placed - risk, one node each, room kept."""
    allowed = [np.flatnonzero(problem.allowed(r)).tolist() for r in range(len(problem.task))]
    pairs = sum(map(len, allowed))
    if pairs > MOST_PAIRS or not budget.pays(pairs / PAIRS_PER_SECOND):
        return ReplicaPlacement(packed.node, False)
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    chosen = {(r, n): model.new_bool_var("") for r, nodes in enumerate(allowed) for n in nodes}
    for r, nodes in enumerate(allowed):
        model.add_at_most_one(chosen[r, n] for n in nodes)
        if packed.node[r] != NOWHERE:
            for n in nodes:
                model.add_hint(chosen[r, n], n == packed.node[r])
    for need, have in ((problem.cpu, problem.residual_cpu), (problem.memory_mb, problem.residual_mb)):
        _keep_capacity(model, chosen, need, have)
    gain = _gains(problem, list(chosen))
    model.maximize(sum(gain[pair] * x for pair, x in chosen.items()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if budget.iterations is not None:
        solver.parameters.max_deterministic_time = max(1.0, SOLVER_SECONDS_PER_ITERATION * budget.iterations)
    status = solve_sat(model, solver, budget.left_s)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return ReplicaPlacement(packed.node, False)
    node = np.full(len(allowed), NOWHERE, dtype=np.int64)
    for (r, n), x in chosen.items():
        if solver.boolean_value(x):
            node[r] = n
    return ReplicaPlacement(node, status == cp_model.OPTIMAL or not (node == NOWHERE).any())


def _keep_capacity(
    model: cp_model.CpModel, chosen: Mapping[tuple[int, int], Any], need: FloatArray, have: FloatArray
) -> None:
    """Let the replicas on each node need no more than it has, in whole units."""
    largest = max(float(need.max(initial=0.0)), float(have[np.isfinite(have)].max(initial=0.0)))
    fine = min(_FINE, _MOST_UNITS / largest) if largest > 0.0 else _FINE
    sizes = np.ceil(need * fine - 0.5).astype(np.int64)
    for n in np.flatnonzero(np.isfinite(have)).tolist():
        here = [r for r in range(len(need)) if (r, n) in chosen]
        if here and have[n] < 0.0:
            model.add(sum(chosen[r, n] for r in here) == 0)
        elif here:
            model.add(sum(int(sizes[r]) * chosen[r, n] for r in here) <= int(np.floor(have[n] * fine + 0.5)))


def _gains(problem: PlacementProblem, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return what each (replica, node) counts: one replica more than all risk, risk more than staying in place."""
    most = float(problem.risk.max(initial=0.0))
    scale = _RISKS / most if most > 0.0 else 0.0
    placed = 2 * (_RISKS + 1) * len(problem.task) + 1
    return {
        (r, n): placed - 2 * round(scale * float(problem.risk[r, n])) + int(problem.current[r] == n) for r, n in pairs
    }


def _improved(problem: PlacementProblem, node: IntArray, value: Value, budget: Budget) -> IntArray:
    """Move or swap single replicas, those with most to lose first, wherever that raises the expected value."""
    node = node.copy()
    residual = _Residual(problem)
    for replica, here in enumerate(node.tolist()):
        residual.take(replica, here)
    best, scored = value(node), 0
    lost = problem.risk[np.arange(len(node)), node]
    for replica in np.lexsort((problem.task, -np.round(lost, 12))).tolist():
        if scored >= MOST_SCORED or lost[replica] <= 0.0 or budget.over():
            break
        changed = _safer(problem, residual, node, replica)
        if changed is None:
            continue
        trial = node.copy()
        trial[list(changed)] = list(changed.values())
        scored += 1
        reached = value(trial)
        if reached > best + ROUNDING:
            for moved, to in changed.items():
                residual.take(moved, int(node[moved]), -1.0)
                residual.take(moved, to)
            node, best = trial, reached
    return node


def _safer(problem: PlacementProblem, residual: _Residual, node: IntArray, replica: int) -> dict[int, int] | None:
    """Return the changes (replica: node) that lower the summed risk most: a move, or a swap with one other replica."""
    here = int(node[replica])
    risk, now = problem.risk, float(problem.risk[replica, here])
    options = np.flatnonzero(problem.allowed(replica) & (risk[replica] < now - ROUNDING))
    fits = residual.fits(replica)
    for to in options[np.lexsort((options, risk[replica, options]))].tolist():
        if fits[to]:
            return {replica: to}
        for other in np.flatnonzero(node == to).tolist():
            change = risk[replica, to] + risk[other, here] - now - risk[other, to]
            if (
                change < -ROUNDING
                and problem.allowed(other)[here]
                and _exchange_fits(residual, replica, here, other, to)
            ):
                return {replica: to, other: here}
    return None


def _exchange_fits(residual: _Residual, replica: int, here: int, other: int, to: int) -> bool:
    residual.take(replica, here, -1.0)
    residual.take(other, to, -1.0)
    fits = bool(residual.fits(replica)[to] and residual.fits(other)[here])
    residual.take(replica, here)
    residual.take(other, to)
    return fits
