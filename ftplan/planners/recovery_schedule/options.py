"""What can be asked of a recovery schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ftplan.io.options.fields import (
    CORES,
    COSTS,
    FLAG,
    SHARE,
    FailureOptions,
    number,
    one_of,
    option,
    optional,
    seconds,
    whole,
)
from ftplan.io.options.shared import BANDWIDTH, checkpoints_in_place, replicas_in_place, restore_bandwidth
from ftplan.model.defaults import COORDINATOR_CPU, MAX_CPU

OBJECTIVES = ("priority-time", "priority", "fidelity-time")


@dataclass(frozen=True, kw_only=True)
class RecoveryScheduleOptions(FailureOptions):
    """The options of ``ftplan recovery-schedule``."""

    recorded_facts: ClassVar = {
        "cost": one_of("topology", "statistics"),
        "horizon_s": number(0.0, 1e24),
        "bandwidth_mb_s": BANDWIDTH,
        "spread": FLAG,
    }

    complete_failure: bool = option(
        False, FLAG, "All nodes fail; the first new one hosts the coordinator, then recovery goes on step by step."
    )
    coordinator_cpu: float = option(
        COORDINATOR_CPU, CORES, "What the coordinator takes there, with --complete-failure.", metavar="CORES"
    )
    objective: str = option(
        "priority-time",
        one_of(*OBJECTIVES),
        "priority-time = priority x seconds down, over all steps, the less the better; priority = summed priority of "
        "the queries that each step makes whole, step by step, however long restores take; fidelity-time = output "
        "fidelity x seconds up to the horizon, so that partly whole queries count.",
    )
    capacity: float | None = option(
        None,
        optional(CORES),
        "Cores at step 0: caps what the cluster has left; without a cluster it is all there is.",
        metavar="CORES",
    )
    max_cpu: float = option(MAX_CPU, SHARE, "Share of a node's cores that may be used.", metavar="SHARE")
    horizon: float | None = seconds(
        None,
        optional(number(1e-6, 1e10)),
        "A query that is not back by then counts as down until then.  [default: twice the last arrival, or 10m, and "
        "after it at least twice as long as restores and catching up take]",
    )
    arrivals: bool = option(True, FLAG, "No node arrives, whatever the failure file says.", flag="--no-arrivals")
    prefetch: bool = option(
        True, FLAG, "Begin the next query with capacity that completes none.", flag="--prefetch/--no-prefetch"
    )
    replicas: Any = replicas_in_place()
    checkpoints: Any = checkpoints_in_place()
    bandwidth: float | None = restore_bandwidth()
    costs: Any = option(
        None,
        COSTS,
        "Recovery costs, as fitted on measured recoveries: when failures are noticed, how long tasks take to start, to "
        "fetch their state (unless --bandwidth says) and to catch up.",
        metavar="FILE",
    )
    replay: bool = option(
        True,
        FLAG,
        "A query is back when its tasks have caught up: they process again what came in since the last checkpoint, and "
        "what came in while they were down, as fast as spare cores allow.",
        flag="--replay/--no-replay",
    )
    checkpoint_age: float | None = option(
        None,
        optional(number(0.0, 1.0)),
        "Age of the last checkpoint at a failure, as a share of the operator's checkpoint interval.  [default: as "
        "--costs says, else 0.5, the expected one]",
        metavar="SHARE",
    )
    pause_lower_priority: bool = option(
        False,
        FLAG,
        "Where tasks fail, running queries of lower priority than a failed one may give way and come back later.",
    )
    parallel_recovery: bool = option(False, FLAG, "Split heavy failed tasks with key groups over nodes.")
    samples: int = option(
        100,
        whole(0, 10_000),
        "Where arrival times are ranges, judge the plan on so many sampled ones.",
        metavar="N",
    )
