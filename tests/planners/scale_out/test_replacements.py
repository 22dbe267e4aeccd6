"""What plans say of how tasks are replaced: steps, nodes, contention, and backups that count as replicas."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import verify
from tests.planners.scale_out.cases import BARE, job, planned


@cache
def problem() -> ftplan.Problem:
    return job()


def changed(plan: ftplan.Plan) -> dict[str, dict[str, Any]]:
    """Return what changes, by operator."""
    assert plan.plan is not None
    return {item["operator"]: item for item in plan.plan["operators"] if item["steps"]}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"technique": "active-backup"}, ["start ", "copy ", "send ", "connect ", "stop "]),
        ({"technique": "checkpoint"}, ["go on ", "start ", "load ", "send ", "divide ", "stop "]),
        ({"latency_budget_s": 0.5}, ["start ", "turn ", "send ", "turn ", "stop "]),
    ],
)
def test_steps_of_each_technique(options: dict[str, Any], expected: list[str]) -> None:
    """They are in order, and say how long each takes; nothing is said of a checkpoint that is made anyway."""
    item = changed(planned(problem(), **options))["count"]
    assert [text.startswith(begin) for text, begin in zip(item["steps"], expected, strict=True)] == [True] * len(
        expected
    )
    assert all(text.isascii() for text in item["steps"])
    timed = [text for text in item["steps"] if re.search(r"[0-9.]+ s\b|min", text)]
    assert len(timed) >= 3
    assert any(f"{item['pause_s']:.3g} s" in text for text in timed)


def test_steps_without_state_and_without_regular_checkpoints() -> None:
    found = changed(planned(problem(), technique="checkpoint", scale_in=25.0))
    assert found["rank"]["steps"][0].startswith("store the state beside its regular checkpoints")
    bare = changed(planned(ftplan.load(**BARE), technique="active-backup"))
    assert all("node" not in text for text in bare["count"]["steps"])
    stateless = changed(planned(job(factor=0.7)))["parse"]
    assert (stateless["technique"], stateless["pause_s"], len(stateless["steps"])) == (None, 0.0, 3)


def test_contention_is_told_with_a_cluster() -> None:
    summary = planned(problem()).summary["contention"]
    assert [row["node"] for row in summary["before"]] == ["n1", "n2", "n3", "n4"]
    for rows in summary.values():
        assert all(row["network"] is None and 0.0 <= row["compute"] < 1.0 and row["state"] < 1.0 for row in rows)
    # the same work on other nodes
    busy = [sum(row["compute"] * cpu for row, cpu in zip(rows, (8, 8, 8, 6), strict=True)) for rows in summary.values()]
    assert busy[0] == pytest.approx(busy[1])
    assert planned(ftplan.load(**BARE)).summary["contention"]["after"] is None


def test_backups_that_a_plan_prepares_are_replicas(tmp_path: Path) -> None:
    """All tasks of the one that is prepared are replicated where its secondary is; those that are split now are not."""
    made = planned(job(factor=0.6), technique="active-backup", promote=79.0, target_utilisation=0.6)
    states = {name: item["state"] for name, item in changed(made).items() if item["technique"]}
    assert states == {"alive": "scale-in", "rank": "promoted", "count": "prepared"}
    path = tmp_path / "scale-out.json"
    path.write_text(made.to_json())
    plan = ftplan.plan("replicate-tasks", problem(), budget=4, current=path, max_changes=0)
    assert plan.plan is not None
    nodes = {(item["operator"], item["index"]): item["node"] for item in plan.plan["replicas"]}
    assert sorted(nodes) == [("count", index) for index in range(4)]
    assert set(nodes.values()) <= set(changed(made)["count"]["nodes"])
    assert "now, as it is above the alarming threshold: start 5 new tasks" in changed(made)["count"]["steps"][0]
    assert changed(made)["count"]["steps"][-1].endswith(
        "falls below the alarming threshold first, stop the secondary instead"
    )
    assert verify(plan, problem()).violations == ()
