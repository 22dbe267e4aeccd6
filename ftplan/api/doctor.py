"""What is installed, what works here and where settings come from: ``ftplan doctor``.

It has to work where packages are missing or broken: nothing here imports any that it tells of, each trial is a process
of its own, so that a crash takes only that with it, and what goes wrong in one is a finding.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ftplan import version
from ftplan.errors import FtplanError, shortened, suggestion
from ftplan.model import machine_limits
from ftplan.processes import cores
from ftplan.spark_stats.choice import LEAST_JAVA, java_version

#: Variables of others that change what ftplan does.
OF_OTHERS = (
    "JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", "PYSPARK_PYTHON", "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "TMPDIR", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE", "LD_LIBRARY_PATH", "LC_ALL", "LANG", "NO_COLOR",
)  # fmt: skip
#: What stands for a value that is not shown.
HIDDEN = "(set, not shown)"
#: What is imported of a package, where that is not the module of its name.
MODULES: Mapping[str, Sequence[str]] = {
    "ortools": ("ortools.sat.python.cp_model", "ortools.math_opt.python.mathopt", "ortools.graph.python.max_flow"),
    "pyyaml": ("yaml",),
    "scipy": ("scipy.optimize",),
    "statsmodels": ("statsmodels.tsa.holtwinters",),
}
#: Most trials at a time: some start a JVM, and each has its own limit.
MOST_JOBS = 4
LOW_SPACE_BYTES = 100 * 2**20
#: What the interpreter of a trial runs: it imports names, and calls the last one if that is a function ``module:name``.
PROGRAM = """
import json, os, sys
from pkgutil import resolve_name
sys.path[:] = json.loads(sys.argv[1])
answer = os.dup(1)
os.dup2(2, 1)  # what is printed meanwhile is no part of the answer
last = [resolve_name(name) for name in sys.argv[2:]][-1]
os.write(answer, json.dumps(last() if ":" in sys.argv[-1] else "").encode())
os._exit(0)  # what is left running beneath may take long to end, or crash
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """Something to try: what asks for it, the *names* to import, the extra that brings it, or None if it is needed."""

    name: str
    purpose: str
    names: Sequence[str]
    extra: str | None = None


COMPILED = Trial("compiled functions", "large plans, simulations", ("ftplan.compiled:tried",))
#: The engines, each with the package that brings it.
ENGINES = {
    Trial("Apache Spark", "compute-stats", ("ftplan.spark_stats.trials:spark",), "spark"): "pyspark",
    Trial("Sail", "compute-stats", ("ftplan.spark_stats.trials:sail",), "sail"): "pysail",
}


def packages() -> list[dict[str, Any]]:
    """Return the packages that ftplan needs, then those of its extras: version, None where one is missing, and extra.

    A package that several extras bring is listed with the last of them that is not ``all``.
    """
    found: dict[str, dict[str, Any]] = {}
    for line in metadata.requires("ftplan") or ():
        name, asked = re.split(r"[^\w.-]", line, maxsplit=1)[0], re.search(r"extra == ['\"]([\w-]+)", line)
        if name != "ftplan" and not (asked and asked[1] == "all"):
            here, extra = next((one.version for one in metadata.distributions(name=name)), None), asked and asked[1]
            install = f"pip install 'ftplan[{extra}]'" if extra else "pip install --force-reinstall ftplan"
            found[name] = {"name": name, "version": here, "extra": extra, "remedy": None if here else install}
    return list(found.values())


