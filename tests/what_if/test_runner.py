"""A sweep has the same rows however it is carried out: in any order, by one process or several, on an engine."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.processes import in_processes
from ftplan.what_if.outcome import PlanFiles, line_of, outcome_of
from ftplan.what_if.runner import Execution, answer_cases
from tests.what_if.executed import Arithmetic

SWEEP: Any = Arithmetic(120, failing=9)


@pytest.fixture(scope="module")
def alone() -> Any:
    return answer_cases(SWEEP, Execution(jobs=1))


def test_rows_are_in_the_order_of_cases_with_differences(alone: Any) -> None:
    assert [row["case"] for row in alone.rows] == [SWEEP.case(number).id for number in range(120)]
    assert alone.missing == ()
    assert alone.rows[0]["delta_cost"] == 0.0
    assert alone.rows[2]["delta_cost"] == pytest.approx(74 / 3)
    assert (alone.rows[9]["status"], alone.rows[9]["reason"]) == ("error", "case 9 cannot be")
    assert alone.rows[9]["delta_cost"] is None


@pytest.mark.parametrize("jobs", [2, 3])
def test_processes_give_the_same_rows(jobs: int, alone: Any) -> None:
    assert answer_cases(SWEEP, Execution(jobs=jobs)) == alone


@given(st.randoms(use_true_random=False))
def test_any_order_gives_the_same_rows(rng: random.Random) -> None:
    order = list(range(40))
    rng.shuffle(order)
    lines = {number: outcome_of(SWEEP, number).row for number in order}
    assert [lines[number] for number in range(40)] == [line_of(SWEEP.row(number)) for number in range(40)]


def test_processes_take_any_cases_in_any_order() -> None:
    order = [7, 3, 9, 100, 0]
    one = partial(outcome_of, SWEEP)
    got = [outcome for batch in in_processes(one, order, 2, named=("the sweep", "case")) for outcome in batch]
    assert {outcome.number: outcome.row for outcome in got} == {n: line_of(SWEEP.row(n)) for n in order}


def _without_memory(number: int) -> int:
    raise MemoryError(f"Unable to allocate {number} GiB")


def test_memory_that_runs_out_in_a_process_is_no_fault() -> None:
    with pytest.raises(
        FtplanError, match=r"^memory ran out in one of the processes \(Unable to allocate 7 GiB\): use fewer"
    ):
        list(in_processes(_without_memory, [7], 1, named=("the sweep", "case")))


def test_a_row_has_rounded_and_finite_numbers() -> None:
    assert line_of({"a": 0.1 + 0.2, "b": float("inf"), "c": float("nan"), "d": None, "e": True, "f": 3, "g": "ß"}) == (
        '{"a": 0.3, "b": null, "c": null, "d": null, "e": true, "f": 3, "g": "ß"}'
    )


def test_plans_are_written_by_case(tmp_path: Path) -> None:
    sweep: Any = Arithmetic(12, failing=9)
    for jobs in (1, 2):
        files = PlanFiles(tmp_path / f"plans-{jobs}", sweep)
        answer_cases(sweep, Execution(jobs=jobs), plans=files)
    one, two = ({path.name: path.read_text() for path in (tmp_path / f"plans-{jobs}").iterdir()} for jobs in (1, 2))
    assert one == two
    assert sorted(one)[:3] == ["0000-base.json", "0001-x=0.143-y=1.json", "0002-x=0.286-y=2.json"]
    assert len(one) == 11  # a case that fails has none
    with pytest.raises(FtplanError, match="holds files already"):
        PlanFiles(tmp_path / "plans-1", sweep)


def test_a_process_that_ends_is_an_error_with_the_way_on() -> None:
    with pytest.raises(FtplanError, match="a process of the sweep ended at case 5 with code 7"):
        answer_cases(Arithmetic(8, fatal=5), Execution(jobs=2))  # type: ignore[arg-type]


def test_a_fault_of_a_case_is_one_here() -> None:
    with pytest.raises(RuntimeError, match="a fault of the case"):
        answer_cases(Arithmetic(8, faulty=5), Execution(jobs=2))  # type: ignore[arg-type]


def test_what_the_time_does_not_last_for_is_missing(tmp_path: Path) -> None:
    gated: Any = Arithmetic(6, gate=tmp_path / "never", gated=0)
    rows = answer_cases(gated, Execution(jobs=1, time_limit_s=0.2))  # clock: a limit in seconds is what is tested
    assert (rows.rows, rows.missing) == ((), tuple(range(6)))


def test_progress_counts_cases_and_says_what_is_left() -> None:
    said: list[tuple[str, float | None]] = []
    answer_cases(Arithmetic(5), Execution(jobs=1), report=lambda text, share: said.append((text, share)))  # type: ignore[arg-type]
    assert [share for _, share in said] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert said[0][0] == "0 of 5 cases"
    assert said[2][0].startswith("2 of 5 cases, about 0 s left")
    assert said[-1][0] == "5 of 5 cases"


@pytest.mark.parametrize("given", [{"jobs": 0}, {"jobs": True}, {"jobs": 2, "master": "local[2]"}])
def test_an_execution_that_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(FtplanError, match="jobs"):
        Execution(**given)
