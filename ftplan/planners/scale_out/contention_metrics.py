"""How contended nodes are under a scaling, from the inputs of a scale-out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ftplan.model.plan import finite
from ftplan.model.units import MB
from ftplan.planners.scale_out.contention import ContentionSetting, contention
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import Scaling


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
