"""Ask Prometheus for a range of time, piece by piece, and keep the answers.

The range lies on a grid of steps that is the same whenever one asks, cut into pieces of an hour at most. A piece that
was answered in full is not asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode

from ftplan.engines.collecting.collection import answers
from ftplan.engines.collecting.endpoint import Endpoint, Reply
from ftplan.engines.collecting.journal import AnswerJournal
from ftplan.engines.prometheus.grid import Grid, Piece, piece_of, seconds, written
from ftplan.engines.prometheus.queries import RangeQuery
from ftplan.errors import FtplanError


def result_of(value: Any) -> list[dict[str, Any]] | None:
    """Return the series of an answer, None where it is none."""
    try:
        result = value["data"]["result"]
        good = value["status"] == "success" and value["data"]["resultType"] == "matrix"
        good = good and all(isinstance(s["metric"], dict) and isinstance(s["values"], list) for s in result)
    except (TypeError, KeyError):
        return None
    return list(result) if good else None


def refusal_of(value: Any) -> str:
    """Return what an answer that is no result says instead."""
    said = value.get("error") if isinstance(value, dict) else None
    return str(said) if said else "the answer is not what Prometheus answers"


def warnings_of(value: Mapping[str, Any]) -> list[str]:
    """Return the warnings of an answer."""
    said = value.get("warnings")
    return [str(text) for text in said] if isinstance(said, list) else []


def is_partial(value: Mapping[str, Any]) -> bool:
    """Whether an answer says that it is incomplete; remarks on the query itself say no such thing."""
    told = [text for text in warnings_of(value) if not text.startswith("PromQL")]
    return bool(told) or value.get("isPartial") is True


def name_of(series: Mapping[str, Any]) -> str:
    """Return what tells a series from all others."""
    return repr(sorted(series["metric"].items()))


API = "/api/v1/query_range"
#: What an endpoint says of a query over too long a time.
_TOO_MUCH = ("too many samples", "timed out", "no answer in time", "exceeded maximum resolution", "is larger than")
#: Pauses in an outage, in seconds; after the last it is given up.
PAUSES_S = (1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60)


@dataclass
class RangeSummary:
    """What came of asking for a range of time."""

    start: str
    end: str
    queries: int = 0
    #: ``asked``, ``failed``: requests, and those without an answer; the same command asks for them again
    asked: int = 0
    already_there: int = 0  # pieces of queries that earlier commands have answered in full
    failed: int = 0
    partial: int = 0  # answers that Prometheus calls incomplete; the same command asks for them again
    #: ``series``, ``samples``: time series, and values in them that came now
    series: int = 0
    samples: int = 0
    bytes: int = 0  # bytes of the lines that were written
    without_series: list[str] = field(default_factory=list)  # queries that no series answered
    #: Whether all was asked for, somebody ended it, or the endpoint was out of reach for too long
    ended: Literal["complete", "interrupt", "out of reach"] = "complete"


class _OutOfReachError(Exception):
    """The endpoint did not answer for too long."""


@dataclass
class RangeAsking:
    """Asks the queries for a range of time; *say* hears of outages, warnings and what was left out."""

    endpoint: Endpoint
    journal: AnswerJournal
    queries: Sequence[RangeQuery]
    matchers: str
    grid: Grid
    now: Callable[[], datetime]
    say: Callable[[str], object]
    tell: Callable[[str, float | None], object] = lambda stage, share: None

    def __post_init__(self) -> None:
        start, end = (written(ms) for ms in (self.grid.start_ms, self.grid.end_ms))
        self.summary = RangeSummary(start, end, len(self.queries))
        self._series: dict[str, set[str]] = {query.name: set() for query in self.queries}
        self._warned: set[str] = set()
        self._reached = False
        self._slow: set[str] = set()  # queries of which not even one value came in time
        self._silent = True  # whether nothing answered since the last of them

    def run(self) -> RangeSummary:
        """Ask for all that is not there yet; an interrupt ends it with what is there.

        Raises FtplanError if the endpoint is out of reach from the start, is no Prometheus, or does not understand a
        query; OutputError if the disk fails.
        """
        there = self._there()
        pieces = list(self.grid.pieces())
        try:
            for number, piece in enumerate(pieces):
                self.tell("asking Prometheus", number / len(pieces))
                for query in self.queries:
                    missing = self.grid.missing(piece, there.get(query.name, ()))
                    self.summary.already_there += not missing
                    for part in missing:
                        self._ask(query, part)
        except KeyboardInterrupt:
            self.summary.ended = "interrupt"
        except _OutOfReachError as error:
            self.summary.ended = "out of reach"
            self.say(f"out of reach: {error}; the same command goes on where this one stopped")
        self.summary.series = sum(map(len, self._series.values()))
        self.summary.without_series = [name for name, series in self._series.items() if not series]
        return self.summary

    def _there(self) -> dict[str, list[Piece]]:
        """Return what earlier commands have answered in full, by query and in order of time."""
        there: dict[str, list[Piece]] = {}
        if self.journal.continued:
            for answer in answers(self.journal.folder):
                piece = piece_of(answer.path)
                if (
                    answer.metric in self._series
                    and piece is not None
                    and (result := result_of(answer.value)) is not None
                ):
                    self._series[answer.metric].update(name_of(series) for series in result)
                    if not is_partial(answer.value):
                        there.setdefault(answer.metric, []).append(piece)
        return {name: self.grid.joined(pieces) for name, pieces in there.items()}

    def _ask(self, query: RangeQuery, piece: Piece) -> None:
        """Ask one query for a piece, in halves where it is too much at once, and none that is too much by itself."""
        if query.name in self._slow:
            return
        asked = {
            "query": query.matched(self.matchers),
            "start": seconds(piece.start_ms),
            "end": seconds(piece.end_ms),
            "step": seconds(self.grid.step_ms),
        }
        path = f"{API}?{urlencode(asked)}"
        reply = self._reply(path)
        self.summary.asked += 1
        error = reply.error
        result = result_of(reply.value) if error is None else None
        if error is None and result is None:
            error = refusal_of(reply.value)
        if error is not None and any(words in error for words in _TOO_MUCH) and piece.end_ms > piece.start_ms:
            steps = (piece.end_ms - piece.start_ms) // self.grid.step_ms
            middle = piece.start_ms + steps // 2 * self.grid.step_ms
            self._ask(query, Piece(piece.start_ms, middle))
            self._ask(query, Piece(middle + self.grid.step_ms, piece.end_ms))
            return
        status = None if reply.status == 200 and error is not None else reply.status
        content = {"metric": query.name, **({"answer": reply.value} if error is None else {"error": error})}
        self.summary.bytes += self.journal.add(self.now(), path, status, content)
        if error is not None:
            self._failed(query, reply, error)
            return
        self.journal.continued = True
        for series in result or ():
            self._series[query.name].add(name_of(series))
            self.summary.samples += len(series["values"])
        self._warn(query, reply.value)

    def _reply(self, path: str) -> Reply:
        """Ask until there is an answer or a refusal."""
        reply = self.endpoint.get(path)
        for pause in PAUSES_S:
            if reply.reached or any(words in (reply.error or "") for words in _TOO_MUCH):
                break
            if not self._reached:
                raise FtplanError(f"{self.endpoint.url}: out of reach: {reply.error}")
            if pause == PAUSES_S[0]:
                self.say(f"out of reach: {reply.error}; asking again for some minutes")
            self.endpoint.sleep(pause)
            reply = self.endpoint.get(path)
        else:
            if not reply.reached:
                raise _OutOfReachError(reply.error)
        if reply.reached:
            self._reached, self._silent = True, False
        return reply

    def _failed(self, query: RangeQuery, reply: Reply, error: str) -> None:
        self.summary.failed += 1
        if reply.status is None:
            if not self._reached:
                raise FtplanError(f"{self.endpoint.url}: out of reach: {error}")
            if self._silent:
                raise _OutOfReachError(error)
            self._slow.add(query.name)
            self._silent = True
        if reply.status in (400, 422):
            raise FtplanError(f"query {query.name}: {error}")
        if reply.status in (200, 401, 403, 404, 405) and not self.summary.samples and not self.journal.continued:
            raise FtplanError(f"{self.endpoint.url}{API}: is no Prometheus that answers us: {error}")
        self._once(f"{query.name}: no answer: {error}")

    def _warn(self, query: RangeQuery, value: Mapping[str, Any]) -> None:
        self.summary.partial += is_partial(value)
        for text in warnings_of(value):
            self._once(f"{query.name}: {text}")

    def _once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.say(f"warning: {text}")
