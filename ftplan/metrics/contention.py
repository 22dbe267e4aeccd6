"""How contended the compute, state and network of each node are, the three that [Wang2025] balances.

Shapes: O operators, N nodes. Each is a share of what the node has, at the demand that operators are sized for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.metrics.scaling_effects import even_ranges, task_state, task_use
from ftplan.metrics.scaling_problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB


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
    edges
        Streams, as pairs of operators.
    rate_out
        (O,) records per second that each operator emits, on each of its edges.
    record_bytes
        (O,) of a record that it emits, NaN where unknown.
    """

    cores: FloatArray
    foreign: FloatArray
    memory: FloatArray
    bandwidth_mb_s: float
    edges: Sequence[tuple[int, int]]
    rate_out: FloatArray
    record_bytes: FloatArray


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
    proportion to their use: what stays on a node costs no network.

    [Wang2025] weighs the reading and writing of state where this has its size, and takes what leaves a node only; it
    is blind to how much a node has, where this divides by it. Cost O(tasks + edges N).
    """
    nodes = len(problem.nodes)
    shares = np.zeros((len(problem.operators), nodes))
    busy, state = setting.foreign.copy(), np.zeros(nodes)
    for position, operator in enumerate(problem.operators):
        item = scaling.by_operator.get(position) or OperatorScaling(
            position,
            operator.parallelism,
            even_ranges(operator.key_groups, operator.parallelism) if operator.keyed else (),
            problem.now[position],
        )
        use = task_use(operator, item.parallelism, item.ranges)
        where = np.array(item.nodes, dtype=np.int64)
        np.add.at(busy, where, use * operator.cpu)
        if operator.keyed:
            np.add.at(state, where, task_state(operator, item.parallelism, item.ranges))
        total = float(use.sum())
        weight = use / total if total > 0.0 else np.full(len(use), 1.0 / len(use))
        np.add.at(shares[position], where, weight)
    sent, taken = np.zeros(nodes), np.zeros(nodes)
    for source, target in setting.edges:
        stream = setting.rate_out[source] * setting.record_bytes[source]
        sent += stream * shares[source] * (1.0 - shares[target])
        taken += stream * shares[target] * (1.0 - shares[source])
    speed = setting.bandwidth_mb_s * MB
    with np.errstate(divide="ignore", invalid="ignore"):
        compute = np.where(busy > 0.0, busy / setting.cores, 0.0)
    return Contention(
        compute,
        np.where(np.isfinite(setting.memory), state / setting.memory, np.nan),
        np.maximum(sent, taken) / speed if np.isfinite(speed) else np.full(nodes, np.nan),
    )
