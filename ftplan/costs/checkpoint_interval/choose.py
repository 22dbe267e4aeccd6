"""Choosing the interval between checkpoints that loses least time, by costs that were measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ftplan.costs.checkpoint_interval.formula import DAY_S, FailureRate, LostTime, daly, failure_rate, young
from ftplan.costs.checkpoint_interval.options import CheckpointIntervalOptions
from ftplan.costs.checkpoint_interval.result import CheckpointInterval, Row
from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.io.loading import Source
from ftplan.io.options.fields import checked
from ftplan.io.options.parameters import SOURCE
from ftplan.io.topology_file import load_topology
from ftplan.model.measures.recovery_time import (
    RecoveryParameters,
    input_rate,
    longest_interval,
    outside_fitted_range,
    require_keeping_up,
)
from ftplan.model.measures.task_state import task_state
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import Estimate, RecoveryCosts
from ftplan.model.task_graph import TaskGraph

#: The intervals that a table shows, in seconds, where they lie within this factor of the best one.
ROUND = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800)
NEAR = 32.0
HOUR_S = 3600.0


class _CheckpointedJob(NamedTuple):
    """What the answer rests on beside costs and failures; ``interval_s`` is the present one, None where unknown."""

    checkpoint_s: float
    rate: float
    state_bytes: float
    max_recovery_s: float | None
    interval_s: float | None

    def lost(self, costs: RecoveryCosts, failures_per_s: float) -> LostTime:
        return LostTime.of(RecoveryParameters.of(costs), self.rate, self.state_bytes, self.checkpoint_s, failures_per_s)

    def best_s(self, lost: LostTime) -> float | None:
        """Return the interval that loses least within the limit, None where none keeps it."""
        longest = math.inf if self.max_recovery_s is None else lost.longest_s(self.max_recovery_s)
        return min(lost.best_s, longest) if longest >= lost.shortest_s else None


def checkpoint_interval(topology: Source | None = None, **options: Any) -> CheckpointInterval:
    """Return the interval between checkpoints that loses least time: to checkpoints, and to recoveries.

    Checkpoints take ``checkpoint_cost_s`` each. Recoveries take what the costs say at the rate of the job, longer after
    long intervals. The minimum is exact; a limit on recoveries bounds the interval, and the loss falls up to the
    minimum, so that the bound is best where it binds.

    Parameters
    ----------
    topology
        Where to take the rate, the largest state of a task and the present interval from, if it is given.
    options
        Those of ``ftplan checkpoint-interval``, with underscores, for instance
        ``costs="recovery.yaml", checkpoint_cost_s=2.0, mtbf_s=86400.0``.

    Returns
    -------
    CheckpointInterval
        The best interval, and what others would lose.

    Raises
    ------
    FtplanError
        If something is missing or wrong, the job never catches up, or a longer interval costs nothing by the costs.
    """
    asked = CheckpointIntervalOptions.of("checkpoint-interval", options)
    source = checked("checkpoint-interval", {"topology": SOURCE}, {"topology": topology})["topology"]
    if asked.checkpoint_cost_s is None:
        raise FtplanError("--checkpoint-cost: is missing: how much of the job's time does a checkpoint take?")
    given = GivenCosts.of(asked.costs)
    if given.costs is None:
        raise FtplanError("--costs: is missing: a file of format ftplan/recovery-costs, fitted on measured recoveries")
    failures = failure_rate(asked)
    job, file, said = _job(asked, asked.checkpoint_cost_s, given, source)
    require_keeping_up(given.costs, job.rate)
    lost = job.lost(given.costs, failures.per_s.value)
    if not math.isfinite(lost.best_s):
        raise FtplanError(
            "--costs: by these a longer interval costs nothing: they need replay_share and capacity_records_s above 0, "
            "and the job a rate"
        )
    inputs = tuple(item for item in (given.file, file, failures.file) if item is not None)
    warnings = (*given.warnings, *said, *failures.warnings)
    return _answer(job, given.costs, failures, lost, inputs, warnings)


def _job(
    asked: CheckpointIntervalOptions, checkpoint_s: float, given: GivenCosts, source: Any
) -> tuple[_CheckpointedJob, InputFile | None, tuple[Warn, ...]]:
    """Return the job with what the topology says where nobody else does."""
    rate, size, interval, file = asked.rate, asked.state_bytes, None, None
    warnings: tuple[Warn, ...] = ()
    if source is not None:
        loaded = load_topology(source)
        graph, file, warnings = TaskGraph(loaded.value), loaded.input, loaded.warnings
        interval = longest_interval(graph)
        rate = input_rate(graph) if rate is None else rate
        size = float(task_state(graph, None).total.max(initial=0.0)) if size is None else size
    if rate is None:
        raise FtplanError("--rate: is missing: how many records per second come in? or give --topology")
    assert given.costs is not None
    if not given.remote:
        size = 0.0
    elif size is None and given.costs.bandwidth_mb_s is not None:
        text = (
            "state is remote by the costs, and nobody says how much a task fetches: recoveries count as fetching none; "
            "--state-bytes or a topology would say"
        )
        warnings += (Warn("STATE_UNKNOWN", text),)
    return _CheckpointedJob(checkpoint_s, rate, size or 0.0, asked.max_recovery_s, interval), file, warnings


def _answer(
    job: _CheckpointedJob,
    costs: RecoveryCosts,
    failures: FailureRate,
    lost: LostTime,
    inputs: tuple[InputFile, ...],
    warnings: tuple[Warn, ...],
) -> CheckpointInterval:
    best_s = job.best_s(lost)
    longest_s = None if job.max_recovery_s is None else lost.longest_s(job.max_recovery_s)
    shown_s = lost.best_s if best_s is None else best_s
    return CheckpointInterval(
        asked={
            "checkpoint_cost_s": job.checkpoint_s,
            "failures_per_day": failures.per_s.value * DAY_S,
            "records_s": job.rate,
            "state_bytes": job.state_bytes,
            "max_recovery_s": job.max_recovery_s,
        },
        best=None if best_s is None else _row("best", best_s, lost),
        unlimited=_row("unlimited", lost.best_s, lost),
        limited=best_s is None or best_s < lost.best_s,
        longest_s=longest_s if longest_s is not None and 0.0 < longest_s < math.inf else None,
        shortest_s=lost.shortest_s,
        smallest_recovery_s=float(lost.recovery_s(lost.shortest_s)),
        table=tuple(_table(job, failures.per_s.value, lost, best_s)),
        sensitivity=tuple(_sensitivity(job, costs, failures.per_s, best_s)),
        inputs=inputs,
        warnings=(*warnings, *outside_fitted_range(costs, job.rate, shown_s)),
        model=lost,
    )


def _row(name: str | None, interval_s: float, lost: LostTime) -> dict[str, Any]:
    checkpointing, recovering = float(lost.checkpointing(interval_s)), float(lost.recovering(interval_s))
    return {
        "name": name,
        "interval_s": interval_s,
        "recovery_s": float(lost.recovery_s(interval_s)),
        "checkpoint_s_per_hour": checkpointing * HOUR_S,
        "recovery_s_per_hour": recovering * HOUR_S,
        "lost_s_per_hour": (checkpointing + recovering) * HOUR_S,
    }


def _table(job: _CheckpointedJob, failures_per_s: float, lost: LostTime, best_s: float | None) -> Iterator[Row]:
    """Yield round intervals about the best one, and those that have names, from short to long."""
    named: list[tuple[float, str | None]] = [
        (young(job.checkpoint_s, 1.0 / failures_per_s), "Young"),
        (daly(job.checkpoint_s, 1.0 / failures_per_s), "Daly"),
    ]
    if job.interval_s is not None:
        named.append((job.interval_s, "present"))
    if best_s is not None:
        named.append((best_s, "best"))
    if best_s is None or best_s < lost.best_s:
        named.append((lost.best_s, "unlimited"))
    near = [float(s) for s in ROUND if lost.best_s / NEAR <= s <= lost.best_s * NEAR and s >= lost.shortest_s]
    for interval_s, name in sorted([*named, *((s, None) for s in near)], key=lambda item: (item[0], item[1] or "")):
        yield _row(name, interval_s, lost)


def _sensitivity(
    job: _CheckpointedJob, costs: RecoveryCosts, failures: Estimate, best_s: float | None
) -> Iterator[Row]:
    """Yield what is best at each limit of each parameter."""
    estimates = {**costs.estimates, "failures_per_day": failures}
    for name, item in estimates.items():
        for limit, value in (("low", item.low), ("high", item.high)):
            if value is None or value == item.value:
                continue
            rate, changed = (value, costs) if item is failures else (failures.value, _with(costs, name, value))
            capacity = changed.capacity_records_s
            other_s = lost = None
            if capacity is None or job.rate < capacity.value:
                lost = job.lost(changed, rate)
                other_s = job.best_s(lost)
            row: dict[str, Any] = {"parameter": name, "limit": limit}
            row["value"] = value * DAY_S if item is failures else value
            row |= dict.fromkeys(("interval_s", "lost_s_per_hour", "regret_s_per_hour"))
            if lost is not None and other_s is not None and math.isfinite(other_s):
                row |= {"interval_s": other_s, "lost_s_per_hour": float(lost.share(other_s)) * HOUR_S}
                if best_s is not None and best_s <= lost.longest_s(job.max_recovery_s or math.inf):
                    regret = float(lost.share(best_s)) * HOUR_S - row["lost_s_per_hour"]
                    row["regret_s_per_hour"] = max(0.0, regret)
            yield row


def _with(costs: RecoveryCosts, name: str, value: float) -> RecoveryCosts:
    return replace(costs, **{name: Estimate(value)})  # type: ignore[arg-type]  # names of parts only
