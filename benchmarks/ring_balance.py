"""Largest load over the mean on rings: proven best, beside uhashring, virtual nodes and plain random tokens.

Run from the project's root: ``python benchmarks/ring_balance.py [--quick]``. Prints Markdown tables.

32,768 key groups of one operator on 10 to 1,000 nodes, one backup, four zones; loads by law, and of real keys hashed to
key groups. ``exact`` gives each node one token, with all copies in different zones, and its bound is that of any ring
with one token a node: 0 % is proven optimal. uhashring has 100 virtual nodes a node (its ketama compatible ring, the
key groups as keys); virtual-nodes is ftplan's own with 100 tokens; random tokens are the mean of 20 rings with one
token a node. The last columns are the heaviest key group over the mean load of a node, which no assignment is below,
and the seconds of exact without reading files. Unequal nodes have 4 or 8 cores, or 2 to 31, at random.

The second table is the whole command, a process of its own: topology, cluster and statistics from files. Cold is with
no compiled function in the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from ring_questions import LAWS, ROOT, ZONES, loads, ring_question
from uhashring import HashRing

from ftplan.planners.budget import SearchOptions
from ftplan.planners.peer_ring.algorithms.baselines import hashed_ring, of_random_tokens
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.problem import RingProblem

GROUPS, TOKENS = 32_768, 100
SIZES = ("equal", "4 or 8", "2 to 31")
TARGET_S = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="4,096 key groups and at most 100 nodes")
    arguments = parser.parse_args()
    groups, counts = (4_096, (10, 100)) if arguments.quick else (GROUPS, (10, 30, 100, 300, 1_000))
    print("| loads | nodes | cores | exact | gap | uhashring | virtual-nodes | random tokens | heaviest | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    exact(ring_question(loads("exponential", groups), cores("2 to 31", 64)), SearchOptions())  # compiles
    for law in LAWS:
        for nodes in counts:
            print(row(law, nodes, "equal", groups), flush=True)
    for sizes in SIZES[1:]:
        for nodes in counts:
            print(row("exponential", nodes, sizes, groups), flush=True)
    commands(groups, counts[-1])


def cores(sizes: str, nodes: int) -> np.ndarray:
    """Return cores of nodes."""
    random = np.random.default_rng(1)
    if sizes == "equal":
        return np.full(nodes, 4.0)
    return random.choice([4.0, 8.0], nodes) if sizes == "4 or 8" else random.integers(2, 32, nodes).astype(np.float64)


def row(law: str, nodes: int, sizes: str, groups: int) -> str:
    """Return one row of the first table."""
    problem = ring_question(loads(law, groups), cores(sizes, nodes))
    began = time.perf_counter()
    result = exact(problem, SearchOptions())
    seconds = time.perf_counter() - began
    assert result.answer is not None
    assert result.bound is not None
    ring = result.answer.ring
    assert problem.violations(ring) == 0
    value = problem.largest_load(ring)
    assert value >= result.bound * (1.0 - 1e-9), "below the bound"
    heaviest = float(problem.load.max()) / float(problem.fair.max())
    cells = (
        law, f"{nodes:,}", sizes, f"{value:.4f}", f"{max(value / result.bound - 1.0, 0.0):.2%}",
        f"{by_uhashring(problem):.3f}", f"{problem.largest_load(hashed_ring(problem, 0)):.3f}",
        f"{of_random_tokens(problem, 0)['largest_load']:.2f}", f"{heaviest:.3f}", f"{seconds:.2f}",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def by_uhashring(problem: RingProblem) -> float:
    """Return the largest load over the fair share of a ring that uhashring makes."""
    nodes = {name: {"weight": int(cpu), "vnodes": TOKENS} for name, cpu in zip(problem.nodes, problem.cpu, strict=True)}
    if (problem.cpu == problem.cpu[0]).all():
        nodes = {name: {"weight": 1, "vnodes": TOKENS} for name in problem.nodes}
    ring = HashRing(nodes=nodes)
    number = {name: k for k, name in enumerate(problem.nodes)}
    owner = np.array([number[ring.get_node(f"key-group-{group}")] for group in range(len(problem.load))])
    load = np.bincount(owner, problem.load, minlength=len(problem.nodes))
    return float((load / problem.fair).max())


def commands(groups: int, nodes: int) -> None:
    """Print how long whole commands take."""
    print(f"\n### {nodes:,} nodes × {groups:,} key groups, the whole command\n")
    print("| cores | asked | seconds | processor | memory | largest load | gap | zone violations | status | target |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as cache:
        for sizes in SIZES:
            folder = Path(name) / sizes.replace(" ", "-")
            folder.mkdir()
            write_inputs(folder, groups, cores(sizes, nodes))
            for asked in ("cold", "warm", "--replication 2") if sizes == "equal" else ("warm",):
                words = asked.split() if asked.startswith("--") else []
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache} if asked == "cold" else dict(os.environ)
                if asked == "warm":
                    command(folder, words, environment)
                print(f"| {sizes} | {asked} | " + command(folder, words, environment), flush=True)


def command(folder: Path, words: list[str], environment: dict[str, str]) -> str:
    """Run ``ftplan peer-ring``; return the cells of its row."""
    asked = [sys.executable, "-m", "ftplan", "peer-ring", "-t", "topology.json", "-c", "cluster.json", "-s", "stats",
             "-o", "plan.json", "--force", "--no-progress", "-q", *words]  # fmt: skip
    began = time.perf_counter()
    process = subprocess.Popen(asked, cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(asked)}: exit code {process.returncode}")
    plan = json.loads((folder / "plan.json").read_text())
    goal, levels = plan["objective"], plan["summary"]["levels"]
    cells = (
        f"{seconds:.1f}", f"{usage.ru_utime + usage.ru_stime:.1f}", f"{usage.ru_maxrss / 2**20:.2f} GiB",
        f"{goal['value']:.4f}", f"{goal['gap']:.2%}",
        str(levels["zone_violations"]["value"]), plan["status"], f"≤ {TARGET_S:g} s",
    )  # fmt: skip
    return " | ".join(cells) + " |"


def write_inputs(folder: Path, groups: int, cpu: np.ndarray) -> None:
    """Write topology, cluster and statistics of one window."""
    load = loads("exponential", groups) * 1000.0
    keys = {"id": "keys", "parallelism": len(cpu), "key_groups": groups}
    machines = [{"id": f"n{k}", "cpu": float(c), "zone": f"zone-{k % ZONES}"} for k, c in enumerate(cpu)]
    _write(folder / "topology.json", "topology", operators=[keys], edges=[])
    _write(folder / "cluster.json", "cluster", nodes=machines, network={"bandwidth_mb_s": 100.0, "delay_s": 0.001})
    stats = folder / "stats"
    stats.mkdir()
    window = pa.array(np.zeros(groups, dtype=np.int64), pa.timestamp("us", "UTC"))
    columns = {
        "operator": pa.array(["keys"] * groups, pa.string()),
        "key_group": np.arange(groups, dtype=np.int32),
        "window_start": window,
        "records": load,
        "bytes": 100.0 * load,
        "state_bytes": 1e5 + 10.0 * load,
        "resolution": pa.array(["key_group"] * groups, pa.string()),
        "estimated": np.zeros(groups, dtype=bool),
    }
    pq.write_table(pa.table(columns), stats / "key_groups.parquet")
    facts = {"keys": {"key_groups": groups}}
    _write(stats / "manifest.json", "stats", window_s=60, start="1970-01-01T00:00:00Z", end="1970-01-01T00:01:00Z",
           operators=facts)  # fmt: skip


def _write(path: Path, kind: str, **body: object) -> None:
    path.write_text(json.dumps({"format": f"ftplan/{kind}", "format_version": "1.0", **body}))


if __name__ == "__main__":
    main()
