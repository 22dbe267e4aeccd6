"""What the moves of a rebalance cost: from options, topology, cluster, statistics and recovery costs to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.model.cluster import Network
from ftplan.model.defaults import DELAY_S
from ftplan.model.measures.key_group_demand import queue_lengths, record_bytes, record_times
from ftplan.model.measures.recovery_time import input_rate, require_keeping_up
from ftplan.model.measures.task_state import key_group_state
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, Operator
from ftplan.planners.rebalance.migration_costs import CPA, PROTOCOLS, MigrationSetting
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.unknowns import Known, cost_warnings

#: Protocols that a move may be planned with.
MOVING = PROTOCOLS[:4]


class Pricing(NamedTuple):
    """What moves depend on, and what is assumed; *record_bytes* of a record into an operator, where they are known."""

    setting: MigrationSetting
    protocols: tuple[str, ...]
    record_bytes: Mapping[str, float]
    known: Known
    warnings: tuple[Warn, ...]


def migration_setting(  # seven parameters: what moves cost follows from every input
    options: RebalanceOptions,
    graph: TaskGraph,
    network: Network,
    stats: StatsTables,
    records: KeyGroupSeries,
    rate: FloatArray,
    given: GivenCosts,
) -> Pricing:
    """Return what the moves of all key groups cost by.

    Parameters
    ----------
    records
        Records in each window, of all key groups of the keyed operators.
    rate
        Records per second into each group that the plan is made for, (K,).

    Raises
    ------
    FtplanError
        If the protocol cannot be used by any key group, or the job never catches up by the recovery costs.
    """
    operators = graph.topology.keyed_operators
    rho = _utilisation(graph, given)
    taken = record_times(stats, operators, records, rate)
    # what the costs say of the whole job is nearer than what follows from the cpu that is reserved
    times = np.where(taken.assumed & (rho > 0.0), 0.0, taken.seconds)
    names = [operator.id for operator in operators]
    state, size = _state(operators, records), _record_bytes(options, stats, names)
    intervals = [operator.checkpoint.interval_s for operator in operators]
    interval = np.array([np.nan if seconds is None else seconds for seconds in intervals], dtype=np.float64)
    full = np.array([operator.checkpoint.kind == "full" for operator in operators], dtype=np.bool_)
    lazily = full & ~np.isnan(interval)
    alike, warnings = _alike(options, network, given)
    queue = queue_lengths(stats, names) * taken.seconds
    queue = np.where(np.isnan(queue), alike["delay_s"], queue)
    by_operator = {
        "record_time_s": times,
        "record_bytes": np.nan_to_num(size),
        "age_s": _age(options, given, interval),
        "interval_s": np.nan_to_num(interval),
        "full": lazily,
        "queue_s": queue if options.queue_s is None else np.full(len(names), options.queue_s),
    }
    setting = MigrationSetting(
        rate=rate,
        state_bytes=np.nan_to_num(state),
        **{name: values[records.operator] for name, values in by_operator.items()},
        **{name: np.full(len(rate), float(value)) for name, value in {**alike, "rho": rho}.items()},
        remote=given.remote,
    )
    known = Known(state, size, interval, full, taken.assumed & (rho == 0.0))
    measured = {name: item for name, item in zip(names, size.tolist(), strict=True) if not np.isnan(item)}
    if options.record_bytes is not None:
        measured = dict.fromkeys(graph.topology.position, float(options.record_bytes))
    return Pricing(
        setting, _protocols(options, given, lazily), measured, known, (*warnings, *cost_warnings(graph, given))
    )


def _state(operators: Sequence[Operator], records: KeyGroupSeries) -> FloatArray:
    """Return the state of each key group, (K,), NaN where it is not known."""
    return np.concatenate([np.zeros(0), *(key_group_state(operator, records) for operator in operators)])


def _record_bytes(options: RebalanceOptions, stats: StatsTables, names: list[str]) -> FloatArray:
    """Return the size of a record into each operator, NaN where it is not known."""
    if options.record_bytes is not None:
        return np.full(len(names), float(options.record_bytes))
    return record_bytes(stats, names)


def _alike(options: RebalanceOptions, network: Network, given: GivenCosts) -> tuple[dict[str, float], tuple[Warn, ...]]:
    """Return what is alike for all moves: speeds, the delay of a message, restarts; and what is assumed."""
    bandwidth, warnings = given.transfer_mb_s(options.bandwidth, network.bandwidth_mb_s)
    known = {} if given.costs is None else given.costs.estimates
    return {
        "bandwidth_mb_s": bandwidth,
        "serialisation_mb_s": np.inf if options.serialisation is None else options.serialisation,
        "delay_s": DELAY_S if network.delay_s is None else network.delay_s,
        **{name: known[name].value if name in known else 0.0 for name in ("restart_s", "detection_s")},
    }, warnings


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
