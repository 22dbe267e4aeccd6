"""A limit on the number of copies per node alone makes the allocation a flow of least cost.

OR-Tools holds Python's lock while it solves a flow: no signal is seen and no clock ends it. Where flows take long, they
are therefore solved in another process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.interrupts import LOOK_S

#: Pairs of unit and node up to which the flow is solved in this process, which cannot be stopped meanwhile.
MOST_PAIRS_IN_PROCESS = 300_000

#: Tail, head, capacity and cost of each arc.
Network = tuple[IntArray, ...]
_CHILD = """
import sys
import numpy as np
from ftplan.planners.budget import Budget
from ftplan.planners.allocate_checkpoints.algorithms.models.flow import flows_of
folder, sink, supply = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
network = tuple(np.load(f"{folder}/{k}.npy") for k in range(4))
flows = flows_of(network, sink, supply, Budget(1e9))
np.save(f"{folder}/flows.npy", np.zeros(0, dtype=np.int64) if flows is None else flows)
"""
#: The solver multiplies costs by the number of vertices: their product stays below this.
LARGEST_COST = 2.0**60


@dataclass(frozen=True, eq=False)
class CheckpointFlow:
    """The cheapest copies (U, c) under the limits, and a bound below the cost of any others."""

    copies: IntArray
    bound: float


def cheapest_flow(
    problem: CheckpointProblem, cost: FloatArray, most: FloatArray, budget: Budget
) -> CheckpointFlow | None:
    """Return the cheapest allocation with at most ``most[i]`` copies on node i, None where there is none.

    Units must be single key groups. *cost* has shape (U, N), *most* (N,). Costs are rounded down to integers of about
    15 digits; the bound is the optimum of the rounded costs, so it holds whatever the rounding. Cost of the solver:
    O(V² E log(V C)), far less in practice.

    Vertices: source, units, (unit, domain) where a unit must not have two copies in one domain of several nodes,
    nodes, sink.

    Raises :class:`OutOfTime` if the clock of *budget* runs out before.
    """
    units, nodes = cost.shape
    if units == 0:
        return CheckpointFlow(np.zeros((0, problem.copies), dtype=np.int64), 0.0)
    unit, node = np.nonzero(problem.allowed)
    domains = int(problem.domain.max()) + 1
    grouped = problem.copies > 1 and np.unique(problem.domain).size < nodes
    node_at = units + 1
    pair_at = node_at + nodes
    sink = pair_at + (units * domains if grouped else 0)
    largest = max(float(np.abs(cost[unit, node]).max(initial=0.0)), 1e-30)
    factor = 2.0 ** np.floor(np.log2(LARGEST_COST / (sink + 2) / largest))
    costs = np.floor(cost[unit, node] * factor).astype(np.int64)

    every = np.arange(units)
    arcs: list[tuple[Any, ...]] = [(0, every + 1, problem.copies, 0)]  # tail, head, capacity, cost
    if grouped:
        pair = unit * domains + problem.domain[node]
        distinct = np.unique(pair)
        arcs += [(distinct // domains + 1, pair_at + distinct, 1, 0), (pair_at + pair, node_at + node, 1, costs)]
    else:
        arcs.append((unit + 1, node_at + node, 1, costs))
    room = np.maximum(np.minimum(most, units * problem.copies).astype(np.int64), 0)
    arcs.append((node_at + np.arange(nodes), sink, room, 0))
    columns = zip(*(np.broadcast_arrays(*arc) for arc in arcs), strict=True)
    network = tuple(np.concatenate(column).astype(np.int64) for column in columns)
    solve = flows_of if unit.size <= MOST_PAIRS_IN_PROCESS else flows_elsewhere
    flows = solve(network, sink, units * problem.copies, budget)
    if flows is None:
        return None
    first = units + (distinct.size if grouped else 0)
    used = flows[first : first + unit.size] > 0
    copies = node[used].reshape(units, problem.copies)
    return CheckpointFlow(np.asarray(copies, dtype=np.int64), float(int(costs[used].sum()) / factor))


def flows_of(network: Network, sink: int, supply: int, budget: Budget) -> IntArray | None:
    """Return the flow on each arc that brings *supply* from vertex 0 to *sink*, None where none does."""
    from ortools.graph.python import min_cost_flow

    budget.check()
    solver = min_cost_flow.SimpleMinCostFlow()
    index = solver.add_arcs_with_capacity_and_unit_cost(*network)
    solver.set_nodes_supplies(np.array([0, sink]), np.array([supply, -supply]))
    if solver.solve() != solver.OPTIMAL:
        return None
    return np.asarray(solver.flows(index), dtype=np.int64)


def flows_elsewhere(network: Network, sink: int, supply: int, budget: Budget) -> IntArray | None:
    """Return :func:`flows_of` from another process, which ends with the clock or an exception of a signal handler.

    Raises
    ------
    OutOfTime
        If the clock runs out.
    RuntimeError
        If the other process fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        for k, column in enumerate(network):
            budget.check()
            np.save(f"{folder}/{k}.npy", column)
        command = [sys.executable, "-c", _CHILD, folder, str(sink), str(supply)]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as process:
            try:
                _wait(process, budget)
            finally:
                process.kill()
        if process.returncode:
            raise RuntimeError(f"the process that solves flows ended with {process.returncode}")
        flows: IntArray = np.load(Path(folder) / "flows.npy")
    return flows if flows.size else None


def _wait(process: subprocess.Popen[bytes], budget: Budget) -> None:
    while True:
        try:
            process.wait(LOOK_S)
        except subprocess.TimeoutExpired:
            if budget.over():
                raise OutOfTime from None
            continue
        return
