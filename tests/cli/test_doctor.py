"""``ftplan doctor``: its forms and exit codes, also where packages and settings are broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ftplan.api import doctor
from tests.cli.in_process import Run
from tests.places import ROOT


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is tried but one small package."""
    monkeypatch.setattr(doctor, "packages", lambda: [BOUGHT])
    monkeypatch.setattr(doctor, "ENGINES", {})
    monkeypatch.setattr(doctor, "COMPILED", doctor.Trial("compiled functions", "", ("platform:libc_ver",)))


BOUGHT = {"name": "simpy", "version": "4", "extra": None, "remedy": None}


@pytest.mark.usefixtures("tried")
def test_each_form_says_the_same(ftplan: Run) -> None:
    done = ftplan("doctor")
    found = json.loads(done.stdout)
    assert (done.returncode, found["works"]) == (0, True)
    assert set(found) == {
        "works", "problems", "notes", "program", "machine", "folders", "packages", "trials", "configuration",
    }  # fmt: skip
    assert found["trials"][0]["state"] == "works"
    for form, line in (("table", "planning works here  yes"), ("markdown", "| planning works here | yes |")):
        shown = ftplan("doctor", "--format", form).stdout
        assert line in shown
        for heading in ("ftplan doctor", "here", "tried", "package", "settings"):
            assert any(row.lstrip("| ").startswith(heading) for row in shown.splitlines()), heading


@pytest.mark.usefixtures("tried")
def test_what_is_needed_and_fails_is_named_with_exit_code_1(ftplan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MODULES", {"simpy": ("no_such_module",)})
    done = ftplan("doctor", "--format", "table")
    assert done.returncode == 1
    assert "planning works here  no" in done.stdout
    assert "problem              simpy: fails: ModuleNotFoundError: No module named 'no_such_module'" in done.stdout


def test_nothing_is_tried_where_nothing_shall_be(ftplan: Run) -> None:
    done = ftplan("doctor", "--no-try")
    assert done.returncode == 0
    assert {trial["state"] for trial in json.loads(done.stdout)["trials"]} <= {"not tried", "missing"}
    assert (
        "planning works here  not tried; nothing is missing" in ftplan("doctor", "--no-try", "--format", "table").stdout
    )


@pytest.mark.usefixtures("tried")
def test_a_broken_configuration_is_a_finding(ftplan: Run, project: Path) -> None:
    (project / "ftplan.toml").write_text("[inputs\n")
    done = ftplan("doctor", FTPLAN_SEDE="1")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert done.stderr == ""
    assert found["problems"][0].startswith("ftplan.toml: line 1")
    assert found["notes"][-1].startswith("unknown environment variable FTPLAN_SEDE")


def test_it_answers_where_packages_are_broken(ftplan_process: Run, project: Path, tmp_path: Path) -> None:
    """None of them is loaded but by what tries them; a table is drawn without rich."""
    broken = {"numpy", "pandas", "pyarrow", "pydantic", "yaml", "rich", "ortools", "numba", "scipy", "networkx"}
    for name in broken:
        (tmp_path / "broken" / name).mkdir(parents=True)
        (tmp_path / "broken" / name / "__init__.py").write_text("raise ImportError('built for another machine')")
    (project / "ftplan.toml").write_text('[inputs]\ntopology = "topology.yaml"\n')
    path = f"{tmp_path / 'broken'}:{ROOT}"
    done = ftplan_process("doctor", "--no-engines", PYTHONPATH=path)
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (1, "")
    states = {trial["name"]: trial["state"] for trial in found["trials"] if trial["needed"]}
    failed = {name for name, state in states.items() if state == "fails"}
    assert failed == {*(broken - {"yaml"}), "pyyaml", "compiled functions"}, states
    assert any("built for another machine" in problem for problem in found["problems"])
    shown = ftplan_process("doctor", "--no-try", "--format", "table", PYTHONPATH=path)
    assert "| here |" in shown.stdout, shown.stderr
    planned = ftplan_process("check", "topology.yaml", PYTHONPATH=path)
    assert planned.returncode == 70
    said = "ftplan: a package cannot be loaded: built for another machine; ftplan doctor says what works here"
    assert planned.stderr.splitlines()[-1].startswith(said)
    (tmp_path / "broken" / "click.py").write_text("raise ImportError('not here')")
    without = ftplan_process("doctor", PYTHONPATH=path)
    assert without.stderr == "ftplan: click cannot be loaded: not here; pip install --force-reinstall ftplan\n"
    assert without.returncode == 1
