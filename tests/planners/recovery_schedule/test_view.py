"""Tables of recovery schedules from plans made by hand: what is back over time, what gives way, what catches up."""

from __future__ import annotations

from typing import Any

import pytest

from ftplan.model.plan import Plan
from ftplan.planners.recovery_schedule import view_charts
from ftplan.planners.recovery_schedule.view import answer
from ftplan.planners.recovery_schedule.view_charts import BEHIND, RESTORE, chart
from ftplan.reports.answer import Table
from ftplan.reports.sparkline import BLOCKS

TASK = {"operator": "sums", "index": 0, "node": "n1", "cpu": 1.0, "ready_s": 20.0, "prefetch": False}


def plan(pause: list[dict[str, Any]] | None = None, caught_up_s: float = 20.0, **summary: Any) -> Plan:
    """A task fails at 0 s and comes back at 10 s with a new node; a query of priority 4 is whole with it."""
    told = {"capacity": 0.0, "used": 0.0, "objective": {"value": 0.0, "bound": 0.0}, "restored": []}
    steps = [
        {"step": 0, "at_s": 0.0, "trigger": "failure", "recover": [], **told} | ({"pause": pause} if pause else {}),
        {"step": 1, "at_s": 10.0, "trigger": "arrival:n1", "recover": [TASK | {"caught_up_s": caught_up_s}], **told},
        {"step": 2, "at_s": 40.0, "trigger": "failure:node:n9", "recover": [], **told},
    ]
    queries = [{"operator": "sums", "index": 0, "priority": 4.0, "back_s": caught_up_s, "reason": ""}]
    timeline = [{"at_s": caught_up_s, "queries": 1, "priority": 4.0}]
    body = {"steps": steps, "queries": queries, "unrecovered": [], "timeline": timeline}
    return Plan("recovery-schedule", body, summary=summary)


def tables(shown: Plan) -> dict[str, Table]:
    """The tables of a plan, by the head of their first two columns."""
    return {f"{table.columns[0]}|{table.columns[1]}": table for table in answer(shown).tables}


@pytest.fixture(autouse=True)
def eight_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's output takes every character, and lines are 20 characters wide."""
    monkeypatch.setattr(view_charts, "levels", lambda: BLOCKS)
    monkeypatch.setattr(view_charts, "line_width", lambda beside: 20)


def test_what_is_back_over_time_stands_under_one_axis() -> None:
    """Forty seconds, and two more; a character is 2.1 s."""
    beside = {
        "before": {"priority_time": 160.0, "timeline": [[40.0, 4.0]]},
        "step_by_step": {"priority_time": 80.0, "timeline": [[21.0, 2.0], [31.5, 4.0]]},
        "most_back": [[10.5, 4.0], [50.0, 8.0]],
    }
    shown = tables(plan(caught_up_s=21.0, after={"priority_time": 80.0}, **beside))
    table = shown["priority back, to 8|from 0 s to 42 s"]
    low, half, high = BLOCKS[0], BLOCKS[4], BLOCKS[2]
    assert [row[0] for row in table.rows] == ["this plan", "step by step", "blocking", "at most", "fails x, arrives +"]
    lines = [row[1] for row in table.rows]
    assert lines[0] == low * 10 + half * 10
    assert lines[1] == low * 10 + high * 5 + half * 5
    assert lines[2] == low * 19 + half
    assert lines[3] == low * 5 + half * 15
    assert lines[4] == " " * 4 + "+" + " " * 14 + "x"
    assert shown["|blocking"].columns[2] == "step by step"


def test_what_is_the_same_at_all_times_shares_a_line() -> None:
    table = tables(plan(before={"timeline": [[20.0, 4.0]]}, step_by_step={"timeline": [[20.0, 4.0]]}))
    assert [row[0] for row in table["priority back, to 4|from 0 s to 21 s"].rows] == [
        "this plan, step by step, blocking", "fails x, arrives +",
    ]  # fmt: skip


def test_a_plan_alone_has_no_lines() -> None:
    """There is nothing beside it; and without what came of each step alone there is no column for it."""
    shown = tables(plan(after={"priority_time": 80.0}, before={"priority_time": 160.0}))
    assert not [name for name in shown if name.startswith("priority back")]
    assert shown["|blocking"].columns == ("", "blocking", "this plan")


def test_what_is_back_at_once_has_no_lines() -> None:
    shown = tables(plan(caught_up_s=0.0, before={"timeline": [[0.0, 4.0]]}))
    assert not [name for name in shown if name.startswith("priority back")]


def test_only_what_catches_up_has_a_column_for_it() -> None:
    assert "caught up, s" not in tables(plan())["step|task"].columns
    table = tables(plan(caught_up_s=30.0))["step|task"]
    assert table.rows[0][table.columns.index("caught up, s")] == 30.0


def test_what_gives_way_is_listed_with_its_return() -> None:
    """The task comes back with the next step; a replica does not, nor what no step starts again."""
    gone = [
        {"operator": "sums", "index": 0, "node": "n2", "cpu": 1.0},
        {"operator": "sums", "index": 0, "node": "n3", "cpu": 1.0, "replica": True},
        {"operator": "lost", "index": 1, "node": "n2", "cpu": 0.5},
    ]
    table = tables(plan(gone, caught_up_s=30.0))["step|gives way"]
    assert [tuple(row) for row in table.rows] == [
        (0, "sums/0", "n2", 1.0, 30.0), (0, "sums/0 (replica)", "n3", 1.0, None), (0, "lost/1", "n2", 0.5, None),
    ]  # fmt: skip


def test_a_restore_hides_what_catches_up_beside_it() -> None:
    body = plan(caught_up_s=40.0).plan or {}
    body["steps"][1]["recover"].append(TASK | {"index": 1, "ready_s": 30.0, "caught_up_s": 40.0})
    drawn = chart(body, 120)
    assert drawn is not None
    assert drawn.title is not None
    assert drawn.title.endswith(f"{BEHIND} catching up)")
    line = str(drawn.rows[0][1])
    assert line.strip("·").strip(RESTORE).strip(BEHIND) == ""
    assert line.count(RESTORE) == pytest.approx(len(line) / 2, abs=1)


def test_the_headline_says_what_rollbacks_do() -> None:
    rows = answer(plan(rolled_back_queries=3, waiting={"until_s": 40.0, "priority_time": 1200.0})).tables[0].rows
    assert ("queries down by a rollback only", 3) in rows
    assert ("waiting instead", "until the failure at 40 s: 1,200 priority x seconds down") in rows
