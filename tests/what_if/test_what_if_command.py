"""``ftplan what-if``: outputs, limits, plots, mistakes; and the same sweep from Python."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import ftplan as face
from ftplan.what_if import case_file
from ftplan.what_if.case_file import load_cases
from ftplan.what_if.outcome import outcome_of
from tests.cli.documents import check
from tests.cli.in_process import Run
from tests.places import ROOT
from tests.what_if.executed import Arithmetic

STORM = ROOT / "examples" / "storm-recovery"


@pytest.fixture
def arithmetic(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stands for what a what-if file says."""
    sweep: Any = Arithmetic(40, failing=9)
    monkeypatch.setattr(case_file, "load_cases", lambda source, **_: sweep)
    return sweep


@pytest.fixture
def storm(tmp_path: Path) -> Path:
    """A what-if file over recoveries of the storm example."""
    document = {
        "format": "ftplan/what-if",
        "format_version": "1.0",
        "name": "seeds",
        "inputs": {name: str(STORM / f"{name}.yaml") for name in ("topology", "cluster", "failure")},
        "run": {"command": "recovery-schedule", "options": {"objective": "priority"}},
        "measures": ["objective", "bound"],
        "cases": [{"id": f"seed-{seed}", "options": {"seed": seed}} for seed in range(1, 4)],
    }
    path = tmp_path / "what-if.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def test_every_form_has_the_same_rows(arithmetic: Any, ftplan: Run, project: Path) -> None:
    printed = ftplan("what-if", "f", "--jobs", "1")
    assert (printed.returncode, printed.stderr) == (0, "")
    document = json.loads(printed.stdout)
    assert check(document) == 1
    for name in ("out.json", "out.csv", "out.parquet", "out"):
        done = ftplan("what-if", "f", "--jobs", "2" if name == "out" else "1", "-o", name, "-q")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (project / "out.json").read_text() == (project / "out").read_text() == printed.stdout
    table = pq.read_table(project / "out.parquet")
    assert table.column_names == [column["name"] for column in document["columns"]]
    assert table.to_pylist() == document["rows"]
    read = list(csv.DictReader(io.StringIO((project / "out.csv").read_text())))
    shown = [{k: "" if v is None else str(v) for k, v in row.items()} for row in document["rows"]]
    assert read == shown
    assert sorted(path.name for path in project.glob("out*")) == ["out", "out.csv", "out.json", "out.parquet"]


def test_outputs_are_the_same_bytes_again(arithmetic: Any, ftplan: Run, project: Path) -> None:
    for jobs, form in (("1", "svg"), ("2", "png")):
        options = ("--jobs", jobs, "--plot-over", "x,y", "--force", "-q")
        names = ("out.parquet", f"plot.{form}")
        assert ftplan("what-if", "f", *options, "-o", names[0], "--plot", names[1]).returncode == 0
        first = [(project / name).read_bytes() for name in names]
        assert ftplan("what-if", "f", "--jobs", "1", *options[2:], "-o", names[0], "--plot", names[1]).returncode == 0
        assert [(project / name).read_bytes() for name in names] == first


def test_a_table_with_its_summary(arithmetic: Any, ftplan: Run) -> None:
    done = ftplan("what-if", "f", "--jobs", "1", "--format", "table", "--pareto", "cost,value")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["arithmetic", lines[1]]
    assert lines[1].split()[:3] == ["case", "x", "y"]
    assert any(line.split()[:2] == ["best", "x=1.571,"] for line in lines)
    assert "Pareto front" in lines
    assert "10 more rows: -o FILE writes them all" in done.stdout
    assert "4 of 40 cases failed, first x=1.286, y=0: case 9 cannot be" in done.stdout


def test_limits(arithmetic: Any, ftplan: Run) -> None:
    assert ftplan("what-if", "f", "--jobs", "1", "--fail-under", "gap=0").returncode == 1  # four have none
    done = ftplan("what-if", "f", "--jobs", "1", "--fail-under", "cost=30", "-q")
    assert done.returncode == 1
    assert done.stderr.startswith("ftplan: cost of case x=1.286, y=0 is undefined, which misses the limit 30; ")
    assert json.loads(done.stdout)["unmet"] == [done.stderr.removeprefix("ftplan: ").strip()]


def test_a_dry_run_lists_cases_and_leaves_nothing(arithmetic: Any, ftplan: Run, project: Path) -> None:
    before = sorted(project.iterdir())
    done = ftplan("what-if", "f", "--dry-run", "-o", "out.csv")
    cases = json.loads(done.stdout)["cases"]
    assert [case["case"] for case in cases] == [arithmetic.case(number).id for number in range(40)]
    assert cases[2]["values"] == {"x": 0.285714285714, "y": 2}
    assert sorted(project.iterdir()) == before


