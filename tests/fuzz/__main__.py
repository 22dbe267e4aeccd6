"""Fuzz by hand: ``python -m tests.fuzz --documents 20000``; prints what it found and exits 1 where that is anything.

Each document gets a number, and the same number the same damage: ``--first N --documents 1`` repeats one. The work is
done in a second process, which a watchdog stops and starts again where a document takes too long.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from typing import Any


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--documents", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--limit", type=float, default=2.0, help="time limit of each planner, in seconds")
    parser.add_argument("--hang", type=float, default=120.0, help="seconds after which a document hangs")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--one", action="store_true", help="one algorithm of each kind for each document, in turn")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return _work(given)
    return _watch(given)


def _work(given: argparse.Namespace) -> int:
    """Judge documents and write a line of JSON for each; what anything else says on standard error is a fault."""
    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryFile("w+") as noise:
        os.dup2(noise.fileno(), 2)
        os.dup2(noise.fileno(), 1)
        from tests.fuzz.corpus import cases
        from tests.fuzz.judge import Judged, judge

        cases()
        for number in range(given.first, given.first + given.documents):
            noise.seek(0)
            noise.truncate()
            try:
                found = judge(number, every=not given.one, limit_s=given.limit)
            except Exception:
                found = Judged(number, "the fuzzer itself", faults=[traceback.format_exc()[-300:]])
            sys.stdout.flush()
            sys.stderr.flush()
            noise.seek(0)
            if said := noise.read():
                found.faults.append(f"on standard error: {said[:300]}")
            answers.write(json.dumps(vars(found)) + "\n")
            answers.flush()
    return 0


def _watch(given: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    started = time.monotonic()
    number, last = given.first, given.first + given.documents
    while number < last and time.monotonic() - started < 60 * given.minutes:
        number = _run(given, number, last - number, started, counts)
    print(
        ", ".join(f"{counts[key]:,} {key}" for key in ("documents", "refusals", "answers", "faults", "slow", "hangs"))
    )
    return 1 if counts["faults"] or counts["hangs"] else 0


def _run(given: argparse.Namespace, first: int, documents: int, started: float, counts: Counter[str]) -> int:
    """Run a worker up to its end or a hang, and return the number of the next document."""
    args = ["--work", f"--first={first}", f"--documents={documents}", f"--limit={given.limit}"]
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz", *args, *(["--one"] if given.one else [])]
    number, rest = first, b""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        while time.monotonic() - started < 60 * given.minutes:
            patience = given.hang + (180.0 if number == first else 0.0)  # the first waits for the examples too
            if not select.select([worker.stdout], [], [], patience)[0]:
                counts["hangs"] += 1
                print(f"{number}: hangs", flush=True)
                worker.kill()
                return number + 1
            data = os.read(worker.stdout.fileno(), 1 << 20)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                _count(json.loads(line), counts)
                number += 1
            if not data:
                if number == first + documents:
                    return number
                counts["faults"] += 1
                print(f"{number}: the process ended ({worker.wait()})", flush=True)
                return number + 1
        worker.kill()
    return number


def _count(found: dict[str, Any], counts: Counter[str]) -> None:
    counts["documents"] += 1
    counts["refusals"] += found["refused"]
    counts["answers"] += found["answered"]
    counts["faults"] += bool(found["faults"])
    counts["slow"] += bool(found["slow"])
    for text in (*found["faults"], *found["slow"]):
        print(f"{found['number']}: {found['document']}: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
