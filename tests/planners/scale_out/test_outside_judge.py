"""Plans hold before a judge that knows nothing of ftplan, and what is planted in them does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ftplan
from ftplan.api.verification import verify
from tests.effort import examples
from tests.planners.scale_out.brute_force import best, random_job
from tests.planners.scale_out.cases import BARE, FULL, JOB, planned
from tests.planners.scale_out.outside_judge import wrong

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


@pytest.mark.parametrize("seed", range(examples(24)))
def test_no_other_plan_is_better(seed: int) -> None:
    documents, options = random_job(seed)
    problem = ftplan.load(**documents)
    plans = {name: planned(problem, algorithm=name, **options) for name in ("exact", "ds2", "doubling")}
    made = {name: json.loads(plan.to_json()) for name, plan in plans.items()}
    value, extra = best(made["exact"], documents)
    for name, plan in made.items():
        assert list(wrong(plan, documents)) == []
        assert not verify(plans[name], problem).violations
        assert plan["objective"]["value"] <= value + 1e-8
        assert plan["objective"]["bound"] >= value - 1e-8
    assert made["exact"]["status"] == "optimal"
    assert made["exact"]["objective"]["value"] == pytest.approx(value, abs=1e-8)
    assert made["exact"]["summary"]["after"]["extra_cpu"] == pytest.approx(extra, abs=1e-8)
    assert made["exact"]["summary"]["least_extra_cpu"] == pytest.approx(extra, abs=1e-8)
