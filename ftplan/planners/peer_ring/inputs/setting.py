"""What memory, traffic and recovery of a ring are estimated by.

That includes how much of the state an incremental checkpoint holds, as far as loads by window tell
(:func:`most_touched`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.model.measures.recovery_time import input_rate, longest_interval, outside_fitted_range
from ftplan.model.plan import Assumption, Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.model.units import MB
from ftplan.planners.peer_ring.inputs.loads import RingLoads
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.problem import RingSetting
from ftplan.planners.situation import Situation


def most_touched(
    records: FloatArray, state: FloatArray, whole: BoolArray, window_s: float, interval_s: float
) -> float | None:
    """Return the largest share of the state that a checkpoint can hold on average; None where there is no state.

    A checkpoint holds the key groups of which a record came in the interval before it. A record is in the checkpoints
    of one interval's time, and those of a window end within it or an interval later: so that n records in a window of
    length w are in those of min(n T, w + T) of the time. Intervals longer than a window are held against as many whole
    windows as fit. Of the keys within a key group nothing is known: checkpoints by key are smaller ([Kumbhare2015],
    fig. 7). Cost O(W K) for W windows and K key groups.

    *records*: (W, K) in each window. *state*: (K,) bytes. *whole*: (K,) whose checkpoints are full.
    """
    total = float(state.sum())
    if total <= 0.0 or len(records) == 0:
        return None
    together = min(max(int(interval_s // window_s), 1), len(records))
    starts = np.arange(0, len(records), together)
    lengths = np.diff(np.append(starts, len(records)))[:, None] * window_s
    blocks = np.add.reduceat(records, starts, axis=0)
    covered = np.minimum(blocks * interval_s, lengths + interval_s).sum(axis=0) / (len(records) * window_s)
    held = np.where(whole, 1.0, np.minimum(covered, 1.0))
    return min(float((held * state).sum()) / total, 1.0)


#: Seconds between checkpoints where nobody states them.
INTERVAL_S = 10.0
#: The bound of delay and skew over the network's delay: 1 ms was measured and 15 ms taken ([Kumbhare2015], V-D).
SKEW_BY_DELAY = 15.0


class NodePower(NamedTuple):
    """What nodes can do, (N,): cores, load per second of their whole capacity, and what other work takes of it.

    ``members`` are those of the ring.
    """

    cpu: FloatArray
    capacity: FloatArray
    foreign: FloatArray
    members: BoolArray


def ring_setting(
    options: PeerRingOptions, situation: Situation, loads: RingLoads, power: NodePower
) -> tuple[RingSetting, tuple[Warn, ...]]:
    """Return the setting, and what is assumed in it.

    What is asked for wins over the recovery costs, these over the cluster and the topology. A checkpoint takes as long
    as it takes a node with its share of what changed to send it to all its backups.
    """
    given, graph, delay = situation.recovery, situation.stated_graph, situation.delay_s
    interval, assumed = _interval(options, graph, loads)
    bandwidth, said = situation.transfer_mb_s
    known = {} if given.costs is None else {name: item.value for name, item in given.costs.estimates.items()}
    fitted = options.heartbeat_s is None and "detection_s" in known
    heartbeat = interval if options.heartbeat_s is None else options.heartbeat_s
    detection = known["detection_s"] if fitted else options.missed_heartbeats * heartbeat + options.grace_s
    touched = _touched(loads, interval)
    state = touched * float(np.nansum(loads.state)) / int(power.members.sum())
    setting = RingSetting(
        interval_s=interval,
        checkpoint_s=delay + options.replication * state / (bandwidth * MB),
        detection_s=detection,
        heartbeat_is_checkpoint=not fitted and options.heartbeat_s is None,
        fixed_s=known.get("restart_s", delay),
        latency_bound_s=SKEW_BY_DELAY * delay if options.latency_bound_s is None else options.latency_bound_s,
        replay_rate=_replay_rate(options, loads, power, known.get("capacity_records_s")),
        bandwidth=bandwidth * MB,
        record_bytes=_record_bytes(loads),
        touched=touched,
        age=min(known.get("replay_share", 0.5), 1.0),
    )
    return setting, (*assumed, *said, *_doubts(given, graph, interval))


def _interval(options: PeerRingOptions, graph: TaskGraph, loads: RingLoads) -> tuple[float, tuple[Warn, ...]]:
    """Return the time between checkpoints: as asked, else the longest of the ring's operators, else of the job's."""
    if options.interval_s is not None:
        return float(options.interval_s), ()
    on_ring = [operator.checkpoint.interval_s for operator in loads.operators]
    stated = max((seconds for seconds in on_ring if seconds is not None), default=None)
    stated = longest_interval(graph) if stated is None else stated
    if stated is not None:
        return stated, ()
    text = f"no operator states checkpoint.interval_s: {INTERVAL_S:g} s is taken; give --interval"
    return INTERVAL_S, (Assumption("INTERVAL_UNKNOWN", text, INTERVAL_S),)


def _touched(loads: RingLoads, interval: float) -> float:
    """Return the share of the state that checkpoints hold at most, on average; all of it without statistics."""
    if loads.records is None:
        return 1.0
    full = np.array([operator.checkpoint.kind == "full" for operator in loads.operators], dtype=np.bool_)
    state, records = np.nan_to_num(loads.state), loads.records
    found = most_touched(records.loads, state, full[loads.operator], records.window_s, interval)
    return 1.0 if found is None else found


def _replay_rate(options: PeerRingOptions, loads: RingLoads, power: NodePower, whole_job: float | None) -> FloatArray:
    """Return the records per second that each node replays, (N,): infinite where nothing is known of its capacity."""
    if options.replay_rate is not None:
        return np.full(len(power.cpu), float(options.replay_rate))
    if whole_job is not None:
        return np.asarray(whole_job * power.cpu / power.cpu[power.members].sum())
    load, records = float(loads.load.sum()), float(loads.rate.sum())
    if load == 0.0 or records == 0.0 or not power.capacity.any():
        return np.full(len(power.cpu), math.inf)
    return np.asarray(np.maximum(power.capacity - power.foreign, 0.0) * (records / load))


def _record_bytes(loads: RingLoads) -> FloatArray:
    """Return the mean size of a record at each position, (M,); NaN where the size of one that comes in is unknown."""
    known, weight = ~np.isnan(loads.record_bytes), loads.rate
    records = loads.at(weight)
    size: FloatArray = np.where(known, loads.record_bytes, 0.0).astype(np.float64)
    total = loads.at(size * weight)
    unknown = (loads.at((~known & (weight > 0.0)).astype(np.float64)) > 0.0) | (
        loads.at(known.astype(np.float64)) == 0.0
    )
    mean = np.divide(total, records, out=np.zeros(len(records)), where=records > 0.0)
    return np.where(unknown, np.nan, mean)


def _doubts(given: GivenCosts, graph: TaskGraph, interval: float) -> Iterator[Warn]:
    if given.costs is None:
        return
    yield from given.warnings
    yield from outside_fitted_range(given.costs, input_rate(graph), interval)
    if given.remote:
        text = "by the recovery costs state is remote, while a ring keeps it on its nodes: take-overs fetch nothing"
        yield Warn("REMOTE_STATE", text)
