"""Flows of least cost, in this process or, where they take long, in one that can be stopped.

OR-Tools holds Python's lock while it solves a flow: no signal is seen and no clock ends it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.interrupts import LOOK_S

#: Tail, head, capacity and cost of each arc.
Network = tuple[IntArray, ...]

_CHILD = """
import sys
import numpy as np
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.models.flow_process import flows_of
folder, sink, supply = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
network = tuple(np.load(f"{folder}/{k}.npy") for k in range(4))
flows = flows_of(network, sink, supply, Budget(1e9))
np.save(f"{folder}/flows.npy", np.zeros(0, dtype=np.int64) if flows is None else flows)
"""


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
