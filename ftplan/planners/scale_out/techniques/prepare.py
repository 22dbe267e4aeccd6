"""What replacing the tasks of operators costs by: from options, topology, cluster, statistics and recovery costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.model.measures.key_group_demand import record_bytes
from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.scale_out.bottlenecks.histories import Timeline
from ftplan.planners.scale_out.demand.usage import OperatorUsage
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.problem import ScalingProblem, largest_state
from ftplan.planners.scale_out.techniques.costs import TechniqueSetting
from ftplan.planners.situation import Situation

#: Seconds that new tasks take to start, and that a rescale is without output, where nothing says.
SETUP_S = 30.0
#: Seconds between checkpoints of an operator that is prepared, where nothing says.
INTERVAL_S = 60.0


def setup_time(asked: float | None, given: GivenCosts) -> float:
    """Return how long new tasks take to start, or a rescale stops the output: as asked, else as fitted, else 30 s."""
    if asked is not None:
        return asked
    known = {} if given.costs is None else given.costs.estimates
    return float(known["restart_s"].value) if "restart_s" in known else SETUP_S


def setup_seconds(setting: TechniqueSetting, problem: ScalingProblem) -> FloatArray:
    """Return the seconds until a secondary of each operator is ready, (O,): it starts, and gets its state."""
    copies = np.array([largest_state(operator, None) for operator in problem.operators])
    return np.asarray(setting.setup_s + copies / (setting.bandwidth_mb_s * MB))


def technique_setting(
    options: ScaleOutOptions, situation: Situation, usage: OperatorUsage
) -> tuple[TechniqueSetting, tuple[Warn, ...]]:
    """Return the setting of all operators but for their leads, and what is assumed."""
    operators = usage.graph.topology.operators
    names = [operator.id for operator in operators]
    bandwidth, said = situation.transfer_mb_s
    own = np.array([np.nan if o.checkpoint.interval_s is None else o.checkpoint.interval_s for o in operators])
    asked = options.checkpoint_interval_s
    # an operator that stores its state more often than is asked for goes on like that
    interval = np.where(np.isnan(own), INTERVAL_S, own) if asked is None else np.fmin(own, float(asked))
    rate = np.nan_to_num(usage.sized_for)
    if options.checkpoint_records is not None:
        changed = np.divide(options.checkpoint_records, rate, out=np.full(len(rate), np.inf), where=rate > 0.0)
        interval = np.minimum(interval, changed)
    setting = TechniqueSetting(
        setup_s=setup_time(options.setup_s, situation.recovery),
        bandwidth_mb_s=bandwidth,
        interval_s=interval,
        regular=own <= interval,
        rate=rate,
        record_bytes=np.nan_to_num(record_bytes(situation.required_stats, names)),
        delay_s=situation.delay_s,
        queue_s=situation.delay_s,  # new tasks are below the target utilisation: nothing waits long
        remote=situation.recovery.remote,
    )
    return setting, said if any(operator.key_groups for operator in operators) else ()


def leads(timelines: Sequence[Timeline], window_s: float) -> FloatArray:
    """Return the seconds between an operator's alarm and its promotion, or its return to normal, (O,).

    Of one that is promoted now it is the last such time, 0 where it went straight past; of one that is prepared the
    mean of such times, or how long it has been so. NaN of others, and without windows before.
    """
    return np.array([_lead(line) for line in timelines]) * window_s


def _lead(line: Timeline) -> float:
    state, began, past = line.states[-1], None, []
    for event in line.events:
        if event.before == "prepared" and began is not None:
            past.append(event.window - began)
        if event.after == "promoted" and event.before != "prepared":
            past.append(0)
        began = event.window if event.after == "prepared" else None
    if state == "promoted":
        return float(past[-1]) if past else 0.0
    if state == "prepared":
        return float(np.mean(past)) if past else float(len(line.states) - 1 - (began or 0))
    return math.nan
