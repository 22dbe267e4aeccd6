"""What waits at the nodes of a ring in place, where statistics measured it."""

from __future__ import annotations

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import window_numbers
from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.loads import RingLoads


def measured_queues(
    stats: StatsTables | None, cluster: Cluster, loads: RingLoads, capacity: FloatArray
) -> FloatArray | None:
    """Return what waited at each node in the first window, in seconds of its whole capacity, (N,).

    That is the longest input queue of its tasks of the operators on the ring, by the cluster's ``placement.tasks``.
    None where statistics have no queues, or nobody says on which nodes tasks run.

    Parameters
    ----------
    capacity
        (N,) load per second.
    """
    placed = {} if cluster.placement is None else cluster.placement.tasks
    here = {operator.id: placed[operator.id] for operator in loads.operators if operator.id in placed}
    table = None if stats is None else stats.tables.get("tasks")
    if stats is None or table is None or not here or table.num_rows == 0:
        return None
    numbers, _ = window_numbers(table["window_start"], stats.manifest)
    first = table.filter((numbers == 0) & table["queue_length"].is_valid().to_numpy())
    waiting = np.zeros(len(cluster.nodes))
    rows = (first[name].to_pylist() for name in ("operator", "task", "queue_length"))
    known = False
    for operator, task, length in zip(*rows, strict=True):
        if operator in here and task < len(here[operator]):
            waiting[cluster.position[here[operator][task]]] += length
            known = True
    records = float(loads.rate.sum())
    if not known or records == 0.0:
        return None
    work = waiting * (float(loads.load.sum()) / records)
    return np.asarray(np.divide(work, capacity, out=np.zeros(len(work)), where=capacity > 0.0))
