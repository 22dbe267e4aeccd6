"""How contended the compute, state and network of each node are, the three that [Wang2025] balances.

Shapes: O operators, N nodes. Each is a share of what the node has, at the demand that operators are sized for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.plan import finite
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.scale_out.effects import as_it_runs, task_state, task_use
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem


@dataclass(frozen=True, eq=False)
class ContentionSetting:
    """What contention depends on beside the scaling.

    Attributes
    ----------
    cores, foreign
        (N,) of nodes, and those that other work uses.
    memory
        (N,) bytes, inf where unknown.
    bandwidth_mb_s
        Of a node into and out of the network, inf where unknown.
    streams
        From one operator to another, with the bytes per second that go over it, NaN where unknown.
    """

    cores: FloatArray
    foreign: FloatArray
    memory: FloatArray
    bandwidth_mb_s: float
    streams: Sequence[tuple[int, int, float]]


class Contention(NamedTuple):
    """Shares of each node's cores, memory and bandwidth that tasks use, (N,) each; NaN where it is not known."""

    compute: FloatArray
    state: FloatArray
    network: FloatArray


def contention(problem: ScalingProblem, scaling: Scaling, setting: ContentionSetting) -> Contention:
    """Return the contention of each node under a scaling; the empty one is how jobs run now.

    ``compute`` is the busy cores of tasks and other work over the node's; ``state`` the state of its tasks over its
    memory, NaN without; ``network`` the larger of what its tasks send to and take from other nodes, over its
    bandwidth, NaN where that or the size of records is unknown. Each task sends to all tasks of the next operator, in
    proportion to their use: what stays on a node costs no network. All is NaN where a task's node is not known.

    [Wang2025] weighs how much state is read and written where this has its size, counts only what leaves a node, and
    takes all nodes as equal, where this divides by what each has. Cost O(tasks + streams x N).
    """
    nodes = len(problem.nodes)
    placed = [scaling.by_operator.get(i) or as_it_runs(problem, i) for i in range(len(problem.operators))]
    if any(len(item.nodes) != item.parallelism for item in placed):
        return Contention(*np.full((3, nodes), np.nan))
    shares = np.zeros((len(placed), nodes))
    busy, state = setting.foreign.astype(np.float64), np.zeros(nodes)
    for position, (operator, item) in enumerate(zip(problem.operators, placed, strict=True)):
        use, where = task_use(operator, item.parallelism, item.ranges), np.array(item.nodes, dtype=np.int64)
        np.add.at(busy, where, use * operator.cpu)
        np.add.at(state, where, task_state(operator, item.parallelism, item.ranges))
        total = float(use.sum())
        np.add.at(shares[position], where, use / total if total > 0.0 else 1.0 / len(use))
    sent, taken = np.zeros(nodes), np.zeros(nodes)
    for source, target, stream in setting.streams:
        sent += stream * shares[source] * (1.0 - shares[target])
        taken += stream * shares[target] * (1.0 - shares[source])
    known = np.isfinite(setting.bandwidth_mb_s)
    return Contention(
        np.divide(busy, setting.cores, out=np.where(busy > 0.0, np.nan, 0.0), where=setting.cores > 0.0),
        np.where(np.isfinite(setting.memory), state / setting.memory, np.nan),
        np.maximum(sent, taken) / (setting.bandwidth_mb_s * MB) if known else np.full(nodes, np.nan),
    )


def contention_of(prepared: PreparedScaling, scaling: Scaling) -> list[dict[str, Any]] | None:
    """Return compute, state and network of each node as shares, null where unknown; None without a cluster."""
    cluster, problem = prepared.cluster, prepared.problem
    if cluster is None:
        return None
    memory = [math.inf if node.memory_mb is None else node.memory_mb * MB for node in cluster.nodes]
    bandwidth = cluster.network.bandwidth_mb_s
    setting = ContentionSetting(
        cores=cluster.cpu,
        foreign=np.array([node.used_cpu for node in cluster.nodes]),
        memory=np.array(memory),
        bandwidth_mb_s=math.inf if bandwidth is None else bandwidth,
        streams=_streams(prepared),
    )
    found = contention(problem, scaling, setting)
    return [
        {"node": name, **{what: finite(values[i]) for what, values in found._asdict().items()}}
        for i, name in enumerate(problem.nodes)
    ]


def _streams(prepared: PreparedScaling) -> list[tuple[int, int, float]]:
    """Return what goes from operator to operator at the demand that these are sized for, in bytes per second."""
    sizes = np.broadcast_to(prepared.setting.record_bytes, prepared.sized_for.shape)
    bytes_per_record = np.where(sizes > 0.0, sizes, np.nan)
    return [
        (a, b, float(prepared.sized_for[a] * selectivity * bytes_per_record[b])) for a, b, selectivity in prepared.flows
    ]
