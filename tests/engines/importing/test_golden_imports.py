"""Every sample of every engine, imported: counts, what was assumed, and a digest of both documents.

``FTPLAN_GOLDEN=write`` writes golden_imports.json anew; read the difference before you commit it. Transcripts with
whole documents stand in tests/cli/golden/import-topology.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.model.plan import canonical_json
from tests.engines.importing.cases import DATA, KAFKA, SPARK, accepted, nexmark
from tests.engines.storm.cases import pages
from tests.places import ROOT

GOLDEN = ROOT / "tests" / "engines" / "importing" / "golden_imports.json"


def _samples(folder: Path) -> dict[str, tuple[str, Any, dict[str, Any]]]:
    """Return engine, source and options of each sample by its name."""
    samples: dict[str, tuple[str, Any, dict[str, Any]]] = {}
    for path in sorted((DATA / "storm").rglob("*.*")):
        if path.suffix in (".yaml", ".json"):
            samples[f"storm/{path.name}"] = ("storm", path, {"break_cycles": True})
    saved = folder / "storm-ui"
    saved.mkdir()
    for i, value in enumerate(pages().values()):
        (saved / f"{i}.json").write_text(json.dumps(value))
    samples["storm/ui"] = ("storm", saved, {"zone_map": {"10.11.1.7": "a", "10.11.1.8": "a"}})
    queries = [f"nexmark_q{n}" for n in (4, 5, 7, 9, 102)]
    plans = nexmark(folder)
    samples["risingwave/all"] = ("risingwave", plans, {"parallelism": "4"})
    samples |= {f"risingwave/{q}": ("risingwave", plans, {"query": q, "parallelism": "4"}) for q in queries}
    samples["kafka-streams/old"] = ("kafka-streams", DATA / "kafka_streams" / "topology-1.0.txt", {"partitions": "12"})
    files = [KAFKA / f"{name}.txt" for name in ("topology", "log-dirs", "members")]
    samples["kafka-streams/all"] = ("kafka-streams", files, {"cores": 4})
    samples["spark/sample"] = ("spark", SPARK, {})
    return samples


def _said(engine: str, source: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return what came of an import, in few words; an error's place is left to its message."""
    try:
        done = accepted(ftplan.import_topology(source, engine, **options))
    except ftplan.FtplanError as error:
        return {"error": str(error).rpartition("yaml: ")[2]}
    text = canonical_json({"topology": done.topology, "cluster": done.cluster})
    operators = done.topology["operators"]
    return {
        "operators": len(operators),
        "tasks": sum(o["parallelism"] for o in operators),
        "key_groups": sum(o.get("key_groups", 0) for o in operators),
        "edges": len(done.topology["edges"]),
        "nodes": len(done.cluster["nodes"]) if done.cluster else 0,
        "assumptions": [w.code for w in done.assumptions],
        "notes": sorted({w.code for w in done.notes}),
        "sha256": hashlib.sha256(text.encode()).hexdigest()[:16],
    }


def test_every_sample(tmp_path: Path) -> None:
    said = {name: _said(*sample) for name, sample in _samples(tmp_path).items()}
    if os.environ.get("FTPLAN_GOLDEN") == "write":
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in said.items())
        GOLDEN.write_text(f"{{\n{lines}\n}}\n")
    golden = json.loads(GOLDEN.read_text())
    assert sorted(said) == sorted(golden)
    for name, value in said.items():
        assert value == golden[name], name


@pytest.mark.parametrize("name", ["storm/largeCluster01-TopologyName00034.json", "kafka-streams/all"])
def test_plans_take_what_was_imported(name: str, tmp_path: Path) -> None:
    """An import is there to be planned with."""
    engine, source, options = _samples(tmp_path)[name]
    done = ftplan.import_topology(source, engine, **options)
    problem = ftplan.load(topology=done.topology)
    assert ftplan.plan("replicate-tasks", problem, budget=3, time_limit_s=3600.0, iterations=10).status in (
        "optimal", "feasible",
    )  # fmt: skip
    if done.cluster is not None:
        problem = ftplan.load(topology=done.topology, cluster=done.cluster)
        node = done.cluster["nodes"][0]["id"]
        plan = ftplan.plan("recovery-schedule", problem, fail=[f"node:{node}"], iterations=10, time_limit_s=3600.0)
        assert plan.status in ("optimal", "feasible")
