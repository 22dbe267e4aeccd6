"""When a simulation ends that nobody tells when."""

from __future__ import annotations

from typing import Any

import ftplan
from ftplan.simulation.recovery import simulate
from tests.simulation.recovery.file_cases import FAILURE, QUICK, problem

OPEN: dict[str, Any] = {**QUICK, "until_s": None, "max_cpu": 0.95, "every_s": 10.0}
LATE: dict[str, Any] = {
    **FAILURE,
    "arrivals": [{"at_s": [200, 400], "node": {"id": f"r{i}", "cpu": 1}} for i in (1, 2)],
}


def simulated(failure: dict[str, Any], **asked: Any) -> Any:
    return ftplan.simulate("recovery", problem(failure=failure), **{**OPEN, **asked})


def not_back(answer: Any) -> int:
    return sum(query["runs_not_back"] for item in answer.recoveries for query in item["queries"])


def test_five_minutes_more_where_all_are_back_by_then() -> None:
    answer = simulated(FAILURE)
    assert answer.body["until_s"] == 360.0  # the last arrival may be at 40 s
    assert not not_back(answer)


def test_goes_on_until_the_last_query_is_back() -> None:
    """Tasks that work 0.7 of their time take more than twice the outage to catch up."""
    answer = simulated(LATE)
    last_s = answer.recoveries[0]["summary"]["last_back_s"]["mean"]
    assert not not_back(answer)
    assert 720.0 < last_s + simulate.REST_S <= answer.body["until_s"] < last_s + simulate.REST_S + 60.0
    told = simulated(LATE, until_s=answer.body["until_s"]).to_dict()
    assert told | {"options": None} == answer.to_dict() | {"options": None}


def test_long_enough_for_every_mode_and_run() -> None:
    answer = simulated(LATE, mode=["incremental", "blocking"], runs=2)
    assert not not_back(answer)


def test_who_never_comes_back_does_not_make_it_longer() -> None:
    answer = simulated(LATE, arrivals=False)
    assert answer.body["until_s"] == 300.0
    assert not_back(answer) == 2
    assert [warning.code for warning in answer.warnings] == ["NOT_BACK"]
