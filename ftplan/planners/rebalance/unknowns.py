"""What nobody measured or stated of the moves of a rebalance, and what is taken instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.model.measures.recovery_time import input_rate, longest_interval, outside_fitted_range
from ftplan.model.plan import Assumption, Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.rebalance.migration_costs import ProtocolCosts
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.situation import Situation

#: How many key groups a warning names.
NAMED = 3


class Known(NamedTuple):
    """What is known of K key groups and O operators, NaN where it is not."""

    state: FloatArray  # (K,)
    record_bytes: FloatArray  # (O,)
    interval_s: FloatArray  # (O,) between checkpoints
    full: BoolArray  # (O,) whether these are full
    assumed_times: BoolArray  # (O,) whether the time per record is that of the cpu reserved


def cost_warnings(graph: TaskGraph, given: GivenCosts) -> Iterator[Warn]:
    """Yield what is to be said of recovery costs, and of a job that differs from those that they were fitted on."""
    if given.costs is None:
        return
    yield from given.warnings
    yield from outside_fitted_range(given.costs, input_rate(graph), longest_interval(graph))
    if given.remote:
        text = (
            "by the recovery costs state is remote: a move transfers nothing from node to node, a key group fetches "
            "its state from the store wherever it goes, and copies on nodes no longer pay"
        )
        yield Warn("REMOTE_STATE", text)


def unknown_warnings(
    options: RebalanceOptions, situation: Situation, records: KeyGroupSeries, known: Known, costs: ProtocolCosts
) -> Iterator[Warn]:
    """Yield one warning for each thing that is not known and matters, with the operators concerned and the remedy."""
    operators, remote = situation.topology.keyed_operators, situation.recovery.remote
    # which operators have a checkpoint on a node
    copied = np.array([any(situation.copies.get(operator.id, ())) for operator in operators], dtype=np.bool_)
    replaying = copied | known.full | remote

    def of(flags: BoolArray) -> str:
        return ", ".join(operator.id for operator, flag in zip(operators, flags.tolist(), strict=True) if flag)

    unknown = np.isnan(known.state)
    if unknown.any() and not remote:
        some = np.bincount(records.operator[unknown], minlength=len(operators)) > 0
        text = (
            f"the state of key groups of {of(some)} is unknown ({int(unknown.sum()):,} in all) and counts 0 bytes: "
            "direct moves seem to cost nothing; give state_bytes in the topology, or statistics with state"
        )
        yield Assumption("STATE_UNKNOWN", text, 0.0)
    ageless = np.isnan(known.interval_s) & replaying
    if ageless.any() and options.checkpoint_age_s is None:
        text = (
            f"no checkpoint.interval_s in the topology for {of(ageless)}: its checkpoints count as new, so that "
            "nothing is replayed after assisted moves; --checkpoint-age would tell"
        )
        yield Assumption("INTERVAL_UNKNOWN", text, 0.0)
    sizeless = np.isnan(known.record_bytes) & replaying
    if sizeless.any() and not remote:
        text = (
            f"the statistics have no bytes of {of(sizeless)}: its records count 0 bytes in upstream buffers; give "
            "--record-bytes"
        )
        yield Assumption("RECORD_BYTES_UNKNOWN", text, 0.0)
    if known.assumed_times.any():
        text = (
            f"the time per record of {of(known.assumed_times)} follows from the cpu that the topology reserves; give "
            "record_time_s there, or statistics with cpu_ms, for better pauses"
        )
        yield Assumption("RECORD_TIME_ASSUMED", text)
    endless = np.flatnonzero(np.isinf(costs.catch_up))
    if len(endless):
        named = ", ".join(f"{o}/{g}" for o, g in (records.names[i] for i in endless[:NAMED].tolist()))
        more = f" and {len(endless) - NAMED:,} more" if len(endless) > NAMED else ""
        text = f"{named}{more} would need a whole thread or more: never caught up after a move, so not moved"
        yield Warn("NEVER_CATCHES_UP", text)
