"""What can be asked of a scale-out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from ftplan.io.options.fields import (
    CORES,
    COSTS,
    FLAG,
    SHARE,
    WINDOWS,
    Check,
    PlanOptions,
    document,
    number,
    one_of,
    option,
    optional,
    path,
    seconds,
    size,
    speed,
    whole,
)
from ftplan.io.options.shared import BANDWIDTH, checkpoints_in_place

TECHNIQUE_CHOICES = ("active-backup", "checkpoint", "assisted", "auto")
SPLITS = ("load", "hash")
FORECASTS = ("auto", "none", "seasonal-naive", "smoothing", "trend")
SCORE = number(0.0, 100.0)
TIME = number(0.0, 1e9)
_DEMAND = re.compile(r"peak|mean|p(100|[1-9]?\d)")


def _alarming(value: Any) -> Any:
    return value if value == "auto" else SCORE.take(float(value) if isinstance(value, str) else value)


def _table(value: Any) -> Any:
    return value if hasattr(value, "columns") and hasattr(value, "shape") else path(value)


def _demand(value: Any) -> str:
    if isinstance(value, str) and _DEMAND.fullmatch(value):
        return value
    raise ValueError


@dataclass(frozen=True, kw_only=True)
class ScaleOutOptions(PlanOptions):
    """The options of ``ftplan scale-out``."""

    recorded_facts: ClassVar = {"spread": FLAG}

    alarming: Any = option(
        55.0,
        Check("auto or a score from 0 to 100", _alarming),
        "Score from which an operator is prepared: a secondary is started, or its state checkpointed. auto = the one "
        "with the least backup running time that is ready in --ready of the crossings in the statistics.",
        metavar="X|auto",
    )
    promote: float = option(70.0, SCORE, "Score above which an operator is a bottleneck, and is split.", metavar="X")
    scale_in: float = option(25.0, SCORE, "Score below which an operator has too many tasks.", metavar="X")
    hold: int | str = option(
        3, WINDOWS, "For so many windows, or so long, a score stays below --scale-in before tasks go.", metavar="N|TIME"
    )
    rules: Any = option(
        None,
        optional(Check("the path of a bottleneck-rules file, or its document", document)),
        "Labels, membership functions and rules of the fuzzy inference.  [default: those of --print-rules]",
        metavar="FILE",
    )
    technique: str = option(
        "auto",
        one_of(*TECHNIQUE_CHOICES),
        "How operators are split: active-backup = a secondary runs from --alarming on; checkpoint = state is stored "
        "from --alarming on, then loaded and replayed; assisted = where checkpoints lie on the nodes already; auto = "
        "the least extra core-seconds within --latency-budget.",
    )
    latency_budget_s: float | None = seconds(
        None, optional(TIME), "No pause is longer.  [default: 1s, where --technique auto reaches it]"
    )
    split: str = option(
        "load",
        one_of(*SPLITS),
        "How key groups are divided: load = contiguous ranges of even load; hash = of even number, as engines do.",
    )
    target_utilisation: float = option(
        0.7, number(1e-6, 1.0), "No task is busier than this at the demand that operators are sized for.", metavar="X"
    )
    demand: str = option(
        "peak",
        Check("peak, mean or a percentile such as p95", _demand),
        "Which demand of the windows of --look-back operators are sized for, at least.",
        metavar="peak|mean|pN",
    )
    look_back_s: float = seconds(86400.0, TIME, "Windows that sizes follow from, up to the end of the statistics.")
    forecast: str = option(
        "auto",
        one_of(*FORECASTS),
        "How demand goes on: auto = whichever foretold the statistics best, judged on time that it had not seen.",
    )
    horizon_s: float = seconds(
        3600.0, TIME, "How far ahead demand is foretold, at most a sixth of the time of the statistics."
    )
    growth: float = option(1.0, number(0.0, 1e6), "Multiplies the demand of sources, for what-if.", metavar="X")
    task_capacity: float | None = option(
        None,
        optional(number(0.0, 1e18, above=True)),
        "Records per second that a task takes at full use.  [default: true rates, from the time that tasks were busy]",
        metavar="X",
    )
    task_memory: float | None = size(
        None,
        optional(number(0.0, 1e24, above=True)),
        "State that a task may hold, such as 2GiB.  [default: its slot's part of its node's memory, without slots as "
        "much of it as it has of the node's cores]",
    )
    max_parallelism: int | None = option(
        None, optional(whole(1)), "Most tasks of an operator.  [default: its key groups, else 128]", metavar="N"
    )
    free_cpu: float | None = option(
        None, optional(CORES), "Cores that new tasks may take while the old ones still run.", metavar="X"
    )
    quota: float | None = option(None, optional(CORES), "Cores of all tasks together, at any time.", metavar="X")
    key_log: Any = option(
        None,
        optional(Check("the path of a table of keys, or the table", _table)),
        "Records by key (columns operator, key, records; Parquet or CSV): every max parallelism is tried on them.",
        metavar="FILE",
    )
    ready: float = option(
        0.95, SHARE, "With --alarming auto: the share of crossings for which backups are ready.", metavar="X"
    )
    setup_s: float | None = seconds(
        None,
        optional(TIME),
        "How long new tasks take to start, without state.  [default: restart_s of --costs, else 30s]",
    )
    checkpoint_interval_s: float | None = seconds(
        None,
        optional(TIME),
        "How often state is stored from --alarming on.  [default: the operator's interval, else 60s]",
    )
    checkpoint_records: float | None = option(
        None,
        optional(number(0.0, 1e18, above=True)),
        "Store it also when so many records have changed it since, sooner than that.",
        metavar="N",
    )
    bandwidth: float | None = speed(
        None,
        optional(BANDWIDTH),
        "Of state transfers, such as 100MB/s.  [default: as --costs says, else the cluster's network, else 100MiB/s]",
    )
    max_rescales_per_day: int | None = option(
        None,
        optional(whole(0)),
        "Replay policies that rescale an operator at most so often a day: the one of fewest core-hours on the first "
        "half of the statistics is judged on the rest, beside the optimum that knows all demand.",
        metavar="N",
    )
    rescale_time_s: float | None = seconds(
        None,
        optional(TIME),
        "For how long nothing is processed while an operator is rescaled.  [default: restart_s of --costs, else 30s]",
    )
    max_overloaded: float = option(
        0.05,
        number(0.0, 1.0),
        "With --max-rescales-per-day: the share of windows that may be overloaded; of policies, the share that may end "
        "with work left over.",
        metavar="X",
    )
    costs: Any = option(None, COSTS, "Recovery costs, as fitted on measured recoveries.", metavar="FILE")
    checkpoints: Any = checkpoints_in_place()
