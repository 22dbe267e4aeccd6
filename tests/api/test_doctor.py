"""``ftplan doctor``: what it finds, also where much is broken. That all works here is on its page, which is run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftplan.api import doctor
from ftplan.api.doctor import COMPILED, HIDDEN, MODULES, Trial, carry_out, configuration, examine, packages
from ftplan.model import machine_limits
from tests.places import ROOT

PROJECT = ROOT
COMMANDS = {"check": {"strict": "strict"}, "recovery-schedule": {"max_cpu": "max_cpu"}}
KNOWN = ("FTPLAN_SEED", "FTPLAN_COLLECT_TOKEN", "FTPLAN_COLLECT_PASSWORD", "FTPLAN_WHAT_IF_MASTER")
Plant = Callable[..., None]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Put modules where they are found before those that are installed: ``plant(ortools="raise ...")``."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(**modules: str) -> None:
        for name, source in modules.items():
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text(source, "utf-8")

    return put


def one(*names: str, limit_s: float = 3600.0) -> tuple[str, Any]:
    return carry_out([Trial("one", "", names)], limit_s)[0][:2]


def found(monkeypatch: pytest.MonkeyPatch, **states: tuple[str, Any]) -> dict[str, Any]:
    """Return what is found where trials end so, by their names; all others work."""
    names = {name.replace("_", " "): state for name, state in states.items()}
    works = {COMPILED.name: ("works", ("numba", "/tmp"))}
    monkeypatch.setattr(
        doctor,
        "carry_out",
        lambda trials, _: [(*{**works, **names}.get(trial.name, ("works", "")), 1.0) for trial in trials],
    )
    return examine({}, ())


def test_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]

    def names(lines: list[str]) -> set[str]:
        return {re.match(r"[\w-]+", line)[0] for line in lines}

    extras = {extra: names(lines) for extra, lines in project["optional-dependencies"].items() if extra != "all"}
    listed = packages()
    assert {item["name"] for item in listed if item["extra"] is None} == names(project["dependencies"])
    assert {item["name"] for item in listed if item["extra"]} == set().union(*extras.values())
    assert all(item["name"] in extras[item["extra"]] for item in listed if item["extra"])
    assert all(item["version"] for item in listed if item["extra"] is None)
    assert set(MODULES) <= {item["name"] for item in listed}


def test_what_is_needed_and_fails_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    for state in ("fails", "out of time"):
        answer = found(monkeypatch, numpy=(state, "why"))
        assert (answer["works"], answer["problems"]) == (False, [f"numpy: {state}: why"])


def test_what_is_missing_names_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["needed>=1", "none<2; extra == 'report'", "none<2; extra == 'all'", "pysail>=0; extra == 'sail'"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: lines)
    monkeypatch.setattr(doctor.metadata, "distributions", lambda **_: [])
    answer = found(monkeypatch)
    assert answer["problems"] == ["needed: missing: pip install --force-reinstall ftplan"]
    states = {item["name"]: (item["state"], item["detail"]) for item in answer["trials"]}
    assert states["none"] == ("missing", "pip install 'ftplan[report]'")
    assert states["Sail"] == ("missing", "pip install 'ftplan[sail]'")
    assert answer["notes"] == []


def test_what_an_extra_brings_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = found(monkeypatch, Sail=("fails", "why"))
    assert (broken["works"], broken["notes"]) == (True, ["Sail: fails: why; planning works without"])


def test_without_java_spark_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for java, said in ((None, "none"), (11, "11")):
        monkeypatch.setattr(doctor, "java_version", lambda java=java: java)
        answer = found(monkeypatch)
        spark = next(item for item in answer["trials"] if item["name"] == "Apache Spark")
        assert spark["detail"] == f"Java 17 or newer (JAVA_HOME, PATH), found {said}"
        assert (spark["state"], answer["works"], answer["program"]["java"]) == ("missing", True, java)


def test_a_folder_that_cannot_be_written_to_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (None, str(tmp_path / "file" / "below")):
        answer = found(monkeypatch, compiled_functions=("works", ("numba", place)))
        assert answer["works"]
        assert "every process compiles anew; NUMBA_CACHE_DIR names" in answer["notes"][0]
    monkeypatch.setattr(doctor.tempfile, "gettempdir", lambda: str(tmp_path / "file"))
    answer = found(monkeypatch, compiled_functions=("works", ("numba", str(tmp_path))))
    assert answer["problems"] == ["temporary files: no folder can be written to; TMPDIR names one"]


def test_limits_of_a_container_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine_limits, "GROUPS", tmp_path)
    (tmp_path / "memory.max").write_text(f"{2**20}\n")
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    own = found(monkeypatch)["machine"]
    assert (own["memory_of_cgroup_bytes"], own["cores_of_cgroup"], own["cores_usable"]) == (2**20, 0.5, 1)


def test_the_folder_of_the_user_is_not_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert found(monkeypatch, numpy=("works", f"in {tmp_path}/x"))["trials"][3]["detail"] == "in ~/x"
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # a container may run as a user whom nothing knows
    assert found(monkeypatch)["works"]


def test_what_fails_to_import_is_a_finding(plant: Plant) -> None:
    plant(ortools="raise OSError('libortools.so: cannot open shared object file')")
    assert one(*MODULES["ortools"]) == ("fails", "OSError: libortools.so: cannot open shared object file")


def test_a_crash_takes_only_its_trial_with_it(plant: Plant) -> None:
    plant(crashing="import os\nprint('about to fall', file=__import__('sys').stderr, flush=True)\nos.abort()")
    bad, good = carry_out([Trial("bad", "", ("crashing",)), Trial("good", "", ("json",))], 3600.0)
    assert (bad[:2], good[0]) == (("fails", "ended by SIGABRT: about to fall"), "works")


def test_what_is_printed_meanwhile_is_no_part_of_the_answer(plant: Plant) -> None:
    plant(talking="import os\nprint('hello', flush=True)\nos.write(1, b'from C')\ndef said(): return 'yes'")
    assert one("talking:said") == ("works", "yes")


def test_a_trial_that_takes_too_long_is_ended(plant: Plant) -> None:
    plant(waiting="import threading\nthreading.Event().wait()")
    assert one("waiting", limit_s=1.0) == ("out of time", "not done after 1 s")


def test_compiled_functions_that_are_kept_nowhere_still_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    state, (_, place) = one(*COMPILED.names)
    assert (state, place.startswith(str(tmp_path / "kept"))) == ("works", True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_file_is_no_error(folder: Path) -> None:
    settings = configuration(COMMANDS, KNOWN)
    assert (settings["file"], settings["error"]) == (None, None)


def test_a_file_of_a_folder_above_is_named_with_its_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "ftplan.toml").write_text('[inputs]\ntopology = "t.yaml"\n[recovery-schedule]\nmax-cpu = 0.5\n')
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    settings = configuration(COMMANDS, KNOWN)
    assert (settings["file"], settings["tables"]) == (str(folder / "ftplan.toml"), ["inputs", "recovery-schedule"])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[inputs\n", "ftplan.toml: line 1: "),
        ("[chekc]\n", "ftplan.toml: unknown table 'chekc' (did you mean 'check'?)"),
        ("[recovery-schedule]\nmax-cpus = 1\n", "unknown key 'max-cpus' (did you mean 'max-cpu'?)"),
    ],
)
def test_a_broken_file_is_an_error_whichever_command_reads_it(folder: Path, text: str, error: str) -> None:
    (folder / "ftplan.toml").write_text(text)
    settings = configuration(COMMANDS, KNOWN)
    assert settings["file"] == str(folder / "ftplan.toml")
    assert error in settings["error"]


def test_variables_are_known_or_not_and_secrets_stay_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "FTPLAN_SEED": "7",
        "FTPLAN_COLLECT_TOKEN": "hunter2",
        "FTPLAN_COLLECT_PASSWORD": "hunter2",
        "FTPLAN_COLLECT_TOCEN": "hunter2",
        "FTPLAN_WHAT_IF_MASTER": "spark://me:hunter2@host:7077",
        "SPARK_REMOTE": "sc://host:443/;token=hunter2;user_id=me",
        "JAVA_HOME": "/usr/lib/jvm",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = configuration(COMMANDS, KNOWN)
    shown = {item["name"]: (item["known"], item["value"]) for item in settings["variables"] if item["name"] in values}
    assert shown == {
        "FTPLAN_SEED": (True, "7"),
        "FTPLAN_COLLECT_TOKEN": (True, HIDDEN),
        "FTPLAN_COLLECT_PASSWORD": (True, HIDDEN),
        "FTPLAN_COLLECT_TOCEN": (False, HIDDEN),
        "FTPLAN_WHAT_IF_MASTER": (True, "spark://***@host:7077"),
        "SPARK_REMOTE": (None, "sc://host:443/;***"),
        "JAVA_HOME": (None, "/usr/lib/jvm"),
    }
    near = next(item["near"] for item in settings["variables"] if item["name"] == "FTPLAN_COLLECT_TOCEN")
    assert near == " (did you mean 'FTPLAN_COLLECT_TOKEN'?)"
    assert "hunter2" not in str(settings)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://me:hunter2@host/x?token=hunter2#hunter2 b", "https://***@host/x?*** b"),
        ("https://me:hun/ter2@host", "https://***@host"),
        ("a://u@b,c://hunter2@d", "a://***@d"),
        ("file:///tmp/a?b", "file:///tmp/a?***"),
        ("/tmp/a;b@c", "/tmp/a;b@c"),
    ],
)
def test_what_is_secret_in_a_url_is_not_shown(value: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", value)
    variables = configuration(COMMANDS, KNOWN)["variables"]
    assert [item["value"] for item in variables if item["name"] == "SPARK_REMOTE"] == [shown]
