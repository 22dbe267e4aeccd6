"""The pace of polls, outages and interrupts, on a clock that moves only when somebody sleeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftplan.api.collecting import collect
from ftplan.engines.collecting.collection import answers
from ftplan.engines.collecting.endpoint import Connection
from ftplan.engines.collecting.polling import CollectionSummary, Pace
from ftplan.errors import FtplanError
from tests.engines.collecting.server import FakeTime, Said, served

FLINK = {"/overview": {"taskmanagers": 2}, "/jobs/overview": {"jobs": []}, "/taskmanagers": {"taskmanagers": []}}


class Collected:
    """A collection of a fake endpoint that is done; ``said`` is what it said meanwhile."""

    def __init__(self, folder: Path, url: str, time: FakeTime, every: float, until: float | None, **how: Any) -> None:
        self.said: list[str] = []
        pace = Pace(every, until, time.seconds, time.now, time.sleep)
        self.summary: CollectionSummary = collect(
            url, folder, "flink", pace, Connection(retries=0, **how), say=self.said.append
        )


def taking(time: FakeTime, *seconds: float) -> Callable[[], Any]:
    """Return an answer to /overview that takes its time: each of *seconds* in turn, then none."""
    left = list(seconds)

    def answer() -> Any:
        time.passed += left.pop(0) if left else 0.0
        return FLINK["/overview"]

    return answer


def times(folder: Path) -> list[str]:
    """Return when each poll had its first answer."""
    return [f"{answer.at:%H:%M:%S}" for answer in answers(folder) if answer.path == "/overview" and answer.at]


def test_a_steady_pace(tmp_path: Path) -> None:
    time = FakeTime()
    with served(FLINK | {"/overview": taking(time, 1.0, 0.5, 2.0)}) as endpoint:
        done = Collected(tmp_path, endpoint.url, time, 20.0, 60.0)
    assert times(tmp_path) == ["07:59:31", "07:59:50", "08:00:12", "08:00:30"], "however long a poll takes"
    assert done.said == []
    summary = done.summary
    assert (summary.polls, summary.failed, summary.incomplete, summary.skipped) == (4, 0, 0, 0)
    assert (summary.answers, summary.unanswered, summary.seconds, summary.ended) == (12, 0, 60.0, "time")


def test_a_slow_endpoint_skips_polls_and_says_so(tmp_path: Path) -> None:
    time = FakeTime()
    with served(FLINK | {"/overview": taking(time, 45.0, 21.0)}) as endpoint:
        done = Collected(tmp_path, endpoint.url, time, 20.0, 120.0)
    assert times(tmp_path) == ["08:00:15", "08:00:51", "08:01:10", "08:01:30"]
    assert done.said == [
        "a poll took 45 s, longer than --every 20s: 2 polls skipped",
        "a poll took 21 s, longer than --every 20s: 1 poll skipped",
    ]
    assert (done.summary.polls, done.summary.skipped) == (4, 3)


def test_an_outage_is_noted_and_waited_for(tmp_path: Path) -> None:
    time = FakeTime()
    answer = Said(status=503)
    with served(FLINK) as endpoint:
        endpoint.answers["/overview"] = lambda: FLINK["/overview"] if time.passed == 0 else answer
        done = Collected(tmp_path, endpoint.url, time, 20.0, 700.0)
        assert endpoint.paths.count("/jobs/overview") == 1, "an endpoint that is down is asked nothing else"
    assert [f"{wake:g}" for wake in time.wakes] == ["20", "40", "80", "160", "320", "480", "640"], "1, 2, 4, 8 steps"
    assert done.said == ["out of reach: 503 Service Unavailable; going on"]
    assert (done.summary.polls, done.summary.failed, done.summary.skipped) == (8, 7, 25)
    lines = (tmp_path / "answers" / "2026-11-22T08.jsonl").read_text().splitlines()
    assert lines[0] == (
        '{"at":"2026-11-22T08:00:10.000Z","path":"/overview","status":503,"error":"503 Service Unavailable"}'
    )


def test_the_end_of_an_outage_is_said(tmp_path: Path) -> None:
    time = FakeTime()
    with served(FLINK) as endpoint:
        endpoint.answers["/overview"] = lambda: Said(status=503) if 0 < time.passed < 50 else FLINK["/overview"]
        done = Collected(tmp_path, endpoint.url, time, 20.0, 100.0)
    assert done.said == [
        "out of reach: 503 Service Unavailable; going on",
        "within reach again after 2 failed polls",
    ]
    assert (done.summary.polls, done.summary.failed) == (5, 2)


def test_a_poll_ends_where_the_endpoint_goes_away(tmp_path: Path) -> None:
    time = FakeTime()
    with served(FLINK | dict.fromkeys(("/jobs/overview", "/taskmanagers"), Said(status=502))) as endpoint:
        done = Collected(tmp_path, endpoint.url, time, 20.0, 0.0)
        assert endpoint.paths == ["/overview", "/jobs/overview", "/taskmanagers"]
    assert (done.summary.polls, done.summary.failed, done.summary.unanswered) == (1, 1, 2)


def test_an_interrupt_leaves_what_is_there(tmp_path: Path) -> None:
    time = FakeTime()

    def interrupt() -> None:
        if time.passed >= 40:
            raise KeyboardInterrupt

    time.on_sleep = interrupt
    with served(FLINK) as endpoint:
        first = Collected(tmp_path, endpoint.url, time, 20.0, None).summary
        time.on_sleep = lambda: None
        second = Collected(tmp_path, endpoint.url, time, 20.0, 0.0).summary
    assert (first.polls, first.failed, first.ended) == (2, 0, "interrupt")
    assert (second.polls, second.ended) == (1, "time")
    assert times(tmp_path) == ["07:59:30", "07:59:50", "08:00:10"]


@pytest.mark.parametrize(("until", "asked"), [(30.0, 4), (45.0, 6), (0.0, 3)])
def test_a_poll_under_way_ends_with_the_time(tmp_path: Path, until: float, asked: int) -> None:
    """The last answer may take as long as any, here 10 s; a poll that is all there is goes on."""
    time = FakeTime()
    with served(FLINK | {"/overview": taking(time, 25.0 if until == 0.0 else 0.0, 25.0)}) as endpoint:
        done = Collected(tmp_path, endpoint.url, time, 20.0, until)
        assert len(endpoint.paths) == asked
    cut = asked == 4
    assert done.said == (["the time is over: the last poll is left incomplete"] if cut else done.said)
    assert (done.summary.incomplete, done.summary.ended) == (int(cut), "time")


def test_a_new_folder_refuses_another_server(tmp_path: Path) -> None:
    for answer, said in (
        (Said(status=404), "is no Flink endpoint that answers us: 404 Not Found"),
        (Said(status=401), "401 Unauthorized: credentials come from FTPLAN_COLLECT_TOKEN"),
        (Said(b"<html>"), "the answer is no JSON"),
        ({"version": 1}, "it names no taskmanagers"),
    ):
        with served({"/overview": answer}) as endpoint, pytest.raises(FtplanError, match=said):
            Collected(tmp_path / "new", endpoint.url, FakeTime(), 20.0, 60.0)
        assert not (tmp_path / "new").exists()


def test_later_refusals_are_an_outage(tmp_path: Path) -> None:
    time = FakeTime()
    with served(FLINK) as endpoint:
        endpoint.answers["/overview"] = lambda: Said(status=401) if time.passed else FLINK["/overview"]
        done = Collected(tmp_path, endpoint.url, time, 20.0, 30.0)
    assert (done.summary.polls, done.summary.failed) == (2, 1)


def test_an_endpoint_that_is_down_from_the_start_is_waited_for(tmp_path: Path) -> None:
    with served({}) as endpoint:
        url = endpoint.url
    done = Collected(tmp_path, url, FakeTime(), 20.0, 40.0)
    assert done.said == ["out of reach: connection refused; going on"]
    assert done.summary.failed == done.summary.polls == 2


def test_unknown_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FtplanError, match=r"unknown source 'flnk' \(did you mean 'flink'\?\)"):
        collect("http://host", tmp_path / "new", "flnk", Pace(1.0))
