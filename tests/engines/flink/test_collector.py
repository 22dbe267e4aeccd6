"""What a Flink cluster is asked, against the answers of a real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ftplan.api.collecting import collect
from ftplan.engines.collecting.collection import answers
from ftplan.engines.collecting.endpoint import Connection
from ftplan.engines.collecting.polling import Pace
from ftplan.errors import FtplanError
from tests.engines.collecting.server import FakeEndpoint, FakeTime, Said, served
from tests.engines.flink.replay import EXAMPLE, first_answers

SAID = first_answers()
JOB = next(path for path in SAID if path.startswith("/jobs/") and path.endswith("/plan")).removesuffix("/plan")
VERTICES = [f"{JOB}/vertices/{vertex['id']}" for vertex in SAID[JOB]["vertices"]]


def collected(folder: Path, endpoint: FakeEndpoint, polls: int = 1, **options: Any) -> list[str]:
    """Collect, and return the paths that were asked."""
    time = FakeTime()
    pace = Pace(5.0, 5.0 * (polls - 1), time.seconds, time.now, time.sleep)
    collect(endpoint.url, folder, "flink", pace, Connection(retries=0), options)
    return endpoint.paths


def test_everything_is_asked_that_the_example_has(tmp_path: Path) -> None:
    with served(SAID) as endpoint:
        asked = collected(tmp_path, endpoint)
    first = [a.path for a in answers(EXAMPLE)]
    first = first[: first.index("/overview", 1)]
    rescales = [f"{JOB}/rescales/{part}" for part in ("config", "overview", "history", "summary")]
    assert set(asked) == {*first, *rescales}
    assert [answer.path for answer in answers(tmp_path)] == first
    assert {answer.path: answer.value for answer in answers(tmp_path)} == {path: SAID[path] for path in first}


def test_what_stays_is_asked_once(tmp_path: Path) -> None:
    shape = [f"{JOB}/{part}" for part in ("plan", "config", "checkpoints/config", "rescales/config")]
    details = [path for path in SAID if "/checkpoints/details/" in path]
    with served(SAID) as endpoint:
        asked = collected(tmp_path, endpoint, polls=3)
        assert {asked.count(path) for path in shape} == {1}
        assert max(asked.count(path) for path in details) == 1
        assert asked.count(JOB) == 3
        # tasks that started anew have a new shape
        job = dict(SAID[JOB])
        endpoint.answers[JOB] = lambda: job | {"timestamps": {"RUNNING": len(endpoint.asked)}}
        asked = collected(tmp_path, endpoint, polls=2)
        assert asked.count(f"{JOB}/plan") == 3


def test_only_the_job_that_is_named(tmp_path: Path) -> None:
    jid = JOB.removeprefix("/jobs/")
    jobs = {"jobs": [*SAID["/jobs/overview"]["jobs"], {"jid": "0" * 32, "name": "other", "state": "RUNNING"}]}
    with served(SAID | {"/jobs/overview": jobs}) as endpoint:
        assert f"/jobs/{'0' * 32}" not in collected(tmp_path / "a", endpoint, jobs=["orders"])
        assert JOB not in collected(tmp_path / "b", FakeView(endpoint), jobs=["0" * 32])
        assert JOB in collected(tmp_path / "c", FakeView(endpoint), jobs=[jid])
        with pytest.raises(FtplanError, match=r"--job order: .* \(did you mean 'orders'\?\): orders, other"):
            collected(tmp_path / "d", endpoint, jobs=["order"])
        assert not (tmp_path / "d").exists()


class FakeView(FakeEndpoint):
    """What another endpoint is asked from now on."""

    def __init__(self, endpoint: FakeEndpoint) -> None:
        self.url, self._endpoint, self._before = endpoint.url, endpoint, len(endpoint.asked)

    @property
    def paths(self) -> list[str]:
        return self._endpoint.paths[self._before :]


def test_jobs_that_are_over_are_left_alone(tmp_path: Path) -> None:
    over = {"jobs": [job | {"state": "CANCELED"} for job in SAID["/jobs/overview"]["jobs"]]}
    with served(SAID | {"/jobs/overview": over}) as endpoint:
        assert not any(path.startswith(JOB) for path in collected(tmp_path, endpoint))


def test_metrics_are_chosen_by_name(tmp_path: Path) -> None:
    with served(SAID) as endpoint:
        asked = collected(tmp_path, endpoint, metrics="numRecords(In|Out)")
    for vertex in VERTICES:
        assert f"{vertex}/subtasks/0/metrics?get=numRecordsIn,numRecordsOut" in asked
    with pytest.raises(FtplanError, match="--metrics: is no regular expression"), served(SAID) as endpoint:
        collected(tmp_path, endpoint, metrics="(")


def test_long_lists_of_metrics_are_parted(tmp_path: Path) -> None:
    names = [f"operator é {number}.numRecordsIn" for number in range(300)]
    listing = f"{VERTICES[0]}/subtasks/metrics"
    with served(SAID | {listing: [{"id": name} for name in names]}) as endpoint:
        asked = collected(tmp_path, endpoint)
    parts = [path.partition("?get=")[2] for path in asked if path.startswith(f"{listing}?get=")]
    assert len(parts) == 3
    assert max(map(len, parts)) <= 4000
    assert sorted(",".join(parts).split(",")) == sorted(quote(name) for name in names)


@pytest.mark.parametrize("value", [None, [], {}, "x", [None], {"jobs": None}, {"jobs": [{"jid": 5}]}, 5])
def test_odd_answers_do_no_harm(tmp_path: Path, value: Any) -> None:
    odd = {path: value for path in SAID if path != "/overview"}
    with served(SAID | {"/jobs/overview": value}) as first, served(odd | {"/overview": SAID["/overview"]}) as second:
        collected(tmp_path / "first", first)
        second.answers["/jobs/overview"] = SAID["/jobs/overview"]
        collected(tmp_path / "second", second)


def test_a_part_that_is_refused_is_noted(tmp_path: Path) -> None:
    time = FakeTime()
    with served(SAID | {f"{JOB}/exceptions": Said(status=500)}) as endpoint:
        pace = Pace(5.0, 0.0, time.seconds, time.now, time.sleep)
        summary = collect(endpoint.url, tmp_path, "flink", pace)
    assert (summary.polls, summary.failed, summary.incomplete, summary.unanswered) == (1, 0, 1, 1)
