"""The paper's outline of an adaptation: pair the most with the least loaded node, and move a group when it helps."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.rebalance.algorithms.candidates import Candidates
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem


def paired(problem: RebalanceProblem, prefer: bool, candidates: Candidates | None = None) -> tuple[Migration, ...]:
    """Return moves from the most loaded nodes to the least loaded, until no more help.

    [Madsen2015], section 7.1, balances "through active repartitioning", similar to [Shah2003]: the most is paired with
    the least loaded node, and a group moves where that helps. Removed nodes are drained first, their largest groups
    before others; nodes below their lower limit are filled last. Each group moves once. What is left above a limit,
    or below one, is for others to repair, and so are limits of moves and bytes. Of groups, the smallest that relieves
    its node alone is taken, else the largest.

    *prefer*: prefer hosts of a group's checkpoints as targets, the least loaded of them first. The paper does not say
    so: there the checkpoints on targets are used where they happen to be.
    """
    pairing = _Pairing(candidates or Candidates(problem), prefer)
    return pairing.carried_out().moves


def pairing(candidates: Candidates, prefer: bool) -> WorkingPlacement:
    """Return the placement to which :func:`paired` leads."""
    return _Pairing(candidates, prefer).carried_out()


def assisted_share(placement: WorkingPlacement) -> float | None:
    """Return the share of moves that go to a host of the group's checkpoint; None without any move."""
    moved = placement.moved
    if not len(moved):
        return None
    return float(placement.candidates.is_near(moved, placement.place[moved]).mean())


class _Pairing:
    def __init__(self, candidates: Candidates, prefer: bool) -> None:
        self.candidates, self.problem, self.prefer = candidates, candidates.problem, prefer
        self.now = WorkingPlacement(candidates)
        self.capacity = np.where(self.problem.capacity > 0.0, self.problem.capacity, np.inf)

    def carried_out(self) -> WorkingPlacement:
        self._drain()
        self._relieve()
        self._fill()
        self.now.recount()
        return self.now

    def _drain(self) -> None:
        leaving = np.flatnonzero(self.candidates.must)
        for group in leaving[np.argsort(-self.problem.load[leaving], kind="stable")].tolist():
            one = np.array([group])
            allowed = np.isfinite(self.candidates.costs(one))
            if not self._moved(one, allowed & self.now.fits(one)):
                self._moved(one, allowed)

    def _relieve(self) -> None:
        stuck = np.zeros(self.candidates.nodes, dtype=np.bool_)
        while True:
            excess = np.where(stuck, 0.0, np.maximum(self.now.load - self.candidates.most, 0.0))
            node = int(np.argmax(excess / self.capacity))
            if excess[node] <= 0.0:
                return
            here = self._own(self.now.place == node)
            first = here[_by_fit(self.problem.load[here], float(self.now.load[node] - self.problem.upper[node]))]
            stuck[node] = not self._moved(first, np.isfinite(self.candidates.costs(first)) & self.now.fits(first))

    def _fill(self) -> None:
        stuck = np.zeros(self.candidates.nodes, dtype=np.bool_)
        while True:
            lack = np.where(stuck, 0.0, np.maximum(self.candidates.least - self.now.load, 0.0))
            node = int(np.argmax(lack / self.capacity))
            if lack[node] <= 0.0:
                return
            stuck[node] = not self._taken(node, float(self.problem.lower[node] - self.now.load[node]))

    def _taken(self, node: int, lack: float) -> bool:
        """Move a group to a node from the most loaded one that can do without; return whether there is one."""
        now, load = self.now, self.problem.load
        spare = (now.load - self.candidates.least)[now.place] >= load
        room = now.load[node] + load <= self.candidates.most[node]
        able = self._own(spare & room & (now.place != node))
        holding = np.zeros(self.candidates.groups, dtype=np.bool_)
        holding[self.candidates.spread[self.candidates.spread[:, 1] == node, 0]] = True
        first = able[holding[able]] if self.prefer else able[:0]
        for groups in (first, able):
            donors = now.place[groups]
            order = np.lexsort((donors, -(now.load / self.capacity)[donors]))
            groups = groups[order]
            for donor in dict.fromkeys(now.place[groups].tolist()):
                here = groups[now.place[groups] == donor]
                here = here[_by_fit(load[here], lack)]
                allowed = np.isfinite(self.candidates.costs(here)[:, [node]])
                only = np.zeros((len(here), self.candidates.nodes), dtype=np.bool_)
                only[:, [node]] = allowed
                if self._moved(here, only):
                    return True
        return False

    def _own(self, mask: BoolArray) -> IntArray:
        """Return the groups of some load that have not moved and need not, of those in a mask."""
        return np.flatnonzero(mask & (self.now.place == self.problem.home) & (self.problem.load > 0.0))

    def _moved(self, groups: IntArray, allowed: BoolArray) -> bool:
        """Move the first of some groups that can go to a node of its row; return whether there is one."""
        near = self.candidates.near(groups) & allowed if self.prefer else np.zeros_like(allowed)
        for targets in (near, allowed):
            for row in np.flatnonzero(targets.any(axis=1)).tolist():
                if self._placed(int(groups[row]), targets[row]):
                    return True
        return False

    def _placed(self, group: int, targets: BoolArray) -> bool:
        """Put a group on the least loaded of some nodes whose memory holds it."""
        after: FloatArray = (self.now.load + self.problem.load[group]) / self.capacity
        for node in np.argsort(np.where(targets, after, np.inf), kind="stable")[: int(targets.sum())].tolist():
            if self.now.holds(group, node):
                self.now.put(group, node)
                return True
        return False


def _by_fit(load: FloatArray, excess: float) -> IntArray:
    """Return the order of groups for a node: the smallest that suffices, larger ones, then smaller by size."""
    suffices = load >= excess
    return np.lexsort((np.where(suffices, load, -load), ~suffices))
