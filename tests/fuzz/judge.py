"""One damaged document after another: whatever becomes of it, only answers and short ``FtplanError`` may come out."""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

import ftplan
from ftplan.api import diff, explain, verify
from ftplan.cli.main import run
from ftplan.errors import LONGEST_MESSAGE
from ftplan.io.plan_file import load_plan
from ftplan.planners.registry import rows
from tests.fuzz.corpus import COMMANDS, Case, cases
from tests.fuzz.mutations import mutated
from tests.io.examples import check_file

#: Seconds beyond a time limit that a step may take.
BEYOND_S = 2.0
#: Tables of statistics.
TABLES = ("key_groups", "tasks", "substreams")
#: Parts of some of the examples; explain refuses those that a plan does not have.
SELECTORS = ("node:n1", "node:n2", "zone:rack-a", "task:join/0", "query:p09/0", "key-group:alerts/1", "operator:x")


@dataclass
class Judged:
    """What was done to a document, what became of it, and what should not have happened."""

    number: int
    document: str
    faults: list[str] = field(default_factory=list)
    refused: int = 0
    answered: int = 0
    slow: list[str] = field(default_factory=list)

    def step(self, name: str, call: Callable[[], Any], limit_s: float = 0.0) -> Any:
        """Make a call, and return what it returns, None where it refuses; anything else it does is a fault."""
        started = time.monotonic()
        try:
            answer = call()
        except ftplan.FtplanError as error:
            self.refused += 1
            self.message(name, str(error))
            return None
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)[-3:]
            where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
            self.faults.append(f"{name}: {type(error).__name__}: {str(error)[:200]} at {where}")
            return None
        finally:
            seconds = time.monotonic() - started
            if seconds > limit_s + BEYOND_S:
                self.slow.append(f"{name}: {seconds:.1f} s")
        self.answered += 1
        return answer

    def message(self, name: str, text: str) -> None:
        """Hold a message to one short line."""
        if not text or "\n" in text or len(text) > LONGEST_MESSAGE:
            self.faults.append(f"{name}: no short line: {text[:100]!r} ({len(text)} characters)")


def judge(number: int, *, every: bool = True, limit_s: float = 60.0) -> Judged:
    """Damage one document, the same for the same number, and try everything with it.

    Parameters
    ----------
    every
        Every algorithm of every kind; False takes one of each kind in turn.
    limit_s
        The time limit of each planner.
    """
    random = Random(number)
    case = random.choice(cases())
    kinds = [*case.inputs, *case.inputs, "plan", "plan", *(["toml"] if case.toml else [])]
    kind = random.choice(kinds)
    with warnings.catch_warnings(), np.errstate(divide="warn", over="warn", invalid="warn"):
        warnings.simplefilter("error")
        if kind == "plan":
            return _plan(number, case, random, limit_s)
        if kind == "toml":
            return _configuration(number, case, random)
        return _input(number, case, kind, random, every, limit_s)


def _input(number: int, case: Case, kind: str, random: Random, every: bool, limit_s: float) -> Judged:
    document, done = mutated(case.inputs[kind], random)
    found = Judged(number, f"{case.name}/{kind}: {done}")
    with _as_file(kind, document, random) as source:
        if isinstance(source, str):
            found.step("check", lambda: check_file(source))
        problem = found.step("load", lambda: ftplan.load(**{**case.inputs, kind: source}, spread=True))
    if problem is None:
        return found
    for command in COMMANDS:
        candidates = rows(command)
        for row in candidates if every else [candidates[number % len(candidates)]]:
            _answer(found, command, row.name, problem, random, limit_s)
    return found


def _answer(found: Judged, command: str, algorithm: str, problem: Any, random: Random, limit_s: float) -> None:
    """Plan, and do with the plan what can be done with one."""
    name = f"{command} {algorithm}"
    options = {**COMMANDS[command], **_more(command, random), "time_limit_s": limit_s}
    plan = found.step(
        f"{name} {options}", lambda: ftplan.plan(command, problem, algorithm=algorithm, **options), limit_s
    )
    if plan is None:
        return
    text = found.step(f"{name}: to_json", plan.to_json)
    if text is not None:
        found.step(f"{name}: load_plan", lambda: load_plan(json.loads(text)))
    if plan.plan is None:
        return
    verdict = found.step(f"{name} {options}: verify", lambda: verify(plan, problem))
    if verdict is not None and not verdict.valid:
        first = verdict.violations[0]
        found.faults.append(f"{name} {options}: verify: {first.code}: {first.message}")
    found.step(f"{name}: evaluate", lambda: ftplan.evaluate(plan, problem).to_json(), limit_s)
    found.step(f"{name}: explain", lambda: explain(plan, problem, random.choice(SELECTORS)).to_json(), limit_s)


