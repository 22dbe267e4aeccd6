"""The summary of a scale-out: figures before and after, and what the statistics say of each operator.

Also how contended the compute, state and network of each node are, the three that [Wang2025] balances: shares of what
the node has, at the demand that operators are sized for. Shapes: O operators, N nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.plan import finite
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.scale_out.body import use_known
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import scores
from ftplan.planners.scale_out.forecasting.forecast import crossing
from ftplan.planners.scale_out.metrics import BOTTLENECK, ScaledFigures, mean_of
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import (
    ScalableOperator,
    Scaling,
    ScalingProblem,
    State,
    as_it_runs,
    extra_cpu,
    highest_use,
    lacks_tasks,
    required_tasks,
    sustained_load,
    task_state,
    task_use,
)
from ftplan.planners.scale_out.techniques.prepare import setup_seconds


@dataclass(frozen=True, eq=False)
class ContentionSetting:
    """What contention depends on beside the scaling."""

    #: ``cores``, ``foreign``: (N,) of nodes, and those that other work uses
    cores: FloatArray
    foreign: FloatArray
    memory: FloatArray  # (N,) bytes, inf where unknown
    bandwidth_mb_s: float  # of a node into and out of the network, inf where unknown
    #: From one operator to another, with the bytes per second that go over it, NaN where unknown
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


#: Points of a score over time that a summary keeps.
POINTS = 120
#: Up to how many times the required parallelism traps are looked for.
TRAPS_UP_TO = 4
NOTHING = Scaling()
_RANK: dict[State, int] = {"normal": 0, "scale-in": 1, "prepared": 2, "promoted": 3}


def summary(prepared: PreparedScaling, figures: ScaledFigures | None) -> dict[str, Any]:
    """Return the figures before and after, None for none, and what follows from the statistics alone."""
    known: dict[str, Any] = {
        "before": _figures(prepared, NOTHING),
        "after": None,
        "thresholds": thresholds_of(prepared),
        "span_s": len(prepared.scores) * prepared.window_s,
        "scores": scores_of(prepared),
        "bottlenecks": bottlenecks_of(prepared),
        "forecast": forecast_of(prepared),
        "contention": {"before": contention_of(prepared, NOTHING), "after": None},
    }
    if figures is not None:
        known["after"] = {
            **_figures(prepared, figures.scaling),
            "extra_cpu": extra_cpu(prepared.problem, figures.scaling),
            "pause_s": finite(figures.longest_pause_s),
            "extra_core_s": finite(figures.extra_core_s),
            "state_bytes": figures.moved_bytes,
        }
        known["contention"]["after"] = contention_of(prepared, figures.scaling)
    return known


def _figures(prepared: PreparedScaling, scaling: Scaling) -> dict[str, Any]:
    problem = prepared.problem
    reserved = math.fsum(operator.parallelism * operator.cpu for operator in problem.operators)
    uses = [
        highest_use(operator, scaling.by_operator.get(k))
        for k, operator in enumerate(problem.operators)
        if use_known(prepared, k)
    ]
    return {
        "sustained_load": sustained_load(problem, scaling),
        "cpu": reserved + extra_cpu(problem, scaling),
        "highest_utilisation": max(uses, default=None),
        "fairness": mean_of(prepared, scaling),
    }


def thresholds_of(prepared: PreparedScaling) -> dict[str, Any]:
    """Return the thresholds, and which scores the rules can reach at all."""
    at = prepared.thresholds
    return {
        "scale_in": float(at.scale_in),
        "alarming": float(at.alarming),
        "promote": float(at.promote),
        "reachable": list(prepared.reachable),
    }


def scores_of(prepared: PreparedScaling) -> list[dict[str, Any]]:
    """Return the score and the state of each operator over time, the largest and the last of what falls together."""
    bins = _bins(len(prepared.scores))
    return [
        {
            "operator": operator.id,
            "scores": [_largest(prepared.scores[a:b, number]) for a, b in bins],
            "states": [max(prepared.timelines[number].states[a:b], key=_RANK.__getitem__) for a, b in bins],
        }
        for number, operator in enumerate(prepared.problem.operators)
    ]


def _bins(windows: int) -> list[tuple[int, int]]:
    edges = np.linspace(0, windows, min(POINTS, windows) + 1).round().astype(int).tolist()
    return list(pairwise(edges))


def _largest(scores: FloatArray) -> float | None:
    known = scores[~np.isnan(scores)]
    return float(known.max()) if len(known) else None


def bottlenecks_of(prepared: PreparedScaling) -> list[dict[str, Any]]:
    """Return the operators that are, or soon will be, bottlenecks, and those that lack tasks behind them."""
    target = prepared.problem.limits.target
    rows = []
    for operator in prepared.problem.operators:
        if operator.state not in BOTTLENECK and not lacks_tasks(operator, target):
            continue
        heaviest = int(operator.group_use.argmax()) if operator.keyed else None
        share = None if heaviest is None else float(operator.group_use[heaviest])
        required = required_tasks(operator, target)
        alone = share is not None and share > target
        rows.append({
            "operator": operator.id,
            "state": operator.state,
            "throughput_percentage": operator.throughput_percentage,
            "use": operator.use,
            "required": required,
            "key_group": heaviest if alone else None,
            "key_group_use": share if alone else None,
            "traps": traps_of(operator, required) if prepared.problem.split == "hash" else [],
        })  # fmt: skip
    return rows


def traps_of(operator: ScalableOperator, required: int) -> list[int]:
    """Return the parallelisms that leave the busiest task busier than a smaller one does, with even ranges.

    Those up to a few times what is required or runs now, and the divisors of the number of key groups.
    """
    if not operator.keyed:
        return []
    near = TRAPS_UP_TO * max(required, operator.parallelism)
    traps, least = [], math.inf
    for tasks in range(1, min(operator.most, operator.key_groups) + 1):
        if tasks > near and operator.key_groups % tasks:
            continue
        busiest = float(task_use(operator, tasks, even_ranges(operator.key_groups, tasks)).max())
        if busiest > least * (1.0 + ROUNDING):
            traps.append(tasks)
        least = min(least, busiest)
    return traps[:POINTS]


def forecast_of(prepared: PreparedScaling) -> list[dict[str, Any]]:
    """Return when each operator is foretold to be a bottleneck, and how far forecasts were off on unseen time."""
    rows = []
    setup = setup_seconds(prepared.setting, prepared.problem)
    for number, (history, ahead) in enumerate(zip(prepared.histories, prepared.forecasts, strict=True)):
        if ahead is None:
            continue
        if np.isnan(scores(prepared.rules, history.inputs[-1])).all():
            continue
        when = crossing(
            history.inputs,
            history.demand,
            ahead,
            partial(scores, prepared.rules),
            prepared.thresholds.promote,
            prepared.window_s,
            float(setup[number]),
        )
        rows.append({
            "operator": prepared.problem.operators[number].id,
            "promote_in_s": None if when.promote_in_s is None else list(when.promote_in_s),
            "prepare_in_s": when.prepare_in_s,
            "method": ahead.method,
            "horizon_s": len(ahead.mean) * prepared.window_s,
            "error": ahead.error,
            "error_same_as_yesterday": ahead.error_same_as_yesterday,
        })  # fmt: skip
    return rows
