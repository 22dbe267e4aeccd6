"""Every row of benchmarks/reproduce runs on small instances, is judged by a rule that can fail, and is written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ftplan
from tests.places import ROOT

sys.path.append(str(ROOT / "benchmarks"))

from reproduce import command, replication_accuracy, report, ring_checkpoints
from reproduce.drawing import compact
from reproduce.row import FAILS, HOLDS, PARTLY, Check, Claim, Row, Table
from reproduce.rows import ROWS


def altered(table: Table) -> Iterator[Table]:
    """Yield tables that are wrong: numbers negated, raised, or in the opposite order; words exchanged."""

    def each(change: Any) -> Table:
        columns = [change(list(column)) for column in zip(*table.rows, strict=True)]
        return Table(table.columns, tuple(zip(*columns, strict=True)))

    def numbers(change: Any) -> Any:
        return lambda column: change(column) if any(isinstance(value, float | int) for value in column) else column

    def by_value(change: Any) -> Any:
        return lambda column: [value if value is None or isinstance(value, str) else change(value) for value in column]

    yield each(numbers(by_value(lambda value: -value)))
    yield each(numbers(by_value(lambda value: value + 1000)))
    yield each(numbers(lambda column: column[::-1]))
    for sign in (1, -1):  # columns to the right grow, or shrink
        rows = (tuple(_scaled(value, sign * k) for k, value in enumerate(row)) for row in table.rows)
        yield Table(table.columns, tuple(rows))
    yield each(lambda column: column if any(isinstance(v, float | int) for v in column) else column[1:] + column[:1])


def _scaled(value: Any, power: int) -> Any:
    return value if value is None or isinstance(value, str) else value * 10.0**power


#: Rows that start an engine: what they run is tested in tests/spark_stats.
ENGINES = {row.name for row in replication_accuracy.ROWS}


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row.name not in ENGINES], ids=lambda row: row.name)
def test_a_row_runs_and_can_fail(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = []

    def kept(quick: bool) -> Any:
        outcomes.append(row.make(quick))
        return outcomes[0]

    summary, section = command.made(Row(**{**vars(row), "make": kept}), True, tmp_path)
    table = outcomes[0].table
    assert table.rows
    assert all(len(cells) == len(table.columns) for cells in table.rows)
    drawn = (tmp_path / "figures" / f"{row.name}.svg").read_text()
    assert drawn.count("<path") > 3
    assert drawn.count("\n") < 20
    assert compact(drawn) == drawn
    assert row.name in summary
    assert row.claims
    for claim in row.claims:
        verdict = claim.verdict(table)
        assert verdict.split(": ")[0] == HOLDS or verdict.startswith((f"{PARTLY} because ", f"{FAILS} because "))
        assert claim.says in section
        assert claim.rule in section
        others = [words for wrong in altered(table) if (words := judged(claim, wrong)) != verdict]
        assert any(not words.startswith(f"{HOLDS}:") for words in [verdict, *others]), f"cannot fail: {claim.rule}"


def judged(claim: Claim, table: Table) -> str:
    """Return the verdict on a wrong table, which may lack what the rule asks for."""
    try:
        return claim.verdict(table)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        return f"{FAILS} because {error!r}"


def test_a_planted_wrong_table_does_not_hold() -> None:
    """Figure 13 with greedy above both, and figure 2's loss without the join."""
    (figure_13,) = (row for row in ROWS if row.name == "replication-figure-13")
    columns = ("query", "ratio", "replicas", "dynamic_programming", "structure_aware", "greedy")
    wrong = Table(columns, (("Q1", 0.5, 6, 0.5, 0.3, 0.6), ("Q2", 0.5, 8, 0.5, 0.2, 0.6)))
    assert [claim.verdict(wrong).split(" because ")[0] for claim in figure_13.claims] == [FAILS, FAILS]
    (figure_2,) = (row for row in ROWS if row.name == "replication-figure-2")
    wrong = Table(("inputs_of_o3", "loss_of_t31"), (("independent", 0.4), ("correlated", 0.25)))
    assert [claim.verdict(wrong).split(" because ")[0] for claim in figure_2.claims] == [FAILS, FAILS]


