"""What the moves of a rebalance cost by, and what traffic between zones costs: from options and situation to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.model.measures.key_group_demand import queue_lengths, record_bytes, record_times
from ftplan.model.measures.recovery_time import input_rate, require_keeping_up
from ftplan.model.measures.task_state import key_group_state
from ftplan.model.measures.zone_traffic import key_group_shares, zone_traffic
from ftplan.model.plan import Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Edge, FloatArray, IntArray, Operator
from ftplan.planners.rebalance.migration_costs import CPA, PROTOCOLS, MigrationSetting
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.unknowns import Known, cost_warnings
from ftplan.planners.situation import Situation

#: Protocols that a move may be planned with.
MOVING = PROTOCOLS[:4]


class Pricing(NamedTuple):
    """What moves depend on, and what is assumed; *record_bytes* of a record into an operator, where they are known."""

    setting: MigrationSetting
    protocols: tuple[str, ...]
    record_bytes: Mapping[str, float]
    known: Known
    warnings: tuple[Warn, ...]


def migration_setting(
    options: RebalanceOptions, situation: Situation, records: KeyGroupSeries, rate: FloatArray
) -> Pricing:
    """Return what the moves of all key groups cost by.

    *records*: records in each window, of all key groups of the keyed operators. *rate*: records per second into each
    group that the plan is made for, (K,).

    Raises FtplanError if the protocol cannot be used by any key group, or the job never catches up by the recovery
    costs.
    """
    given, graph, stats = situation.recovery, situation.graph, situation.required_stats
    operators = graph.topology.keyed_operators
    rho = _utilisation(graph, given)
    taken = record_times(stats, operators, records, rate)
    names = [operator.id for operator in operators]
    state, size = _state(operators, records), record_bytes(stats, names)
    if options.record_bytes is not None:
        size = np.full(len(operators), float(options.record_bytes))
    intervals = [operator.checkpoint.interval_s for operator in operators]
    interval = np.array([np.nan if seconds is None else seconds for seconds in intervals], dtype=np.float64)
    full = np.array([operator.checkpoint.kind == "full" for operator in operators], dtype=np.bool_)
    lazily = full & ~np.isnan(interval)
    bandwidth, said = situation.transfer_mb_s
    by_operator = {
        # what the costs say of the whole job is nearer than what follows from the cpu that is reserved
        "record_time_s": np.where(taken.assumed & (rho > 0.0), 0.0, taken.seconds),
        "record_bytes": np.nan_to_num(size),
        "age_s": _age(options, given, interval),
        "interval_s": np.nan_to_num(interval),
        "full": lazily,
        "queue_s": _queues(options, situation, names, taken.seconds),
    }
    numbers = {
        "bandwidth_mb_s": bandwidth,
        "serialisation_mb_s": np.inf if options.serialisation is None else options.serialisation,
        "delay_s": situation.delay_s,
        "rho": rho,
        **_restarts(given),
    }
    setting = MigrationSetting(
        rate=rate,
        state_bytes=np.nan_to_num(state),
        **{name: values[records.operator] for name, values in by_operator.items()},
        **{name: np.full(len(rate), float(value)) for name, value in numbers.items()},
        remote=given.remote,
    )
    known = Known(state, size, interval, full, taken.assumed & (rho == 0.0))
    warnings = (*said, *cost_warnings(graph, given))
    return Pricing(setting, _protocols(options, given, lazily), _sizes(options, graph, names, size), known, warnings)


def _queues(
    options: RebalanceOptions, situation: Situation, names: Sequence[str], record_time_s: FloatArray
) -> FloatArray:
    """Return the seconds that records wait at each operator: as asked, else as measured, else the network's delay."""
    if options.queue_s is not None:
        return np.full(len(names), options.queue_s)
    queue = queue_lengths(situation.required_stats, names) * record_time_s
    return np.where(np.isnan(queue), situation.delay_s, queue)


