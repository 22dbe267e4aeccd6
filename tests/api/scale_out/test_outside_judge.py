"""Plans hold before a judge that knows nothing of ftplan, and what is planted in them does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ftplan
from tests.api.scale_out.cases import BARE, FULL, JOB, planned
from tests.api.scale_out.outside_judge import wrong

ASKED: dict[str, tuple[Any, dict[str, Any]]] = {
    "plain": (JOB, {}),
    "hash": (JOB, {"split": "hash"}),
    "ds2": (JOB, {"algorithm": "ds2"}),
    "doubling": (BARE, {"algorithm": "doubling"}),
    "full": (FULL, {"target_utilisation": 0.5}),
    "limited": (BARE, {"free_cpu": 4.0}),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_plan_is_what_it_says(name: str) -> None:
    documents, options = ASKED[name]
    plan = json.loads(planned(ftplan.load(**documents), **options).to_json())
    assert list(wrong(plan, documents)) == []
    changed = [item for item in plan["plan"]["operators"] if item["parallelism_to"] > item["parallelism_from"]]
    changed[0]["key_ranges"][0][0] += 1
    plan["objective"]["value"] *= 0.9
    assert {text.split(" ")[0] for text in wrong(plan, documents)} >= {f"{changed[0]['operator']}:", "objective"}
