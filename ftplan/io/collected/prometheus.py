"""Ask Prometheus for a range of time, piece by piece, and keep the answers.

The range lies on a grid of steps that is the same whenever one asks, cut into pieces of an hour at most. A piece that
was answered in full is not asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from ftplan.errors import FtplanError
from ftplan.io.collected.answers import answers
from ftplan.io.collected.collection_file import CollectionHead
from ftplan.io.collected.endpoint import Endpoint, Reply
from ftplan.io.collected.journal import AnswerJournal
from ftplan.model.prometheus import RangeQuery, query_of

API = "/api/v1/query_range"
#: Longest piece in ms; most steps in a piece (Prometheus refuses more than 11,000).
PIECE_MS, MOST_STEPS = 3_600_000, 10_000
#: What an endpoint says of a query over too long a time.
_TOO_MUCH = ("too many samples", "timed out", "no answer in time", "exceeded maximum resolution", "is larger than")
#: Pauses in an outage, in seconds; after the last it is given up.
PAUSES_S = (1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Piece(NamedTuple):
    """Some steps of the grid, both ends among them, in ms since the epoch."""

    start_ms: int
    end_ms: int


class Grid(NamedTuple):
    """The steps in a range of time, in ms since the epoch."""

    start_ms: int
    end_ms: int
    step_ms: int

    @classmethod
    def of(cls, start: datetime, end: datetime, every_s: float) -> Grid:
        """Return the steps from *start* to *end*.

        Raises FtplanError if there is none, or a step is no whole number of milliseconds.
        """
        step = round(every_s * 1000)
        if step < 1 or abs(every_s * 1000 - step) > 1e-6:
            raise FtplanError(f"--every: {every_s!r} s is not a whole number of milliseconds")
        first = -(-((start - _EPOCH) // timedelta(milliseconds=1)) // step) * step
        last = (end - _EPOCH) // timedelta(milliseconds=1) // step * step
        if last <= first:
            raise FtplanError(f"from {start:%Y-%m-%dT%H:%M:%SZ} to {end:%Y-%m-%dT%H:%M:%SZ} there are no two steps")
        return cls(first, last, step)

    def pieces(self) -> Iterator[Piece]:
        """Yield the steps in pieces that begin at the same times whatever the range is."""
        long = self.step_ms * min(max(PIECE_MS // self.step_ms, 1), MOST_STEPS)
        for begin in range(self.start_ms // long * long, self.end_ms + 1, long):
            yield Piece(max(begin, self.start_ms), min(begin + long - self.step_ms, self.end_ms))

    def missing(self, piece: Piece, there: Sequence[Piece]) -> list[Piece]:
        """Return what of a piece is not *there*; pieces there are in order of time."""
        gaps, begin = [], piece.start_ms
        for known in there:
            if known.end_ms < begin or known.start_ms > piece.end_ms:
                continue
            if known.start_ms > begin:
                gaps.append(Piece(begin, known.start_ms - self.step_ms))
            begin = max(begin, known.end_ms + self.step_ms)
        return [*gaps, Piece(begin, piece.end_ms)] if begin <= piece.end_ms else gaps


@dataclass
class RangeSummary:
    """What came of asking for a range of time.

    Attributes
    ----------
    asked, failed
        Requests, and those without an answer; the same command asks for them again.
    already_there
        Pieces of queries that earlier commands have answered in full.
    partial
        Answers that Prometheus calls incomplete; the same command asks for them again.
    series, samples
        Time series, and values in them that came now.
    without_series
        Queries that no series answered.
    bytes
        Bytes of the lines that were written.
    ended
        Whether all was asked for, somebody ended it, or the endpoint was out of reach for too long.
    """

    start: str
    end: str
    queries: int = 0
    asked: int = 0
    already_there: int = 0
    failed: int = 0
    partial: int = 0
    series: int = 0
    samples: int = 0
    bytes: int = 0
    without_series: list[str] = field(default_factory=list)
    ended: Literal["complete", "interrupt", "out of reach"] = "complete"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)


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

    def run(self) -> RangeSummary:
        """Ask for all that is not there yet; an interrupt ends it with what is there.

        Raises
        ------
        FtplanError
            If the endpoint is out of reach from the start, is no Prometheus, or does not understand a query.
        OutputError
            If the disk fails.
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
                piece = _piece_of(answer.path)
                if (
                    answer.metric in self._series
                    and piece is not None
                    and (result := _result(answer.value)) is not None
                ):
                    self._series[answer.metric].update(_name(series) for series in result)
                    if not _partial(answer.value):
                        there.setdefault(answer.metric, []).append(piece)
        return {name: sorted(pieces) for name, pieces in there.items()}

    def _ask(self, query: RangeQuery, piece: Piece) -> None:
        """Ask one query for a piece, in halves where it is too much at once."""
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
        result = _result(reply.value) if error is None else None
        if error is None and result is None:
            error = _refusal(reply.value)
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
            self._series[query.name].add(_name(series))
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
        self._reached = self._reached or reply.reached
        return reply

    def _failed(self, query: RangeQuery, reply: Reply, error: str) -> None:
        self.summary.failed += 1
        if reply.status in (400, 422):
            raise FtplanError(f"query {query.name}: {error}")
        if reply.status in (200, 401, 403, 404, 405) and not self.summary.samples and not self.journal.continued:
            raise FtplanError(f"{self.endpoint.url}{API}: is no Prometheus that answers us: {error}")
        self._once(f"{query.name}: no answer: {error}")

    def _warn(self, query: RangeQuery, value: Mapping[str, Any]) -> None:
        self.summary.partial += _partial(value)
        for text in _warnings(value):
            self._once(f"{query.name}: {text}")

    def _once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.say(f"warning: {text}")


