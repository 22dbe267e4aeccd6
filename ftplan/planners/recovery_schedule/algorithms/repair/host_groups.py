"""Interchangeable hosts; hosts that a program takes together, as one that grows when more arrive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import ClairvoyantRepair, Epoch
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance


def interchangeable_hosts(instance: RepairInstance) -> list[int]:
    """Return of each host the first that is like it: there as early, with as much room, lanes and state. Shape (H,)."""
    pooled = [host < instance.pooled for host in range(len(instance.host))]
    seconds = instance.seconds
    look = [
        (float(there), float(room), shares, *sorted(lanes), *seconds[:, host].tolist())
        for host, (there, room, shares, lanes) in enumerate(
            zip(instance.there_s, instance.room, pooled, instance.lanes.tolist(), strict=True)
        )
    ]
    first: dict[tuple[float, ...], int] = {}
    return [first.setdefault(own, host) for host, own in enumerate(look)]


#: Pairs of task and group at most; with fewer groups more is taken together and the bound is weaker.
MOST_PAIRS = 600


@dataclass(frozen=True, eq=False)
class HostGroups:
    """Hosts by group: those of one group fail at the same time or never, and share the pool or do not; G groups."""

    repair: ClairvoyantRepair
    members: tuple[IntArray, ...]  # (G,) hosts of each

    def alone(self, group: int) -> bool:
        """Return whether a group is one host."""
        return len(self.members[group]) == 1

    def pooled(self, group: int) -> bool:
        """Return whether the hosts of a group share the pool."""
        return int(self.members[group][0]) < self.repair.problem.live_hosts

    def begins(self, epoch: Epoch) -> FloatArray:
        """Return from when on each task can run on some host of each group, shape (J, G)."""
        return self._least(self.repair.begins(epoch))

    def ready(self, epoch: Epoch) -> FloatArray:
        """Return from when on with its state, shape (J, G)."""
        return self._least(self.repair.begins(epoch) + self.repair.seconds)

    @cached_property
    def seconds(self) -> FloatArray:
        """Seconds that each task keeps a lane, where it is least, shape (J, G)."""
        return self._least(self.repair.seconds)

    def _least(self, table: FloatArray) -> FloatArray:
        return np.column_stack([table[:, hosts].min(axis=1) for hosts in self.members])

    def lives(self, epoch: Epoch, group: int) -> bool:
        """Return whether some host of a group lives in an epoch."""
        return bool(epoch.lives[self.members[group]].any())

    def same_room(self, epoch: Epoch, other: Epoch, group: int) -> bool:
        """Return whether the hosts of a group have the same room in two epochs."""
        return bool(np.array_equal(epoch.room[self.members[group]], other.room[self.members[group]]))

    def cores(self, epoch: Epoch, group: int, end_s: float, sizes: FloatArray) -> float:
        """Return the cores of a group that tasks of some sizes can use which are up before a time of an epoch."""
        there = epoch.lives & (self.repair.first_runs(epoch) < end_s)
        hosts = self.members[group]
        usable = float(fillable(np.where(there, epoch.room, 0.0)[hosts], sizes).sum())
        return usable + ROUNDING * max(1.0, usable)

    def lanes_s(self, epoch: Epoch, group: int, until_s: float, since_s: float) -> float:
        """Return the seconds in lanes of a group from one time until another."""
        hosts = self.members[group][epoch.lives[self.members[group]]]
        from_s = np.maximum(self.repair.there_s[hosts], since_s) + self.repair.problem.delays.restart_s
        return float(self.repair.problem.restores_at_once * np.maximum(until_s - from_s, 0.0).sum())


def host_groups(repair: ClairvoyantRepair) -> HostGroups:
    """Return each host that can ever run a task by itself, or some together, in the order of their arrival."""
    used = np.zeros(len(repair.there_s), dtype=np.bool_)
    fate = np.full(len(used), len(repair.epochs))  # the epoch in which it no longer lives
    before = np.zeros(len(used), dtype=np.bool_)
    for e, epoch in enumerate(repair.epochs):
        used |= np.isfinite(repair.first_runs(epoch))
        fate[before & ~epoch.lives] = e
        before = epoch.lives
    many = int(used.sum())
    groups = max(1, min(many, MOST_PAIRS // max(1, len(repair.cost))))
    size = -(-many // groups)
    pooled = np.arange(len(used)) < repair.problem.live_hosts
    members: list[IntArray] = []
    for kind in sorted({(int(f), bool(p)) for f, p in zip(fate[used], pooled[used], strict=True)}):
        alike = np.flatnonzero(used & (fate == kind[0]) & (pooled == kind[1]))
        alike = alike[np.argsort(repair.there_s[alike], kind="stable")]
        members += [alike[i : i + size] for i in range(0, len(alike), size)]
    return HostGroups(repair, tuple(members))
