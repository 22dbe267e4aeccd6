"""A sweep of 10,000 cases and a simulation of 1,000 runs in processes whose address space is limited to 2 GB.

Run: ``python benchmarks/memory_limits.py [--quick] [--gb 2]``. Whole commands on the storm example; the limit is that
of ``ulimit -v``, which each process of a command has by itself.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from size_of_inputs import FTPLAN, STORM, write_cases


def measured(command: list[str], folder: Path, limit: int) -> tuple[float, int]:
    """Return the seconds of a command, and its exit code."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    code = process.wait()
    return time.perf_counter() - began, code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: a hundredth of the cases and runs")
    parser.add_argument("--gb", type=float, default=2.0, help="address space of each process, in GB of 10^9 bytes")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = 100 if options.quick else 1
    cases, runs = 10_000 // size, 1_000 // size
    if options.one:  # in a process of its own: the peak of children is that of all that it has waited for
        command = [*FTPLAN, *options.one[1].split()]
        seconds, code = measured(command, Path(options.one[0]), int(options.gb * 1e9))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{seconds:.0f} | {peak:.0f} | {code} |", flush=True)
        return
    print(f"| command, {options.gb:g} GB a process | s | peak memory of the largest process (MB) | exit code |")
    print("|---|---:|---:|---:|")
    inputs = " ".join(f"--{name} {STORM / name}.yaml" for name in ("topology", "cluster", "failure"))
    commands = {
        f"what-if, {cases:,} cases": "what-if cases.json -o rows.csv -q",
        f"simulate recovery, {runs:,} runs": f"simulate recovery {inputs} --runs {runs} --format json -q",
    }
    with tempfile.TemporaryDirectory() as place:
        write_cases(Path(place), cases)
        for title, line in commands.items():
            print(f"| {title} | ", end="", flush=True)
            subprocess.run([sys.executable, __file__, "--gb", str(options.gb), "--one", place, line], check=True)


if __name__ == "__main__":
    main()
