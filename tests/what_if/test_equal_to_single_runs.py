"""A case answers, byte by byte, what one command answers on files that were edited by hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.model.kinds import names
from ftplan.planners import registry
from ftplan.planners.kind import kind_of
from tests.planners.drain_schedule.cases import COSTS
from tests.what_if.cases import (
    CLUSTER,
    FAILURE,
    QUICK,
    SMALL,
    TOPOLOGY,
    answer,
    changed,
    entry,
    save,
    scale_stats,
    single,
    stripped,
    what_if,
    within,
)

Edit = Callable[[Any], None]


def _set(kind: str, name: str, **fields: Any) -> Edit:
    return lambda document: entry(document, kind, name).update(fields)


def _without_node(name: str, instead: dict[str, list[Any]]) -> Edit:
    """Take a node out; *instead* are the lists that then differ."""

    def edit(document: Any) -> None:
        document["nodes"] = [node for node in document["nodes"] if node["id"] != name]
        placement = document["placement"]
        placement["tasks"] |= instead
        placement["checkpoints"]["join"] = [
            [node for node in copies if node != name] for copies in placement["checkpoints"]["join"]
        ]
        placement["replicas"]["join"] = [None if node == name else node for node in placement["replicas"]["join"]]

    return edit


def _without_audit(document: Any) -> None:
    document["operators"] = [item for item in document["operators"] if item["id"] != "audit"]
    document["edges"] = [edge for edge in document["edges"] if edge["to"] != "audit"]


def _unplaced(document: Any, name: str) -> None:
    for part in document["placement"].values():
        part.pop(name, None)


def _wider_sink(document: Any) -> None:
    entry(document, "operators", "sink")["parallelism"] = 6
    entry(document, "operators", "sink")["priority"] = 1
    document["edges"][2]["partitioning"] = "full"


def _fewer_groups(document: Any) -> None:
    document["placement"]["checkpoints"].pop("join")


def _traffic(factor: float, cpu: bool = True) -> Edit:
    def edit(document: Any) -> None:
        if cpu:
            for name, values in (("source", 0.5), ("other", 0.25), ("sink", 0.25), ("audit", 0.5)):
                entry(document, "operators", name)["cpu"] = values * factor
            entry(document, "operators", "join")["cpu"] = [value * factor for value in (1.0, 0.5, 1.0, 0.75)]
        entry(document, "operators", "source")["rate_out"] = [100 * factor, 50 * factor]
        document["edges"][1]["substreams"] = [
            [0, 0, 3.0 * factor], [0, 1, 2.5 * factor], [1, 2, 1.0 * factor], [1, 3, 4.0 * factor]
        ]  # fmt: skip

    return edit


#: What a case says, what one does to topology and cluster instead, and what else the single command is told.
DELTAS: dict[str, tuple[dict[str, Any], list[Edit], list[Edit], dict[str, Any]]] = {
    "fail": ({"fail": ["zone:a", "task:audit/0"]}, [], [], {"fail": ["zone:a", "task:audit/0"]}),
    "cpu": ({"set": {"operator:join": {"cpu": 1.5}}}, [_set("operators", "join", cpu=1.5)], [], {}),
    "task": ({"set": {"task:sink/2": {"cpu": 2}}}, [_set("operators", "sink", cpu=[0.25, 0.25, 2, 0.25])], [], {}),
    "priority": ({"set": {"operator:aud*": {"priority": 9}}}, [_set("operators", "audit", priority=9)], [], {}),
    "interval": (
        {"set": {"operator:join": {"checkpoint.interval_s": 30, "checkpoint.kind": "full"}}},
        [_set("operators", "join", checkpoint={"interval_s": 30, "kind": "full"})], [], {},
    ),
    "taken out": (
        {"set": {"operator:source": {"rate_out": None}}}, [lambda document: document["operators"][0].pop("rate_out")],
        [], {},
    ),
    "edge": (
        {"set": {"edge:join->sink": {"partitioning": "full"}}},
        [lambda document: document["edges"][2].update(partitioning="full")], [], {},
    ),
    "parallelism": (
        {"set": {"operator:sink": {"parallelism": 6, "priority": 1}, "edge:join->sink": {"partitioning": "full"}}},
        [_wider_sink], [lambda d: d["placement"]["tasks"]["sink"].extend(["n10", "n1"])], {},
    ),
    "key groups": (
        {"set": {"operator:join": {"key_groups": 4}}}, [_set("operators", "join", key_groups=4)], [_fewer_groups], {},
    ),
    "node": ({"set": {"node:n?": {"cpu": 6}}}, [], [_set("nodes", n, cpu=6) for n in ("n1", "n2", "n3", "n4")], {}),
    "zone of a node": ({"set": {"node:n10": {"zone": "c"}}}, [], [_set("nodes", "n10", zone="c")], {}),
    "nodes of a zone": (
        {"set": {"zone:b": {"used_cpu": 2.5}}}, [], [_set("nodes", n, used_cpu=2.5) for n in ("n10", "n3")], {},
    ),
    "zone": (
        {"set": {"zone:*": {"failure_probability": 0.5}}}, [],
        [lambda d: d.update(zones=[{"id": z, "failure_probability": 0.5} for z in ("a", "b")])], {},
    ),
    "network": (
        {"set": {"network": {"bandwidth_mb_s": 7, "delay_s": 0.5}}}, [],
        [lambda d: d.update(network={"bandwidth_mb_s": 7, "delay_s": 0.5})], {},
    ),
    "scale": (
        {"scale": {"operator:join": {"cpu": 0.5, "state_bytes": 4}, "node:n3": {"cpu": 1.5}}},
        [_set("operators", "join", cpu=[0.5, 0.25, 0.5, 0.375], state_bytes=33554432)],
        [_set("nodes", "n3", cpu=6.0)], {},
    ),
    "add": (
        {"add": {"count": 3, "node": {"cpu": 8}, "id": "spare", "zones": "all"}}, [],
        [lambda d: d["nodes"].extend({"id": f"spare-{i}", "cpu": 8, "zone": z} for i, z in enumerate("aba", 1))], {},
    ),
    "remove": (
        {"remove": "node:n1"}, [],
        [_without_node("n1", {"source": ["n10", "n2"], "join": ["n2", "n3", "n2", "n10"]})], {},
    ),
    "remove an operator": (
        {"remove": ["operator:audit"]}, [_without_audit], [lambda document: _unplaced(document, "audit")], {},
    ),
    "traffic": ({"traffic": 1.1}, [_traffic(1.1)], [], {}),
    "traffic, same cpu": ({"traffic": {"factor": 3, "cpu": False}}, [_traffic(3, cpu=False)], [], {}),
    "algorithm": ({"algorithm": "operator-centric"}, [], [], {"algorithm": "operator-centric"}),
    "options": (
        {"options": {"max-cpu": 0.5, "objective": "priority-time"}, "seed": 5}, [], [],
        {"max_cpu": 0.5, "objective": "priority-time", "seed": 5},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DELTAS)
def test_each_change(name: str, tmp_path: Path) -> None:
    delta, of_topology, of_cluster, told = DELTAS[name]
    base = save(tmp_path / "base")
    sweep = what_if(base, run={"fail": ["node:n2"]}, cases=[{"id": "changed", **delta}])
    edited = save(tmp_path / "edited", changed(TOPOLOGY, *of_topology), changed(CLUSTER, *of_cluster))
    expected = single(edited, **{"fail": ["node:n2"], **told})
    assert not expected.startswith("refused")
    assert answer(base, sweep, 1) == expected
    assert answer(base, sweep, 0) == single(base, fail=["node:n2"])


#: Changes that leave each other alone, so that edits can be made in any order.
_APART = ("fail", "priority", "node", "network", "add", "key groups", "remove an operator", "algorithm", "options")


@settings(max_examples=12)
@given(names=st.lists(st.sampled_from(_APART), unique=True, min_size=2), data=st.data())
def test_changes_together(names: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Several changes in a case, or on axes, equal all edits; whichever case is asked first."""
    if ("remove an operator" in names and "priority" in names) or ("fail" in names and "remove an operator" in names):
        names.remove("remove an operator")  # which the others name
    folder = tmp_path_factory.mktemp("project")
    base = save(folder / "base")
    case: dict[str, Any] = {"id": "together"}
    topology, cluster, told = [], [], {"fail": ["node:n2"]}
    for name in names:
        delta, of_topology, of_cluster, more = DELTAS[name]
        for key, value in delta.items():
            case[key] = {**case[key], **value} if isinstance(value, dict) and key in case else value
        topology, cluster, told = [*topology, *of_topology], [*cluster, *of_cluster], {**told, **more}
    sweep = what_if(
        base,
        run={"fail": ["node:n2"]},
        cases=[case],
        grid=[{"name": name, "cases": [{"id": "with", **DELTAS[name][0]}]} for name in names],
    )
    edited = save(folder / "edited", changed(TOPOLOGY, *topology), changed(CLUSTER, *cluster))
    expected = single(edited, **told)
    order = data.draw(st.permutations(range(3)))
    answers = {number: answer(base, sweep, number) for number in order}
    assert answers == {0: single(base, fail=["node:n2"]), 1: expected, 2: expected}


