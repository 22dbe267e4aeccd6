"""Ceph's balancer beside ``correlated``: ``osdmaptool --upmap`` evens out placement groups as ftplan evens out load.

Run from the project's root: ``python benchmarks/ceph_peer.py [--groups 25600] [--nodes 400]``. Prints a
Markdown table. Needs ``osdmaptool`` (Debian: ``apt-get install --no-install-recommends ceph-base``); it says so where
it is missing. The peer solves an easier problem (equal groups, numbers of copies, no costs); what is compared is how
long a planner may take at this size.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from allocation_at_scale import loads, problem_of

from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions

#: Copies of each group: those of Ceph's default pool.
COPIES = 3
INSTALL = "osdmaptool is not on PATH: install Debian's ceph-base (apt-get install --no-install-recommends ceph-base)"


def ceph(groups: int, nodes: int, tool: str) -> tuple[float, str]:
    """Return the seconds that ``--upmap`` takes on a map of equal nodes, and what came out."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = str(Path(folder) / "osdmap"), Path(folder) / "upmap"
        bits = 1
        while nodes << bits < groups:
            bits += 1
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        create = [tool, path, "--createsimple", str(nodes), "--pg-bits", str(bits), "--with-default-pool", "--clobber"]
        create += ["--osd_crush_chooseleaf_type=0"]  # every disk its own failure domain, as nodes are here
        subprocess.run(create, **quiet)  # type: ignore[call-overload]
        start = time.perf_counter()
        limits = ["--mark-up-in", "--upmap-max", "100000", "--upmap-deviation", "1"]
        subprocess.run([tool, path, "--upmap", str(out), *limits], **quiet)  # type: ignore[call-overload]
        seconds = time.perf_counter() - start
        changes = sum(1 for line in out.read_text().splitlines() if "pg-upmap-items" in line)
        return seconds, f"{nodes << bits} groups, {changes} moved"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=25_600)
    parser.add_argument("--nodes", type=int, default=400)
    asked = parser.parse_args()
    print("| planner | groups × copies | nodes | seconds | outcome |")
    print("|---|---|---|---|---|")
    tool = shutil.which("osdmaptool")
    if tool is None:
        print(INSTALL, file=sys.stderr)
    else:
        seconds, outcome = ceph(asked.groups, asked.nodes, tool)
        print(f"| osdmaptool --upmap | {asked.groups} × {COPIES} | {asked.nodes} | {seconds:.1f} | {outcome} |")
    series = loads(asked.groups, 0)
    options = AllocationOptions(copies=COPIES, balance=0.05)
    start = time.perf_counter()
    problem = problem_of(series, asked.nodes, 0, options)
    result = registry.load(registry.row("allocate-checkpoints", "correlated"))(problem, options)
    seconds = time.perf_counter() - start
    print(f"| correlated | {asked.groups} × {COPIES} | {asked.nodes} | {seconds:.1f} | {result.status}, Δ = 5 % |")


if __name__ == "__main__":
    main()
