"""The nodes under the tasks: which are there, how full they are, when restores end; and how busy all is at first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.errors import OverloadError
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.recovery.setting import RecoverySetting


class Hosts:
    """Changed in the order of time. ``there`` are the nodes that have arrived and live, shape (nodes,)."""

    def __init__(self, setting: RecoverySetting) -> None:
        self._nodes, self._timing = setting.nodes, setting.timing
        self._cores: FloatArray = np.array([node.cores for node in setting.nodes])
        self._busy_until: FloatArray = np.full(len(setting.nodes), -np.inf)
        self._failed: BoolArray = np.zeros(len(setting.nodes), dtype=bool)
        self.there: BoolArray = np.array([node.from_s <= setting.begin_s for node in setting.nodes], dtype=bool)

    def arrive(self, node: int) -> None:
        """Let a node be there."""
        self.there[node] = True

    def fail(self, nodes: Iterable[int]) -> list[int]:
        """Take nodes down; return those that were there, ascending."""
        lost = [node for node in sorted(nodes) if self.there[node]]
        self.there[lost] = False
        self._failed[lost] = True
        return lost

    def next_arrival_s(self) -> float:
        """Return when the next node arrives, infinite for never."""
        coming = ~self.there & ~self._failed
        return min((self._nodes[node].from_s for node in np.flatnonzero(coming)), default=np.inf)

    def restore(self, node: int, at_s: float, size: float) -> float:
        """Load state of *size* bytes on a node from *at_s* on; return the end: after the restores before it there."""
        if size <= 0.0:
            return at_s
        begins = max(at_s, float(self._busy_until[node]))
        self._busy_until[node] = begins + self._timing.transfer_delay_s + size / self._timing.bandwidth_bytes_s
        return float(self._busy_until[node])

    def emptiest(self, tasks: Iterable[int], node_of: IntArray, cores: FloatArray) -> dict[int, int]:
        """Return a node for each of some tasks, one task after another, the largest first.

        It is the node that is there with the least work for its cores, by number where several are alike, with the
        task counted in. Nothing is said of how full it gets.

        *node_of*: node of each live task, -1 for others, shape (tasks,). *cores*: cores that each task is busy with,
        shape (tasks,).
        """
        there, chosen = np.flatnonzero(self.there), dict[int, int]()
        if not len(there):
            return chosen
        live = node_of >= 0
        work = np.bincount(node_of[live], weights=cores[live], minlength=len(self.there)).astype(np.float64)
        for task in sorted(tasks, key=lambda item: (-cores[item], item)):
            node = int(there[np.argmin((work[there] + cores[task]) / self._cores[there])])
            work[node] += cores[task]
            chosen[task] = node
        return chosen


def require_keeping_up(setting: RecoverySetting) -> None:
    """Refuse a job that cannot keep up with its input before the failure.

    Raises OverloadError that names the busiest task, or node if all tasks have cores enough, and its utilisation.
    """
    job = setting.job
    busy = busy_cores(job)
    task = int(np.argmax(busy / job.threads))
    fullest = float(busy[task] / job.threads[task])
    if fullest >= 1.0:
        raise OverloadError(
            f"task {setting.task_name(task)} is busy {fullest:.0%} of its time before anything fails: it cannot keep "
            "up with its input"
        )
    work = np.bincount(setting.home, weights=busy, minlength=len(setting.nodes))
    cores = np.array([node.cores for node in setting.nodes])
    used = np.divide(work, cores, out=np.where(work > 0.0, np.inf, 0.0), where=cores > 0.0)
    node = int(np.argmax(used))
    if used[node] >= 1.0:
        task = int(np.argmax(np.where(setting.home == node, busy, -1.0)))
        raise OverloadError(
            f"node {setting.nodes[node].id} is busy {used[node]:.0%} of its time before anything fails, most with task "
            f"{setting.task_name(task)}: its tasks cannot keep up with their input"
        )


def busy_cores(job: StreamJob) -> FloatArray:
    """Return the cores that each task is busy with, shape (tasks,)."""
    rate = job.rate.astype(np.float64)
    rank = np.empty(job.tasks, dtype=np.int64)
    rank[job.order] = np.arange(job.tasks)
    for stream in np.argsort(rank[job.receiver], kind="stable").tolist():
        rate[job.receiver[stream]] += job.share[stream] * rate[job.sender[stream]]
    return np.asarray(rate * job.record_time_s)
