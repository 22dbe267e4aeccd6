"""How fast recoveries are simulated: batches that tasks process in a second, and whole commands.

Run: ``python benchmarks/simulation.py [--quick]``. The flow of batches goes on without a failure, on the examples' jobs
and on layers of tasks with full edges between them; the loop as it is, not compiled, goes 6
simulated seconds far. Commands run in processes of their own: cold with an empty cache of compiled functions
(``NUMBA_CACHE_DIR``), then warm.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ftplan.compiled import called_often
from ftplan.io.loading import load
from ftplan.simulation.dataflow.compiled import CompiledPlane
from ftplan.simulation.dataflow.job import FlowOptions, StreamJob
from ftplan.simulation.recovery.options import RecoverySimulationOptions
from ftplan.simulation.recovery.scene import scene_of

#: Streams of a job up to which the slower way is measured, over 6 simulated seconds.
MOST_STREAMS = 5_000
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


class Flow(NamedTuple):
    """A job on nodes with so many cores, and how long it is simulated."""

    name: str
    job: StreamJob
    home: list[int]
    cores: list[float]
    until_s: float


def example(name: str, until_s: float) -> Flow:
    """Return the job of an example where its cluster places it."""
    files = {kind: EXAMPLES / name / f"{kind}.yaml" for kind in ("topology", "cluster", "failure")}
    scene = scene_of(load(**files), None, RecoverySimulationOptions())
    cores = [float(scene.cores[i]) for i in range(len(scene.cluster.nodes))]
    return Flow(name, scene.running.job, scene.home.tolist(), cores, until_s)


def layers(wide: int, deep: int, until_s: float) -> Flow:
    """Return layers of tasks, each task at half its pace, with full edges; 8 tasks on each node of 4 cores."""
    tasks = wide * deep
    receiver, number = np.divmod(np.arange(wide * wide * (deep - 1)), wide)
    receiver += wide
    sender = (receiver // wide - 1) * wide + number
    job = StreamJob(
        rate=np.where(np.arange(tasks) < wide, 100.0, 0.0),
        sender=sender,
        receiver=receiver,
        share=np.full(len(sender), 1.0 / wide),
        record_time_s=np.full(tasks, 0.005),
        threads=np.ones(tasks),
        output=np.arange(tasks) >= tasks - wide,
        deterministic=np.ones(tasks, dtype=np.bool_),
        state_bytes=np.zeros(tasks),
    )
    nodes = -(-tasks // 8)
    return Flow(f"{deep} layers of {wide}", job, [task % nodes for task in range(tasks)], [4.0] * nodes, until_s)


def run(flow: Flow, plane: CompiledPlane, until_s: float) -> tuple[float, int]:
    """Return how long a plane takes, and how many batches its tasks process."""
    for cores in flow.cores:
        plane.add_node(cores)
    for task, node in enumerate(flow.home):
        plane.start(task, node, 0)
    started = time.perf_counter()
    plane.advance(until_s)
    plane.observed()
    return time.perf_counter() - started, int(plane.processed().sum())


def planes(flows: list[Flow]) -> None:
    print("| job | tasks | streams | nodes | simulated s | batches of tasks | s | 1,000/s | as it is, 1,000/s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with called_often():
        run(flows[0], CompiledPlane(flows[0].job, FlowOptions()), 1.0)  # loads numba
    for flow in flows:
        with called_often():
            seconds, batches = run(flow, CompiledPlane(flow.job, FlowOptions(), flow.until_s), flow.until_s)
        plain = "–"
        if flow.job.streams <= MOST_STREAMS:
            short_s, some = run(flow, CompiledPlane(flow.job, FlowOptions()), min(flow.until_s, 6.0))
            plain = f"{some / short_s / 1e3:,.2f}"
        sizes = f"{flow.job.tasks:,} | {flow.job.streams:,} | {len(flow.cores):,} | {flow.until_s:g} | {batches:,}"
        print(f"| {flow.name} | {sizes} | {seconds:.2f} | {batches / seconds / 1e3:,.0f} | {plain} |", flush=True)


def command(folder: str, words: str, cache: str) -> float:
    """Return the seconds of a whole command."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(EXAMPLES.parent)}
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "ftplan", *words.split()],
        cwd=EXAMPLES / folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    return time.perf_counter() - started


def commands(quick: bool) -> None:
    runs = 4 if quick else 100
    rows = (
        ("fifteen-queries", "simulate recovery --warm-up 30s --until 570s", "≤ 20"),
        ("storm-recovery", f"simulate recovery --costs recovery.yaml --runs {runs} --jobs 2", "≤ 60"),
        ("storm-recovery", "simulate recovery --costs recovery.yaml --until 300s --batch 1s", ""),
    )
    print("\n| example | command | cold s | warm s | to reach |")
    print("|---|---|---:|---:|---:|")
    for folder, words, goal in rows:
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (command(folder, words, cache) for _ in range(2))
        print(f"| {folder} | `{words}` | {cold:.1f} | {warm:.1f} | {goal} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, 4 runs")
    quick = parser.parse_args().quick
    scale = 0.1 if quick else 1.0
    planes(
        [
            example("fifteen-queries", 600.0 * scale),
            example("storm-recovery", 900.0 * scale),
            layers(20, 4, 600.0 * scale),
            layers(40, 25, 60.0 * scale),
        ]
    )
    commands(quick)


if __name__ == "__main__":
    main()
