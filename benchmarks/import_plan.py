"""How long ``import-topology`` takes for a Flink plan of many vertices, as a whole command.

The plan is of ``/jobs/:jobid``: layers of vertices, each of which reads one to three of the layer before by hash,
rebalance, rescale or forward, at a parallelism of 1 to 32. Prints a row of the table in RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

LAYERS = 50


def job(vertices: int, seed: int = 1) -> dict[str, Any]:
    """Return what Flink would answer of a job with so many vertices."""
    rng = Random(seed)
    width = max(1, vertices // LAYERS)
    keys = [f"{rng.getrandbits(128):032x}" for _ in range(vertices)]
    tasks = [rng.choice((1, 4, 8, 32)) for _ in keys]
    nodes, listed = [], []
    for i, key in enumerate(keys):
        inputs = []
        if i >= width:
            first = (i // width - 1) * width
            for number, source in enumerate(
                rng.sample(range(first, min(first + width, i)), min(width, rng.randint(1, 3)))
            ):
                way = rng.choice(("HASH", "HASH", "REBALANCE", "RESCALE"))
                way = "FORWARD" if tasks[source] == tasks[i] and rng.random() < 0.3 else way
                inputs.append(
                    {"id": keys[source], "num": number, "exchange": "pipelined_bounded", "ship_strategy": way}
                )
        what = "Source: topic" if not inputs else "Join" if len(inputs) == 2 else "GroupAggregate"
        node = {"id": key, "operator": "", "parallelism": tasks[i], "operator_strategy": ""}
        node |= {
            "description": f"[{i}]:{what}(groupBy=[u], select=[u, COUNT(*) AS n])<br/>+- [{i}]:Calc(select=[u])<br/>"
        }
        nodes.append(node | {"optimizer_properties": {}} | ({"inputs": inputs} if inputs else {}))
        listed.append({"id": key, "name": f"{what}[{i}] -> Calc[{i}]", "maxParallelism": 128, "parallelism": tasks[i]})
    rng.shuffle(nodes)
    plan = {"jid": "0" * 32, "name": "large", "type": "STREAMING", "nodes": nodes}
    return {"jid": "0" * 32, "name": "large", "state": "RUNNING", "vertices": listed, "plan": plan}


def main() -> None:
    """Measure, and print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vertices", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    print("| vertices | edges | seconds |\n|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for count in asked.vertices:
            source, target = Path(folder, "job.json"), Path(folder, "topology.yaml")
            document = job(count)
            source.write_text(json.dumps(document))
            command = [sys.executable, "-m", "ftplan", "import-topology", str(source), "--from", "flink"]
            command += ["-o", str(target), "--force", "--quiet"]
            best = float("inf")
            for _ in range(asked.repeat):
                begun = time.perf_counter()
                subprocess.run(command, check=True)
                best = min(best, time.perf_counter() - begun)
            edges = sum(len(node.get("inputs", ())) for node in document["plan"]["nodes"])
            print(f"| {count:,} | {edges:,} | {best:.2f} |", flush=True)


if __name__ == "__main__":
    main()
