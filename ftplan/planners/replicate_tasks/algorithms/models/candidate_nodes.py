"""Nodes on which a replica may be of use, the limits that every solution keeps, and sites.

Sites are sets of nodes that an integer program need not tell apart; replicas that have a site get a node of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.fillable import fillable
from ftplan.planners.replicate_tasks.algorithms.replica_placement import room
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: Sets of rows of candidates up to which the room that they share is limited.
MOST_SHARED = 100


class SharedRoom(NamedTuple):
    """Replicas whose candidates on a site lie in one part of it, by row of candidates, and the room of that part."""

    site: int
    rows: BoolArray  # (K,)
    needs: tuple[tuple[FloatArray, float], ...]  # of each replica, (T,), and how much of it all may have


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """S sets of nodes, with the room of all nodes of each together: replicas that have nodes keep to it."""

    members: list[IntArray]
    inside: BoolArray  # (S, N) the same
    open: BoolArray  # (K, S) by row of candidates
    down: BoolArray  # (C, S) sites that fail in each case
    shared: list[SharedRoom]

    @staticmethod
    def single(problem: ReplicationProblem, candidates: CandidateNodes) -> Sites:
        """Return a site for each node, or for nodes that differ in nothing: room, candidates and cases."""
        nodes = np.flatnonzero(np.any(candidates.open, axis=0))
        hosts = problem.hosts
        if hosts is None:
            return _sites(problem, candidates, [nodes])
        held = np.zeros(len(hosts.ids), dtype=np.int64)
        if problem.max_changes is not None:
            current = current_of(problem)
            here = np.unique(current[current >= 0])
            held[here] = here + 1
        same = np.concatenate([candidates.open, candidates.down, [held, hosts.residual_cpu, hosts.residual_mb]])
        return _sites(problem, candidates, _grouped(nodes, same))

    @staticmethod
    def merged(problem: ReplicationProblem, candidates: CandidateNodes) -> Sites:
        """Return as few sites as tell in which cases a replica lives, and the room that replicas share on them."""
        nodes, down = np.flatnonzero(candidates.open.any(axis=0)), candidates.down
        failed = np.array([case.failed for case in problem.cases])
        partly = False
        for c in range(len(down)):
            rows = np.unique(candidates.row[failed[c]])
            alive, dead = candidates.open[rows] & ~down[c], candidates.open[rows] & down[c]
            partly |= bool((alive.any(axis=1) & dead.any(axis=1)).any())
        return _sites(problem, candidates, _grouped(nodes, down.astype(np.float64)) if partly else [nodes])

    def of(self, node: IntArray) -> IntArray:
        """Return the site of each replica, (T,), from its node, NOWHERE where it has none here."""
        if len(self.members) == 0:
            return np.full(len(node), NOWHERE)
        site = np.where(self.inside.any(axis=0), self.inside.argmax(axis=0), NOWHERE)
        return np.where(node >= 0, site[np.maximum(node, 0)], NOWHERE)


def _grouped(nodes: IntArray, same: FloatArray) -> list[IntArray]:
    """Return the nodes in groups of equal columns."""
    _, first, group = np.unique(same[:, nodes], axis=1, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # in the order of nodes
    return [nodes[order[group.reshape(-1)] == k] for k in range(len(first))]


def _sites(problem: ReplicationProblem, candidates: CandidateNodes, members: list[IntArray]) -> Sites:
    members = [some for some in members if len(some)]
    open_to = np.zeros((len(candidates.open), len(members)), dtype=np.bool_)
    for s, some in enumerate(members):
        open_to[:, s] = candidates.open[:, some].any(axis=1)
    down = candidates.down[:, [int(some[0]) for some in members]]
    inside = np.zeros((len(members), candidates.open.shape[1]), dtype=np.bool_)
    for s, some in enumerate(members):
        inside[s, some] = True
    if problem.hosts is None:
        return Sites(members, inside, open_to, down, [])
    cpu = usable_cores(problem.hosts, candidates.placeable)
    mb = room(problem.hosts.residual_mb)
    packed = packings(problem.hosts, candidates.placeable, np.any(candidates.open, axis=0))
    needs = [(problem.hosts.cpu, cpu), (problem.hosts.memory_mb, mb), *packed]
    shared = []
    for s, some in enumerate(members):
        here = candidates.open[:, some]
        parts = np.unique(here[here.any(axis=1)], axis=0)
        whole = np.ones((1, len(some)), dtype=np.bool_)
        for part in np.unique(np.concatenate([whole, parts[:MOST_SHARED]]), axis=0):
            rows = here.any(axis=1) & ~(here & ~part).any(axis=1)
            here_only = some[part]
            shared.append(SharedRoom(s, rows, tuple((need, float(most[here_only].sum())) for need, most in needs)))
    return Sites(members, inside, open_to, down, shared)


def nodes_on(problem: ReplicationProblem, candidates: CandidateNodes, site: IntArray, inside: BoolArray) -> IntArray:
    """Return a node for each replica from its site, (T,), NOWHERE for those that find no room, by best fit.

    Large replicas come first, those with few candidates before others of their size; each goes where the least is
    lost, then where it is now, then where the least room is left. *inside* says which nodes a site has, (S, N).
    """
    node, hosts = np.full(problem.tasks, NOWHERE), problem.hosts
    tasks = np.flatnonzero(site != NOWHERE)
    if hosts is None:
        node[tasks] = 0
        return node
    cpu, mb, current = hosts.residual_cpu.copy(), hosts.residual_mb.copy(), current_of(problem)
    choices = candidates.open.sum(axis=1)[candidates.row]
    for task in tasks[np.lexsort((tasks, choices[tasks], -hosts.memory_mb[tasks], -hosts.cpu[tasks]))].tolist():
        row = candidates.row[task]
        options = np.flatnonzero(candidates.open[row] & inside[site[task]] & hosts.fits(task, cpu, mb))
        if len(options) == 0:
            continue
        left = np.round(cpu[options], 9)
        order = np.lexsort((options, mb[options], left, options != current[task], candidates.risk[row, options]))
        best = options[order[0]]
        node[task] = best
        cpu[best] -= hosts.cpu[task]
        mb[best] -= hosts.memory_mb[task]
    return node


#: Sizes of replicas up to which their packings are bounded, units of cores of a node that are told apart for it, parts
#: of a node into which sizes are rounded, and how many of these are kept.
MOST_SIZES, MOST_STEPS, PARTS, TIGHTEST = 16, 1000, 8, 2


def current_of(problem: ReplicationProblem) -> IntArray:
    """Return the node of each replica in place, (T,); nobody knows of any: NOWHERE."""
    return np.full(problem.tasks, NOWHERE) if problem.current is None else problem.current


@dataclass(frozen=True, slots=True, eq=False)
class CandidateNodes:
    """Where replicas may stand: nodes that are allowed, hold the replica alone, and live when its primary does not.

    Tasks with equal candidates share a row; a problem without hosts has one node for every task that may fail.
    """

    row: IntArray  # (T,) row of each task
    open: BoolArray  # (K, N)
    down: BoolArray  # (C, N) nodes that fail in each case
    risk: FloatArray  # (K, N) weight of the cases in which the node fails with the task

    @staticmethod
    def of(problem: ReplicationProblem) -> CandidateNodes:
        """Return the candidates; O(tasks · cases + rows · nodes)."""
        hosts = problem.hosts
        if hosts is None:
            gains = problem.fails if problem.max_changes is None else problem.fails | (current_of(problem) != NOWHERE)
            down = np.zeros((len(problem.cases), 1), dtype=np.bool_)
            return CandidateNodes((~gains).astype(np.int64), np.array([[True], [False]]), down, np.zeros((2, 1)))
        failed = np.array([case.failed & (case.weight > 0.0) for case in problem.cases])
        down = problem.down
        _, pattern = np.unique(failed, axis=1, return_inverse=True)
        home = hosts.primary
        if hosts.same_zone == "never":
            home = np.where(home == NOWHERE, NOWHERE, hosts.zone[home])
        none = np.full(problem.tasks, NOWHERE)
        kept = none if hosts.kept is None else hosts.kept
        current = none if problem.max_changes is None else current_of(problem)
        _, size = np.unique(np.stack([hosts.cpu, hosts.memory_mb]), axis=1, return_inverse=True)
        keys = np.stack([home, kept, current, pattern.reshape(-1), size.reshape(-1)])
        _, first, row = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        open_to = np.zeros((len(first), len(hosts.ids)), dtype=np.bool_)
        risk = np.zeros(open_to.shape)
        weight = np.array([case.weight for case in problem.cases]) / (problem.total_weight or 1.0)
        for k, task in enumerate(first.tolist()):
            useful: BoolArray = np.any(~down[failed[:, task]], axis=0)
            if current[task] >= 0:  # a replica of no use may stay where that saves a change
                useful[current[task]] = True
            fits = hosts.fits(task, hosts.residual_cpu, hosts.residual_mb)
            open_to[k] = hosts.allowed(task) & useful & fits
            risk[k] = (weight * failed[:, task]) @ down
        return CandidateNodes(row.reshape(-1), open_to, down, risk)

    @property
    def placeable(self) -> BoolArray:
        """Which tasks have a candidate, shape (T,)."""
        return np.asarray(np.any(self.open, axis=1)[self.row], dtype=np.bool_)

    def survivable(self, case: int) -> BoolArray:
        """Return which tasks have a candidate that lives in a case, shape (T,)."""
        return np.asarray((self.open & ~self.down[case]).any(axis=1)[self.row], dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Knapsack:
    """The weights of the replicas, (T,), sum to the limit at most in every solution."""

    weight: FloatArray
    limit: float

    def of(self, problem: ReplicationProblem) -> ReplicationProblem:
        """Return the problem with this limit for its budget."""
        return replace(problem, weight=self.weight, budget=self.limit)


def usable_cores(hosts: ReplicaHosts, tasks: BoolArray) -> FloatArray:
    """Return what replicas of some tasks, (T,), can use at most of each node's cores, shape (N,)."""
    return fillable(room(hosts.residual_cpu), np.unique(hosts.cpu[tasks]))