def examine(
    commands: Mapping[str, Mapping[str, str]],
    known: Collection[str],
    *,
    tried: bool = True,
    engines: bool = True,
    limit_s: float = 120.0,
) -> dict[str, Any]:
    """Look at everything; return plain data, in which the folder of the user is ``~``, as others are to see it.

    *commands* is what ``ftplan.toml`` may say of each command, *known* the variables that options read. Without *tried*
    only what is missing is named, without *engines* Spark and Sail do not start; a trial ends after *limit_s* seconds.
    """
    listed, java = packages(), java_version()
    lacking = {one["name"]: one["remedy"] for one in listed if one["remedy"]}
    lacking |= {engine.name: lacking[package] for engine, package in ENGINES.items() if package in lacking}
    if (java or 0) < LEAST_JAVA:
        lacking.setdefault("Apache Spark", f"Java {LEAST_JAVA} or newer (JAVA_HOME, PATH), found {java or 'none'}")
    trials = [Trial(one["name"], "import", MODULES.get(one["name"], (one["name"],)), one["extra"]) for one in listed]
    trials += [COMPILED, *ENGINES]
    chosen = [one for one in trials if tried and (engines or one not in ENGINES) and one.name not in lacking]
    done = dict(zip(chosen, carry_out(chosen, limit_s), strict=True))
    outcomes: list[dict[str, Any]] = []
    for trial in trials:
        untried = ("missing", lacking[trial.name], None) if trial.name in lacking else ("not tried", "", None)
        state, detail, seconds = done.get(trial, untried)
        about = {"name": trial.name, "purpose": trial.purpose, "extra": trial.extra, "needed": trial.extra is None}
        outcomes.append({**about, "state": state, "detail": detail, "seconds": seconds})
    folders = [_folder("temporary files", tempfile.gettempdir)]
    kept = next(item for item in outcomes if item["name"] == COMPILED.name)
    if kept["state"] == "works":
        kept["detail"], place = kept["detail"]
        folders.append(_folder(COMPILED.name, lambda: place))
    settings = configuration(commands, known)
    problems = [
        f"{item['name']}: {item['state']}: {item['detail']}"
        for item in outcomes
        if item["needed"] and item["state"] not in ("works", "not tried")
    ]
    problems += [settings["error"]] if settings["error"] else []
    if not folders[0]["writable"]:
        problems.append("temporary files: no folder can be written to; TMPDIR names one")
    memory = machine_limits.stated_bytes()
    found = {
        "works": not problems,
        "problems": problems,
        "notes": list(_notes(folders, outcomes, settings["variables"])),
        "program": {
            "ftplan": version.__version__,
            "installed_in": str(Path(version.__file__).resolve().parent),
            "python": platform.python_version(),
            "implementation": platform.python_implementation(),
            "executable": sys.executable,
            "platform": platform.platform(),
            "java": java,
        },
        "machine": {
            "cores": os.cpu_count(),
            "cores_usable": cores(),
            "cores_of_cgroup": machine_limits.cores(),
            "memory_bytes": memory.get("MemTotal"),
            "memory_available_bytes": memory.get("MemAvailable"),
            "memory_of_cgroup_bytes": machine_limits.memory_bytes(),
        },
        "folders": folders,
        "packages": listed,
        "trials": outcomes,
        "configuration": settings,
    }
    home = os.path.expanduser("~")
    told: dict[str, Any] = json.loads(json.dumps(found).replace(json.dumps(home)[1:-1] if len(home) > 1 else "\0", "~"))
    return told


def _notes(folders: Sequence[Any], outcomes: Sequence[Any], variables: Sequence[Any]) -> Iterator[str]:
    """Yield what keeps nobody from planning."""
    if not all(item["writable"] for item in folders[1:]):
        yield "compiled functions are not kept: every process compiles anew; NUMBA_CACHE_DIR names a folder for them"
    for item in folders:
        if item["free_bytes"] is not None and item["free_bytes"] < LOW_SPACE_BYTES:
            yield f"{item['what']}: {item['free_bytes'] / 2**20:.0f} MiB are free in {item['path']}"
    for item in outcomes:
        if not item["needed"] and item["state"] in ("fails", "out of time"):
            yield f"{item['name']}: {item['state']}: {item['detail']}; planning works without"
    for item in variables:
        if item["known"] is False:
            yield f"unknown environment variable {item['name']}{item['near']} is ignored"


