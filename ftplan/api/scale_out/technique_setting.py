"""What replacing tasks depends on, from options, topology, cluster, statistics and recovery costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ftplan.api.scale_out.options import ScaleOutOptions
from ftplan.api.scale_out.problem import PreparedScaling
from ftplan.metrics.key_group_demand import record_bytes
from ftplan.metrics.scaling_costs import TechniqueSetting
from ftplan.metrics.scaling_states import Timeline
from ftplan.model.cluster import Network
from ftplan.model.defaults import BANDWIDTH_MB_S, DELAY_S
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.topology import FloatArray

#: Seconds between checkpoints of an operator that is prepared, where nothing says.
INTERVAL_S = 60.0


class Techniques(NamedTuple):
    """What techniques cost by, and what was assumed."""

    setting: TechniqueSetting
    warnings: tuple[Warn, ...] = ()


def technique_setting(prepared: PreparedScaling, options: ScaleOutOptions, stats: StatsTables) -> Techniques:
    """Return what the cost of techniques follows from.

    The lead of an operator is how long it was prepared before it was promoted, or normal again, in the statistics: the
    last time where it is promoted now, else the mean of all times.
    """
    names = [operator.id for operator in prepared.problem.operators]
    operators = [prepared.topology.operator(name) for name in names]
    network = prepared.cluster.network if prepared.cluster is not None else Network()
    delay = DELAY_S if network.delay_s is None else network.delay_s
    known = prepared.costs.bandwidth_mb_s(options.bandwidth, network.bandwidth_mb_s)
    said: list[Warn] = []
    if known is None and prepared.costs.remote:
        known = math.inf
    elif known is None:
        known = BANDWIDTH_MB_S
        text = f"no bandwidth is known: {BANDWIDTH_MB_S:g} MB/s is taken; give --bandwidth, or network.bandwidth_mb_s"
        said += [Warn("BANDWIDTH_ASSUMED", f"{text} in the cluster file")]
    own = [operator.checkpoint.interval_s for operator in operators]
    asked = options.checkpoint_interval_s
    interval = [seconds if asked is None else asked for seconds in own]
    setting = TechniqueSetting(
        setup_s=prepared.setup_s,
        bandwidth_mb_s=known,
        lead_s=np.array([lead_s(line, prepared.window_s) for line in prepared.timelines]),
        interval_s=np.array([INTERVAL_S if seconds is None else seconds for seconds in interval]),
        regular=np.array([asked is None and seconds is not None for seconds in own]),
        rate=np.nan_to_num(prepared.sized_for),
        record_bytes=_record_bytes(stats, names),
        delay_s=delay,
        queue_s=delay,
        remote=prepared.costs.remote,
    )
    return Techniques(setting, tuple(said))


def lead_s(line: Timeline, window_s: float) -> float:
    """Return for how long an operator was prepared, in seconds: NaN where it never was, or still is."""
    leads = list(_leads(line))
    if not leads:
        return math.nan
    return float((leads[-1] if line.states[-1] == "promoted" else np.mean(leads)) * window_s)


def _leads(line: Timeline) -> Iterator[int]:
    """Yield the windows from each crossing of the alarming threshold to the promotion, or to the relapse."""
    since: int | None = None
    for event in line.events:
        if event.after == "promoted":
            yield 0 if since is None else event.window - since
            since = None
        elif event.after == "prepared":
            since = event.window
        elif since is not None:
            yield event.window - since
            since = None


def _record_bytes(stats: StatsTables, names: list[str]) -> FloatArray:
    """Return the size of a record into each operator, 0 where it is unknown."""
    return np.nan_to_num(record_bytes(stats, names))
