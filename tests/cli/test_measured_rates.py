"""Statistics of tasks and substreams at the command line: they weigh plans, and every verb takes the same rates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import Run
from tests.model.measures.measured_cases import folder, measured

TOPOLOGY = """\
format: ftplan/topology
format_version: "1.0"
operators:
  - {id: source, parallelism: 2}
  - {id: map, parallelism: 3, rate_out: [1, 1, 1]}
  - {id: sink, parallelism: 3}
edges:
  - {from: source, to: map, partitioning: full}
  - {from: map, to: sink, partitioning: one-to-one}
"""
CLUSTER = """\
format: ftplan/cluster
format_version: "1.0"
nodes:
  - {id: n1, cpu: 4, zone: a}
  - {id: n2, cpu: 4, zone: b}
  - {id: n3, cpu: 4, zone: c}
placement:
  tasks: {source: [n1, n1], map: [n1, n1, n2], sink: [n1, n2, n3]}
"""


def log(heavy: int) -> dict[str, Any]:
    """Statistics in which one lane from map to sink carries most; source/1 feeds it alone, source/0 the others."""
    rate = [600 if i == heavy else 60 for i in range(3)]
    pairs = [("source", int(i == heavy), "map", i, 0, rate[i]) for i in range(3)]
    pairs += [("map", i, "sink", i, 0, rate[i]) for i in range(3)]
    tasks = [("map", i, 0, rate[i], rate[i], 3000.0) for i in range(3)]
    return measured(["source", "map", "sink"], tasks=tasks, substreams=pairs, windows=1)


@pytest.fixture
def job(project: Path) -> Path:
    """A project whose topology says nothing of which lane is heavy; stats-0 and stats-2 do."""
    (project / "topology.yaml").write_text(TOPOLOGY)
    (project / "cluster.yaml").write_text(CLUSTER)
    for heavy in (0, 2):
        folder(project / f"stats-{heavy}", log(heavy))
    return project


INPUTS = ("-t", "topology.yaml", "-c", "cluster.yaml")


def replicas(path: Path) -> set[str]:
    plan = json.loads(path.read_text())
    return {f"{item['operator']}/{item['index']}" for item in plan["plan"]["replicas"]}


@pytest.mark.parametrize("heavy", [0, 2])
@pytest.mark.parametrize("algorithm", ["greedy", "structure-aware", "exact"])
def test_the_heavy_lane_is_replicated(job: Path, ftplan: Run, heavy: int, algorithm: str) -> None:
    asked = ("replicate-tasks", *INPUTS, "-s", f"stats-{heavy}", "--budget", "3", "--algorithm", algorithm)
    done = ftplan(*asked, "-o", "plan.json")
    assert done.returncode == 0
    assert f"map/{heavy} emits 1 records/s by the topology, 10 by the statistics (90.0% apart)" in done.stderr
    assert replicas(job / "plan.json") == {"source/1", f"map/{heavy}", f"sink/{heavy}"}
    assert json.loads((job / "plan.json").read_text())["objective"]["value"] == pytest.approx(10 / 12)


def test_every_verb_takes_the_same_rates(job: Path, ftplan: Run) -> None:
    ftplan("replicate-tasks", *INPUTS, "-s", "stats-0", "--budget", "3", "--curve", "-o", "plan.json")
    assert ftplan("verify", "plan.json", "--strict").returncode == 0
    value = json.loads(ftplan("evaluate", "plan.json", "--format", "json").stdout)["metrics"]
    assert next(m["value"] for m in value if m["name"] == "output-fidelity") == pytest.approx(10 / 12)
    other = json.loads(ftplan("evaluate", "plan.json", "-s", "stats-2", "--format", "json").stdout)["metrics"]
    assert next(m["value"] for m in other if m["name"] == "output-fidelity") == 0.0
    stale = ftplan("verify", "plan.json", "-s", "stats-2")
    assert stale.returncode == 1
    assert "STALE_INPUT" in stale.stdout
    known = ftplan("verify", "plan.json", "-s", "stats-2", "--ignore-stale")
    assert known.returncode == 1
    assert "OBJECTIVE_DIFFERS" in known.stdout
    explained = ftplan("explain", "plan.json", "task:map/0", "--format", "table").stdout
    assert "without it output-fidelity falls by 0.833333" in explained
    ftplan("replicate-tasks", *INPUTS, "-s", "stats-2", "--budget", "3", "-o", "other.json")
    changes = json.loads(ftplan("diff", "plan.json", "other.json", "--format", "json").stdout)["changes"]
    assert {(c["operator"], c["index"], c["what"]) for c in changes} >= {
        ("map", 0, "deactivate"),
        ("map", 2, "activate"),
    }


@pytest.mark.parametrize("objective", ["priority", "priority-time", "fidelity-time"])
def test_recovery_weighs_by_what_was_measured(job: Path, ftplan: Run, objective: str) -> None:
    """With room for one lane at a time fidelity over time brings the heavy one first; queries are as they were."""
    (job / "topology.yaml").write_text(TOPOLOGY.replace("partitioning: full", "partitioning: split"))
    (job / "failure.yaml").write_text(
        'format: ftplan/failure\nformat_version: "1.0"\nfail: ["operator:map"]\n'
        "arrivals:\n  - {at_s: 100, node: {id: r1, cpu: 0.1}}\n  - {at_s: 200, node: {id: r2, cpu: 0.1}}\n"
        "  - {at_s: 300, node: {id: r3, cpu: 0.1}}\n"
    )
    (job / "cluster.yaml").write_text(CLUSTER.replace("cpu: 4", "cpu: 1"))
    for heavy in (0, 2):
        asked = ("-s", f"stats-{heavy}", "-f", "failure.yaml", "--objective", objective, "--max-cpu", "0.8")
        done = ftplan("recovery-schedule", *INPUTS, *asked, "-o", f"plan-{heavy}.json")
        assert done.returncode == 0, done.stderr
        checked = ftplan("verify", f"plan-{heavy}.json", "--strict")
        assert checked.returncode == 0, checked.stdout
        plan = json.loads((job / f"plan-{heavy}.json").read_text())
        assert {(q["operator"], q["index"]) for q in plan["plan"]["queries"]} == {("sink", i) for i in range(3)}
        if objective == "fidelity-time":
            first = min(plan["plan"]["queries"], key=lambda q: q["back_s"])
            assert first["index"] == heavy
            stale = ftplan("verify", f"plan-{heavy}.json", "-s", f"stats-{2 - heavy}", "--ignore-stale")
            assert "OBJECTIVE_DIFFERS" in stale.stdout


def test_a_starter_plans_as_the_statistics_do(job: Path, ftplan: Run) -> None:
    """What `init --stats` writes needs no statistics any more; a list that is too long is named."""
    assert ftplan("init", "--stats", "stats-2", "-o", "new").returncode == 0
    new = job / "new"
    assert ftplan("check", "topology.yaml", "cluster.yaml", "ftplan.toml", cwd=new).returncode == 0
    for given in ((), ("-s", "../stats-2")):
        asked = ("replicate-tasks", "-t", "topology.yaml", *given, "--budget", "3", "-o", "plan.json", "--force")
        done = ftplan(*asked, cwd=new)
        assert "RATES_DISAGREE" not in done.stderr
        assert "by the topology" not in done.stderr
        assert replicas(new / "plan.json") == {"source/1", "map/2", "sink/2"}
    done = ftplan("init", "--stats", "stats-2", "-o", "new", "--max-substreams", "2", "--force")
    assert "3 measured substreams are more than --max-substreams 2" in done.stderr
    assert ftplan("check", "topology.yaml", cwd=new).returncode == 0
    assert "partitioning: full" in (new / "topology.yaml").read_text()


def test_what_fits_no_edge_is_a_warning(job: Path, ftplan: Run) -> None:
    pairs = [("map", 0, "sink", 2, 0, 60), ("sink", 0, "source", 0, 0, 60)]
    folder(job / "odd", measured(["source", "map", "sink"], substreams=pairs))
    done = ftplan("replicate-tasks", *INPUTS, "-s", "odd", "--budget", "3", "-o", "plan.json")
    assert done.returncode == 0
    assert "from map/0 to sink/2, which do not meet in the topology" in done.stderr
    assert "from sink to source, but the topology no such edge" in done.stderr
    codes = [warning["code"] for warning in json.loads((job / "plan.json").read_text())["warnings"]]
    assert {"STREAM_NOT_IN_TOPOLOGY", "SUBSTREAM_NOT_IN_TOPOLOGY"} <= set(codes)


def test_statistics_of_another_job_are_a_mistake(job: Path, ftplan: Run) -> None:
    folder(job / "wrong", measured(["source", "map", "sinks"], substreams=[("map", 0, "sinks", 0, 0, 1)]))
    done = ftplan("replicate-tasks", *INPUTS, "-s", "wrong", "--budget", "3")
    assert done.returncode == 2
    assert "operator 'sinks', which the topology does not know (did you mean 'sink'?)" in done.stderr
