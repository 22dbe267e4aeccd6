"""What plans say of why an operator gets so many tasks is so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ftplan
from tests.planners.scale_out.cases import BARE, CLUSTER, JOB, MB, document, planned


def reason(name: str, documents: Mapping[str, Any] = BARE, **options: Any) -> tuple[int, int, str]:
    """Return the tasks of an operator before and after, and the reason."""
    made = document(planned(ftplan.load(**documents), **options))
    item = next(item for item in made["plan"]["operators"] if item["operator"] == name)
    return item["parallelism_from"], item["parallelism_to"], item["reason"]


def test_room_for_state_is_no_demand() -> None:
    before, after, text = reason("count", growth=0.3, task_memory=5.0 * MB)
    assert after > before
    assert "; its state needs 6 of at most 5 MiB each (--task-memory)" in text
    before, after, text = reason("count", growth=0.3, task_memory=5.0 * MB, free_cpu=0.5)
    assert after == before
    assert "its fullest task has " in text
    assert text.endswith("of at most 5 MiB (--task-memory): more find no room, or another operator holds its job back")


def with_memory(mb: float, **more: Any) -> dict[str, Any]:
    return {**JOB, "cluster": {**CLUSTER, "nodes": [{**node, "memory_mb": mb, **more} for node in CLUSTER["nodes"]]}}


def test_a_limit_that_nobody_stated_is_named_where_it_binds() -> None:
    """Half a core of 8 is 2 MiB of 32; a slot of two is 16 MiB: the demand decides."""
    made = document(planned(ftplan.load(**with_memory(32))))
    rank = next(item for item in made["plan"]["operators"] if item["operator"] == "rank")
    assert (rank["parallelism_to"], rank["bound_by"]) == (5, "task-memory")
    assert (
        "3 with its key groups; its state needs 5 of at most 2 MiB each (the part of a node's memory" in rank["reason"]
    )
    said = {warning["code"]: warning["message"] for warning in made["warnings"]}
    assert said["TASK_MEMORY_ASSUMED"].startswith("rank: 5 tasks because each is taken to hold at most 2 MiB of state")
    made = document(planned(ftplan.load(**with_memory(32, slots=2))))
    rank = next(item for item in made["plan"]["operators"] if item["operator"] == "rank")
    assert (rank["parallelism_to"], rank["bound_by"]) == (3, "demand")
    assert "TASK_MEMORY_ASSUMED" not in {warning["code"] for warning in made["warnings"]}
    assert "slots" in made["rules"]


def test_slots_bind() -> None:
    """Six key groups' worth of tasks and four slots; what is said of an operator never contradicts itself."""
    before, after, text = reason("count", with_memory(512, slots=1))
    assert (before, after) == (4, 4)
    assert text == "its busiest task would have 1.09 at the demand, above 0.7: all slots together do not suffice"
    before, after, text = reason("count", with_memory(4, slots=2), growth=0.3)
    assert (before, after) == (4, 4)
    assert "its fullest task has 6.32 MiB of state, of at most 2 MiB (a slot's part of a node's memory)" in text
    assert "its tasks suffice" not in text


def test_fewer_tasks_need_not_suffice() -> None:
    """A key group alone is above the target: with it alone in a task two are as good as more, and fewer than now."""
    stats = {**BARE["stats"], "key_groups": BARE["stats"]["key_groups"].copy()}
    groups = stats["key_groups"]
    groups.loc[(groups["operator"] == "alive") & (groups["key_group"] == 0), "records"] *= 30.0
    before, after, text = reason("alive", {**BARE, "stats": stats}, growth=10.0)
    assert (before, after) == (4, 2)
    assert ": fewer are no busier" in text


def test_full_memory_alone_is_an_alarm_that_says_so() -> None:
    """Idle tasks at their limit of memory, whose key groups have little state."""
    stats = {**JOB["stats"], "tasks": JOB["stats"]["tasks"].copy()}
    stats["tasks"].loc[stats["tasks"]["operator"] == "alive", "memory_bytes"] = 4.0 * MB
    made = document(planned(ftplan.load(**{**BARE, "stats": stats}), task_memory=4.0 * MB))
    alive = next(item for item in made["plan"]["operators"] if item["operator"] == "alive")
    assert (alive["state"], alive["parallelism_to"]) == ("promoted", 4)
    assert "the memory of one is 100 % full, and not by the state of its key groups" in alive["reason"]
    untouched = document(planned(ftplan.load(**BARE), task_memory=4.0 * MB))
    assert next(i for i in untouched["plan"]["operators"] if i["operator"] == "alive")["state"] == "scale-in"