def test_failure_files_are_edited_too(tmp_path: Path) -> None:
    base = save(tmp_path / "base", failure=FAILURE)
    cases = [
        {"id": "later", "set": {"arrival:new-1": {"at_s": 99, "node.cpu": 3}}},
        {"id": "bigger", "scale": {"arrival:new-1": {"at_s": 2}}},
    ]
    sweep = what_if(base, cases=cases)
    for number, fields in enumerate(
        [{"at_s": 99, "node": {"id": "new-1", "cpu": 3, "zone": "a"}}, {"at_s": [20, 80]}], 1
    ):
        edited = save(tmp_path / str(number), failure=changed(FAILURE, lambda d, f=fields: d["arrivals"][0].update(f)))
        assert answer(base, sweep, number) == single(edited) != single(base)


def test_other_files(tmp_path: Path) -> None:
    """Each case may have inputs of its own."""
    base = save(tmp_path / "base")
    larger = save(base / "larger", cluster=changed(CLUSTER, _set("nodes", "n3", cpu=9)), failure=FAILURE)
    files = {"cluster": "larger/cluster.yaml", "failure": "larger/failure.yaml"}
    sweep = what_if(base, run={"fail": "zone:b"}, cases=[{"id": "other", "inputs": files}])
    assert answer(base, sweep, 1) == single(larger, fail=["zone:b"])


