"""What plans say of why an operator gets so many tasks is so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ftplan
from tests.planners.scale_out.cases import BARE, MB, document, planned


def reason(name: str, documents: Mapping[str, Any] = BARE, **options: Any) -> tuple[int, int, str]:
    """Return the tasks of an operator before and after, and the reason."""
    made = document(planned(ftplan.load(**documents), **options))
    item = next(item for item in made["plan"]["operators"] if item["operator"] == name)
    return item["parallelism_from"], item["parallelism_to"], item["reason"]


def test_room_for_state_is_no_demand() -> None:
    before, after, text = reason("count", growth=0.3, task_memory=5.0 * MB)
    assert after > before
    assert text.startswith("its tasks suffice at the demand, but one has more state than it may hold; with")
    before, after, text = reason("count", growth=0.3, task_memory=5.0 * MB, free_cpu=0.5)
    assert after == before
    assert text.startswith("its tasks suffice at the demand, but one has more state than it may hold: no new tasks")


def test_fewer_tasks_need_not_suffice() -> None:
    """A key group alone is above the target: with it alone in a task two are as good as more, and fewer than now."""
    stats = {**BARE["stats"], "key_groups": BARE["stats"]["key_groups"].copy()}
    groups = stats["key_groups"]
    groups.loc[(groups["operator"] == "alive") & (groups["key_group"] == 0), "records"] *= 30.0
    before, after, text = reason("alive", {**BARE, "stats": stats}, growth=10.0)
    assert (before, after) == (4, 2)
    assert ": fewer are no busier" in text
