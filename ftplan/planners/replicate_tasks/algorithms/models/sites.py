"""Sites: sets of nodes that an integer program need not tell apart, and nodes for replicas that have a site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import (
    CandidateNodes,
    current_of,
    packings,
    usable_cores,
)
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
