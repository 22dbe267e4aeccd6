"""What is said of the parallelisms that an operator could have had is what they would do."""

from __future__ import annotations

import pytest

import ftplan
from ftplan.api.plans import explain
from tests.planners.scale_out.cases import BARE, document, planned


def test_other_parallelisms_have_their_best_ranges() -> None:
    problem = ftplan.load(**BARE)
    plan = planned(problem)
    for item in document(plan)["plan"]["operators"]:
        if item["parallelism_to"] == item["parallelism_from"] or item["state"] == "scale-in":
            continue
        rows = explain(plan, problem, f"operator:{item['operator']}").candidates
        chosen = next(row for row in rows if row["chosen"])
        assert chosen["parallelism"] == item["parallelism_to"]
        assert chosen["busiest task"] == pytest.approx(item["utilisation_to"])
        assert chosen["ruled out by"] is None
        fewer = [row for row in rows if row["parallelism"] < chosen["parallelism"]]
        assert all(row["ruled out by"] for row in fewer)
        busiest = [row["busiest task"] for row in rows]
        assert busiest == sorted(busiest, reverse=True)  # by load more tasks are never busier
        return
    raise AssertionError("the job has no bottleneck")
