"""Whatever the knobs: a document that its reader accepts and planners take, or one line that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.api.checking import check_files
from ftplan.generators.generate import INPUTS
from ftplan.generators.knobs import MAX_TASKS
from ftplan.generators.options import OPTIONS
from ftplan.generators.presets import PRESETS
from ftplan.model.plan import canonical_json
from tests.generators.cases import CLUSTERS, FAILURES, STATISTICS, TOPOLOGIES, Drawn

TOPOLOGY = ftplan.generate("topology", operators=5, parallelism=(1, 4), key_groups=6, seed=1)
CLUSTER = ftplan.generate("cluster", topology=TOPOLOGY, copies=1, zones=3)


#: What only knobs that many operators multiply, or tiny ones, lead to.
BEYOND = "beyond what a file may hold"


def made(what: str, **given: Any) -> dict[str, Any] | None:
    """Return what is generated; None where the knobs contradict each other."""
    try:
        return ftplan.generate(what, **given)
    except ftplan.FtplanError as error:
        text = str(error)
    if BEYOND in text and "selectivity" not in given:
        pytest.fail(text)
    return None


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(
        a[key].equals(b[key]) if isinstance(a[key], pa.Table) else a[key] == b[key] for key in a
    )


@given(TOPOLOGIES)
@settings(max_examples=150, deadline=None)
def test_every_topology_is_accepted(drawn: Drawn) -> None:
    topology = made("topology", **drawn)
    if topology is None:
        return
    problem = ftplan.load(topology=topology)
    assert problem.warnings == ()
    assert canonical_json(topology) == canonical_json(ftplan.generate("topology", **drawn))
    assert problem.topology is not None
    assert problem.topology.task_count <= drawn.get("max_tasks", MAX_TASKS)


@given(CLUSTERS, st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_cluster_is_accepted(drawn: Drawn, loaded: bool) -> None:
    topology = TOPOLOGY if loaded else None
    cluster = made("cluster", topology=topology, **drawn)
    if cluster is None:
        return
    problem = ftplan.load(topology=topology, cluster=cluster)
    assert problem.warnings == ()
    assert same(cluster, ftplan.generate("cluster", topology=topology, **drawn))


@given(STATISTICS)
@settings(max_examples=100, deadline=None)
def test_all_statistics_are_accepted(drawn: Drawn) -> None:
    stats = made("stats", topology=TOPOLOGY, **drawn)
    if stats is None:
        return
    problem = ftplan.load(topology=TOPOLOGY, stats=stats)
    assert problem.stats is not None
    assert problem.stats.manifest.windows == drawn.get("windows", OPTIONS["stats"].windows)
    assert same(stats, ftplan.generate("stats", topology=TOPOLOGY, **drawn))


@given(FAILURES)
@settings(max_examples=100, deadline=None)
def test_every_failure_is_accepted(drawn: Drawn) -> None:
    failure = made("failure", cluster=CLUSTER, topology=TOPOLOGY, **drawn)
    if failure is None:
        return
    problem = ftplan.load(topology=TOPOLOGY, cluster=CLUSTER, failure=failure)
    assert {warning.code for warning in problem.warnings} <= {"PROBABILITIES_ABOVE_ONE"}
    assert same(failure, ftplan.generate("failure", cluster=CLUSTER, topology=TOPOLOGY, **drawn))


@pytest.mark.parametrize("what", OPTIONS)
def test_another_seed_is_another_document(what: str) -> None:
    inputs = {"topology": TOPOLOGY} if what in ("cluster", "stats", "failure") else {}
    inputs |= {"cluster": CLUSTER} if what == "failure" else {}
    documents = [ftplan.generate(what, seed=seed, **inputs) for seed in range(5)]
    assert not any(same(a, b) for i, a in enumerate(documents) for b in documents[:i])


@pytest.mark.parametrize(("what", "like"), [(what, like) for what in PRESETS for like in PRESETS[what]])
def test_every_preset_is_accepted(what: str, like: str, tmp_path: Path) -> None:
    """Also as a file, and by what ``ftplan check`` says of it."""
    topology = ftplan.generate("topology", like=like if like in PRESETS["topology"] else "replication-figure-6")
    inputs = {"topology": topology} if "topology" in INPUTS[what] else {}
    if what == "failure":
        inputs["cluster"] = ftplan.generate("cluster", nodes=12, cores=100.0)
        del inputs["topology"]
    path = tmp_path / ("stats" if what == "stats" else f"{what}.yaml")
    document = ftplan.generate(what, like=like, output=path, **inputs)
    checked, errors = check_files((str(path),))
    assert (errors, [item.warnings for item in checked]) == ([], [()])
    if what != "stats":
        text = path.read_text()
        command = text.partition("\n")[0]
        assert command.startswith(f"# ftplan generate {what} ")
        assert command.endswith(f" --like {like}")
        assert canonical_json(document) == canonical_json(_read(path))


def _read(path: Path) -> dict[str, Any]:
    import yaml

    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


@pytest.mark.parametrize("what", OPTIONS)
def test_knobs_have_help(what: str) -> None:
    for option in OPTIONS[what].options().values():
        assert option.help.endswith((".", "]"))


def test_a_generated_set_can_be_planned_with(tmp_path: Path) -> None:
    """Topology, cluster, statistics and failures from files, through every kind of plan, and what verify says."""
    from ftplan.api import verify

    paths = {name: tmp_path / f"{name}.json" for name in ("topology", "cluster", "failure")}
    ftplan.generate("topology", operators=6, key_groups=12, joins=0.3, output=paths["topology"])
    ftplan.generate("cluster", topology=paths["topology"], zones=3, copies=1, replicas=0.1, output=paths["cluster"])
    stats = tmp_path / "stats"
    ftplan.generate("stats", topology=paths["topology"], windows=48, tasks=True, substreams=True, output=stats)
    ftplan.generate("failure", cluster=paths["cluster"], fail="zones", scenarios="both", output=paths["failure"])
    problem = ftplan.load(stats=stats, **paths)
    assert problem.warnings == ()
    asked: dict[str, dict[str, Any]] = {
        "allocate-checkpoints": {"iterations": 5},
        "replicate-tasks": {"budget": "20%", "iterations": 5},
        "recovery-schedule": {"iterations": 5, "samples": 0},
    }
    for command, options in asked.items():
        plan = ftplan.plan(command, problem, time_limit_s=3600.0, **options)
        assert plan.plan is not None
        assert verify(plan, problem).valid
        codes = {warning.code for warning in plan.warnings}
        assert not codes & {"RATES_DISAGREE", "STATE_DISAGREES", "STREAM_NOT_IN_TOPOLOGY", "SUBSTREAM_NOT_IN_TOPOLOGY"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"what": "topologie"},
            "'topologie' is not one of topology, cluster, stats, failure (did you mean 'topology'?)",
        ),
        ({"what": "topology", "operator": 3}, "unknown option 'operator' (did you mean 'operators'?)"),
        ({"what": "topology", "operators": (9, 3)}, "--operators: (9, 3) is not a whole number or a range such as 2-8"),
        ({"what": "topology", "operators": "x"}, "--operators: 'x' is not a whole number or a range such as 2-8"),
        ({"what": "topology", "like": "figure-14"}, "--like: 'figure-14' is not one of"),
        ({"what": ["topology"]}, "generate: ['topology'] is not one of topology, cluster, stats, failure"),
        ({"what": "topology", "output": 5}, "--output: 5 is not a path"),
        ({"what": "topology", "cluster": CLUSTER}, "generate topology: takes no cluster"),
        ({"what": "topology", "shape": "chain", "outputs": 2}, "--outputs 2: a chain has one"),
        ({"what": "topology", "operators": 2, "outputs": 3}, "--operators 2: a tree with 3 outputs needs at least 3"),
        ({"what": "topology", "operators": 2_000_000}, "--operators 2,000,000: more than --max-tasks 1,000,000"),
        (
            {"what": "topology", "operators": 9, "parallelism": 9, "max_tasks": 80},
            "81 tasks are more than --max-tasks 80",
        ),
        ({"what": "topology", "shape": "shared-tasks", "pool": 3}, "--pool 3: fewer tasks than a query may need"),
        ({"what": "topology", "shape": "queries", "queries": 5000}, "--queries 5,000: up to "),
        (
            {"what": "topology", "shape": "chain", "operators": 200, "selectivity": 0.01},
            "these knobs go beyond what a file may hold: topology: operators[14]: its derived rate",
        ),
        ({"what": "cluster", "topology": TOPOLOGY, "nodes": 2, "cores": 1}, "the topology takes "),
        ({"what": "cluster", "topology": TOPOLOGY, "utilisation": 0.0}, "--utilisation 0: the topology takes some"),
        ({"what": "cluster", "topology": TOPOLOGY, "nodes": 2, "copies": 2}, "--copies 2: beside the primary 2 nodes"),
        ({"what": "stats"}, "generate stats: the topology is missing: give it with --topology"),
        ({"what": "stats", "topology": TOPOLOGY, "max_rows": 9}, "are 2,592 rows, more than --max-rows 9"),
        ({"what": "failure"}, "generate failure: the cluster is missing: give it with --cluster"),
        ({"what": "failure", "cluster": CLUSTER, "fail": "zones", "count": 4}, "--count 4: there are 3 zones"),
        ({"what": "failure", "cluster": CLUSTER, "fail": "tasks"}, "--fail tasks: needs a topology; give -t FILE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_line_says_what_is_wrong(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ftplan.FtplanError) as raised:
        ftplan.generate(**given)
    assert said in str(raised.value)


def test_nothing_is_written_where_knobs_are_wrong_or_something_exists(tmp_path: Path) -> None:
    for output, wrong in (
        (tmp_path / "t.yaml", {"outputs": 99}),
        (tmp_path / "s", {"max_rows": 9, "topology": TOPOLOGY}),
    ):
        with pytest.raises(ftplan.FtplanError):
            ftplan.generate("stats" if "topology" in wrong else "topology", output=output, **wrong)
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "t.json"
    path.write_text("mine")
    with pytest.raises(ftplan.FtplanError, match="exists already"):
        ftplan.generate("topology", output=path)
    assert path.read_text() == "mine"
    document = ftplan.generate("topology", output=path, force=True)
    assert json.loads(path.read_text()) == json.loads(canonical_json(document))


def test_ranges_are_spelled_in_three_ways() -> None:
    spelled = (
        {"operators": "4-6", "cpu": "0.1-5e-1", "tasks": "", "selectivity": "1"},
        {"operators": (4, 6), "cpu": [0.1, 0.5], "selectivity": 1},
    )
    a, b = (ftplan.generate("topology", **given) for given in spelled)
    assert a == b
    assert ftplan.generate("topology", tasks="3,2,1", shape="chain") == ftplan.generate(
        "topology", tasks=(3, 2, 1), shape="chain"
    )
