"""What the rows of a sweep say together, held to plain definitions."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.what_if.summary import SummaryRequest, summary, summary_request, unmet_limits
from tests.what_if.executed import COLUMNS, Arithmetic

VALUE = st.none() | st.integers(-4, 4).map(float)


def rows_of(values: list[tuple[float | None, float | None]]) -> list[dict[str, Any]]:
    ids = ["base", *(f"c{i}" for i in range(1, len(values)))]
    return [
        {"case": case, "status": "optimal" if cost is not None else "error", "cost": cost, "value": value, "gap": 0.0}
        for case, (cost, value) in zip(ids, values, strict=True)
    ]


@given(st.lists(st.tuples(VALUE, VALUE), min_size=2, max_size=12))
def test_the_front_is_what_no_case_dominates(values: list[tuple[float | None, float | None]]) -> None:
    sweep: Any = Arithmetic(len(values))
    rows = rows_of(values)
    asked = summary_request(sweep, "cost,value", ())
    front = summary(sweep, rows, asked)["pareto"]
    assert front["measures"] == ["cost", "value"]
    points = {(r["cost"], r["value"]) for r in rows[1:] if r["cost"] is not None and r["value"] is not None}
    undominated = {(c, v) for c, v in points if not any((a <= c and b >= v and (a, b) != (c, v)) for a, b in points)}
    assert {tuple(case["values"]) for case in front["cases"]} == undominated
    assert [case["values"][0] for case in front["cases"]] == sorted(c for c, _ in undominated)
    for case in front["cases"]:  # the first of equals
        same = [r["case"] for r in rows[1:] if [r["cost"], r["value"]] == case["values"]]
        assert case["case"] == same[0]


@given(st.lists(st.tuples(VALUE, VALUE), min_size=2, max_size=12))
def test_best_worst_and_quantiles(values: list[tuple[float | None, float | None]]) -> None:
    sweep: Any = Arithmetic(len(values))
    rows = rows_of(values)
    said = summary(sweep, rows)
    costs = [r["cost"] for r in rows[1:] if r["cost"] is not None]
    if costs:
        assert (said["best"]["value"], said["worst"]["value"]) == (min(costs), max(costs))
        assert said["best"]["case"] == next(r["case"] for r in rows[1:] if r["cost"] == min(costs))
        figures = said["quantiles"][0]
        assert (figures["values"], figures["median"]) == (len(costs), np.median(costs))
        assert (figures["min"], figures["max"], figures["p90"]) == (min(costs), max(costs), np.quantile(costs, 0.9))
    else:
        assert said["best"] is None
        assert said["quantiles"][0]["mean"] is None
    assert said["failed"] == sum(r["cost"] is None for r in rows)
    assert sum(said["statuses"].values()) == said["cases"] == len(rows)


def test_limits_name_the_worst_case() -> None:
    sweep: Any = Arithmetic(4)
    rows = rows_of([(9.0, 1.0), (2.0, 1.0), (5.0, 2.0), (3.0, None)])

    def unmet(*limits: str) -> tuple[str, ...]:
        return unmet_limits(sweep, rows, summary_request(sweep, None, limits).limits)

    assert unmet("cost=5", "gap=0") == ()
    assert unmet("cost=4") == ("cost of case c2 is 5, above the limit 4",)
    assert unmet("cost=2.5") == ("cost of case c2 is 5, above the limit 2.5; 2 of 3 cases miss it",)
    assert unmet("value=1") == ("value of case c3 is undefined, which misses the limit 1",)
    assert unmet("value=1.5") == ("value of case c3 is undefined, which misses the limit 1.5; 2 of 3 cases miss it",)


def test_the_base_alone_is_judged() -> None:
    sweep: Any = Arithmetic(1)
    rows = rows_of([(9.0, 1.0)])
    assert summary(sweep, rows)["best"] == {"case": "base", "value": 9.0}
    assert unmet_limits(sweep, rows, (("cost", 4.0),)) == ("cost of case base is 9, above the limit 4",)


def test_without_a_direction_there_is_no_best() -> None:
    columns = tuple(dataclasses.replace(column, sense=None) for column in COLUMNS)
    sweep: Any = Arithmetic(2, columns=columns)
    assert summary(sweep, rows_of([(1.0, 1.0), (2.0, 1.0)]), SummaryRequest())["best"] is None
    with pytest.raises(FtplanError, match="--pareto: of cost neither more nor less is better"):
        summary_request(sweep, "cost,value", ())
    with pytest.raises(FtplanError, match="--fail-under: of cost neither more nor less is better"):
        summary_request(sweep, None, ["cost=3"])


@pytest.mark.parametrize(
    ("pareto", "limits", "said"),
    [
        ("cost", (), "--pareto 'cost': expected two measures, as A,B; measures: cost, value, gap"),
        ("cost,cost", (), "expected two measures"),
        ("cost,valu", (), r"--pareto: unknown measure 'valu' \(did you mean 'value'\?\)"),
        (None, ("cots=3",), r"--fail-under 'cots=3': expected MEASURE=VALUE \(did you mean 'cost'\?\); measures: cost"),
        (None, ("cost",), "expected MEASURE=VALUE"),
        (None, ("cost=x",), "'x' is no number"),
    ],
)
def test_what_cannot_be_asked(pareto: str | None, limits: tuple[str, ...], said: str) -> None:
    with pytest.raises(FtplanError, match=said):
        summary_request(Arithmetic(2), pareto, limits)  # type: ignore[arg-type]
