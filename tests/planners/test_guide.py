"""A question is its folder and one row: that of the guide (docs/contributing/kinds.md), taken from its blocks."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ftplan
import ftplan.planners
from ftplan.api import diff, explain, verify
from ftplan.cli import main
from ftplan.model import kinds
from ftplan.planners import registry
from tests.cli.in_process import environment, run_here
from tests.docs.blocks import blocks
from tests.places import ROOT

NAME = "choose-spares"
FOLDER, ROW = "ftplan/planners/choose_spares/", "ftplan/model/kinds.py"
SMALL = ROOT / "tests" / "data" / "small"
FILES = {
    block.title: block.text
    for block in blocks((ROOT / "docs" / "contributing" / "kinds.md").read_text("utf-8"))
    if block.title is not None
}


@pytest.fixture
def question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The guide's folder and row, until the test ends."""
    assert {title for title in FILES if not title.startswith(FOLDER)} == {ROW}
    for title, text in FILES.items():
        if title != ROW:
            (tmp_path / title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / title).write_text(text, "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(ftplan.planners, "__path__", [*ftplan.planners.__path__, str(tmp_path / "ftplan" / "planners")])
        row = eval(FILES[ROW], vars(kinds))
        patch.setattr(kinds, "ROWS", (*kinds.ROWS, row))
        importlib.reload(main)  # lists the commands when it is imported
        yield
    importlib.reload(main)
    for module in [module for module in sys.modules if module.startswith("ftplan.planners.choose_spares")]:
        del sys.modules[module]
    if hasattr(ftplan.planners, "choose_spares"):
        del ftplan.planners.choose_spares


@pytest.fixture
def small() -> ftplan.Problem:
    return ftplan.load(topology=SMALL / "topology.yaml", cluster=SMALL / "cluster.yaml")


@pytest.mark.usefixtures("question")
def test_the_question_is_planned_and_judged(small: ftplan.Problem) -> None:
    plan = ftplan.plan(NAME, small, count=2)
    assert plan.plan is not None
    assert (plan.status, plan.rules, plan.options["count"]) == ("optimal", ("count",), 2)
    assert list(plan.to_frame()["node"]) == [item["node"] for item in plan.plan["spares"]]
    found = verify(plan, small, prove=True)
    assert (found.violations, found.not_recomputed) == ((), ())
    best, worth = plan.plan["spares"][0]["node"], ftplan.evaluate(plan, small)["spare-cores"]
    assert plan.objective is not None
    assert worth == plan.objective.value
    assert ftplan.evaluate(plan, small, fail=f"node:{best}")["spare-cores"] < worth
    (row,) = explain(plan, small, f"node:{best}").rows
    assert row["spare"]
    with pytest.raises(ftplan.FtplanError, match=r"a plan of spares explains node:ID and zone:ID"):
        explain(plan, small, "operator:join")
    fewer = ftplan.plan(NAME, small)
    assert [change["what"] for change in diff(plan, fewer).changes] == ["freed"]
    refused = ftplan.plan(NAME, small, count=99)
    assert refused.infeasible is not None
    assert verify(refused, small).valid
    with pytest.raises(ftplan.FtplanError, match=r"^--count: 0 is not a whole number"):
        ftplan.plan(NAME, small, count=0)


@pytest.mark.usefixtures("question")
def test_what_is_false_is_found(small: ftplan.Problem) -> None:
    document = json.loads(ftplan.plan(NAME, small, count=2).to_json())
    document["plan"]["spares"].pop()
    wrong = {"WRONG_COUNT", "OBJECTIVE_DIFFERS", "GAP_DIFFERS", "STATUS_DIFFERS"}
    assert {violation.code for violation in verify(document, small).violations} == wrong
    document["plan"]["spares"] = [{"node": "nowhere"}]
    assert [violation.code for violation in verify(document, small).violations] == ["UNKNOWN_NODE"]
    document["plan"] = {"spare": []}
    with pytest.raises(ftplan.FtplanError, match=r"plan\.spares: is missing"):
        verify(document, small)


@pytest.mark.usefixtures("question")
def test_the_command_line_has_its_command(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    paths = "".join(f'{role} = "{SMALL / role}.yaml"\n' for role in ("topology", "cluster"))
    (here / "ftplan.toml").write_text(f"[inputs]\n{paths}\n[{NAME}]\ncount = 2\n")

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return run_here(args, cwd=here, env=environment())

    assert "choose-spares" in run("--help").stdout
    assert "--count N" in run(NAME, "--help").stdout
    assert (done := run(NAME, "-o", "two.json", "--detailed-exitcode")).returncode == 3, done.stderr
    assert len(json.loads((here / "two.json").read_text())["plan"]["spares"]) == 2
    assert run(NAME, "--count", "1", "-o", "one.json", "-q").returncode == 0
    assert run("check", "one.json").returncode == 0
    assert run("verify", "two.json").returncode == 0
    assert "spare-cores" in run("evaluate", "two.json", "--fail-under", "spare-cores=1").stdout
    assert run("explain", "two.json", "node:n1").returncode == 0
    assert "freed" in run("diff", "two.json", "one.json", "--format", "table").stdout
    assert run("report", "two.json", "-o", "page.html").returncode == 0
    assert NAME in run("algorithms").stdout
    assert run(NAME, "--count", "99").returncode == 1


@pytest.mark.usefixtures("question")
def test_it_stands_among_the_others() -> None:
    assert kinds.names()[1] == NAME
    assert [row.name for row in registry.rows(NAME)] == ["largest"]
    assert registry.rows()[-1].kind == kinds.all_metrics()[-1].kind == NAME


def test_it_is_gone_without_them(small: ftplan.Problem) -> None:
    with pytest.raises(ftplan.FtplanError, match=r"^unknown kind of plan 'choose-spares'"):
        ftplan.plan(NAME, small)
