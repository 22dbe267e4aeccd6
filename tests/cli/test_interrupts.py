"""Every planner ends when it is interrupted: exit 130, nothing on standard output, no file left.

The signal is sent when a solver has begun that runs for minutes, or a planner that is called again and again: never
after some time. A signal that is lost shows as a command that exits 0, or never.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.instances import LayerSizes, layered
from ftplan.cli import leaving
from ftplan.io.model_entries import topology_entry
from tests.cli.in_process import environment

#: Runs the command line; says on standard error when a solver begins, or the planner, which then runs for ever.
CHILD = """
import sys
import threading
from ftplan.cli import main
from ftplan.planners import interrupts, registry
mark = sys.argv.pop(1)
def said(call, again=False):
    def begun(*args, **options):
        print("it begins", file=sys.stderr, flush=True)
        while again:
            call(*args, **options)
        return call(*args, **options)
    return begun
if mark == "deaf":  # as HiGHS, which nothing stops
    forever = lambda *args, **options: interrupts.interruptible(threading.Event().wait)
    registry.load = lambda row: said(forever)
elif mark == "solver":
    interrupts._Call._run = said(interrupts._Call._run)
else:
    load = registry.load
    registry.load = lambda row: said(load(row), again=True)
main.main()
"""


def _write(path: Path, kind: str, **body: Any) -> None:
    path.write_text(json.dumps({"format": f"ftplan/{kind}", "format_version": "1.0", **body}))


@pytest.fixture(scope="module")
def allocation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hard generalised assignment: key groups whose loads barely fit the balance."""
    folder = tmp_path_factory.mktemp("allocation")
    groups, nodes, windows = 1200, 40, 48
    rng = np.random.default_rng(0)
    ids = [f"n{k}" for k in range(nodes)]
    _write(
        folder / "topology.json",
        "topology",
        operators=[{"id": "op", "parallelism": groups, "key_groups": groups}],
        edges=[],
    )
    home = {"key_groups": {"op": [ids[g * nodes // groups] for g in range(groups)]}}
    _write(folder / "cluster.json", "cluster", nodes=[{"id": i, "cpu": 1.0} for i in ids], placement=home)
    stats = folder / "stats"
    stats.mkdir()
    rows = groups * windows
    starts = np.tile(np.arange(windows, dtype=np.int64) * 60_000_000, groups)
    columns = {
        "operator": ["op"] * rows,
        "key_group": np.repeat(np.arange(groups, dtype=np.int32), windows),
        "window_start": pa.array(starts, pa.timestamp("us", tz="UTC")),
        "records": np.repeat(rng.lognormal(3.0, 1.0, groups), windows) * rng.random(rows),
        "resolution": ["key_group"] * rows,
        "estimated": np.zeros(rows, dtype=bool),
    }
    pq.write_table(pa.table(columns), stats / "key_groups.parquet")
    _write(
        stats / "manifest.json", "stats", window_s=60, start="1970-01-01T00:00:00Z", end="1970-01-01T00:48:00Z",
        operators={"op": {"key_groups": groups}},
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def replication(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Layers of measured substreams, where no path nests."""
    folder = tmp_path_factory.mktemp("replication")
    wide, layers = 20, 4
    (folder / "topology.json").write_text(json.dumps(topology_entry(layered(LayerSizes(layers, 1, wide, 3), 0))))
    nodes = [f"n{k}" for k in range(20)]
    tasks = {f"o{k}": [nodes[(k * wide + t) % 20] for t in range(wide)] for k in range(layers)}
    machines = [{"id": n, "cpu": 20.0, "zone": f"z{k % 4}"} for k, n in enumerate(nodes)]
    _write(folder / "cluster.json", "cluster", nodes=machines, placement={"tasks": tasks})
    failing = [{"id": n, "probability": 0.02, "fail": [f"node:{n}"]} for n in nodes]
    _write(folder / "failure.json", "failure", scenarios=failing)
    return folder


ALLOCATE = ("allocate-checkpoints", "-t", "topology.json", "-c", "cluster.json", "-s", "stats")
REPLICATE = ("replicate-tasks", "-t", "topology.json")
CASES = {
    "exact": ("solver", (*ALLOCATE, "--algorithm", "exact", "--objective", "correlation", "--balance", "0.001")),
    "exact, failover": ("planner", (*ALLOCATE, "--algorithm", "exact", "--minimise", "failover")),
    "exact, copies": ("planner", (*ALLOCATE, "--algorithm", "exact", "--copies", "5")),
    "correlated": ("planner", (*ALLOCATE, "--algorithm", "correlated")),
    "correlated, bound": ("planner", (*ALLOCATE, "--algorithm", "correlated", "--bound")),
    "baseline": ("planner", (*ALLOCATE, "--algorithm", "baseline", "--bound")),
    "even": ("planner", (*ALLOCATE, "--algorithm", "even", "--bound")),
    "replicas, a solver that does not stop": ("deaf", (*REPLICATE, "--algorithm", "exact", "--budget", "5%")),
    "replicas exact": ("planner", (*REPLICATE, "--algorithm", "exact", "--budget", "5%")),
    "replicas structure-aware": ("planner", (*REPLICATE, "--algorithm", "structure-aware", "--budget", "30%")),
    "replicas greedy": ("planner", (*REPLICATE, "--algorithm", "greedy", "--budget", "30%")),
    "replicas placed": (
        "planner",
        (*REPLICATE, "-c", "cluster.json", "-f", "failure.json", "--algorithm", "exact", "--budget", "20%"),
    ),
}


#: Of each kind one; what the others differ in is the planner.
QUICK = (
    ("exact", signal.SIGINT), ("replicas, a solver that does not stop", signal.SIGINT), ("correlated", signal.SIGINT),
    ("replicas greedy", signal.SIGTERM),
)  # fmt: skip
OTHERS = [pair for pair in (*((case, signal.SIGINT) for case in CASES), ("exact", signal.SIGTERM)) if pair not in QUICK]


@pytest.mark.parametrize(("case", "sent"), [*QUICK, *(pytest.param(*pair, marks=pytest.mark.slow) for pair in OTHERS)])
def test_interrupted_planning_is_130(
    case: str, sent: signal.Signals, allocation: Path, replication: Path, tmp_path: Path
) -> None:
    mark, line = CASES[case]
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, mark, *line, "--time-limit", "10m", "-o", str(tmp_path / "plan.json")],
        cwd=allocation if line[0] == ALLOCATE[0] else replication,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stderr is not None
    seen = []
    for text in process.stderr:
        seen.append(text)
        if "it begins" in text:
            break
    else:
        pytest.fail(f"ended before it began: {''.join(seen)[-500:]}")
    process.send_signal(sent)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "ftplan: interrupted"
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_within_a_destructor_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closing:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "unraisablehook", leaving.unraisable)

    def work() -> None:
        Closing()
        threading.Event().wait()  # until it comes again

    with pytest.raises(KeyboardInterrupt):
        work()


KILL = "os.kill(os.getpid(), signal.SIGINT); threading.Event().wait(60)"
#: What an interrupt meets and takes for something else, or by which it lets the interpreter end with a signal.
MASKING = {
    "a name set": f"class D:\n    def __set_name__(self, owner, name): {KILL}\ntype('C', (), {{'d': D()}})",
    "a wrong value": f"try: {KILL}\nexcept KeyboardInterrupt: raise FtplanError('wrong')",
    "exec": f"exec({KILL!r})",
}


@pytest.mark.parametrize("program", MASKING)
def test_an_interrupt_that_is_taken_for_something_else_is_130(program: str) -> None:
    script = (
        "import os, signal, sys, threading\nfrom ftplan.cli import main\nfrom ftplan.errors import FtplanError\n"
        f"def work(context):\n{textwrap.indent(MASKING[program], '    ')}\n"
        "main.cli.invoke = work\nsys.argv = ['ftplan', 'doctor']\nmain.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ftplan: interrupted\n")
