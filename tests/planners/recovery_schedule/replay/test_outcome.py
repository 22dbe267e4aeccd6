"""A schedule carried out: as planned it comes true, otherwise what can start starts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.model.cluster import Node
from ftplan.model.failure import Arrival, Fail
from ftplan.model.names import parse_selector
from ftplan.planners.recovery_schedule.incident import Incident, Transfers
from ftplan.planners.recovery_schedule.replay.outcome import outcome
from ftplan.planners.recovery_schedule.replay.replay import replay
from tests.model import figure_2 as fig
from tests.planners.recovery_schedule.replay.cases import failing_again, later, split_task


def back(body: dict[str, Any], incident: Incident) -> dict[str, float | None]:
    found = outcome(body["steps"], incident)
    return {incident.graph.name(o.query)[0]: o.back_s for o in found.outages}


def cases() -> list[tuple[dict[str, Any], Incident]]:
    again = fig.incident(fail=(*fig.incident().fail, later("node:a1", 150.0)), arrivals=fig.incident().arrivals[:4])
    slow = fig.incident(transfers=Transfers(np.full(12, 100.0), 10.0, 1.0))
    incident, split = split_task()
    return [
        (fig.full(), fig.incident()),
        (fig.by_hand(fig.OPERATOR_CENTRIC), fig.incident()),
        (fig.by_hand(), slow),
        (failing_again(), again),
        (split, incident),
    ]


@pytest.mark.parametrize(("body", "incident"), cases())
def test_as_planned_the_plan_comes_true(body: dict[str, Any], incident: Incident) -> None:
    planned, found = replay(body["steps"], incident), outcome(body["steps"], incident)
    assert [(o.query, o.down_s, o.back_s) for o in found.outages] == [
        (o.query, o.down_s, o.back_s) for o in planned.outages
    ]
    assert found.caught_up.tolist() == planned.caught_up.tolist()


def test_a_late_node_brings_its_tasks_late() -> None:
    arrivals = [*fig.incident().arrivals]
    arrivals[1] = Arrival((200.0, 200.0), arrivals[1].node)
    assert back(fig.by_hand(), fig.incident(arrivals=tuple(arrivals))) == {
        "p09": 200.0,
        "p10": 200.0,
        "p11": 300.0,
        "p12": 300.0,
    }


def test_a_step_comes_with_the_nodes_that_it_is_called_after() -> None:
    early = tuple(Arrival((10.0 * i, 20.0 * i), Node(f"a{i}", 2.5)) for i in range(1, 6))
    assert back(fig.full(), fig.incident(arrivals=early)) == {"p09": 30.0, "p10": 45.0, "p11": 75.0, "p12": 75.0}
    assert back(fig.by_hand(), fig.incident(arrivals=early)) == {
        "p09": 120.0,
        "p10": 180.0,
        "p11": 300.0,
        "p12": 300.0,
    }


def test_what_the_plan_does_not_name_stays_down() -> None:
    more = fig.incident(fail=(*fig.incident().fail, Fail(parse_selector("task:p02/0"))))
    found = outcome(fig.by_hand()["steps"], more)
    assert back(fig.by_hand(), more) == {"p09": 120.0, "p10": None, "p11": None, "p12": None}
    assert np.flatnonzero(np.isinf(found.caught_up)).tolist() == [more.graph.number("p02", 0)]


def test_what_has_not_failed_is_passed_over() -> None:
    fewer = fig.incident(fail=(Fail(parse_selector("node:f1")),))
    found = outcome(fig.by_hand()["steps"], fewer)
    assert found.started == len(found.failed) == 2
    assert back(fig.by_hand(), fewer) == {"p09": 60.0, "p10": 180.0, "p11": 180.0, "p12": 180.0}


def test_no_room_no_node_no_start() -> None:
    assert set(back(fig.by_hand(), fig.incident(arrivals=())).values()) == {None}
    small = tuple(Arrival(a.at_s, replace(a.node, cpu=1.25)) for a in fig.incident().arrivals)
    assert outcome(fig.by_hand()["steps"], fig.incident(arrivals=small)).started == 5


def test_runs_end_where_the_task_fails_again() -> None:
    body, again = cases()[3]
    found = outcome(body["steps"], again)
    task = again.graph.number("p03", 0)
    assert [(a, b) for number, a, b in found.uptimes if number == task] == [(60.0, 150.0), (180.0, np.inf)]
    assert found.lost == ()
    struck = fig.incident(fail=(*fig.incident().fail, later("task:p01/0", 10.0)))
    assert outcome(body["steps"], struck).lost == ((struck.graph.number("p01", 0), 10.0),)
