"""Files of rules: what they may say, and one sentence for what they may not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ftplan.api.checking import check_files
from ftplan.planners.scale_out.bottlenecks.rules_file import SHIPPED, load_bottleneck_rules
from tests.io.cases import BOTTLENECK_RULES
from tests.io.examples import said


def _with(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(BOTTLENECK_RULES)
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


def test_check_reads_it() -> None:
    checked, errors = check_files([SHIPPED])
    assert errors == []
    assert (checked[0].kind, checked[0].summary) == ("bottleneck-rules", {"inputs": 3, "rules": 5})


def test_an_input_may_be_left_out() -> None:
    document = _with(("inputs",), {"cpu": BOTTLENECK_RULES["inputs"]["cpu"]})  # type: ignore[index]
    document["rules"] = ["if all high then over", "otherwise normal"]
    assert list(load_bottleneck_rules(document).value.inputs) == ["cpu"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (_with(("inputs",), {}), "inputs: needs at least one of cpu, memory, data"),
        (_with(("inputs", "cpu", "low"), [0, 50, 30]), "inputs.cpu.low: points must rise, got 0, 50, 30"),
        (_with(("score", "over"), [50, 50, 50]), "score.over: points must rise, got 50, 50, 50"),
        (
            _with(("inputs", "cpu", "more"), [0, 5, 30]),
            "inputs.cpu.more: 'more' is a word of the rules: give the label another name",
        ),
        (_with(("rules", 1), "if cpu is hot then x"), "rules[1]: 'hot' is no label of cpu: one of low, medium, high"),
        (_with(("rules", 1), "if all medium then x"), "rules[1]: 'medium' is no label of all inputs: one of low, high"),
        (_with(("rules", 0), "otherwise over"), "rules: only one may begin with 'otherwise'"),
        (
            _with(("rules",), ["if cpu is high then over"]),
            "rules: say nothing of a task with cpu 0 %, memory 0 %, data 0 %: add 'otherwise LABEL'",
        ),
        (_with(("rules",), []), "rules: needs at least one entry"),
        (_with(("score", "over"), [50, 70, 120]), "score.over[2]: must be at most 100, got 120"),
    ],
)  # fmt: skip
def test_mistakes(document: dict[str, Any], message: str) -> None:
    assert said(load_bottleneck_rules, document) == f"bottleneck rules: {message}"


def test_a_misspelt_input_is_told() -> None:
    document = _with(("inputs", "memry"), {"low": [0, 0, 50]})
    assert [warning.message for warning in load_bottleneck_rules(document).warnings] == [
        "bottleneck rules: inputs.memry: unknown key is ignored (did you mean 'memory'?)"
    ]
