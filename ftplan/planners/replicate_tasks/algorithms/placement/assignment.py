"""The best nodes for a given set of replicas, by going through all assignments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.replicate_tasks.algorithms.placement.room import Room
from ftplan.planners.replicate_tasks.problem import ReplicationProblem


class Work:
    """How many steps a search may still take."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self) -> bool:
        """Take a step; return whether there was one left."""
        self.left -= 1
        return self.left >= 0


def assigned(problem: ReplicationProblem, replicated: BoolArray, least: float, work: Work) -> IntArray | None:
    """Return the nodes of most value for a set of replicas, (T,), if it is above *least*; None where there are none.

    Depth first, the largest replica first, one of nodes that are alike; a branch ends where its value would not be
    above the best even if all that are left never failed with their nodes. Cost: exponential, at most *work* steps.
    Guarantee: the best where there is work left afterwards.
    """
    hosts = problem.hosts
    if hosts is None:
        node = np.where(replicated, 0, NOWHERE)
        allowed = problem.max_changes is None or problem.changes(node) <= problem.max_changes
        return node if allowed and problem.value(replicated) > least else None
    tasks = sorted(np.flatnonzero(replicated).tolist(), key=lambda t: (-hosts.cpu[t], -hosts.memory_mb[t], t))
    best: IntArray | None = None
    bar = least

    def descend(room: Room, depth: int) -> bool:
        """Look through all assignments of the tasks from a depth on; return whether there is no better one at all."""
        nonlocal best, bar
        ceiling = _ceiling(problem, room, tasks[depth:])
        if not work.step() or ceiling <= bar + NOISE:
            return False
        if depth == len(tasks):
            if room.within_changes:
                best, bar = room.node.copy(), ceiling
            return room.within_changes
        for node in _unlike(room, tasks[depth]):
            room.put(tasks[depth], node)
            whole = descend(room, depth + 1)
            room.remove(tasks[depth])
            if whole and bar >= ceiling - NOISE:
                return True
        return False

    descend(Room(problem), 0)
    return best


def _ceiling(problem: ReplicationProblem, room: Room, rest: list[int]) -> float:
    """Return what a solution would be worth if the rest stood on nodes that never fail."""
    if not problem.nodes_fail:
        return problem.value(room.replicated | problem.mask(rest))
    total = 0.0
    for case, live in zip(problem.cases, problem.live_at(room.node), strict=True):
        live[rest] = True
        total += case.weight * problem.model.fidelity(live)
    return min(1.0, total / problem.total_weight)


def _unlike(room: Room, task: int) -> Iterator[int]:
    """Yield the nodes open to a replica, those where it fails least first, one of those that are alike."""
    problem, hosts = room.problem, room.problem.hosts
    assert hosts is not None
    nodes, risk = room.open_to(task), room.risk(task)
    here = NOWHERE if problem.current is None else int(problem.current[task])
    seen: set[tuple[float, float, int, bytes, bool]] = set()
    for n in nodes[np.lexsort((nodes, nodes != here, risk[nodes]))].tolist():
        in_place = problem.current is not None and bool((problem.current == n).any())
        key = (float(room.cpu[n]), float(room.mb[n]), int(hosts.zone[n]), problem.down[:, n].tobytes(), in_place)
        primary = bool((hosts.primary == n).any())
        if key not in seen or in_place or (primary and hosts.same_zone != "never"):
            seen.add(key)
            yield n
