"""What happens to a simulated ring: nodes that fail or leave, and load that grows."""

from __future__ import annotations

import numpy as np

from ftplan.api.ring_simulation.options import RingSimulationOptions
from ftplan.api.ring_simulation.times import Times
from ftplan.errors import FtplanError, suggestion
from ftplan.model.problem import Problem
from ftplan.planners.named_nodes import named_nodes
from ftplan.planners.peer_ring.inputs.failures import failing_nodes
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.ring.setting import Leave, NodeFailure, SimulatedRing, Surge


def failures(
    prepared: PreparedRing, problem: Problem, options: RingSimulationOptions, times: Times
) -> tuple[NodeFailure, ...]:
    """Return what fails when: as asked and in the failure file, else as the plan says."""
    found: dict[float, set[int]] = {}
    cluster = prepared.cluster
    failed, _ = failing_nodes(options.fail, None, cluster)
    if failed.any():
        found.setdefault(times.fail_at_s, set()).update(np.flatnonzero(failed).tolist())
    for entry in () if problem.failure is None else problem.failure.fail:
        one, _ = failing_nodes((str(entry.select),), None, cluster)
        found.setdefault(times.fail_at_s + entry.at_s, set()).update(np.flatnonzero(one).tolist())
    if not found and prepared.problem.fails.any():
        found[times.fail_at_s] = set(np.flatnonzero(prepared.problem.fails).tolist())
    return tuple(NodeFailure(at_s, tuple(sorted(nodes))) for at_s, nodes in sorted(found.items()))


def leaves(prepared: PreparedRing, ring: Ring, options: RingSimulationOptions, times: Times) -> tuple[Leave, ...]:
    """Return who leaves, all told at one moment: they leave one after the other.

    Raises
    ------
    FtplanError
        If one is not on the ring, or too few nodes would be left.
    """
    chosen = np.flatnonzero(named_nodes(options.leave, prepared.cluster, "leave"))
    for node in chosen.tolist():
        if node not in ring.node:
            raise FtplanError(f"--leave: {prepared.problem.nodes[node]} is not on the ring")
    left = len(ring.nodes) - chosen.size
    if chosen.size and left <= prepared.problem.replication:
        some = "1 node" if left == 1 else f"{left:,} nodes"
        raise FtplanError(f"--leave: {some} would be left, too few for {prepared.problem.replication + 1:,} copies")
    return tuple(Leave(times.leave_at_s, node) for node in chosen.tolist())


def surges(setting: SimulatedRing, options: RingSimulationOptions, times: Times) -> tuple[Surge, ...]:
    """Return when which positions get more records.

    Raises
    ------
    FtplanError
        If a node is named that is not on the ring, or nothing is said to grow.
    """
    if options.hot == 1.0:
        if options.hot_node is not None or options.hot_at_s is not None:
            raise FtplanError("--hot says how many times their records the key groups get: give it, such as --hot 2")
        return ()
    owner = setting.ring.node[setting.ring.owner(setting.position)]
    if options.hot_node is None:
        load_of = np.bincount(owner, setting.rate * setting.work, minlength=len(setting.nodes)) / setting.capacity
        node = int(np.argmax(load_of))
    else:
        names = {setting.nodes[n]: n for n in setting.ring.nodes.tolist()}
        if options.hot_node not in names:
            near = suggestion(options.hot_node, names)
            raise FtplanError(f"--hot-node: {options.hot_node!r} is not on the ring{near}")
        node = names[options.hot_node]
    return (Surge(times.hot_at_s, np.where(owner == node, options.hot, 1.0)),)
