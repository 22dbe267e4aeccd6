"""What a page says of a recovery schedule, from a plan made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ftplan.model.plan import Plan
from ftplan.planners.recovery_schedule.figure import figures, highlights, lead
from ftplan.planners.recovery_schedule.figure_times import back_over_time, restores
from ftplan.reports.proof import value_figure
from ftplan.reports.tables import summary_tables

SUMMARY = {
    "before": {"priority_time": 160.0, "timeline": [[40.0, 4.0]]},
    "step_by_step": {"priority_time": 100.0, "timeline": [[25.0, 4.0]]},
    "after": {"priority_time": 80.0},
    "most_back": [[10.0, 4.0]],
}


def by_hand(**summary: Any) -> Plan:
    """Two tasks come back on a node, one after the other, and catch up; their query is back at 20 s."""
    task = {"operator": "sums", "index": 0, "node": "n1", "ready_s": 12.0, "caught_up_s": 20.0}
    second = task | {"index": 1, "ready_s": 14.0, "caught_up_s": 14.0, "prefetch": True}
    body = {
        "steps": [{"at_s": 0.0, "recover": []}, {"at_s": 10.0, "trigger": "arrival:n1", "recover": [task, second]}],
        "queries": [{"operator": "sums", "index": 0, "priority": 4.0, "back_s": 20.0}],
        "timeline": [{"at_s": 20.0, "queries": 1, "priority": 4.0}],
    }
    return Plan("recovery-schedule", body, summary=summary)


def test_stairs_are_drawn_of_all_that_the_plan_knows() -> None:
    drawn = figures(by_hand(**SUMMARY))[0]
    assert [text for _, _, text in drawn.key] == [
        "this plan", "at each step alone", "waiting until all fits", "proven: no more can be back by then",
        "a new node arrives",
    ]  # fmt: skip
    alone = figures(by_hand())[0]
    assert [text for _, _, text in alone.key] == ["this plan", "a new node arrives"]


@pytest.mark.parametrize("curve", [None, "steep", [1.0], [[1.0]], [["a", 2.0]], [[1.0, None]], {"at": 1.0}])
def test_a_curve_that_is_none_draws_nothing(curve: Any) -> None:
    """A file may hold anything in its summary."""
    known = back_over_time(by_hand().plan or {}, {"before": {"timeline": curve}, "most_back": curve})
    assert known == {"after": [(20.0, 4.0)]}
    assert figures(by_hand(before={"timeline": curve}, most_back=curve))


def test_the_lead_says_how_much_less_is_lost() -> None:
    said = " ".join(lead(by_hand(**SUMMARY))).replace("\u00a0", " ")
    assert (
        "Priority × time down is 50 % less than if every task waited until all of them fit, and 20 % less than if each "
        "step brought back the most that it can."
    ) in said
    assert "less than" not in " ".join(lead(by_hand(after={"priority_time": 80.0}, before={"priority_time": 80.0})))
    lost = next(item for item in highlights(by_hand(**SUMMARY)) if item.what.startswith("Priority"))
    assert lost.beside == "waiting for all: 160, step by step: 100"


def test_the_lead_says_what_gives_way() -> None:
    plan = by_hand()
    assert plan.plan is not None
    plan.plan["steps"][0]["pause"] = [{"operator": "less", "index": 3, "node": "n1"}]
    assert "1 running task gives way to failed ones that matter more." in " ".join(lead(plan)).replace("\u00a0", " ")


def test_tasks_catch_up_after_their_restores() -> None:
    """What catches up stands first, so that restores are drawn over it."""
    rows = restores(by_hand().plan or {})["n1"]
    assert [(s.what, s.begin_s, s.end_s) for s in rows] == [
        ("catch-up", 12.0, 20.0), ("restore", 10.0, 12.0), ("prefetch", 12.0, 14.0),
    ]  # fmt: skip
    assert "catching up" in [text for _, _, text in figures(by_hand())[1].key]


def test_each_step_alone_is_a_column_and_a_bar() -> None:
    made = summary_tables(SUMMARY, "waiting until all fits")
    assert [name for name, _ in made[0].columns] == [
        "figure", "waiting until all fits", "at each step alone", "this plan",
    ]  # fmt: skip
    assert len(made) == 1, "curves are no facts"
    assert value_figure(by_hand(**SUMMARY), "before") is None
