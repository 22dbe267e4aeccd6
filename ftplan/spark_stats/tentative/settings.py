"""What can be asked of the two queries, and what they answer; loads no engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ftplan.model.topology import BoolArray, IntArray
from ftplan.spark_stats.mapping import LogMapping

#: More windows than this are a slip, or a wrong time in the log.
MOST_WINDOWS = 1_000_000


@dataclass(frozen=True, slots=True)
class TopKSetting:
    """What is asked of a log: ``k`` keys in windows of so many slides.

    ``mapping`` has the slide as its window; its first key is what is counted, its last one what the log is parted by
    among the tasks that count, as many as it has key groups.
    """

    mapping: LogMapping
    k: int
    slides: int
    parallelism: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is driven and reported.

    Attributes
    ----------
    users
        People, on segments by Zipf's law of exponent ``zipf``; each stays on its segment and reports in turn.
    rate
        Locations a second in all.
    incident_every_s
        Seconds from one incident to the next one; each on the segment of somebody drawn at random.
    jam_share
        Part of the incidents that cause a jam; it lasts for ``jam_s`` seconds.
    lanes
        Parts of the segments, see :mod:`ftplan.spark_stats.tentative.lanes`.
    """

    seconds: int
    users: int
    segments: int
    rate: int
    zipf: float
    incident_every_s: int
    jam_share: float
    jam_s: int
    lanes: int
    seed: int = 0


@dataclass(frozen=True, slots=True)
class IncidentSetting:
    """What is asked of traffic; window and slide in seconds."""

    traffic: Traffic
    window_s: int
    slide_s: int
    parallelism: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """What a query did without failure.

    Attributes
    ----------
    seconds
        Length of the streams.
    edges
        By (operator, operator): records from task to task, rows of (from index, to index, records), (substreams, 3).
    outputs
        Entries of the output in each window, shape (windows,).
    """

    seconds: float
    edges: Mapping[tuple[str, str], IntArray]
    outputs: IntArray


class TentativeQuery(Protocol):
    """A query on its streams. Calling it runs jobs."""

    def flows(self) -> Flows:
        """Return what went over its edges without failure."""

    def kept(self, live: Mapping[str, BoolArray]) -> IntArray:
        """Return how many entries of the output without failure each plan keeps, shape (plans, windows).

        *live* tells by stream the lanes on which each plan keeps its records, shape (plans, lanes).
        """
