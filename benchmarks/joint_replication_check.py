"""Task replication beside brute force over choice and placement, in any number of random cases.

Run from the project's root: ``python benchmarks/joint_replication_check.py [--cases 2000] [--first 0]
[--algorithms exact greedy] [--checks budget curve] [--show 3] [--dump FOLDER]``. Prints a Markdown table, the first
failures, and exits with 1 where there are any; ``--dump`` writes the inputs of these.

A case is a job of at most 6 tasks on at most 4 nodes with little room. What each check asks for stands in
``tests/planners/replicate_tasks/joint_checks.py``: *budget*: valid, never above the optimum, a bound never below it,
more budget never worse; *node*: one node more never worse; *current*: replicas in place, limits of change, thresholds;
*target*; *curve*.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.planners.replicate_tasks.joint_cases import random_case
from tests.planners.replicate_tasks.joint_checks import ALGORITHMS, CHECKS, as_files, broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS, choices=ALGORITHMS)
    parser.add_argument("--checks", nargs="+", default=list(CHECKS), choices=CHECKS)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--dump", type=Path)
    parser.add_argument("--no-same-zone", action="store_true", help="leave --same-zone out")
    given = parser.parse_args()
    wrong: Counter[tuple[str, str]] = Counter()
    seconds: Counter[tuple[str, str]] = Counter()
    shown: dict[tuple[str, str], list[str]] = {}
    for seed in range(given.first, given.first + given.cases):
        for algorithm in given.algorithms:
            for check in given.checks:
                began = time.perf_counter()
                text = broken(seed, check, algorithm, not given.no_same_zone)
                seconds[algorithm, check] += time.perf_counter() - began
                if text:
                    wrong[algorithm, check] += 1
                    print(text, file=sys.stderr, flush=True)
                    shown.setdefault((algorithm, check), []).append(text)
                    if given.dump is not None and wrong[algorithm, check] <= given.show:
                        given.dump.mkdir(parents=True, exist_ok=True)
                        case = as_files(random_case(seed, not given.no_same_zone))
                        (given.dump / f"{seed}-{check}-{algorithm}.json").write_text(case)
    print("| algorithm | check | cases | wrong | ms a case |\n|---|---|--:|--:|--:|")
    for algorithm in given.algorithms:
        for check in given.checks:
            key, each = (algorithm, check), 1e3 / given.cases
            print(f"| {algorithm} | {check} | {given.cases:,} | {wrong[key]:,} | {seconds[key] * each:.0f} |")
    for texts in shown.values():
        for text in texts[: given.show]:
            print(f"- {text}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
