"""Help must come at once: no command's help loads a solver, an engine or a table library."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import click

from ftplan.cli.main import COMMANDS, cli
from ftplan.cli.simulate import SUBCOMMANDS
from tests.places import ROOT

HEAVY = (
    *("pyspark", "pysail", "ortools", "pandas", "networkx", "numpy", "pyarrow", "pydantic", "yaml", "rich", "numba"),
    "simpy",
)
#: Runs command lines with "+" between them, until one fails.
PROBE = (
    "import sys, json; from ftplan.cli.main import run; lines = ' '.join(sys.argv[1:]).split(' + '); "
    "code = next((code for line in lines if (code := run(line.split()))), 0); "
    f"print(json.dumps([code, [m for m in {HEAVY!r} if m in sys.modules]]), file=sys.stderr)"
)


SHOWN = [f"{name} --help" for name in COMMANDS] + [f"simulate {name} --help" for name in SUBCOMMANDS]
#: Runs command lines, of which it is given a list, and says of each its code, whether it printed, and what is loaded.
SHOWING = f"""
import contextlib, io, json, sys
from ftplan.cli.main import run
for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run(line.split())
    print(json.dumps([line, code, out.getvalue() != "", [m for m in {HEAVY!r} if m in sys.modules]]))
"""


def test_help_loads_nothing_heavy() -> None:
    """Of one command after the other, in one interpreter: the first that is not as it should be is the one at fault."""
    lines = ["--version", "--help", *SHOWN]
    done = subprocess.run(
        [sys.executable, "-c", SHOWING, json.dumps(lines)], capture_output=True, text=True, check=True
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[line, 0, True, []] for line in lines]


def test_import_ftplan_is_light() -> None:
    probe = f"import sys, ftplan; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", probe], text=True).strip() == "[]"


#: What no command needs for an answer on a small job without statistics.
NOT_NEEDED = ("pandas", "pyarrow", "networkx", "scipy", "pyspark", "numba", "rich", "simpy")
STORM = ROOT / "examples" / "storm-recovery"


def _loaded_by(args: list[str], folder: Path) -> list[str]:
    """Return which of the modules that are not needed a command loads on its way."""
    probe = PROBE.replace(repr(HEAVY), repr((*NOT_NEEDED, "ortools")))
    done = subprocess.run([sys.executable, "-c", probe, *args], capture_output=True, text=True, check=False, cwd=folder)
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return list(loaded)


def test_verify_and_a_small_recovery_load_what_they_need(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    args = ["recovery-schedule", "--objective", "priority", "-o", str(plan), "-q", "--no-progress"]
    assert _loaded_by(args, STORM) == []
    assert _loaded_by(["verify", str(plan)], STORM) == []


def test_a_small_recovery_compiles_nothing() -> None:
    """By any planner, one after the other."""
    algorithms = ("operator-centric", "best-density", "dynamic-programming", "exact", "auto")
    asked = ["+", "recovery-schedule", "--objective", "priority", "-q", "--no-progress"]
    lines = [[*asked, "--algorithm", algorithm] for algorithm in algorithms]
    loaded = _loaded_by(list(itertools.chain.from_iterable(lines))[1:], STORM)
    assert "numba" not in loaded
    assert "pandas" not in loaded


def test_a_small_repair_compiles_nothing() -> None:
    loaded = _loaded_by(["recovery-schedule", "-q", "--no-progress"], STORM.parent / "figure-2")
    assert "numba" not in loaded


def test_every_command_has_a_module_and_a_name() -> None:
    context = click.Context(cli)
    for name, (_, text) in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert text.endswith(".")
        assert command.help
