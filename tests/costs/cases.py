"""Recoveries and curves with known parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ftplan.model.recovery_costs import Curve, MeasuredRecovery

#: What most cases are made with.
TRUE = {"restart_s": 60.0, "replay_share": 0.6, "capacity_records_s": 1000.0}
#: Task managers of examples/flink that were killed on a busy machine: interval, rate, age of the checkpoint, seconds
#: until something was read again, seconds until it had caught up, bytes of the checkpoint.
KILLS = (
    (5, 673, 1.639, 4.098, 6.133, 2007802),
    (5, 673, 1.31, 5.674, 6.078, 2486016),
    (5, 1178, 2.048, 6.941, 9.346, 2793052),
    (5, 1178, 3.752, 8.328, 12.42, 2693122),
    (5, 1683, 1.696, 13.572, 27.307, 2933543),
    (5, 1683, 1.502, 5.923, 12.871, 3076193),
    (15, 673, 3.215, 3.327, 5.254, 2048810),
    (15, 673, 12.13, 12.309, 17.109, 3638602),
    (15, 1178, 10.731, 12.578, 24.22, 4260027),
    (15, 1178, 13.741, 5.63, 18.458, 4733193),
    (15, 1683, 16.733, 9.705, 23.875, 3729985),
    (15, 1683, 14.928, 9.848, 38.009, 5382170),
)
RATES, INTERVALS = (300.0, 500.0, 700.0, 850.0), (10.0, 30.0, 60.0, 120.0)


def seconds(true: dict[str, float], rate: float, interval_s: float, state_bytes: float = 0.0) -> float:
    """Return a recovery by the formula as it is printed: D + (k * interval + D) * rho / (1 - rho)."""
    rho = rate / true["capacity_records_s"]
    stopped = true.get("detection_s", 0.0) + true["restart_s"]
    stopped += state_bytes / 2**20 / true["bandwidth_mb_s"] if "bandwidth_mb_s" in true else 0.0
    return stopped + (true.get("replay_share", 0.0) * interval_s + stopped) * rho / (1.0 - rho)


def recoveries(
    true: dict[str, float],
    rates: Iterable[float] = RATES,
    intervals: Iterable[float] = INTERVALS,
    noise: float = 0.0,
    seed: int = 0,
    state_bytes: float | None = None,
    **more: Any,
) -> list[MeasuredRecovery]:
    """Return one recovery for each rate and interval; *noise* is the standard deviation of its logarithm."""
    rng = np.random.default_rng(seed)
    return [
        MeasuredRecovery(
            f"row {rate:g}/{interval:g}",
            recovery_s=seconds(true, rate, interval, state_bytes or 0.0) * float(np.exp(noise * rng.standard_normal())),
            rate=rate,
            interval_s=interval,
            state_bytes=state_bytes,
            **more,
        )
        for rate in rates
        for interval in intervals
    ]


def curve(
    outages: Iterable[tuple[float, float]],
    rate: float = 1000.0,
    capacity: float = 2000.0,
    length_s: float = 3000.0,
    step_s: float = 1.0,
    noise: float = 0.0,
    seed: int = 0,
) -> Curve:
    """Return the curves of a job that stands still in *outages* (begin, seconds): a queue, and what leaves it."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, length_s, 1.0)
    throughput, lag = np.zeros(len(time)), np.zeros(len(time))
    waiting = resting = 2.0 * rate  # what is always under way
    for i, now in enumerate(time):
        arrived = waiting + rate
        down = any(begin <= now < begin + took for begin, took in outages)
        done = 0.0 if down else min(capacity, arrived - resting)
        waiting = arrived - done
        throughput[i], lag[i] = done, waiting
    for signal in (throughput, lag):
        signal *= np.exp(noise * rng.standard_normal(len(signal)))
    every = round(step_s)
    return Curve("curve", time[::every], throughput[::every], lag[::every], 10.0 + 1000.0 * lag[::every] / rate)


def caught_up(took: float, rate: float, capacity: float) -> float:
    """Return the seconds from the begin of an outage until the queue is as before."""
    return took + took * rate / (capacity - rate)