def test_the_time_limit_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    ftplan: Run,
    project: Path,
) -> None:
    gated: Any = Arithmetic(6, gate=tmp_path / "gate", gated=3)
    monkeypatch.setattr(case_file, "load_cases", lambda source, **_: gated)
    limit = ("--time-limit", "1s", "--jobs", "1")
    done = ftplan("what-if", "f", *limit, "-o", "out.json")
    assert done.returncode == 1
    said = done.stderr.splitlines()
    assert said[-2].startswith("ftplan: the time limit was over before ")
    assert "of 6 cases were done, first " in said[-2]
    assert said[-1].endswith("kept in out.json.partial.jsonl: run the same command again to go on")
    assert not (project / "out.json").exists()
    printed = ftplan("what-if", "f", *limit)
    assert printed.returncode == 1
    assert json.loads(printed.stdout)["missing"][-1] == gated.case(5).id
    (tmp_path / "gate").touch()
    assert ftplan("what-if", "f", "--jobs", "1", "-o", "out.json").returncode == 0
    assert len(json.loads((project / "out.json").read_text())["rows"]) == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-o", "out.txt"), "-o out.txt: expected a name that ends in .json, .csv or .parquet"),
        (("-o", "topology.yaml"), "expected a name that ends in .json"),
        (("--jobs", "0"), "'--jobs': 0 is not in the range x>=1"),
        (("--jobs", "2", "--master", "local[2]"), "--jobs is for the processes of this machine"),
        (("--pareto", "cost"), "expected two measures"),
        (("--fail-under", "speed=3"), "expected MEASURE=VALUE"),
        (("--plot", "p.pdf"), "expected a name that ends in .svg or .png"),
        (("--plot", "p.svg", "--plot-measure", "cots"), "unknown measure 'cots' (did you mean 'cost'?)"),
        (("--plot", "p.svg", "--plot-over", "z"), "unknown field 'z'; swept are x, y"),
        (("--plot", "p.svg", "--plot-over", "x,x"), "one swept field to plot over, or two"),
        (("--plans", "stats"), "stats: holds files already"),
        (("--plans", "no/where"), "does not exist; make it first"),
        (("--time-limit", "soon"), "'soon' is no duration"),
        (("--engine", "sail", "--master", "yarn"), "--engine sail runs in this process: leave out --master yarn"),
    ],
)
def test_mistakes(options: tuple[str, ...], said: str, arithmetic: Any, ftplan: Run, project: Path) -> None:
    before = sorted(project.rglob("*"))
    done = ftplan("what-if", "f", *(() if "-o" in options else ("-o", "out.json")), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(project.rglob("*")) == before


def test_a_plan_is_that_of_the_command(storm: Path, ftplan: Run, project: Path) -> None:
    done = ftplan("what-if", str(storm), "--plans", "plans", "-o", "out.json", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    given = json.loads((project / "out.json").read_text())["rows"]
    single = ftplan("recovery-schedule", "--seed", "2", "--objective", "priority", *_inputs(), "-q")
    assert (project / "plans" / "0002-seed-2.json").read_text() == single.stdout
    objective = json.loads(single.stdout)["objective"]
    assert (given[2]["objective"], given[2]["bound"], given[2]["gap"]) == tuple(
        objective[name] for name in ("value", "bound", "gap")
    )


def test_compiled_kernels_give_the_same_rows(storm: Path) -> None:
    sweep = load_cases(storm)
    for number in (0, len(sweep) - 1):
        assert outcome_of(sweep, number, often=True) == outcome_of(sweep, number)


def _inputs() -> list[str]:
    return [word for name in ("topology", "cluster", "failure") for word in (f"--{name}", str(STORM / f"{name}.yaml"))]


def test_python_gives_a_frame(storm: Path, tmp_path: Path) -> None:
    frame = face.what_if(storm, jobs=1)
    assert list(frame["case"]) == ["base", "seed-1", "seed-2", "seed-3"]
    assert frame["objective"].dtype == "float64"
    assert (frame["delta_objective"] == 0.0).all()
    kept = tmp_path / "journal"
    assert frame.equals(face.what_if(storm, jobs=2, journal=kept))
    assert not kept.exists()


def test_python_knows_mistakes(storm: Path) -> None:
    with pytest.raises(face.FtplanError, match="jobs: 0 is not a whole number"):
        face.what_if(storm, jobs=0)