def _sizes(options: RebalanceOptions, graph: TaskGraph, names: Sequence[str], size: FloatArray) -> Mapping[str, float]:
    """Return the bytes of a record into each operator where they are known."""
    if options.record_bytes is not None:
        return dict.fromkeys(graph.topology.position, float(options.record_bytes))
    return {name: item for name, item in zip(names, size.tolist(), strict=True) if not np.isnan(item)}


def _state(operators: Sequence[Operator], records: KeyGroupSeries) -> FloatArray:
    """Return the state of each key group, (K,), NaN where it is not known."""
    return np.concatenate([np.zeros(0), *(key_group_state(operator, records) for operator in operators)])


def _restarts(given: GivenCosts) -> dict[str, float]:
    """Return what starting tasks and noticing failures take, nothing where no costs say."""
    known = {} if given.costs is None else given.costs.estimates
    return {name: known[name].value if name in known else 0.0 for name in ("restart_s", "detection_s")}


def _age(options: RebalanceOptions, given: GivenCosts, interval: FloatArray) -> FloatArray:
    """Return the age of the newest checkpoint of each operator, at most its interval; 0 where neither is known."""
    if options.checkpoint_age_s is not None:
        return np.fmin(float(options.checkpoint_age_s), interval)
    share = None if given.costs is None else given.costs.replay_share
    return np.nan_to_num(interval if share is None else share.value * interval)


def _utilisation(graph: TaskGraph, given: GivenCosts) -> float:
    """Return the utilisation of the whole job by the recovery costs, 0 without them."""
    if given.costs is None or given.costs.capacity_records_s is None:
        return 0.0
    rate = input_rate(graph)
    require_keeping_up(given.costs, rate, "a move")
    return rate / given.costs.capacity_records_s.value


def _protocols(options: RebalanceOptions, given: GivenCosts, lazily: BoolArray) -> tuple[str, ...]:
    """Return the protocols that moves may use."""
    asked = options.protocol
    if given.remote and asked in ("direct", "lazy"):
        raise FtplanError(
            f"--protocol {asked}: by the recovery costs state is remote, and no node sends it to another: use auto, "
            "cpa or cpal"
        )
    if asked == "lazy" and not lazily.any():
        raise FtplanError(
            "--protocol lazy: no operator with key groups makes full checkpoints at an interval (checkpoint in the "
            "topology): use auto, cpa, cpal or direct"
        )
    if asked != "auto":
        return (asked,)
    return (CPA,) if given.remote else MOVING


class PricedTraffic(NamedTuple):
    """Prices (K, N), None where traffic costs nothing, and what is said of them."""

    price: FloatArray | None = None
    warnings: tuple[Warn, ...] = ()


def priced_traffic(
    options: RebalanceOptions, situation: Situation, home: IntArray, rate: FloatArray, record_bytes: Mapping[str, float]
) -> PricedTraffic:
    """Return what ``--cross-zone-cost`` charges a key group for each node that it could be on.

    It is the price of an MiB per second between zones.

    *home*, *rate*: node of each key group and its records per second, (K,). *record_bytes*: of a record into an
    operator, by id, where they are known.
    """
    if options.cross_zone_cost is None:
        return PricedTraffic()
    graph, zone = situation.graph, situation.required_cluster.zone_index
    crossing = zone_traffic(graph, key_group_shares(graph, home, rate), situation.home, zone, record_bytes)
    price = options.cross_zone_cost * crossing.mb_s[:, zone]
    return PricedTraffic(price, tuple(_traffic_warnings(graph, crossing.left_out)))


def _traffic_warnings(graph: TaskGraph, left_out: Sequence[Edge]) -> Iterator[Warn]:
    operators = graph.topology.operators
    if left_out:
        names = ", ".join(f"{operators[edge.source].id} -> {operators[edge.target].id}" for edge in left_out)
        text = f"--cross-zone-cost leaves out {names}: no measured substreams, no bytes of a record, or no placement"
        yield Warn("TRAFFIC_UNKNOWN", text)
    text = (
        "--cross-zone-cost takes the neighbours of each key group where they are now: what it saves is not exact where "
        "both ends of an edge move"
    )
    yield Warn("NEIGHBOURS_STAY", text)
