"""How long small commands take on a machine that has run none before, and on one that has: whole processes.

Run: ``python benchmarks/cold_start.py [--runs 5]``. Cold means an empty cache of compiled functions
(``NUMBA_CACHE_DIR``), as in a container or a CI job; warm means the cache that a run before left. Prints a Markdown
table with medians, and with the processor's time beside them, which other processes do not lengthen.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STORM = Path(__file__).resolve().parent.parent / "examples" / "storm-recovery"
FTPLAN = [sys.executable, "-m", "ftplan"]

#: What is run, and the seconds to reach cold and warm; PLAN is a schedule that the first made.
COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("recovery-schedule --time-limit 5s", "≤ 3", "≤ 1.2"),
    ("recovery-schedule --time-limit 5s --objective priority-time", "", ""),
    ("recovery-schedule --time-limit 5s --objective fidelity-time", "", ""),
    ("recovery-schedule --time-limit 5s --algorithm local-search", "", ""),
    ("recovery-schedule --time-limit 5s --algorithm local-search --objective priority-time", "", ""),
    ("verify PLAN", "≤ 0.6", "≤ 0.6"),
    ("evaluate PLAN", "", ""),
)


def seconds(command: str, plan: Path, cache: Path) -> tuple[float, float]:
    """Return the seconds of a command on the clock and on the processor."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(STORM.parent.parent)}
    args = [str(plan) if word == "PLAN" else word for word in command.split()]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        [*FTPLAN, *args], cwd=STORM, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
    )
    took = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(
        "| command, examples/storm-recovery | cold s | cold processor s | to reach | warm s | processor s | to reach |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.json"
        made = [*FTPLAN, "recovery-schedule", "-o", str(plan), "-q", "--no-progress"]
        environment = {**os.environ, "PYTHONPATH": str(STORM.parent.parent)}
        subprocess.run(made, cwd=STORM, env=environment, check=True)
        for number, (command, cold_goal, warm_goal) in enumerate(COMMANDS):
            cold = []
            for run in range(runs):
                empty = Path(folder) / f"cache-{number}-{run}"
                empty.mkdir()
                cold.append(seconds(command, plan, empty))
            warm = [seconds(command, plan, empty) for _ in range(runs)]
            columns = [column for times in (cold, warm) for column in zip(*times, strict=True)]
            medians = [f"{statistics.median(column):.2f}" for column in columns]
            cells = [f"`{command}`", *medians[:2], cold_goal, *medians[2:], warm_goal]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
