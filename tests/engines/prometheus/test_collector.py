"""Asking Prometheus for ranges of time: pieces, resumption, refusals, outages; against an endpoint made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.engines.collecting.collection import CollectionHead
from ftplan.engines.collecting.endpoint import Reply
from ftplan.engines.collecting.journal import AnswerJournal
from ftplan.engines.prometheus.collector import PAUSES_S, RangeAsking, RangeSummary
from ftplan.engines.prometheus.grid import MOST_STEPS, Grid, Piece, seconds
from ftplan.engines.prometheus.mapping import load_mapping, mapping_text, options_of, shipped_mapping, stored_queries
from ftplan.engines.prometheus.queries import RangeQuery, query_of
from ftplan.errors import FtplanError
from ftplan.io.parsers import parse_yaml

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
QUERIES = (
    RangeQuery("mine.a", "a{$match}", "records_in", "counter"),
    RangeQuery("mine.b", "b", "state_bytes", "gauge"),
)


class Asked(tuple[str, float, float, float]):
    """Query, start, end and step of a request."""


class Endpoint:
    """Answers with one series that has a value at each step, unless *refuse* says otherwise."""

    url = "http://127.0.0.1:9090"

    def __init__(self, refuse: Callable[[Asked], Reply | None] = lambda asked: None) -> None:
        self.refuse = refuse
        self.asked: list[Asked] = []
        self.slept: list[float] = []

    def sleep(self, pause: float) -> None:
        self.slept.append(pause)

    def get(self, path: str) -> Reply:
        given = parse_qs(urlsplit(path).query)
        start, end, step = (float(given[name][0]) for name in ("start", "end", "step"))
        asked = Asked((given["query"][0], start, end, step))
        self.asked.append(asked)
        return self.refuse(asked) or Reply(200, answer(start, end, step))


def answer(start: float, end: float, step: float, **more: Any) -> dict[str, Any]:
    steps = round((end - start) / step) + 1
    values = [[start + i * step, "1"] for i in range(steps)]
    result = [{"metric": {"task": "0"}, "values": values}]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}, **more}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def collect(tmp_path: Path, said: list[str]) -> Callable[..., RangeSummary]:
    def run(endpoint: Endpoint, hours: float = 3, every_s: float = 60.0, until: datetime = NOW) -> RangeSummary:
        grid = Grid.of(until - timedelta(hours=hours), until, every_s)
        head = CollectionHead("prometheus", endpoint.url, every_s, NOW, options_of(QUERIES, [], every_s, None))
        journal = AnswerJournal(tmp_path / "collected", head, "test")
        try:
            return RangeAsking(endpoint, journal, QUERIES, "", grid, lambda: NOW, said.append).run()  # type: ignore[arg-type]
        finally:
            journal.close()

    return run


def lines(place: Path) -> Iterator[dict[str, Any]]:
    for file in sorted((place / "collected" / "answers").iterdir()):
        yield from map(json.loads, file.read_text().splitlines())


@given(
    st.integers(0, 10**6), st.integers(2, 5000), st.sampled_from([50, 250, 1000, 7000, 15000, 60000, 7200000]),
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 3000)), max_size=6),
)  # fmt: skip
def test_what_is_missing_is_asked_once(first: int, steps: int, step: int, known: list[tuple[int, int]]) -> None:
    """The steps of the pieces that are missing are those of the grid that are not there, each once."""
    grid = Grid(first * step, (first + steps) * step, step)
    answered = [Piece((first + a) * step, (first + a + b) * step) for a, b in known]
    covered = {t for piece in answered for t in range(piece.start_ms, piece.end_ms + 1, step)}
    there = grid.joined(answered)
    assert all(before.end_ms + step < after.start_ms for before, after in pairwise(there))
    pieces = list(grid.pieces())
    asked = [
        t
        for piece in pieces
        for part in grid.missing(piece, there)
        for t in range(part.start_ms, part.end_ms + 1, step)
    ]  # fmt: skip
    assert asked == [t for t in range(grid.start_ms, grid.end_ms + 1, step) if t not in covered]
    assert all((piece.end_ms - piece.start_ms) // step < MOST_STEPS for piece in pieces)
    assert all(piece.end_ms - piece.start_ms < max(3_600_000, step) for piece in pieces)


def test_a_year_that_is_there_is_looked_at_once() -> None:
    """Known pieces become one, and of a year with a gap in each second hour a piece looks at its own neighbours."""
    hours = [Piece(3600 * hour, 3600 * hour + 3540) for hour in range(8760)]
    grid = Grid(0, 8760 * 3600 - 60, 60)
    assert grid.joined(reversed(hours)) == [Piece(0, 8760 * 3600 - 60)]

    class Counted(list[Piece]):
        seen = 0

        def __getitem__(self, place: Any) -> Any:
            found = super().__getitem__(place)
            self.seen += len(found) if isinstance(place, slice) else 1
            return found

        __iter__ = None  # type: ignore[assignment]  # who walks over all of them fails

    there = Counted(grid.joined(hours[::2]))
    assert [part for piece in hours for part in grid.missing(piece, there)] == hours[1::2]
    assert there.seen <= 40 * len(hours)


def test_pieces_begin_at_the_same_times_whatever_the_range() -> None:
    begins = [[p.start_ms for p in Grid.of(NOW - timedelta(minutes=m), NOW, 15.0).pieces()][1:] for m in (90, 200)]
    assert begins[0] == begins[1][-len(begins[0]) :]


@pytest.mark.parametrize(("ms", "text"), [(0, "0"), (1500, "1.5"), (1_700_000_000_000, "1700000000"), (7, "0.007")])
def test_times_are_written_short(ms: int, text: str) -> None:
    assert seconds(ms) == text


def test_what_is_there_is_not_asked_again(collect: Callable[..., RangeSummary], tmp_path: Path) -> None:
    first, second, third = Endpoint(), Endpoint(), Endpoint()
    summary = collect(first, hours=1.5, until=NOW - timedelta(hours=0.25))
    assert (summary.asked, summary.failed, summary.series, summary.samples) == (4, 0, 2, 2 * 91)
    assert [line["metric"] for line in lines(tmp_path)] == ["mine.a", "mine.b"] * 2
    again = collect(second, hours=1.5, until=NOW - timedelta(hours=0.25))
    assert (second.asked, again.already_there, again.series) == ([], 4, 2)
    longer = collect(third, hours=2)
    assert [(a[1], a[2]) for a in third.asked if a[0] == "b"] == [
        ((NOW - timedelta(minutes=120)).timestamp(), (NOW - timedelta(minutes=106)).timestamp()),
        ((NOW - timedelta(minutes=14)).timestamp(), (NOW - timedelta(minutes=1)).timestamp()),
        (NOW.timestamp(), NOW.timestamp()),
    ]
    assert longer.ended == "complete"


def test_partial_answers_are_kept_and_asked_again(collect: Callable[..., RangeSummary], said: list[str]) -> None:
    def partial(asked: Asked) -> Reply | None:
        warnings = ["store 10.0.0.7 is out of reach"] if asked[0] == "a{}" else ["PromQL info: not a counter"]
        return Reply(200, answer(*asked[1:], warnings=warnings))

    summary = collect(Endpoint(partial), hours=1)
    assert (summary.asked, summary.partial, summary.failed) == (4, 2, 0)
    assert said == [
        "warning: mine.a: store 10.0.0.7 is out of reach", "warning: mine.b: PromQL info: not a counter",
    ]  # fmt: skip
    endpoint = Endpoint()
    collect(endpoint, hours=1)
    assert {asked[0] for asked in endpoint.asked} == {"a{}"}
    assert collect(Endpoint(), hours=1).asked == 0


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(422, None, "422 Unprocessable Entity: query processing would load too many samples into memory"),
        Reply(503, None, "503 Service Unavailable: query timed out in expression evaluation"),
        Reply(200, None, "the answer is larger than 64,000,000 bytes (--max-answer)"),
        Reply(None, None, "no answer in time (--timeout)"),
    ],
)
def test_too_much_at_once_is_halved(collect: Callable[..., RangeSummary], refusal: Reply, tmp_path: Path) -> None:
    summary = collect(Endpoint(lambda asked: refusal if asked[2] - asked[1] > 20 * 60 else None), hours=1)
    assert (summary.failed, summary.samples, summary.ended) == (0, 2 * 61, "complete")
    values = [
        v[0]
        for line in lines(tmp_path)
        if line["metric"] == "mine.a"
        for v in line["answer"]["data"]["result"][0]["values"]
    ]
    assert values == sorted(set(values))


def test_a_single_step_that_is_too_much_is_said(collect: Callable[..., RangeSummary], said: list[str]) -> None:
    refusal = Reply(200, None, "the answer is larger than 10 bytes (--max-answer)")
    summary = collect(Endpoint(lambda asked: refusal if asked[0] == "b" else None), hours=0.1)
    assert summary.failed == 7
    assert said == ["warning: mine.b: no answer: the answer is larger than 10 bytes (--max-answer)"]
    assert summary.without_series == ["mine.b"]


SLOW = Reply(None, None, "no answer in time (--timeout)")


def test_a_query_that_is_too_slow_for_one_value_is_left_out(
    collect: Callable[..., RangeSummary], said: list[str]
) -> None:
    endpoint = Endpoint(lambda asked: SLOW if asked[0] == "b" else None)
    summary = collect(endpoint, hours=3)
    assert (summary.failed, summary.samples, summary.ended) == (1, 181, "complete")
    assert len([asked for asked in endpoint.asked if asked[0] == "b"]) == 7, "an hour, its half, ..., one value"
    assert said == ["warning: mine.b: no answer: no answer in time (--timeout)"]


def test_a_prometheus_that_is_too_slow_for_all_is_given_up(collect: Callable[..., RangeSummary]) -> None:
    endpoint = Endpoint(lambda asked: SLOW)
    with pytest.raises(FtplanError, match="out of reach: no answer in time"):
        collect(endpoint)
    assert len(endpoint.asked) == 7
    endpoint = Endpoint()
    endpoint.refuse = lambda asked: SLOW if len(endpoint.asked) > 1 else None
    assert collect(endpoint).ended == "out of reach"
    assert len(endpoint.asked) == 1 + 2 * 7


def test_an_outage_is_waited_for(collect: Callable[..., RangeSummary], said: list[str]) -> None:
    endpoint = Endpoint()
    endpoint.refuse = lambda asked: Reply(None, None, "connection refused") if 3 <= len(endpoint.asked) < 6 else None
    summary = collect(endpoint)
    assert (summary.failed, summary.ended, endpoint.slept) == (0, "complete", [1, 2, 4])
    assert said == ["out of reach: connection refused; asking again for some minutes"]


def test_an_outage_that_does_not_end_is_given_up(collect: Callable[..., RangeSummary], said: list[str]) -> None:
    endpoint = Endpoint()
    endpoint.refuse = lambda asked: Reply(502, None, "502 Bad Gateway") if len(endpoint.asked) > 4 else None
    summary = collect(endpoint)
    assert (summary.ended, summary.asked, tuple(endpoint.slept)) == ("out of reach", 4, PAUSES_S)
    assert said[-1] == "out of reach: 502 Bad Gateway; the same command goes on where this one stopped"
    assert collect(Endpoint()).already_there == 4


def test_an_interrupt_leaves_what_is_there(collect: Callable[..., RangeSummary]) -> None:
    def interrupt(asked: Asked) -> Reply | None:
        if asked[1] > (NOW - timedelta(hours=2)).timestamp():
            raise KeyboardInterrupt
        return None

    assert collect(Endpoint(interrupt)).ended == "interrupt"
    assert collect(Endpoint()).already_there == 4


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(None, None, "connection refused"), "http://127.0.0.1:9090: out of reach: connection refused"),
        (
            Reply(400, None, "400 Bad Request: invalid parameter \"query\": parse error"),
            'query mine.a: 400 Bad Request: invalid parameter "query": parse error',
        ),
        (
            Reply(404, None, "404 Not Found"),
            "http://127.0.0.1:9090/api/v1/query_range: is no Prometheus that answers us: 404 Not Found",
        ),
        (Reply(200, {"jobs": []}), "is no Prometheus that answers us: the answer is not what Prometheus answers"),
        (Reply(200, {"status": "error", "error": "boom"}), "is no Prometheus that answers us: boom"),
        (Reply(200, [1]), "is no Prometheus that answers us: the answer is not what Prometheus answers"),
        (Reply(200, {"status": "success", "data": {"resultType": "vector", "result": []}}), "not what Prometheus"),
    ],
)  # fmt: skip
def test_what_is_no_prometheus_is_said_at_once(collect: Callable[..., RangeSummary], reply: Reply, told: str) -> None:
    with pytest.raises(FtplanError) as error:
        collect(Endpoint(lambda asked: reply))
    assert told in str(error.value)


def test_a_failure_later_is_counted(collect: Callable[..., RangeSummary], said: list[str]) -> None:
    endpoint = Endpoint()
    endpoint.refuse = lambda asked: (
        Reply(500, None, "500 Internal Server Error") if len(endpoint.asked) in (3, 5) else None
    )
    assert collect(endpoint).failed == 2
    assert said == ["warning: mine.a: no answer: 500 Internal Server Error"]
    assert collect(Endpoint()).asked == 2


def test_a_folder_keeps_the_queries_of_all_commands() -> None:
    flink, kafka = (shipped_mapping().chosen([name]) for name in ("flink", "kafka-streams"))
    head = CollectionHead("prometheus", "http://a", 15.0, NOW, options_of(flink, [], 15.0, None))
    both = options_of(kafka, [], 15.0, head)
    assert stored_queries(both) == [*flink, *kafka]
    changed = load_mapping(
        {
            "format": "ftplan/prometheus-mapping", "format_version": "1.0",
            "sections": {"flink": {"labels": {"host": "instance"}, "queries": {"restarts": None}}},
        }
    ).value.chosen(["flink"])  # fmt: skip
    assert "flink.restarts" not in [query.name for query in changed]
    with pytest.raises(FtplanError, match=r"--mapping: query flink\.records_in is another than in the folder"):
        options_of(changed, [], 15.0, head)


def test_the_printed_mapping_is_the_mapping() -> None:
    shipped = load_mapping(parse_yaml(mapping_text(), "text")).value
    assert shipped == shipped_mapping()
    written = {"format": "ftplan/prometheus-mapping", "format_version": "1.0", "sections": {}}
    assert load_mapping(parse_yaml(mapping_text(written), "text")).value == shipped
    for query in shipped.chosen(()):
        assert query_of(json.loads(json.dumps(query.to_dict())), "") == query


def test_shipped_queries_know_their_operator() -> None:
    """Every measure of the statistics has an operator, and $match has a place in every query."""
    for query in shipped_mapping().chosen(()):
        assert "$match" in query.promql
        assert query.measure in ("checkpoint_duration_ms", "checkpoint_bytes", "restarts") or query.labels, query.name
        assert "operator" in (query.labels or {})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                        ["name", "promql", "measure", "kind", "factor", "combine", "labels", "parts", "job", "label"]),
                        inner, max_size=5), max_leaves=12))  # fmt: skip
def test_stored_queries_are_queries_or_one_line(value: Any) -> None:
    told = "collection.json: options.queries"
    try:
        stored_queries({"queries": value})
    except FtplanError as error:
        told = str(error)
    assert told.startswith("collection.json: options.queries")
