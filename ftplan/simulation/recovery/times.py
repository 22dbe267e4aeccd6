"""How long the parts of a simulated recovery take, and how long it is simulated."""

from __future__ import annotations

import numpy as np

from ftplan.costs.given_costs import CHECKPOINT_AGE
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Arrival
from ftplan.model.measures.recovery_time import longest_interval
from ftplan.model.plan import Plan, Warn
from ftplan.model.units import MB
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import RecoveryQuestion
from ftplan.simulation.recovery.options import BEST_CASE, LONGEST_S, RecoverySimulationOptions
from ftplan.simulation.recovery.setting import RecoveryTiming

#: Seconds between checkpoints where nobody says, and from the last arrival or failure to the end of a simulation.
INTERVAL_S, AFTER_S = 10.0, 300.0
#: How many times as long a simulation lasts at most, where nobody says, for queries that are not back.
MOST_TIMES = 8


def timing(
    question: RecoveryQuestion,
    cluster: Cluster,
    schedule_options: RecoveryScheduleOptions,
    options: RecoverySimulationOptions,
) -> RecoveryTiming:
    """Return how long the parts of a recovery take: as asked, else as costs say, else no time."""
    costs = question.situation.recovery.costs

    def seconds(name: str) -> float:
        given = getattr(options, name)
        estimate = None if costs is None else getattr(costs, name)
        return float(given if given is not None else 0.0 if estimate is None else estimate.value)

    bandwidth = question.situation.recovery.bandwidth_mb_s(schedule_options.bandwidth, cluster.network.bandwidth_mb_s)
    return RecoveryTiming(
        detection_s=seconds("detection_s"),
        restart_s=seconds("restart_s"),
        bandwidth_bytes_s=np.inf if bandwidth is None else bandwidth * MB,
        transfer_delay_s=cluster.network.delay_s or 0.0,
        takeover_s=options.takeover_s,
        replica_lag_s=options.replica_lag_s,
        warming_s=options.warming_s,
        warming_pace=options.warming_pace,
        correlated_failures=options.correlated_failures,
    )


def checkpoint_interval(
    question: RecoveryQuestion, options: RecoverySimulationOptions
) -> tuple[float, tuple[Warn, ...]]:
    """Return the seconds between checkpoints, a multiple of a batch.

    Raises FtplanError if a batch is longer than that, or the last checkpoint shall be older.
    """
    given_s = options.checkpoint_interval_s
    stated = longest_interval(question.situation.graph) if given_s is None else given_s
    warnings: tuple[Warn, ...] = ()
    if stated is None:
        text = f"no operator states checkpoint.interval_s: one every {INTERVAL_S:g} s is simulated"
        stated, warnings = INTERVAL_S, (Warn("INTERVAL_UNKNOWN", f"{text} (--checkpoint-interval says better)"),)
    if options.batch_s > stated:
        raise FtplanError(f"--batch: {options.batch_s:g} s is more than the {stated:g} s between checkpoints")
    batches = round(stated / options.batch_s)
    if options.checkpoint_age_s is not None and options.checkpoint_age_s > stated:
        raise FtplanError(
            f"--checkpoint-age: {options.checkpoint_age_s:g} s is more than the {stated:g} s between checkpoints"
        )
    return batches * options.batch_s, warnings


def checkpoint_share(question: RecoveryQuestion) -> float:
    """Return the expected age of the last checkpoint at a failure, in intervals: as schedules take it, at most 1."""
    costs, age = question.situation.recovery.costs, question.options.checkpoint_age
    if age is not None:
        return age
    fitted = None if costs is None else costs.replay_share
    return CHECKPOINT_AGE if fitted is None else min(fitted.value, 1.0)


def until(
    arrivals: tuple[Arrival, ...], question: RecoveryQuestion, plan: Plan | None, options: RecoverySimulationOptions
) -> float:
    """Return when simulations end: as asked, else first of all in the full minute five minutes after what happens last.

    Raises FtplanError if something fails later.
    """
    failures = [event.at_s for event in question.situation.failed.events]
    if options.until_s is not None:
        if failures and options.until_s <= max(failures):
            raise FtplanError(f"--until: {options.until_s:g} s is not after the last failure, at {max(failures):g} s")
        return options.until_s
    steps = (plan.plan or {})["steps"] if plan is not None else []
    planned = [float(step["at_s"]) for step in steps]
    best = [options.best_case_s] if BEST_CASE in options.modes and arrivals else []
    last = max([0.0, *failures, *planned, *best, *(item.at_s[1] for item in arrivals)])
    if last > LONGEST_S:
        raise FtplanError(f"something happens at {last:g} s only: --until says when the simulation ends")
    return float(np.ceil((last + AFTER_S) / 60.0) * 60.0)
