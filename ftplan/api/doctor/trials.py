"""What is tried: each solver, engine and library, by a small question of its own.

Each in a process of its own: a solver or an engine that crashes takes only that with it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

from ftplan.api.doctor.machine import remedy
from ftplan.errors import FtplanError, shortened

#: What the new interpreter runs: the path of modules comes first, everything else can be imported then.
PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from ftplan.api.doctor.trials import carry_out
carry_out(sys.argv[2])
"""


def carry_out(function: str) -> None:
    """Call a function ``module:name``, print what it says as JSON, and leave at once; ``imports:a,b`` imports a and b.

    What solvers and engines print themselves goes to standard error.
    """
    answer = os.dup(1)
    os.dup2(2, 1)
    kind, _, names = function.partition(":")
    try:
        said = _imported(names.split(",")) if kind == "imports" else resolve_name(function)()
        detail, place = said if isinstance(said, tuple) else (said, "")
        message = {"detail": detail, "place": place}
    except BaseException as error:
        message = {"error": str(error) if isinstance(error, FtplanError) else f"{type(error).__name__}: {error}"}
    with os.fdopen(answer, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(message))
    os._exit(0)  # what is left running beneath may take long to end, or crash


def _imported(names: Sequence[str]) -> str:
    """Import packages; name all that cannot be imported, not only the first."""
    broken = []
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:
            broken.append(f"{name} ({type(error).__name__}: {error})")
    if broken:
        raise ImportError("; ".join(broken))
    return ", ".join(names)


#: Most characters of what went wrong that are shown.
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Trial:
    """Something to try: what it is, what asks for it, a function ``module:name``, the modules that it needs.

    What an *extra* brings is not needed. An *engine* takes seconds to start.
    """

    name: str
    purpose: str
    function: str
    modules: tuple[str, ...]
    extra: str | None = None
    engine: bool = False


TRIALS: tuple[Trial, ...] = (
    Trial("documents", "topologies, clusters, plans", "ftplan.io.trials:documents", ("pydantic", "yaml")),
    Trial("tables", "statistics", "ftplan.io.trials:tables", ("numpy", "pandas", "pyarrow")),
    Trial("CP-SAT", "exact plans", "ftplan.planners.trials:cp_sat", ("ortools",)),
    Trial("SCIP", "exact plans", "ftplan.planners.trials:scip", ("ortools",)),
    Trial("HiGHS", "exact plans, bounds", "ftplan.planners.trials:highs", ("ortools",)),
    Trial("GLOP", "bounds", "ftplan.planners.trials:glop", ("ortools",)),
    Trial("max flow", "recovery schedules", "ftplan.planners.trials:max_flow", ("ortools",)),
    Trial("compiled functions", "large plans, simulations", "ftplan.compiled:tried", ("numba", "numpy")),
    Trial(
        "other packages", "imports, fits, simulations", "imports:networkx,scipy.optimize,simpy,rich,urllib3",
        ("networkx", "scipy", "simpy", "rich", "urllib3"),
    ),
    Trial("Apache Spark", "compute-stats", "ftplan.spark_stats.trials:spark", ("pyspark",), "spark", True),
    Trial("Sail", "compute-stats", "ftplan.spark_stats.trials:sail", ("pyspark", "pysail"), "sail", True),
    Trial("pages", "report", "ftplan.reports.trials:page", ("jinja2",), "report"),
    Trial("pictures", "report, --plot FILE.png", "ftplan.reports.trials:picture", ("matplotlib",), "report"),
    Trial("smoothing", "scale-out --forecast", "ftplan.planners.scale_out.forecasting.methods:smoothing",
    ("statsmodels",), "forecast"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial told.

    ``state`` is works, fails, missing (``detail`` says what installs it), out of time or not tried; ``place`` the
    folder that it names, if any.
    """

    trial: Trial
    state: str
    detail: str = ""
    seconds: float | None = None
    place: str = ""


def carried_out(trials: Sequence[Trial], limit_s: float, jobs: int) -> list[Outcome]:
    """Carry out trials, *jobs* at a time, none longer than *limit_s*; those that run end with this, however it ends."""
    running: set[subprocess.Popen[str]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = [pool.submit(_outcome, trial, limit_s, running) for trial in trials]
        try:
            return [outcome.result() for outcome in outcomes]
        except BaseException:
            for outcome in outcomes:
                outcome.cancel()
            for process in list(running):
                _end(process)
            raise


def _outcome(trial: Trial, limit_s: float, running: set[subprocess.Popen[str]]) -> Outcome:
    missing = lacking(trial)
    if missing:
        return Outcome(trial, "missing", missing)
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(sys.path), trial.function],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True,  # a JVM that it starts ends with it
    )  # fmt: skip
    running.add(process)
    try:
        answer, said = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return Outcome(trial, "out of time", f"not done after {limit_s:g} s", limit_s)
    finally:
        _end(process)
        running.discard(process)
    return _read(trial, process.returncode, answer, said, time.monotonic() - began)


def lacking(trial: Trial) -> str:
    """Return what installs what a trial needs and is not there, empty where all is."""
    if any(find_spec(module) is None for module in trial.modules):
        return remedy(trial.extra)
    if trial.extra == "spark":
        from ftplan.spark_stats.choice import LEAST_JAVA, java_version

        java = java_version()
        if (java or 0) < LEAST_JAVA:
            return f"Java {LEAST_JAVA} or newer (JAVA_HOME, PATH), found {'none' if java is None else java}"
    return ""


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(trial: Trial, code: int, answer: str, said: str, seconds: float) -> Outcome:
    try:
        message: dict[str, Any] = json.loads(answer)
    except ValueError:
        last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
        ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        message = {"error": f"{ended}: {last}" if last else ended}
    if "error" in message:
        text = shortened(message["error"])
        return Outcome(trial, "fails", text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…", seconds)
    return Outcome(trial, "works", message["detail"], seconds, message["place"] or "")
