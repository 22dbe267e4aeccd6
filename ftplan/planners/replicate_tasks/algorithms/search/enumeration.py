"""All choices of replicas of a small job, with their best nodes by going through all assignments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, in_place
from ftplan.planners.replicate_tasks.problem import ReplicationProblem


class WorkLimit:
    """How many steps a search may still take."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self) -> bool:
        """Take a step; return whether there was one left."""
        self.left -= 1
        return self.left >= 0


def assigned(problem: ReplicationProblem, replicated: BoolArray, least: float, work: WorkLimit) -> IntArray | None:
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

    def descend(room: ReplicaPlacement, depth: int) -> bool:
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

    descend(ReplicaPlacement(problem), 0)
    return best


def _ceiling(problem: ReplicationProblem, room: ReplicaPlacement, rest: list[int]) -> float:
    """Return what a solution would be worth if the rest stood on nodes that never fail."""
    if not problem.nodes_fail:
        return problem.value(room.replicated | problem.mask(rest))
    total = 0.0
    for case, live in zip(problem.cases, problem.live_at(room.node), strict=True):
        live[rest] = True
        total += case.weight * problem.model.fidelity(live)
    return min(1.0, total / problem.total_weight)


def _unlike(room: ReplicaPlacement, task: int) -> Iterator[int]:
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


#: Failing tasks up to which all sets of replicas are looked at, and steps of all assignments to nodes.
TASKS, STEPS = 8, 20_000


def enumerated(problem: ReplicationProblem) -> tuple[IntArray, bool] | None:
    """Return the nodes of the best replicas, (T,), and whether this is proven; None for more than :data:`TASKS` tasks.

    Cost: 2^tasks evaluations and :data:`STEPS` steps. Guarantee: optimal where it says so.
    """
    failing = np.flatnonzero(problem.fails)
    if len(failing) > TASKS:
        return None
    sets = []
    for bits in range(1 << len(failing)):
        replicated = problem.mask(failing[[k for k in range(len(failing)) if bits >> k & 1]].tolist())
        if problem.fits(problem.cost(replicated)):
            sets.append(replicated)
    return best_of(problem, sets, STEPS)


def best_of(
    problem: ReplicationProblem, sets: Iterable[BoolArray], steps: int, budget: Budget | None = None
) -> tuple[IntArray, bool]:
    """Return the nodes of the best of some sets of replicas that find nodes, (T,), and whether all were looked through.

    Sets of the largest value on nodes that never fail come first, of equal ones the cheapest; the search ends with the
    first that can be no better than what was reached. Raises :class:`OutOfTime` where the clock of *budget* runs out.
    """
    work = WorkLimit(steps)
    valued = []
    for k, some in enumerate(sets):
        if budget is not None:
            budget.check()
        valued.append((-round(problem.value(some), 12), problem.cost(some), k, some))
    best, value = None, -1.0
    for ceiling, _, _, replicated in sorted(valued, key=lambda item: item[:3]):
        if budget is not None:
            budget.check()
        if best is not None and -ceiling <= value + NOISE:
            break
        node = assigned(problem, replicated, value, work)
        if node is not None:
            best, value = node, problem.value_at(node)
    if best is None:
        best = np.full(problem.tasks, NOWHERE) if problem.max_changes is None else in_place(problem).node
    return best, work.left >= 0
