"""How fast a sweep is: recovery plans of examples/storm-recovery, by one process, by two, and one command each.

Run: ``python benchmarks/what_if.py [--cases 1000] [--pairs 5] [--commands 30] [--quick]``. Each pair is a sweep by one
process and one by two, in turn; the figures to reach are ratios of rates: 2 processes to 1, at least 1.6 (median of
the pairs), and 2 processes to separate commands, at least 20. Prints a Markdown table. All runs must have equal rows.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STORM = Path(__file__).resolve().parent.parent / "examples" / "storm-recovery"
INPUTS = {name: str(STORM / f"{name}.yaml") for name in ("topology", "cluster", "failure")}
#: As in the sweep, step by step: a search of seconds a case would be what is measured, and its rows hang on the clock.
STEP_BY_STEP = ["--algorithm", "best-density", "--objective", "priority", "-q"]
FTPLAN = [sys.executable, "-m", "ftplan"]


def cases(count: int) -> list[dict[str, Any]]:
    """Return cases in each of which one or two more nodes fail, and the seed differs."""
    draw = random.Random(0)
    nodes = [f"node:{rack}{number}" for rack in "ab" for number in range(1, 5)]
    return [
        {"id": f"case-{i}", "fail": sorted(draw.sample(nodes, draw.choice((1, 2)))), "options": {"seed": i}}
        for i in range(1, count + 1)
    ]


def timed(line: list[str], folder: str) -> float:
    started = time.perf_counter()
    subprocess.run([*FTPLAN, *line], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def sweep(folder: str, jobs: int) -> tuple[float, str]:
    """Return the seconds of a whole command over all cases, and its rows."""
    output = Path(folder) / "out.json"
    seconds = timed(["what-if", "what-if.json", "--jobs", str(jobs), "-o", str(output), "-q", "--force"], folder)
    return seconds, output.read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--commands", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="a smoke run: 60 cases, one pair, 3 commands")
    options = parser.parse_args()
    if options.quick:
        options.cases, options.pairs, options.commands = 60, 1, 3
    asked = cases(options.cases)
    document = {
        "format": "ftplan/what-if",
        "format_version": "1.0",
        "inputs": INPUTS,
        "run": {
            "command": "recovery-schedule",
            "algorithm": "best-density",
            "options": {"objective": "priority"},
        },
        "measures": ["objective", "bound"],
        "cases": asked,
    }
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "what-if.json").write_text(json.dumps(document))
        one, two, texts = [], [], set()
        for _ in range(options.pairs):
            for jobs, times in ((1, one), (2, two)):
                seconds, text = sweep(folder, jobs)
                times.append(seconds)
                texts.add(text)
        given = [word for name, path in INPUTS.items() for word in (f"--{name}", path)]
        single = [
            timed(
                ["recovery-schedule", *given, *(w for s in case["fail"] for w in ("--fail", s)), *STEP_BY_STEP], folder
            )
            for case in asked[: options.commands]
        ]
    assert len(texts) == 1, "the rows of two runs differ"
    failed = json.loads(texts.pop())["summary"]["failed"]
    assert failed == 0, f"{failed} cases failed"
    rates = {
        "separate commands": 1.0 / statistics.median(single),
        "1 process": options.cases / statistics.median(one),
        "2 processes": options.cases / statistics.median(two),
    }
    ratio = statistics.median(a / b for a, b in zip(one, two, strict=True))
    print(f"{options.cases:,} recovery plans, median of {options.pairs} pairs; {options.commands} separate commands.\n")
    print("| how | plans a second | to separate commands | 2 processes to 1 | to reach |")
    print("|---|---:|---:|---:|---|")
    for name, rate in rates.items():
        both = name == "2 processes"
        times = f"{rate / rates['separate commands']:.1f}"
        print(
            f"| {name} | {rate:.1f} | {times} | {f'{ratio:.2f}' if both else ''} | {'≥ 20 and ≥ 1.6' if both else ''} |"
        )


if __name__ == "__main__":
    main()