def _more(command: str, random: Random) -> dict[str, Any]:
    """Return options that now and then ask for more."""
    choices: dict[str, list[dict[str, Any]]] = {
        "allocate-checkpoints": [
            {}, {}, {"copies": 2}, {"objective": "usable"}, {"objective": "node-correlation"}, {"load": "cpu_ms"},
            {"anti_affinity": "zone"}, {"balance": "count"}, {"balance": "none"}, {"minimise": "failover"},
            {"bound": True}, {"max_moves": 2}, {"holdout": 0.5},
        ],
        "replicate-tasks": [
            {}, {}, {"worst_case": True}, {"budget": None, "target": 0.5}, {"budget": None, "budget_cpu": 3},
            {"budget": None, "budget_mb": 5}, {"metric": "internal-completeness"}, {"weight": "priority"},
            {"metric": "key-aligned-fidelity"},
            {"curve": True}, {"threshold": 0.1, "max_changes": 2},
        ],
        "recovery-schedule": [
            {}, {"objective": "priority"}, {"objective": "priority"}, {"objective": "fidelity-time"},
            {"prefetch": False}, {"parallel_recovery": True}, {"complete_failure": True}, {"arrivals": False},
            {"capacity": 3}, {"bandwidth": 10},
        ],
        "drain-schedule": [
            {}, {}, {"partial": False}, {"move": True}, {"max": 2}, {"max_per_zone": 1}, {"keep_priority": 2},
            {"keep_copies": "none"}, {"nodes": ["node:n1", "zone:rack-a"]}, {"label": ["a=b"]}, {"min_fidelity": None},
            {"move": True, "max_cpu": 1.0, "max": 3},
        ],
        "rebalance": [
            {}, {}, {"tolerance": 0.3}, {"protocol": "direct"}, {"objective": "bytes"}, {"remove": ["n1"]},
            {"remove": ["n1"], "within_s": 5.0}, {"add": ["n2"]}, {"max_moves": 2}, {"max_pause_s": 1.0},
            {"demand": "p90"}, {"cross_zone_cost": 1.0}, {"anti_affinity": "zone"}, {"suggest": True},
        ],
        "scale-out": [
            {}, {}, {"split": "hash"}, {"alarming": "auto"}, {"technique": "checkpoint"}, {"free_cpu": 3.0},
            {"quota": 20.0}, {"task_capacity": 0.5}, {"task_capacity": 0.5, "growth": 9.0}, {"max_parallelism": 4},
            {"forecast": "none"}, {"demand": "p90", "look_back_s": 600.0}, {"task_memory": 1e6},
            {"max_rescales_per_day": 3}, {"latency_budget_s": 0.1},
        ],
        "peer-ring": [
            {}, {}, {"replication": 2}, {"replication": 0}, {"remove": ["n1"]}, {"tier": ["n1"]}, {"target_load": 1.5},
            {"fail": ["node:n1"]}, {"fail": ["zone:rack-a"]}, {"demand": "p90"}, {"interval_s": 1.0}, {"tokens": 3},
            {"load": "bytes"}, {"capacity_per_core": 3.0}, {"heartbeat_s": 1.0, "missed_heartbeats": 3},
        ],
    }  # fmt: skip
    return random.choice(choices[command])


def _plan(number: int, case: Case, random: Random, limit_s: float) -> Judged:
    kind = random.choice(list(case.plans))
    document, done = mutated(case.plans[kind], random)
    found = Judged(number, f"{case.name}/{kind}: {done}")
    plan = found.step("load", lambda: load_plan(document).value)
    if plan is None:
        return found
    problem = _problem(case)
    before = load_plan(case.plans[kind]).value
    found.step("to_json", plan.to_json)
    found.step("verify", lambda: verify(plan, problem).to_json())
    found.step("strict", lambda: verify(plan, problem, strict=True, ignore_stale=True).to_json())
    found.step("evaluate", lambda: ftplan.evaluate(plan, problem, fail=["node:n1"]).to_json())
    found.step("diff", lambda: diff(before, plan, problem).to_json())
    for selector in random.sample(SELECTORS, 2):
        found.step(f"explain {selector}", lambda selector=selector: explain(plan, problem, selector).to_json())
    uses = {
        "allocate-checkpoints": [
            ("allocate-checkpoints", "current"),
            ("recovery-schedule", "checkpoints"),
            ("drain-schedule", "checkpoints"),
            ("rebalance", "checkpoints"),
            ("scale-out", "checkpoints"),
        ],
        "peer-ring": [("peer-ring", "current")],
        "replicate-tasks": [
            ("replicate-tasks", "current"),
            ("recovery-schedule", "replicas"),
            ("drain-schedule", "replicas"),
        ],
    }
    for command, option in uses.get(kind, ()):
        options = {**COMMANDS[command], "time_limit_s": limit_s, option: document}
        algorithm = "best-density" if command == "recovery-schedule" else None
        found.step(option, lambda c=command, a=algorithm, o=options: ftplan.plan(c, problem, algorithm=a, **o), limit_s)
    return found


