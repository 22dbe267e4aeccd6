"""What is said of trials, packages, machine and folders, and what keeps planning from working."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ftplan.api.doctor import examination, machine
from ftplan.api.doctor.machine import EXTRAS, NEEDED, installed
from ftplan.api.doctor.settings import Settings
from ftplan.api.doctor.trials import Outcome, Trial
from ftplan.model import machine_limits
from tests.places import ROOT

PROJECT = ROOT
NEED = Trial("documents", "", "imports:json", ("json",))
EXTRA = Trial("Sail", "", "imports:json", ("json",), "sail", True)
KEPT = Trial("compiled functions", "", "imports:json", ("json",))


def found(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome, settings: Settings | None = None) -> dict:
    """Return what is found where trials have these outcomes."""
    monkeypatch.setattr(examination, "TRIALS", tuple(outcome.trial for outcome in outcomes))
    monkeypatch.setattr(examination, "carried_out", lambda *_: list(outcomes))
    return examination.examine(settings or Settings(None)).to_dict()


def test_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]

    def names(lines: list[str]) -> set[str]:
        return {re.match(r"[\w-]+", line)[0] for line in lines}

    assert set(NEEDED) == names(project["dependencies"])
    extras = project["optional-dependencies"]
    assert {*EXTRAS, "all"} == set(extras)
    for extra, packages in EXTRAS.items():
        brought = {*packages, *(EXTRAS["spark"] if extra == "sail" else ())}
        assert brought == names(extras[extra]), extra
    assert all(package.version for package in installed() if package.extra is None)


def test_what_is_needed_and_fails_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    for state in ("fails", "missing", "out of time"):
        answer = found(monkeypatch, Outcome(NEED, state, "why"))
        assert (answer["works"], answer["problems"]) == (False, [f"documents: {state}: why"])


def test_what_an_extra_brings_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = found(monkeypatch, Outcome(NEED, "works"), Outcome(EXTRA, "fails", "why"))
    assert (broken["works"], broken["notes"]) == (True, ["Sail: fails: why; planning works without"])
    missing = found(monkeypatch, Outcome(EXTRA, "missing", "pip install 'ftplan[sail]'"))
    assert (missing["works"], missing["notes"]) == (True, [])


def test_a_folder_that_cannot_be_written_to_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in ("", str(tmp_path / "file" / "below")):
        answer = found(monkeypatch, Outcome(KEPT, "works", "numba", 1.0, place))
        assert answer["works"]
        assert "every process compiles anew; NUMBA_CACHE_DIR names" in answer["notes"][0]
    monkeypatch.setattr(machine.tempfile, "gettempdir", lambda: str(tmp_path / "file"))
    answer = found(monkeypatch, Outcome(KEPT, "works", "numba", 1.0, str(tmp_path)))
    assert answer["problems"] == ["temporary files: no folder can be written to; TMPDIR names one"]


def test_limits_of_a_container_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine_limits, "GROUPS", tmp_path)
    (tmp_path / "memory.max").write_text(f"{2**20}\n")
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    told = found(monkeypatch, Outcome(NEED, "works"))["machine"]
    assert (told["memory_of_cgroup_bytes"], told["cores_of_cgroup"], told["cores_usable"]) == (2**20, 0.5, 1)


def test_the_folder_of_the_user_is_not_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = found(monkeypatch, Outcome(NEED, "works", f"kept in {tmp_path}/x"))
    assert answer["trials"][0]["detail"] == "kept in ~/x"


def test_a_user_without_a_folder_gets_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may run as a user whom nothing there knows."""
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert found(monkeypatch, Outcome(NEED, "works"))["works"]