def _folder(what: str, place: Callable[[], str | None]) -> dict[str, Any]:
    """Return whether a file can be written into a folder, by writing one; Python may know none for temporary files."""
    path, writable, free = None, False, None
    with contextlib.suppress(OSError):
        path = place()
    if path is not None:
        with contextlib.suppress(OSError):
            free = shutil.disk_usage(path).free
        with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=path) as file:
            file.write(b"ftplan")
            writable = True
    return {"what": what, "path": path, "writable": writable, "free_bytes": free}


def carry_out(trials: Sequence[Trial], limit_s: float) -> list[tuple[str, Any, float]]:
    """Return of each trial its state, what it says and its seconds; those that run end with this, however it ends."""
    running: set[subprocess.Popen[str]] = set()
    with ThreadPoolExecutor(min(MOST_JOBS, cores())) as pool:
        outcomes = [pool.submit(_outcome, trial, limit_s, running) for trial in trials]
        try:
            return [outcome.result() for outcome in outcomes]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                _end(process)
            raise


def _outcome(trial: Trial, limit_s: float, running: set[subprocess.Popen[str]]) -> tuple[str, Any, float]:
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(sys.path), *trial.names],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True,  # a JVM that it starts ends with it
    )  # fmt: skip
    running.add(process)
    try:
        answer, said = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return "out of time", f"not done after {limit_s:g} s", limit_s
    finally:
        _end(process)
        running.discard(process)
    seconds = round(time.monotonic() - began, 1)
    if process.returncode == 0:
        return "works", json.loads(answer), seconds
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "nothing said")
    ended = f"ended by {signal.Signals(-process.returncode).name}: " if process.returncode < 0 else ""
    text = shortened(ended + last.removeprefix(f"{FtplanError.__module__}.{FtplanError.__name__}: "))
    return "fails", text if len(text) <= 200 else f"{text[:199]}…", seconds


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def configuration(commands: Mapping[str, Mapping[str, str]], known: Collection[str]) -> dict[str, Any]:
    """Return where settings come from: ``ftplan.toml``, all of whose tables are checked, and the environment.

    Nothing secret is in it: of a variable that is not known no value is shown, since its name may be misspelled.
    """
    variables = []
    for name in sorted(name for name in os.environ if name.startswith("FTPLAN_") or name in OF_OTHERS):
        ours, is_known = name.startswith("FTPLAN_"), name in known
        near = suggestion(name, sorted(known)) if ours and not is_known else ""
        value = _shown(name, os.environ[name]) if is_known or not ours else HIDDEN
        variables.append({"name": name, "known": is_known if ours else None, "value": value, "near": near})
    found: dict[str, Any] = {"file": None, "tables": [], "error": None, "variables": variables}
    try:
        start = Path.cwd()
        files = (folder / "ftplan.toml" for folder in (start, *start.parents))
        path = next((file for file in files if file.is_file()), None)
        if path is None:
            return found
        found["file"] = str(path)
        from ftplan.io.configuration import read_configuration

        read = read_configuration(path, commands)
    except FtplanError as error:
        return {**found, "error": str(error)}
    except Exception as error:  # what reads it may be broken
        return {**found, "error": shortened(f"ftplan.toml cannot be read: {type(error).__name__}: {error}")}
    return {**found, "tables": [*(["inputs"] if read.inputs else []), *read.commands]}


def _shown(name: str, value: str) -> str:
    """Return the value of a variable, without what may be secret: names say so, and so do places in a URL.

    These are what stands before the ``@``, and what follows ``?`` or ``;``, such as the token of ``SPARK_REMOTE``.
    """
    if re.search(r"TOKEN|PASSWORD|SECRET|USER|AUTH|KEY|CREDENTIAL|HEADER", name):
        return HIDDEN
    value = re.sub(r"//\S*@", "//***@", value)
    return shortened(re.sub(r"(//[^\s?;#]*[?;#])\S+", r"\1***", value))