def test_claims_about_accuracy() -> None:
    """The two queries as a small run had them, and with their metrics exchanged."""
    figure_12, figure_13 = replication_accuracy.ROWS
    columns = ("query", "metric", "ratio", "value", "accuracy")
    kept = (("Q1", "OF", 0.7, 0.88, 0.86), ("Q1", "IC", 0.7, 0.88, 0.86), ("Q2", "OF", 0.7, 0.61, 0.61))
    table = Table(columns, (*kept, ("Q2", "IC", 0.7, 0.91, 0.0)))
    assert [claim.verdict(table).split(":")[0] for claim in figure_12.claims] == [HOLDS] * 3
    wrong = Table(columns, (*((q, m, r, 1.0 - v, a) for q, m, r, v, a in kept), ("Q2", "IC", 0.7, 0.6, 0.7)))
    assert [claim.verdict(wrong).split(" because ")[0] for claim in figure_12.claims] == [FAILS] * 3
    columns = ("query", "planner", "ratio", "output_fidelity", "accuracy")
    good = {"DP": 0.6, "SA": 0.58, "Greedy": 0.3}
    table = Table(columns, tuple((q, name, 0.5, x, x) for q in ("Q1", "Q2") for name, x in good.items()))
    assert [claim.verdict(table).split(":")[0] for claim in figure_13.claims] == [HOLDS] * 3
    wrong = Table(columns, tuple((q, name, r, 1.0 - x, 1.0 - 2 * y) for q, name, r, x, y in table.rows))
    assert [claim.verdict(wrong).split(" because ")[0] for claim in figure_13.claims[1:]] == [FAILS] * 2


def test_verdicts_in_words() -> None:
    checks = [Check(True, "a"), Check(False, "b"), Check(False, "c")]
    table = Table((), ())

    def verdict(some: list[Check]) -> str:
        return Claim("", "", "", lambda _: some).verdict(table)

    assert verdict(checks[:1]) == "holds: a"
    assert verdict(checks) == "holds partly because b; c"
    assert verdict(checks[1:]) == "does not hold because b; c"
    assert verdict([]) == "does not hold because nothing was measured"
    assert verdict([Check(True, str(k)) for k in range(7)]) == "holds: 0; 1; 2; 3; 4; and 2 more like that"


def test_rows_that_are_not_made_keep_their_sections(tmp_path: Path) -> None:
    file = tmp_path / "REPRODUCED.md"
    a, b = (("| [a](#a) | p | f | 1 holds |", "## a\n\nfirst\n"), ("| [b](#b) | p | f | 1 holds |", "## b\n\nsecond\n"))
    file.write_text(report.written(file, {"a": a, "b": b}, ["a", "b"]))
    again = report.written(file, {"b": (b[0], "## b\n\nnew\n")}, ["a", "b", "c"])
    assert "first" in again
    assert "new" in again
    assert "second" not in again
    assert again.count("## ") == 2


def test_the_example_of_fifteen_queries() -> None:
    """The figures of its README; no node has room for an aggregate before the first new one."""
    folder = ROOT / "examples" / "fifteen-queries"
    problem = ftplan.load(**{name: folder / f"{name}.yaml" for name in ("topology", "cluster", "failure")})
    plan = ftplan.plan("recovery-schedule", problem, algorithm="best-density")
    assert plan.plan is not None
    assert [len(step["recover"]) for step in plan.plan["steps"]] == [0, 2, 2, 2, 2, 2, 2, 2, 1]
    assert round(plan.summary["before"]["priority_time"]) == 7181
    assert round(plan.summary["after"]["priority_time"]) == 5047
    assert len(plan.plan["queries"]) == 15


def test_what_changes_in_each_interval_by_hand() -> None:
    """Three intervals of ten seconds, the second of them without records; what follows is no whole one."""
    log = ring_checkpoints.stream("log", [0, 21, 9, 22, 3, 31], ["a", "a", "b", "c", "a", "d"])
    shares = ring_checkpoints.changed(log, 10.0)
    of = dict(zip("abcd", log.group, strict=True))
    assert list(log.key) == [0, 0, 1, 0, 2, 3]
    assert list(shares.records) == [3, 0, 2]
    assert list(shares.keys) == [2 / 2, 0.0, 2 / 3]
    assert list(shares.key_groups * ring_checkpoints.GROUPS) == [len({of["a"], of["b"]}), 0, len({of["a"], of["c"]})]
    held = sum(of[key] in (of["a"], of["c"]) for key in "abc")
    assert list(shares.bytes) == [1.0, 0.0, held / 3]
