"""All findings together: what is shown, and whether planning works here."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ftplan.api.doctor.machine import Folder, Package, folder, installed, machine, python, remedy, temporary
from ftplan.api.doctor.settings import Settings
from ftplan.api.doctor.trials import TRIALS, Outcome, Trial, carried_out, lacking
from ftplan.processes import cores

LEAST_PYTHON = (3, 11)
#: Most trials at a time: some start a JVM, and each has its own limit.
MOST_JOBS = 4
LOW_SPACE = 100 * 2**20


@dataclass(frozen=True)
class Findings:
    """What was found: ``problems`` keep ftplan from planning here, ``notes`` do not."""

    program: dict[str, Any]
    machine: dict[str, Any]
    folders: Sequence[Folder]
    packages: Sequence[Package]
    outcomes: Sequence[Outcome]
    settings: Settings
    problems: Sequence[str]
    notes: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; the folder of the user is ``~`` in it, as it is to be shown to others."""
        document = {
            "works": not self.problems,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "program": self.program,
            "machine": self.machine,
            "folders": [asdict(item) for item in self.folders],
            "packages": [{**asdict(item), "remedy": item.remedy} for item in self.packages],
            "trials": [_tried(item) for item in self.outcomes],
            "configuration": asdict(self.settings),
        }
        return dict(_without_home(document, os.path.expanduser("~")))


def _tried(outcome: Outcome) -> dict[str, Any]:
    trial, seconds = outcome.trial, outcome.seconds
    return {
        "name": trial.name,
        "purpose": trial.purpose,
        "needed": trial.extra is None,
        "extra": trial.extra,
        "state": outcome.state,
        "detail": outcome.detail,
        "seconds": None if seconds is None else round(seconds, 1),
    }


def _without_home(value: Any, home: str) -> Any:
    if isinstance(value, str):
        return value.replace(home, "~") if len(home) > 1 else value
    if isinstance(value, dict):
        return {key: _without_home(item, home) for key, item in value.items()}
    return [_without_home(item, home) for item in value] if isinstance(value, list | tuple) else value


def examine(settings: Settings, *, tried: bool = True, engines: bool = True, limit_s: float = 120.0) -> Findings:
    """Look at everything.

    Parameters
    ----------
    settings
        What was found of configuration.
    tried
        Whether solvers and libraries are tried; else only what is missing is named.
    engines
        Whether Apache Spark and Sail are tried too, which start slowly.
    limit_s
        Seconds after which a trial is ended.
    """
    chosen = [trial for trial in TRIALS if tried and (engines or not trial.engine)]
    done = {outcome.trial: outcome for outcome in carried_out(chosen, limit_s, min(MOST_JOBS, cores()))}
    outcomes = [done.get(trial) or _untried(trial) for trial in TRIALS]
    kept = next((item for item in outcomes if item.trial.name == "compiled functions"), None)
    folders = [temporary()]
    if kept is not None and kept.state == "works":
        folders.append(folder("compiled functions", kept.place or None))
    packages, program, own = installed(), python(), machine()
    problems = [*_wrong_python(), *_wrong_packages(packages), *_wrong(outcomes), *settings.errors()]
    if not folders[0].writable:
        problems.append("temporary files: no folder can be written to; TMPDIR names one")
    notes = [*_unkept(folders[1:]), *_full(folders), *_beside(outcomes), *settings.notes()]
    return Findings(program, own, folders, packages, outcomes, settings, problems, notes)


def _untried(trial: Trial) -> Outcome:
    missing = lacking(trial)
    return Outcome(trial, "missing", missing) if missing else Outcome(trial, "not tried")


def _wrong_python() -> list[str]:
    if sys.version_info >= LEAST_PYTHON:
        return []
    return [f"Python {'.'.join(map(str, LEAST_PYTHON))} or newer is needed"]


def _wrong_packages(packages: Sequence[Package]) -> list[str]:
    missing = [item.name for item in packages if item.extra is None and item.version is None]
    return [f"not installed: {', '.join(missing)}; {remedy(None)}"] if missing else []


def _wrong(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what is needed and was tried in vain."""
    return [f"{item.trial.name}: {item.state}: {item.detail}" for item in outcomes if _in_vain(item, needed=True)]


def _beside(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what is not needed, is there, and was tried in vain."""
    found = [item for item in outcomes if _in_vain(item, needed=False) and item.state != "missing"]
    return [f"{item.trial.name}: {item.state}: {item.detail}; planning works without" for item in found]


def _in_vain(outcome: Outcome, needed: bool) -> bool:
    return (outcome.trial.extra is None) == needed and outcome.state in ("fails", "missing", "out of time")


def _unkept(folders: Sequence[Folder]) -> list[str]:
    if all(item.writable for item in folders):
        return []
    return ["compiled functions are not kept: every process compiles anew; NUMBA_CACHE_DIR names a folder for them"]


def _full(folders: Sequence[Folder]) -> list[str]:
    low = [item for item in folders if item.free_bytes is not None and item.free_bytes < LOW_SPACE]
    return [f"{item.what}: {(item.free_bytes or 0) / 2**20:.0f} MiB are free in {item.path}" for item in low]
