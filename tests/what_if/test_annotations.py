"""What the answers of cases warn of stands in their rows, in the result as a whole, and in its report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ftplan
from ftplan.planners.making import without_comparisons
from ftplan.what_if.annotations import union
from ftplan.what_if.case_file import load_cases
from ftplan.what_if.journal import Journal
from ftplan.what_if.outcome import outcome_of
from ftplan.what_if.result import WhatIfResult
from ftplan.what_if.runner import Execution, answer_cases
from tests.what_if.cases import CLUSTER, ENVELOPE, TOPOLOGY

HOLE = {"code": "HOLE", "message": "a hole"}
#: Without a bandwidth schedules assume one; a case that gives it does not.
SWEEP = {
    **ENVELOPE,
    "name": "bandwidths",
    "inputs": {"topology": TOPOLOGY, "cluster": {**CLUSTER, "network": {}}},
    "run": {"command": "recovery-schedule", "fail": "node:n1", "options": {"iterations": 5}},
    "cases": [{"id": "fast", "options": {"bandwidth": 100.0}}, {"id": "fewer", "remove": ["node:n4"]}],
}


def test_a_union_names_each_code_once() -> None:
    """With how many cases have it, and the first of them; twice in one case is once."""
    other = {"code": "OTHER", "message": "something"}
    by_case = [("base", [HOLE, {**HOLE, "message": "another hole"}]), ("a", []), ("b", [other, HOLE])]
    assert union(by_case, "message") == [
        {"code": "HOLE", "message": "2 of 3 cases, first base: a hole", "cases": 2},
        {"code": "OTHER", "message": "1 of 3 cases, first b: something", "cases": 1},
    ]
    assert union([("base", [HOLE]), ("a", [HOLE])], "message")[0]["message"] == "all 2 cases: a hole"
    assumed = [{"code": "A", "text": "a speed", "value": 100.0}]
    assert union([("base", assumed)], "text") == [{"code": "A", "text": "a speed", "value": 100.0, "cases": 1}]


def test_rows_have_the_warnings_of_their_plans() -> None:
    cases = load_cases(SWEEP)
    result = WhatIfResult(cases, answer_cases(cases, Execution(jobs=1)))
    document = json.loads(result.to_json())
    with without_comparisons():
        expected = [[warning.to_dict() for warning in cases.answer(number).warnings] for number in range(len(cases))]
    assert document["row_warnings"] == expected
    codes = [{entry["code"] for entry in entries} for entries in expected]
    assert len(set(map(frozenset, codes))) > 1  # else nothing is told apart
    counts = {entry["code"]: entry["cases"] for entry in document["warnings"]}
    assert counts == {code: sum(code in own for own in codes) for code in set().union(*codes)}
    with without_comparisons():
        assumed = [[item.assumed() for item in cases.answer(number).assumptions or ()] for number in range(len(cases))]
    assert document["row_assumptions"] == assumed
    assert {item["code"]: item["cases"] for item in document["assumptions"]}["DETECTION_ASSUMED"] == len(cases)
    said = [f"{warning.message[:1].upper()}{warning.message[1:40]}" for warning in result.warnings]
    page = ftplan.report([document])
    assert all(text in page for text in said)
    assert "No warnings" not in page


def test_a_run_that_goes_on_keeps_them(tmp_path: Path) -> None:
    cases: Any = load_cases(SWEEP)
    whole = WhatIfResult(cases, answer_cases(cases, Execution(jobs=1)))
    kept = Journal(tmp_path / "j", cases.fingerprint, len(cases))
    kept.add([outcome_of(cases, 0), outcome_of(cases, 2)])
    kept.close()
    again = Journal(tmp_path / "j", cases.fingerprint, len(cases))
    result = WhatIfResult(cases, answer_cases(cases, Execution(jobs=1), journal=again))
    again.close()
    assert result.to_json() == whole.to_json()