def options_of(queries: Sequence[RangeQuery], match: Sequence[str], every_s: float, old: CollectionHead | None) -> Any:
    """Return what ``collection.json`` says of the queries, together with those of earlier commands.

    Raises FtplanError if earlier commands asked otherwise.
    """
    said = {} if old is None else old.options
    if old is not None and (old.every_s != every_s or said.get("match", []) != list(match)):
        before = said.get("match", [])
        what = f"with --match {' '.join(map(str, before))}" if before else "without --match"
        what = what if old.every_s == every_s else f"with --every {old.every_s:g}s"
        raise FtplanError(f"the folder was collected {what}; give the same, or another folder")
    by_name = {query.name: query for query in stored_queries(said)}
    for query in queries:
        if by_name.setdefault(query.name, query) != query:
            raise FtplanError(f"--mapping: query {query.name} is another than in the folder; give another folder")
    return {"match": list(match), "queries": [query.to_dict() for query in by_name.values()]}


def stored_queries(options: Mapping[str, Any]) -> list[RangeQuery]:
    """Return the queries that ``collection.json`` names.

    Raises FtplanError if it holds something else.
    """
    stored = options.get("queries", [])
    if not isinstance(stored, list):
        raise FtplanError("collection.json: options.queries: expected a list")
    return [query_of(value, f"collection.json: options.queries[{i}]") for i, value in enumerate(stored)]


def _result(value: Any) -> list[dict[str, Any]] | None:
    """Return the series of an answer, None where it is none."""
    try:
        result = value["data"]["result"]
        good = value["status"] == "success" and value["data"]["resultType"] == "matrix"
        good = good and all(isinstance(s["metric"], dict) and isinstance(s["values"], list) for s in result)
    except (TypeError, KeyError):
        return None
    return list(result) if good else None


def _refusal(value: Any) -> str:
    said = value.get("error") if isinstance(value, dict) else None
    return str(said) if said else "the answer is not what Prometheus answers"


def _warnings(value: Mapping[str, Any]) -> list[str]:
    said = value.get("warnings")
    return [str(text) for text in said] if isinstance(said, list) else []


def _partial(value: Mapping[str, Any]) -> bool:
    """Whether an answer says that it is incomplete; remarks on the query itself say no such thing."""
    told = [text for text in _warnings(value) if not text.startswith("PromQL")]
    return bool(told) or value.get("isPartial") is True


def _name(series: Mapping[str, Any]) -> str:
    return repr(sorted(series["metric"].items()))


def _piece_of(path: str) -> Piece | None:
    try:
        given = parse_qs(urlsplit(path).query)
        start, end = (round(float(given[name][0]) * 1000) for name in ("start", "end"))
    except (KeyError, ValueError, OverflowError):
        return None
    return Piece(start, end)


def seconds(ms: int) -> str:
    """Return milliseconds as Prometheus takes times and steps: seconds, with as few digits as they need."""
    whole, rest = divmod(ms, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


def written(ms: int) -> str:
    """Return a time as ISO text in UTC."""
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat().replace("+00:00", "Z")
