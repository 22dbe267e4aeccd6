"""What happens to a simulated ring when: nodes that fail or leave, load that grows, the end of the input."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.problem import Problem
from ftplan.planners.named_nodes import named_nodes
from ftplan.planners.peer_ring.inputs.failures import failing_nodes
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.ring.options import RingSimulationOptions
from ftplan.simulation.ring.setting import Leave, NodeFailure, RingSetting, Surge
from ftplan.simulation.scene import resolution

#: Checkpoints before something happens and after it, batches in an interval, and messages that take a few seconds.
BEFORE, AFTER, TICKS, MESSAGES = 3.0, 5.0, 100.0, 200_000.0
#: Most batches of a mapper.
MOST_TICKS = 1_000_000


class Times(NamedTuple):
    """All in seconds from the begin."""

    fail_at_s: float
    leave_at_s: float
    hot_at_s: float
    until_s: float
    tick_s: float
    every_s: float

    def batches(self, mappers: int) -> int:
        """Return how many batches all mappers send."""
        return mappers * round(self.until_s / self.tick_s)


def times_of(prepared: PreparedRing, problem: Problem, options: RingSimulationOptions, nodes: int) -> Times:
    """Return when what happens.

    Raises FtplanError if something happens after the end, or there would be too many batches.
    """
    interval_s = prepared.problem.setting.interval_s
    usual_s = BEFORE * interval_s
    at_s = [usual_s if given is None else given for given in (options.fail_at_s, options.leave_at_s, options.hot_at_s)]
    listed = () if problem.failure is None else problem.failure.fail
    file_s = max((entry.at_s for entry in listed), default=0.0)
    fails = bool(options.fail or listed or prepared.problem.fails.any())
    ends = [
        (what, seconds)
        for what, seconds, there in (
            ("the last failure", at_s[0] + file_s, fails),
            ("when the first node leaves", at_s[1], bool(options.leave)),
            ("when more records come", at_s[2], options.hot != 1.0),
        )
        if there
    ]
    last_s = max((seconds for _, seconds in ends), default=0.0)
    until_s = options.until_s or last_s + AFTER * interval_s * (6.0 if options.balance else 1.0)
    for what, seconds in ends:
        if seconds >= until_s:
            raise FtplanError(f"--until: {until_s:g} s is not after {what}, at {seconds:g} s")
    usual_tick_s = min(max(interval_s / TICKS, until_s * options.mappers * nodes / MESSAGES), until_s)
    tick_s = options.tick_s or usual_tick_s
    ticks = max(round(until_s / tick_s), 1)
    if ticks > MOST_TICKS:
        raise FtplanError(f"--tick: {tick_s:g} s makes {ticks:,} batches; at most {MOST_TICKS:,} are simulated")
    if tick_s > until_s:
        raise FtplanError(f"--tick: {tick_s:g} s is more than the {until_s:g} s that are simulated")
    return Times(at_s[0], at_s[1], at_s[2], ticks * tick_s, tick_s, resolution(until_s, options.every_s))


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

    Raises FtplanError if one is not on the ring, or too few nodes would be left.
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


def surges(setting: RingSetting, options: RingSimulationOptions, times: Times) -> tuple[Surge, ...]:
    """Return when which positions get more records.

    Raises FtplanError if a node is named that is not on the ring, or nothing is said to grow.
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