def _configuration(number: int, case: Case, random: Random) -> Judged:
    """Run commands in a folder with a damaged ``ftplan.toml``."""
    assert case.toml is not None
    known = {
        **case.toml,
        "recovery-schedule": {"algorithm": "best-density", "time-limit": "60s", "iterations": 1, "max-cpu": 0.8},
        "replicate-tasks": {"budget": "30%", "iterations": 1, "seed": 3, "metric": "output-fidelity"},
        "check": {"format": "json"},
    }
    document, done = mutated(known, random)
    found = Judged(number, f"{case.name}/ftplan.toml: {done}")
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for role in ("topology", "cluster", "failure"):
            Path(f"{role}.yaml").write_text(json.dumps(case.inputs[role]))
        text = _toml(document)
        Path("ftplan.toml").write_text(text)
        for args in (["check", "ftplan.toml"], ["recovery-schedule"], ["replicate-tasks"]):
            out, said = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(said):
                code = found.step(" ".join(args), lambda args=args: run([*args]), limit_s=60.0)
            lines = said.getvalue().splitlines()
            if code == 2:
                found.message(args[0], lines[-1] if lines else "")
            elif code not in (0, 1):
                found.faults.append(f"{args[0]}: exit {code}: {said.getvalue()[-300:]}")
    return found


def _toml(tables: Any) -> str:
    """Return tables as TOML, as far as it goes: there is no null, and tables hold no tables."""
    lines: list[str] = []
    named = tables if isinstance(tables, dict) else {}
    lines += [f"{_quoted(key)} = {_value(value)}" for key, value in named.items() if not isinstance(value, dict)]
    for name, table in named.items():
        if isinstance(table, dict):
            lines += [f"[{_quoted(name)}]", *(f"{_quoted(key)} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool) or value is None:
        return "false" if not value else "true"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


_problems: dict[str, Any] = {}


def _problem(case: Case) -> Any:
    if case.name not in _problems:
        _problems[case.name] = ftplan.load(**case.inputs, spread=True)
    return _problems[case.name]


@contextmanager
def _as_file(kind: str, document: Any, random: Random) -> Iterator[Any]:
    """Yield the document, one time in three as a file or folder with it; what a file cannot hold stays in memory."""
    if random.random() > 1 / 3 or not isinstance(document, dict):
        yield document
        return
    with tempfile.TemporaryDirectory() as name, chdir(name):
        try:
            written = _folder(document, random) if kind == "stats" else _file(kind, document, random)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, yaml.YAMLError, AttributeError):
            yield document
            return
        yield written


def _file(kind: str, document: Any, random: Random) -> str:
    path = f"{kind}.{random.choice(['yaml', 'json'])}"
    text = json.dumps(document) if path.endswith("json") else yaml.safe_dump(document)
    Path(path).write_text(text)
    return path


def _folder(document: dict[str, Any], random: Random) -> str:
    """Write a statistics folder, now and then with a few bytes of a table turned over."""
    os.mkdir("stats")
    Path("stats/manifest.json").write_text(json.dumps(document.get("manifest")))
    for kind in TABLES:
        if isinstance(document.get(kind), list):
            pq.write_table(pa.Table.from_pylist(document[kind]), f"stats/{kind}.parquet")
    if "placement" in document:
        Path("stats/placement.yaml").write_text(yaml.safe_dump(document["placement"]))
    path = Path("stats/key_groups.parquet")
    if random.random() < 0.2 and path.exists():
        data = bytearray(path.read_bytes())
        for _ in range(random.randint(1, 5)):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(bytes(data))
    return "stats"
