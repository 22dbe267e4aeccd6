"""What can be asked of the choice of an interval between checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ftplan.io.options.fields import COSTS, Check, Options, number, option, optional, path, seconds, size, whole

_SECONDS = number(0.0, 1e9, above=True)
_COLUMN = Check("the name of a column", path)

#: How often the job fails: one of these.
FAILURES = ("mtbf_s", "failures_per_day", "failure_log")


@dataclass(frozen=True, kw_only=True)
class CheckpointIntervalOptions(Options):
    """The options of ``ftplan checkpoint-interval``."""

    costs: Any = option(None, COSTS, "Recovery costs, as fitted on measured recoveries.  [required]", metavar="FILE")
    checkpoint_cost_s: float | None = seconds(
        None,
        optional(_SECONDS),
        "What one checkpoint takes of the job's time: for how long it processes nothing, in sum.  [required]",
    )
    mtbf_s: float | None = seconds(None, optional(_SECONDS), "Mean time between failures of the job.")
    failures_per_day: float | None = option(
        None, optional(number(0.0, 1e6, above=True)), "How often the job fails.", metavar="X"
    )
    failure_log: Any = option(
        None,
        optional(Check("a path", path)),
        "A log of failures, CSV or Parquet, whose nodes fail as often as those of the job.",
        metavar="FILE",
    )
    nodes: int | None = option(
        None, optional(whole(1)), "With --failure-log: how many nodes the job runs on.", metavar="N"
    )
    log_nodes: int | None = option(
        None, optional(whole(1)), "How many nodes the log watches.  [default: those that fail in it]", metavar="N"
    )
    log_time: str = option("time", _COLUMN, "The column of the log that holds times.", metavar="COLUMN")
    log_node: str = option("node", _COLUMN, "The column of the log that holds nodes.", metavar="COLUMN")
    max_recovery_s: float | None = seconds(None, optional(_SECONDS), "Recoveries may take no longer.")
    rate: float | None = option(
        None,
        optional(number(0.0, 1e15)),
        "Records per second into the job.  [default: those of the topology]",
        metavar="X",
    )
    state_bytes: float | None = size(
        None,
        optional(number(0.0, 1e24)),
        "State that a task fetches, where it is remote.  [default: the most that a task of the topology has]",
    )
