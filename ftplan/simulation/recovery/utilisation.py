"""How busy tasks and nodes are while nothing fails."""

from __future__ import annotations

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import FloatArray
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.recovery.setting import RecoverySetting


def busy_cores(job: StreamJob) -> FloatArray:
    """Return the cores that each task is busy with where the load is 1, checkpoints left out, shape (tasks,)."""
    rate = job.rate.astype(np.float64)
    rank = np.empty(job.tasks, dtype=np.int64)
    rank[job.order] = np.arange(job.tasks)
    for stream in np.argsort(rank[job.receiver], kind="stable").tolist():
        rate[job.receiver[stream]] += job.share[stream] * rate[job.sender[stream]]
    return np.asarray(rate * job.record_time_s)


def require_keeping_up(setting: RecoverySetting) -> None:
    """Refuse a job that cannot keep up with its input before the failure.

    Raises
    ------
    FtplanError
        It names the busiest task, or node if all tasks have cores enough, and its utilisation.
    """
    job, load = setting.job, 1.0
    if job.load is not None and len(job.load):
        batches = max(1, round(-setting.begin_s / job.batch_s))
        load = float(job.load[np.minimum(np.arange(batches), len(job.load) - 1)].mean())
    busy = busy_cores(job) * load
    if setting.snapshot_core_s is not None:
        busy = busy + setting.snapshot_core_s / setting.checkpoint_s
    task = int(np.argmax(busy / job.threads))
    fullest = float(busy[task] / job.threads[task])
    if fullest >= 1.0:
        raise FtplanError(
            f"task {setting.task_name(task)} is busy {fullest:.0%} of its time before anything fails: it cannot keep "
            "up with its input"
        )
    work = np.bincount(setting.home, weights=busy, minlength=len(setting.nodes))
    cores = np.array([node.cores for node in setting.nodes])
    used = np.divide(work, cores, out=np.where(work > 0.0, np.inf, 0.0), where=cores > 0.0)
    node = int(np.argmax(used))
    if used[node] >= 1.0:
        task = int(np.argmax(np.where(setting.home == node, busy, -1.0)))
        raise FtplanError(
            f"node {setting.nodes[node].id} is busy {used[node]:.0%} of its time before anything fails, most with task "
            f"{setting.task_name(task)}: its tasks cannot keep up with their input"
        )
