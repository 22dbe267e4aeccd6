"""What can be asked of a simulation of scaling."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.io.options.fields import (
    SHARE,
    Check,
    Options,
    PlanOptions,
    number,
    option,
    option_of,
    optional,
    seconds,
    some_of,
    whole,
)
from ftplan.io.options.quantities import seconds_of
from ftplan.io.options.shared import resolution
from ftplan.planners.scale_out.options import SCORE, ScaleOutOptions

PLANNED, NONE, RESTART = "planned", "none", "storm-restart"
TECHNIQUE_MODES = ("checkpoint", "active-backup", "assisted")
MODES = (NONE, RESTART, *TECHNIQUE_MODES, PLANNED)
DOUBLING, ALTERNATING, STEADY, STATISTICS = "doubling", "alternating", "steady", "stats"
LOADS = (DOUBLING, ALTERNATING, STEADY, STATISTICS)
TIME = number(0.0, 1e9)
POSITIVE_TIME = number(0.0, 1e9, above=True)


def _load(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping) or (isinstance(value, str) and value):
        return value
    raise ValueError


def _times(value: Any) -> tuple[float, ...]:
    items = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    return tuple(TIME.take(seconds_of(item) if isinstance(item, str) else item) for item in items)


@dataclass(frozen=True, kw_only=True)
class ScalingSimulationOptions(Options):
    """The options of ``ftplan simulate scaling``."""

    mode: tuple[str, ...] = option(
        (),
        some_of(*MODES),
        "What is done about bottlenecks: none; storm-restart = checkpoints of the whole topology all the time, and a "
        "restart of it with more tasks; checkpoint, active-backup, assisted = operators are split by this technique; "
        "planned = each as PLAN says. Repeatable.  [default: none and planned; without PLAN none, storm-restart, "
        "checkpoint and active-backup]",
        metavar="MODE",
    )
    load: Any = option(
        None,
        optional(Check(f"one of {', '.join(LOADS)}, or the path of a table with columns time_s and rate", _load)),
        "Input over time: doubling = doubled every --step; alternating = doubled in every other --step; steady = what "
        "operators are sized for; stats = as in the statistics; or a table (CSV or Parquet, columns time_s and rate).  "
        "[default: steady; without PLAN stats where there are some, else doubling]",
        metavar="doubling|alternating|steady|stats|FILE",
    )
    rate: float | None = option(
        None,
        optional(number(0.0, 1e18, above=True)),
        "Records per second of all sources together at first.  [default: as the inputs say]",
        metavar="X",
    )
    step_s: float | None = seconds(
        None, optional(POSITIVE_TIME), "How long a rate lasts.  [default: 500s doubling, 5m alternating]"
    )
    ramp_s: float = seconds(60.0, TIME, "How long the rate takes to change.")
    busy: float = option(
        0.5,
        SHARE,
        "How busy tasks that may be split are at first, where neither statistics nor record_time_s tell.",
        metavar="SHARE",
    )
    split_at_s: float | None = seconds(
        None,
        optional(TIME),
        "When operators are split, instead of when their score says so.  [default: with PLAN and a steady load after a "
        "fifth of the time]",
    )
    alarming: float | None = option(
        None, optional(SCORE), "Score from which an operator is prepared.  [default: PLAN's, else 55]", metavar="X"
    )
    promote: float | None = option(
        None,
        optional(SCORE),
        "Score above which an operator is a bottleneck, and is split.  [default: PLAN's, else 70]",
        metavar="X",
    )
    rules: Any = option(
        None,
        ScaleOutOptions.options()["rules"].check,
        "Labels, membership functions and rules of the fuzzy inference.  [default: PLAN's, else those of scale-out]",
        metavar="FILE",
    )
    window_s: float = seconds(10.0, POSITIVE_TIME, "How often tasks are scored.")
    rest_s: float = seconds(
        60.0, TIME, "So long after a split an operator is not split again: it works off what has waited."
    )
    task_memory: float | None = option_of(ScaleOutOptions, "task_memory")
    max_parallelism: int | None = option_of(ScaleOutOptions, "max_parallelism")
    setup_s: float | None = option_of(ScaleOutOptions, "setup_s")
    checkpoint_interval_s: float | None = option_of(ScaleOutOptions, "checkpoint_interval_s")
    bandwidth: float | None = option_of(ScaleOutOptions, "bandwidth")
    costs: Any = option_of(ScaleOutOptions, "costs")
    storm_interval_s: float = seconds(1.0, POSITIVE_TIME, "storm-restart: time between checkpoints.")
    storm_overhead_s: float = seconds(0.05, TIME, "storm-restart: work of a task at each, beside sending its state.")
    restart_time_s: float = seconds(30.0, TIME, "storm-restart: until all tasks have started again.")
    reaction_s: float = seconds(120.0, TIME, "storm-restart: from a promotion until somebody restarts the job.")
    restart_at_s: tuple[float, ...] = option(
        (),
        Check("a time such as 11m, or a list of them", _times, "texts"),
        "storm-restart: restart after this time instead; repeatable.",
        metavar="TIME",
    )
    batch_s: float | None = seconds(
        None,
        optional(number(1e-3, 1e6)),
        "Input that goes through the job as one batch; shorter times are not resolved.  [default: at most 2,000, at "
        "least 0.1s each]",
    )
    until_s: float | None = seconds(
        None,
        optional(number(1.0, 1e9)),
        "Simulated time.  [default: three steps doubling, six alternating, 10m steady, else as long as the input]",
    )
    every_s: float | None = resolution(0.1)
    runs: int = option(
        1,
        whole(1, 10_000),
        "Simulate so often, each time with other Poisson arrivals and ages of checkpoints. One run has the expected "
        "ones.",
        metavar="N",
    )
    seed: int = option_of(PlanOptions, "seed")


OPTIONS = ScalingSimulationOptions
#: What ``ftplan simulate scaling --help`` says of the command.
HELP = """Simulate operators that are split while they run.

PLAN is a scale-out, also one made by hand; - is standard input. Queues, latency, throughput and tasks over time
show what carrying it out does, beside doing nothing and what else --mode asks for; each pause stands beside what
formulas foretell.

Without PLAN operators with keyed state get twice the tasks whenever their score says that they are bottlenecks: at
the load of the statistics, or one that doubles again and again. Without a topology it is the job of the paper's
experiment.

Every batch of records is followed: exit code 1 where one is lost, counts twice or comes out of order.

\b
$ ftplan simulate scaling scale-out.json
$ ftplan simulate scaling scale-out.json --mode none --mode planned --mode storm-restart --runs 20
$ ftplan simulate scaling --load doubling --restart-at 680 --restart-at 1050 --plot scaling.svg
"""
