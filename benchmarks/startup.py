"""How long ``ftplan --help`` takes against ``python -c "import click"``: whole processes, pair by pair.

Run: ``python benchmarks/startup.py [--runs 15]``. The figure to reach is a ratio of at most 4.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = {
    'python -c "import click"': [sys.executable, "-c", "import click"],
    "ftplan --help": [str(Path(sys.executable).parent / "ftplan"), "--help"],
    "ftplan allocate-checkpoints --help": [
        str(Path(sys.executable).parent / "ftplan"), "allocate-checkpoints", "--help",
    ],
}  # fmt: skip


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for run in range(runs + 1):
        for name, command in COMMANDS.items():
            took = seconds(command)
            if run:  # the first round only warms the page cache
                times[name].append(took)
    base = next(iter(times))
    print("| command | median s | min s | ratio, median of pairs | to reach |")
    print("|---|---:|---:|---:|---:|")
    for name, took in times.items():
        ratio = statistics.median(a / b for a, b in zip(took, times[base], strict=True))
        target = "≤ 4" if name == "ftplan --help" else ""
        print(f"| `{name}` | {statistics.median(took):.3f} | {min(took):.3f} | {ratio:.2f} | {target} |")


if __name__ == "__main__":
    main()