@pytest.mark.parametrize("factor", [0.5, 1.1, 3.0])
@pytest.mark.parametrize("stats", ["stats", "stats-tasks"])
def test_traffic_scales_statistics(stats: str, factor: float, tmp_path: Path) -> None:
    """The brute force: multiply the tables and the files, and plan."""
    command, algorithm, told = {
        "stats": ("allocate-checkpoints", "correlated", {"capacity_per_core": 0.05}),
        "stats-tasks": ("recovery-schedule", "best-density", {"fail": ["zone:b"]}),
    }[stats]
    base, edited = tmp_path / "base", tmp_path / "edited"
    for folder in (base, edited):
        folder.mkdir()
        shutil.copy(SMALL / "cluster.yaml", folder)
        shutil.copy(SMALL / "topology.yaml", folder)
    scale_stats(SMALL / stats, base / "stats", 1.0)
    scale_stats(SMALL / stats, edited / "stats", factor)
    text = (edited / "topology.yaml").read_text()
    (edited / "topology.yaml").write_text(text.replace("parallelism:", f"cpu: {factor}, parallelism:"))
    options = {name: value for name, value in told.items() if name != "fail"}
    run = {"command": command, "algorithm": algorithm, "options": {**options, "time-limit": 1e6, "iterations": 5}}
    sweep = what_if(base, run={**run, "fail": told.get("fail", [])}, cases=[{"id": "more", "traffic": factor}])
    expected = single(edited, command, algorithm, **told)
    assert answer(base, sweep, 1) == expected != single(base, command, algorithm, **told)
    assert not expected.startswith("refused")


