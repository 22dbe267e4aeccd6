"""Trials: what planted faults are called. That all works here is on the page of ``doctor``, which is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ftplan.api.doctor.trials import TRIALS, Outcome, Trial, carried_out
from ftplan.spark_stats import choice

Plant = Callable[..., None]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Put modules where they are found before those that are installed: ``plant(ortools="raise ...")``."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(**modules: str) -> None:
        for name, source in modules.items():
            path = tmp_path.joinpath(*name.split("__"))
            path.mkdir(parents=True, exist_ok=True)
            (path / "__init__.py").write_text(source, "utf-8")

    return put


def one(trial: Trial, limit_s: float = 3600.0) -> Outcome:
    return carried_out([trial], limit_s, 1)[0]


def of(name: str) -> Trial:
    return next(trial for trial in TRIALS if trial.name == name)


def test_what_fails_to_import_is_a_finding(plant: Plant) -> None:
    plant(ortools="raise OSError('libortools.so: cannot open shared object file')")
    outcome = one(of("CP-SAT"))
    assert (outcome.state, outcome.detail) == ("fails", "OSError: libortools.so: cannot open shared object file")


def test_each_package_that_fails_to_import_is_named(plant: Plant) -> None:
    plant(first="1 / 0", second="import no_such_module")
    outcome = one(Trial("both", "", "imports:first,json,second", ("first", "second")))
    assert outcome.state == "fails"
    assert "first (ZeroDivisionError: division by zero); second (ModuleNotFoundError:" in outcome.detail


def test_a_solver_that_raises_or_errs_is_a_finding(plant: Plant) -> None:
    model = "class SimpleMaxFlow:\n    add_arc_with_capacity = solve = lambda self, *_: None\n"
    here = {"ortools": "__version__ = '0'", "ortools__graph": "", "ortools__graph__python": ""}
    plant(**here, ortools__graph__python__max_flow=f"{model}    optimal_flow = lambda self: 4\n")
    assert one(of("max flow")).detail == "ArithmeticError: the answer is 3, it says 4"
    plant(ortools__graph__python__max_flow=f"{model}    def optimal_flow(self): raise RuntimeError('no memory')\n")
    assert one(of("max flow")).detail == "RuntimeError: no memory"


def test_a_crash_takes_only_its_trial_with_it(plant: Plant) -> None:
    plant(crashing="import os\nprint('about to fall', file=__import__('sys').stderr, flush=True)\nos.abort()")
    bad = Trial("bad", "", "imports:crashing", ("crashing",))
    good = Trial("good", "", "imports:json", ("json",))
    outcomes = carried_out([bad, good], 3600.0, 2)
    assert [(item.state, item.detail) for item in outcomes] == [
        ("fails", "ended by SIGABRT: about to fall"), ("works", "json"),
    ]  # fmt: skip


def test_what_is_printed_meanwhile_is_no_part_of_the_answer(plant: Plant) -> None:
    plant(talking="import os\nprint('hello', flush=True)\nos.write(1, b'from C')")
    assert one(Trial("talks", "", "imports:talking", ("talking",))).detail == "talking"


def test_what_is_missing_names_what_installs_it() -> None:
    assert (
        one(Trial("none", "", "imports:none", ("no_such_module",), "report")).detail == "pip install 'ftplan[report]'"
    )
    needed = one(Trial("none", "", "imports:none", ("no_such_module",)))
    assert (needed.state, needed.detail) == ("missing", "pip install --force-reinstall ftplan")


def test_a_trial_that_takes_too_long_is_ended(plant: Plant) -> None:
    plant(waiting="import threading\nthreading.Event().wait()")
    outcome = one(Trial("waits", "", "imports:waiting", ("waiting",)), limit_s=1.0)
    assert (outcome.state, outcome.detail) == ("out of time", "not done after 1 s")


def test_without_java_spark_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for found, said in ((None, "none"), (11, "11")):
        monkeypatch.setattr(choice, "java_version", lambda found=found: found)
        outcome = one(of("Apache Spark"))
        assert (outcome.state, outcome.detail) == ("missing", f"Java 17 or newer (JAVA_HOME, PATH), found {said}")


def test_compiled_functions_that_are_kept_nowhere_still_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    outcome = one(of("compiled functions"))
    assert outcome.state == "works"
    assert outcome.place.startswith(str(tmp_path / "kept"))