def packings(hosts: ReplicaHosts, tasks: BoolArray, nodes: BoolArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return weights of replicas, (T,), and for each node the most that those on it can weigh, (N,).

    Weights are cores counted in rounded-down parts of a usual node, as a dual feasible function does: of two replicas
    of 0.6 nodes each weighs one half, though a node holds one. The tightest few, none where sizes are many. Bounds of
    bin packing by such functions: [FeketeSchepers2001].
    """
    room_of = room(hosts.residual_cpu)
    sizes = np.unique(np.floor(hosts.cpu[tasks & (hosts.cpu > 0.0)] * 1e6 + 1e-3).astype(np.int64))
    if len(sizes) == 0 or len(sizes) > MOST_SIZES or sizes[0] == 0:
        return []
    unit = int(np.gcd.reduce(sizes))
    have = np.where(nodes, np.ceil(room_of * 1e6 - 1e-3).astype(np.int64) // unit, 0)
    usual = float(np.median(room_of[nodes]))
    if int(have.max()) > MOST_STEPS or usual < 1e-6:
        return []
    several = []
    for parts in range(2, PARTS + 1):
        worth = np.floor(parts * sizes * 1e-6 / usual + 1e-9)
        best = np.zeros(int(have.max()) + 1)
        for cores in range(1, len(best)):
            holds = sizes // unit <= cores
            best[cores] = max(best[cores - 1], float((worth + best[cores - sizes // unit])[holds].max(initial=0.0)))
        weight = np.floor(parts * np.floor(hosts.cpu * 1e6 + 1e-3) * 1e-6 / usual + 1e-9) * tasks
        if weight.any():
            several.append((weight, best[have]))
    several.sort(key=lambda pair: float(pair[1].sum()) / float(pair[0].sum()))
    return several[:TIGHTEST]


def knapsacks(problem: ReplicationProblem, candidates: CandidateNodes) -> list[Knapsack]:
    """Return the budget, then the starts that changes allow and the room of all nodes where these can be short.

    Those follow the budget in the order of how short they are.
    """
    limits = [Knapsack(problem.weight, problem.budget)]
    hosts, tasks = problem.hosts, candidates.placeable
    if problem.max_changes is not None:
        new = (current_of(problem) == NOWHERE).astype(np.float64)
        limits.append(Knapsack(new, float(problem.max_changes)))
    if hosts is not None:
        open_to: BoolArray = np.any(candidates.open, axis=0)
        limits.append(Knapsack(hosts.cpu, float(usable_cores(hosts, tasks)[open_to].sum())))
        limits += [Knapsack(weight, float(most.sum())) for weight, most in packings(hosts, tasks, open_to)]
        limits.append(Knapsack(hosts.memory_mb, float(room(hosts.residual_mb)[open_to].sum())))
    wanted = [float(knapsack.weight[tasks].sum()) for knapsack in limits]
    short = sorted(
        (k for k in range(1, len(limits)) if wanted[k] > limits[k].limit), key=lambda k: limits[k].limit / wanted[k]
    )
    return [limits[k] for k in (0, *short)]
