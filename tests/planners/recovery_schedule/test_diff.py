"""What a difference of two recovery schedules names: times, nodes, and what gives way."""

from __future__ import annotations

from typing import Any

from ftplan.api import diff


def schedule(node: str, *pause: dict[str, Any]) -> dict[str, Any]:
    step = {"at_s": 5.0, "recover": [{"operator": "o", "index": 0, "node": node}]} | ({"pause": pause} if pause else {})
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "recovery-schedule", "plan": {"steps": [step]}}


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[Any, ...]]:
    told = diff(before, after).changes
    return [(c["operator"], c["index"], c["what"], c["from"], c["to"]) for c in told]


def test_what_gives_way_is_a_change() -> None:
    gone = {"operator": "o", "index": 2, "node": "n1", "cpu": 1.0}
    assert changes(schedule("n1"), schedule("n1", gone)) == [("o", 2, "pause_s", None, 5.0)]
    assert changes(schedule("n1", gone), schedule("n2")) == [
        ("o", 0, "node", "n1", "n2"), ("o", 2, "pause_s", 5.0, None),
    ]  # fmt: skip


def test_a_replica_that_gives_way_is_no_task() -> None:
    gone = {"operator": "o", "index": 2, "node": "n1", "cpu": 1.0, "replica": True}
    assert changes(schedule("n1"), schedule("n1", gone)) == []
