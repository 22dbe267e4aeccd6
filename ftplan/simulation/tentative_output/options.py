"""What can be asked of the simulation of tentative output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ftplan.errors import LONGEST_QUOTE
from ftplan.io.options.fields import MOST, PLAN, Check, Options, number, one_of, option, optional, seconds, texts, whole
from ftplan.model.kinds import REPLICATE_TASKS
from ftplan.planners.replicate_tasks.options import METRICS

ALGORITHMS = ("dynamic-programming", "structure-aware", "greedy", "exact")
QUERIES = ("top-k", "incidents")
#: What belongs to one of the queries, and what it is by default.
OWN: Mapping[str, Mapping[str, Any]] = {
    "top-k": {"k": 100, "key_columns": (), "partition_columns": ()},
    "incidents": {
        "duration_s": 600.0,
        "users": 100_000,
        "segments": 1_000,
        "rate": 20_000,
        "zipf": 0.5,
        "incident_every_s": 2.0,
        "jam_share": 0.5,
    },
}
#: What both have, by query.
WINDOWS: Mapping[str, tuple[float, float]] = {"top-k": (3600.0, 300.0), "incidents": (300.0, 10.0)}
PARALLELISM: Mapping[str, tuple[int, ...]] = {"top-k": (8, 4, 1), "incidents": (8, 4, 4, 1)}
RATIOS = tuple(Fraction(n, 10) for n in range(1, 10))
#: Fields of :class:`ftplan.spark_stats.mapping.LogMapping` that say how a log is read.
READING = (
    "input_format", "pattern", "delimiter", "csv_columns", "max_rejects", "time_columns", "time_format", "year",
    "time_from", "time_to",
)  # fmt: skip
_MOST_LISTED = 100
_SECONDS = number(0.0, 1e9, above=True)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str):
        value = value.split(",") if len(value) <= LONGEST_QUOTE * 10 else ()
    items = list(value) if isinstance(value, Iterable) and not isinstance(value, (Mapping, bytes)) else [value]
    if not 1 <= len(items) <= _MOST_LISTED:
        raise ValueError
    return items


def _ratios(value: Any) -> tuple[Fraction, ...]:
    ratios = []
    for item in _listed(value):
        if not re.fullmatch(r"\s*[0-9]*\.?[0-9]+\s*", text := str(item), re.ASCII) or len(text) > LONGEST_QUOTE:
            raise ValueError
        ratios.append(Fraction(text))
    if not all(0 <= ratio <= 1 for ratio in ratios):
        raise ValueError
    return tuple(ratios)


def _parallelism(value: Any) -> tuple[int, ...]:
    counts = [int(item) if isinstance(item, str) and item.strip().isdecimal() else item for item in _listed(value)]
    return tuple(whole(1, 64).take(count) for count in counts)


def _some_of(*names: str) -> Check:
    def take(value: Any) -> tuple[str, ...]:
        chosen = texts(value)
        if any(name not in names for name in chosen):
            raise ValueError
        return tuple(dict.fromkeys(chosen))

    return Check(f"one or several of {', '.join(names)}", take, "texts", names)


@dataclass(frozen=True, kw_only=True)
class TentativeOutputOptions(Options):
    """The options of ``ftplan simulate tentative-output``, but for how a log is read."""

    unrecorded: ClassVar = ("replicas", "seed")

    query: str | None = option(
        None,
        optional(one_of(*QUERIES)),
        "top-k = the commonest keys of a log in sliding windows; incidents = a join of traffic and reported incidents, "
        "both made up.  [default: top-k where a LOG is given]",
    )
    replicas: Any = option(
        None, PLAN, f"Judge this plan of kind {REPLICATE_TASKS.name}, instead of planning.", metavar="PLAN"
    )
    ratios: Any = option(
        None,
        optional(Check("shares from 0 to 1, such as 0.1,0.5", _ratios)),
        "Shares of the tasks that get a replica.  [default: 0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]",
        metavar="X,X,...",
    )
    algorithm: tuple[str, ...] = option(
        (),
        _some_of(*ALGORITHMS),
        f"Who chooses the replicas, of {', '.join(ALGORITHMS)}; repeatable.  [default: the first three]",
        metavar="NAME",
    )
    metric: tuple[str, ...] = option(
        (),
        _some_of(*METRICS),
        "What it maximises, of output-fidelity, internal-completeness, key-aligned-fidelity; repeatable.  [default: "
        "the first two]",
        metavar="NAME",
    )
    parallelism: Any = option(
        None,
        optional(Check("numbers from 1 to 64, such as 8,4,1", _parallelism)),
        "Tasks of each operator.  [default: 8,4,1 for top-k, 8,4,4,1 for incidents]",
        metavar="N,N,...",
    )
    window_s: float | None = seconds(None, optional(_SECONDS), "Length of a window.  [default: 1h, 5m]")
    slide_s: float | None = seconds(None, optional(_SECONDS), "From one window to the next.  [default: 5m, 10s]")
    k: int | None = option(None, optional(whole(1, 1_000)), "top-k: keys of a window.  [default: 100]", metavar="N")
    key_columns: tuple[str, ...] = option(
        (),
        Check("the name of a column", texts, "texts"),
        "top-k: the key, such as a page; repeated, columns are joined.  [required]",
        flag="--key-column",
        metavar="COLUMN",
    )
    partition_columns: tuple[str, ...] = option(
        (),
        Check("the name of a column", texts, "texts"),
        "top-k: by whose hash records go to the first tasks, such as a server.  [default: the key]",
        flag="--partition-column",
        metavar="COLUMN",
    )
    duration_s: float | None = seconds(None, optional(_SECONDS), "incidents: length of the streams.  [default: 10m]")
    rate: int | None = option(
        None, optional(whole(1, 10_000_000)), "incidents: locations a second.  [default: 20000]", metavar="N"
    )
    users: int | None = option(
        None, optional(whole(1, 10_000_000)), "incidents: people who drive.  [default: 100000]", metavar="N"
    )
    segments: int | None = option(
        None, optional(whole(1, 1_000_000)), "incidents: parts of the road network.  [default: 1000]", metavar="N"
    )
    zipf: float | None = option(
        None, optional(number(0.0, 10.0)), "incidents: skew of users over segments.  [default: 0.5]", metavar="S"
    )
    incident_every_s: float | None = seconds(
        None, optional(_SECONDS), "incidents: from one to the next.  [default: 2s]"
    )
    jam_share: float | None = option(
        None,
        optional(number(0.0, 1.0)),
        "incidents: part of them that causes a jam.  [default: 0.5]",
        metavar="SHARE",
    )
    seed: int = option(0, whole(0, MOST), "Seed of the traffic and of planners.", metavar="N")

    def given(self, query: str) -> dict[str, Any]:
        """Return the options that belong to a query alone and were given, by name."""
        values = {name: getattr(self, name) for name in OWN[query]}
        return {name: value for name, value in values.items() if value not in (None, ())}

    def recorded(self) -> dict[str, Any]:
        """Return the options as asked, without the plan, which stands among the inputs."""
        ratios = None if self.ratios is None else [float(ratio) for ratio in self.ratios]
        return {**super().recorded(), "ratios": ratios}


OPTIONS = TentativeOutputOptions
