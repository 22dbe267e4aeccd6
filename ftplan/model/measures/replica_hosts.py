"""Where active replicas can run: what primaries leave on each node, and what stands apart from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ftplan.model.tolerances import ROUNDING, SOLVED
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: In place of a node: a task without a replica, and one whose replica runs nobody knows where.
NOWHERE, ANYWHERE = -1, -2

SameZone = Literal["never", "last-resort", "allow"]


@dataclass(frozen=True, eq=False)
class ReplicaHosts:
    """N nodes that replicas may stand on, and what the primaries of T tasks say of their replicas."""

    ids: tuple[str, ...]
    residual_cpu: FloatArray  # (N,) cores of the usable share that primaries and other work leave
    residual_mb: FloatArray  # (N,) units of 2^20 bytes; infinite where the node does not state its memory
    zone: IntArray  # (N,)
    accepting: BoolArray  # (N,)
    max_cpu: float  # the usable share of a node's cores
    primary: IntArray  # (T,) node of each task, or NOWHERE
    cpu: FloatArray  # (T,) cores of each task, so of its replica
    memory_mb: FloatArray  # (T,)
    same_zone: SameZone = "never"  # whether a replica may stand in its primary's zone
    kept: IntArray | None = None  # (T,) node on which a replica may stay whatever zones say, or NOWHERE

    @cached_property
    def position(self) -> dict[str, int]:
        """Place of each node by its id."""
        return {id: k for k, id in enumerate(self.ids)}

    @cached_property
    def homes(self) -> tuple[IntArray, IntArray, IntArray]:
        """Zones, or nodes where zones do not count: the nodes sorted by them, the first place of each in that order,
        and that of each task's primary, (T,), NOWHERE where unknown.
        """
        group = self.zone if self.same_zone == "never" else np.arange(len(self.zone))
        _, number = np.unique(group, return_inverse=True)
        order = np.argsort(number, kind="stable")
        first = np.searchsorted(number[order], np.arange(int(number.max(initial=-1)) + 1))
        return order, first, np.where(self.primary == NOWHERE, NOWHERE, number[self.primary])

    @property
    def free_cores(self) -> float:
        """Cores that are free on all nodes that take tasks."""
        return float(np.maximum(self.residual_cpu[self.accepting], 0.0).sum())

    def names(self, task: IntArray, node: IntArray) -> dict[int, str | None]:
        """Return the ids of the nodes of some tasks' replicas, by task."""
        return {t: self.ids[n] for t, n in zip(task.tolist(), node.tolist(), strict=True)}

    def apart(self, task: int) -> BoolArray:
        """Return the nodes outside the zone of a task's primary, shape (N,)."""
        home = int(self.primary[task])
        return np.ones(len(self.zone), dtype=np.bool_) if home == NOWHERE else self.zone != self.zone[home]

    def allowed(self, task: int) -> BoolArray:
        """Return the nodes that a task's replica may stand on, whatever their room, shape (N,).

        They take tasks and are not the primary's node, nor in its zone unless that is allowed. Where the replica may
        stay in spite of that is among them.
        """
        home = int(self.primary[task])
        allowed = self.accepting & self.apart(task) if self.same_zone == "never" else self.accepting.copy()
        if home != NOWHERE:
            allowed[home] = False
        if self.kept is not None and self.kept[task] >= 0:
            allowed[self.kept[task]] = True
        return allowed

    def fits(self, task: int, cpu: FloatArray, mb: FloatArray) -> BoolArray:
        """Return the nodes on which a replica fits into free *cpu* and *mb*, shapes (N,), up to rounding errors."""
        bounded = np.where(np.isinf(mb), 1.0, np.abs(mb))
        slack_cpu, slack_mb = ROUNDING * np.maximum(1.0, np.abs(cpu)), ROUNDING * np.maximum(1.0, bounded)
        return np.asarray((self.cpu[task] <= cpu + slack_cpu) & (self.memory_mb[task] <= mb + slack_mb), dtype=np.bool_)

    def check(self, node: IntArray, planner: str) -> None:
        """Look whether replicas on nodes *node*, (T,), keep to what is allowed and to the room.

        Raises
        ------
        RuntimeError
            If they do not: a fault of the planner.
        """
        cpu, mb = self.residual_cpu.copy(), self.residual_mb.copy()
        for task in np.flatnonzero(node != NOWHERE).tolist():
            here = int(node[task])
            if not self.allowed(task)[here]:
                raise RuntimeError(
                    f"{planner} puts the replica of task {task} on {self.ids[here]}, which is not allowed"
                )
            cpu[here] -= self.cpu[task]
            mb[here] -= self.memory_mb[task]
        used = np.bincount(node[node != NOWHERE], minlength=len(cpu)) > 0
        limit = np.maximum(1.0, np.abs(np.where(np.isinf(self.residual_mb), 1.0, self.residual_mb)))
        over = used & ((cpu < -SOLVED * np.maximum(1.0, np.abs(self.residual_cpu))) | (mb < -SOLVED * limit))
        if over.any():
            raise RuntimeError(f"{planner} puts more replicas on {self.ids[int(np.argmax(over))]} than it has room for")