@pytest.mark.parametrize("kind", names())
def test_every_kind_of_plan(kind: str, tmp_path: Path) -> None:
    """Whatever kinds there are: nothing in a sweep knows them by name."""
    algorithm = registry.rows(kind)[0].name
    base = tmp_path / "base"
    shutil.copytree(SMALL, base, ignore=shutil.ignore_patterns("*.py", "stats-tasks", "__pycache__"))
    needed = {"replicate-tasks": {"budget": 2}}.get(kind, {})
    run = {
        "command": kind,
        "algorithm": algorithm,
        "options": {**needed, **QUICK},
    }
    fail = ["zone:a"] if kind_of(kind).answers_failure else []
    sweep = what_if(base, run={**run, "fail": fail}, grid=[{"seed": [3, 4]}])
    told = {**needed, **({"fail": fail} if fail else {})}
    for number, seed in ((1, 3), (2, 4)):
        expected = single(base, kind, algorithm, seed=seed, **told)
        assert answer(base, sweep, number) == expected
        assert not expected.startswith("refused")


def test_plans_as_options(tmp_path: Path) -> None:
    """A plan that an option takes is read once, and recorded as a single command records it."""
    base = tmp_path / "base"
    shutil.copytree(SMALL, base, ignore=shutil.ignore_patterns("*.py", "stats-tasks", "__pycache__"))
    with within(base):
        problem = ftplan.load(topology="topology.yaml", cluster="cluster.yaml")
        plan = ftplan.plan("replicate-tasks", problem, fail=["zone:b"], budget=2)
        (base / "replicas.json").write_text(plan.to_json())
    grid = [{"name": "with", "options": {"replicas": [None, "replicas.json"]}}]
    sweep = what_if(base, run={"fail": "zone:b"}, grid=grid)
    for number, replicas in ((1, None), (2, "replicas.json")):
        assert answer(base, sweep, number) == single(base, fail=["zone:b"], replicas=replicas)


def test_files_as_options(tmp_path: Path) -> None:
    """So is any other file."""
    base = save(tmp_path / "base")
    (base / "costs").mkdir()
    quick = {**COSTS, "parameters": {**COSTS["parameters"], "capacity_records_s": {"value": 500}}}
    (base / "costs" / "costs.json").write_text(json.dumps(quick))
    grid = [{"options": {"costs": [None, "costs/costs.json"]}}]
    sweep = what_if(base, run={"command": "drain-schedule", "algorithm": "greedy"}, grid=grid)
    plain, fitted = (single(base, "drain-schedule", "greedy", costs=costs) for costs in (None, "costs/costs.json"))
    assert [answer(base, sweep, number) for number in (1, 2)] == [plain, fitted]
    assert '"costs/costs.json"' in fitted


def test_evaluations(tmp_path: Path) -> None:
    """A plan under failures and on other statistics, as evaluate scores it."""
    base = tmp_path / "base"
    shutil.copytree(SMALL, base, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    scale_stats(SMALL / "stats", base / "later", 1.5)
    with within(base):
        problem = ftplan.load(topology="topology.yaml", cluster="cluster.yaml", stats="stats")
        (base / "plan.json").write_text(ftplan.plan("allocate-checkpoints", problem, algorithm="even").to_json())
        (base / "other.json").write_text(ftplan.plan("allocate-checkpoints", problem, algorithm="baseline").to_json())
    run = {"command": "evaluate", "algorithm": None, "plan": "plan.json", "options": {"overload": 0.9}}
    nothing = dict.fromkeys(("topology", "cluster", "stats"))
    cases = [{"id": "later", "inputs": {"stats": "later"}, "fail": "zone:b"}, {"id": "other", "plan": "other.json"}]
    sweep = what_if(base, inputs=nothing, run=run, cases=cases)  # the inputs are those that the plan names
    with within(base):
        expected = [ftplan.evaluate("plan.json", overload=0.9)]
        later = ftplan.load(topology="topology.yaml", cluster="cluster.yaml", stats="later")
        expected += [ftplan.evaluate("plan.json", later, fail=["zone:b"], overload=0.9)]
        expected += [ftplan.evaluate("other.json", overload=0.9)]
        rows = [sweep.row(number) for number in range(3)]
    assert [answer(base, sweep, number) for number in range(3)] == [stripped(one.to_json()) for one in expected]
    assert [row["status"] for row in rows] == ["evaluated"] * 3
    assert [row["recoverable-share"] for row in rows] == [one["recoverable-share"] for one in expected]
