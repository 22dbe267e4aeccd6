"""Plans in engines' words: held to documented forms, to a scheduler written from its documentation, and to sums."""

from __future__ import annotations

import copy
import io
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.engines.registry import targets
from ftplan.model.kinds import KINDS, row
from ftplan.model.names import natural_key
from ftplan.model.plan import canonical
from tests.fuzz.mutations import mutated
from tests.planners import plan_cases
from tests.planners.scale_out import cases as scale_out_cases

#: What Kafka's documentation says that the file holds.
REASSIGNMENT = {
    "type": "object",
    "required": ["version", "partitions"],
    "additionalProperties": False,
    "properties": {
        "version": {"const": 1},
        "partitions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["topic", "partition", "replicas"],
                "additionalProperties": False,
                "properties": {
                    "topic": {"type": "string", "pattern": "^[a-zA-Z0-9._-]{1,249}$"},
                    "partition": {"type": "integer", "minimum": 0},
                    "replicas": {
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": True,
                        "items": {"type": "integer", "minimum": 0},
                    },
                    "log_dirs": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}
BROKERS = {f"n{i}": 100 + i for i in range(1, 20)}


@cache
def made(name: str) -> tuple[ftplan.Plan, ftplan.Problem]:
    with TemporaryDirectory() as folder:
        return getattr(plan_cases, name)(Path(folder))


def inputs(name: str) -> dict[str, Any]:
    folder = plan_cases.FIGURE if name == "schedule" else plan_cases.SMALL
    return {"topology": folder / "topology.yaml", "cluster": folder / "cluster.yaml"}


def by_hand(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": kind, "plan": body}


def allocation(*copies: list[str]) -> dict[str, Any]:
    items = [{"operator": "counts", "key_group": i, "checkpoints": nodes} for i, nodes in enumerate(copies)]
    return by_hand("allocate-checkpoints", {"assignments": items})


@pytest.mark.parametrize("name", ["checkpoint", "failover"])
def test_a_reassignment_is_what_kafka_documents(name: str) -> None:
    plan, _ = made(name)
    brokers = {n: i for n, i in BROKERS.items() if n in ("n1", "n2", "n3", "n4", "n5", "n6")}
    export = ftplan.export_plan(plan, "kafka-reassignment", broker_map=brokers, application_id="app", log_dir="any")
    document = json.loads(export.text)
    jsonschema.validate(document, REASSIGNMENT)
    expected = {
        (f"app-{item['operator']}-changelog", item["key_group"]): [BROKERS[node] for node in item["checkpoints"]]
        for item in plan.plan["assignments"]
    }
    assert {(p["topic"], p["partition"]): p["replicas"] for p in document["partitions"]} == expected
    assert all(len(p["log_dirs"]) == len(p["replicas"]) for p in document["partitions"])


def test_the_throttle_is_bytes_a_second() -> None:
    document = allocation(["1", "2"])
    document["plan"]["moves"] = [{"operator": "counts", "key_group": 0, "to": "2", "bytes": 10 * 2**20}]
    export = ftplan.export_plan(document, "kafka-reassignment", topic="counts=c", bandwidth=2.5)
    (said,) = [w.message for w in export.warnings if w.code == "THROTTLE"]
    assert "--throttle 2621440 " in said
    assert said.endswith("at least 4 s")


@pytest.mark.parametrize("told_by", ["cluster", "moves"])
def test_fewer_replicas_than_now_need_a_word(told_by: str) -> None:
    """Three brokers keep the only partition now, and the plan has two: as the cluster says, or the plan's moves."""
    document, inputs = allocation(["1", "2"]), {}
    if told_by == "moves":
        gone = {"operator": "counts", "key_group": 0, "from": "3", "to": None, "bytes": 0.0}
        document["plan"]["moves"] = [gone, {**gone, "from": "4", "to": "2", "bytes": 1.0}]
    else:
        nodes = [{"id": str(broker), "cpu": 1} for broker in range(1, 5)]
        placement = {"checkpoints": {"counts": [["1", "3", "4"]]}}
        inputs = {"cluster": {"format": "ftplan/cluster", "format_version": "1.0", "nodes": nodes,
                              "placement": placement}}  # fmt: skip
    said = "counts/0 has 3 replicas now and would have 2"
    with pytest.raises(ftplan.FtplanError, match=f"^{said}: plan with --copies .* --allow-fewer-replicas$"):
        ftplan.export_plan(document, "kafka-reassignment", topic="counts=c", **inputs)
    made = ftplan.export_plan(document, "kafka-reassignment", topic="counts=c", allow_fewer_replicas=True, **inputs)
    assert [w.message for w in made.warnings if w.code == "FEWER_REPLICAS"] == [said]
    assert json.loads(made.text)["partitions"][0]["replicas"] == [1, 2]


@pytest.mark.parametrize(
    ("node", "broker"), [("7", 7), ("broker-12", 12), ("kafka3", 3), ("kafka_0", 0), ("kafka.44", 44)]
)
def test_an_id_that_names_a_broker_is_one(node: str, broker: int) -> None:
    export = ftplan.export_plan(allocation([node]), "kafka-reassignment", topic={"counts": "c"})
    assert json.loads(export.text)["partitions"] == [{"topic": "c", "partition": 0, "replicas": [broker]}]


def test_labels_name_brokers_and_topics(tmp_path: Path) -> None:
    operator = {"id": "counts", "key_groups": 1, "labels": {"store": "counts-store"}}
    job = {"format": "ftplan/topology", "format_version": "1.0", "name": "j", "operators": [operator], "edges": []}
    nodes = [{"id": "a", "cpu": 1, "labels": {"broker": "3"}}, {"id": "b", "cpu": 1, "labels": {"node.id": "0"}}]
    cluster = {"format": "ftplan/cluster", "format_version": "1.0", "nodes": nodes}
    given: dict[str, Any] = {"topology": job, "cluster": cluster, "application_id": "shop"}
    export = ftplan.export_plan(allocation(["b", "a"]), "kafka-reassignment", **given)
    expected = {"topic": "shop-counts-store-changelog", "partition": 0, "replicas": [0, 3]}
    assert json.loads(export.text)["partitions"] == [expected]
    operator["labels"] = {"stores": "one, two"}
    partitions = json.loads(ftplan.export_plan(allocation(["b", "a"]), "kafka-reassignment", **given).text)[
        "partitions"
    ]
    assert [p["topic"] for p in partitions] == ["shop-one-changelog", "shop-two-changelog"]
    mapping = tmp_path / "brokers.yaml"
    mapping.write_text("a: 8\nb: 9\n")
    export = ftplan.export_plan(allocation(["b", "a"]), "kafka-reassignment", broker_map=str(mapping), **given)
    assert json.loads(export.text)["partitions"][0]["replicas"] == [9, 8]


@pytest.mark.parametrize(
    ("copies", "options", "said"),
    [
        ([["n1"]], {"topic": "counts=c"}, "node n1: which broker"),
        ([["1"]], {}, "operator counts: which topic"),
        ([["1"]], {"topic": "count=c"}, "no such operator (did you mean 'counts'?)"),
        ([["1"]], {"topic": "counts=a b"}, "no name of a topic"),
        ([["1"]], {"topic": "counts=c", "broker_map": "1=x"}, "'x' is no broker id"),
        ([["1"]], {"topic": "counts=c", "broker_map": "1=99999999999"}, "is no broker id"),
        ([["1"]], {"topic": "counts=c", "broker_map": "nowhere.yaml"}, "nowhere.yaml: no such file"),
        ([["1"]], {"topic": "counts=c", "broker_map": "=3"}, "--broker-map: '=3' is not NODE=ID"),
        ([["1", "broker-1"]], {"topic": "counts=c"}, "two copies on broker 1"),
        ([[]], {"topic": "counts=c"}, "has no copy"),
        ([["1"]], {"topic": "counts=c", "host_map": "1=a"}, "--host-map is for --to kubernetes, storm"),
        ([["1"]], {"topic": "counts=c", "bandwidth": 0}, "--bandwidth: 0 is not"),
    ],
)
def test_what_kafka_cannot_take_is_one_line(copies: list[list[str]], options: dict[str, Any], said: str) -> None:
    with pytest.raises(ftplan.FtplanError) as caught:
        ftplan.export_plan(allocation(*copies), "kafka-reassignment", **options)
    assert said in str(caught.value)


def cluster_of(nodes: list[tuple[str, str]], active: list[str]) -> dict[str, Any]:
    entries = [{"id": node, "cpu": 4, "zone": zone} for node, zone in nodes]
    placement = {"tasks": {"o": active}} if active else {}
    return {"format": "ftplan/cluster", "format_version": "1.0", "nodes": entries, "placement": placement}


def scheduled(document: dict[str, Any], pods: list[str], active: list[str], zone_of: dict[str, str]) -> bool:
    """Whether Kubernetes lets standby pods lie on these hosts, as its documentation of the required terms says."""
    spec = document["spec"]["template"]["spec"]
    labels = {host: {"kubernetes.io/hostname": host, "topology.kubernetes.io/zone": zone_of[host]} for host in zone_of}
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    def admitted(host: str) -> bool:
        return any(all(labels[host][e["key"]] in e["values"] for e in term["matchExpressions"]) for term in terms)

    if not all(map(admitted, pods)):
        return False
    for term in spec["affinity"]["podAntiAffinity"].get("requiredDuringSchedulingIgnoredDuringExecution", ()):
        taken = {labels[host][term["topologyKey"]] for host in active}
        if any(labels[host][term["topologyKey"]] in taken for host in pods):
            return False
    for constraint in spec["topologySpreadConstraints"]:
        domains = Counter({labels[host][constraint["topologyKey"]]: 0 for host in labels if admitted(host)})
        domains.update(labels[host][constraint["topologyKey"]] for host in pods)
        skewed = max(domains.values()) - min(domains.values()) > constraint["maxSkew"]
        if constraint["whenUnsatisfiable"] == "DoNotSchedule" and skewed:
            return False
    return True


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_kubernetes_could_place_the_plan_by_its_own_patches(data: st.DataObject) -> None:
    names = [f"h{i}" for i in range(data.draw(st.integers(2, 7)))]
    zone_of = {name: data.draw(st.sampled_from("abc")) for name in names}
    active = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=6))
    tasks = data.draw(st.sets(st.integers(0, len(active) - 1), min_size=1))
    hosts = [data.draw(st.sampled_from(names)) for _ in tasks]
    operator = {"id": "o", "parallelism": len(active)}
    topology = {"format": "ftplan/topology", "format_version": "1.0", "operators": [operator], "edges": []}
    replicas = [{"operator": "o", "index": i, "node": host} for i, host in zip(sorted(tasks), hosts, strict=True)]
    plan = by_hand("replicate-tasks", {"replicas": replicas})
    cluster = cluster_of(list(zone_of.items()), active)
    export = ftplan.export_plan(plan, "kubernetes", topology=topology, cluster=cluster)
    (document,) = yaml.safe_load_all(export.text)
    assert document["spec"]["replicas"] == len(hosts)
    assert scheduled(document, hosts, active, zone_of)
    apart = {zone_of[host] for host in hosts}.isdisjoint(zone_of[host] for host in active)
    terms = document["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"]
    required = terms.get("requiredDuringSchedulingIgnoredDuringExecution", [])
    assert [term["topologyKey"] for term in required] == (
        ["topology.kubernetes.io/zone"] if apart else ["kubernetes.io/hostname"] * set(hosts).isdisjoint(active)
    )
    assert ("NOT_APART" in {w.code for w in export.warnings}) == (not required)


#: The fields of a patch, from the reference of the Kubernetes API.
_SELECTOR = {"type": "object", "required": ["matchLabels"], "additionalProperties": False, "properties": {
    "matchLabels": {"additionalProperties": {
        "type": "string", "maxLength": 63, "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"}}}}  # fmt: skip
PATCH = {
    "type": "object",
    "properties": {
        "apiVersion": {"const": "apps/v1"},
        "kind": {"enum": ["StatefulSet", "Deployment"]},
        "metadata": {"properties": {"name": {"type": "string", "maxLength": 253, "pattern": "^[a-z0-9.-]+$"}}},
        "spec": {"properties": {"template": {"properties": {"spec": {"properties": {"topologySpreadConstraints": {
            "items": {"additionalProperties": False, "properties": {
                "maxSkew": {"type": "integer", "minimum": 1}, "topologyKey": {"type": "string"},
                "whenUnsatisfiable": {"enum": ["DoNotSchedule", "ScheduleAnyway"]}, "labelSelector": _SELECTOR}},
        }}}}}}},
    },
}  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.from_regex(r"\A[A-Za-z0-9._-]{1,90}\Z"), st.from_regex(r"\A[A-Za-z0-9._-]{1,12}\Z"))
def test_any_id_gives_names_that_kubernetes_takes_and_text_that_stays_text(operator: str, node: str) -> None:
    plan = by_hand("replicate-tasks", {"replicas": [{"operator": operator, "index": 0, "node": node}]})
    export = ftplan.export_plan(plan, "kubernetes")
    (document,) = yaml.safe_load_all(export.text)
    jsonschema.validate(document, PATCH)
    labels = document["spec"]["template"]["metadata"]["labels"]
    jsonschema.validate({"matchLabels": labels}, _SELECTOR)
    affinity = document["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == [node]
    if not (node[0].isalpha() and node.lower() not in ("y", "n", "yes", "no", "on", "off", "true", "false", "null")):
        assert f'- "{node}"\n' in export.text  # readers of YAML 1.1 and 1.2 differ on 1e3, 0o17, .5 and y


def test_storm_is_told_what_the_plan_does() -> None:
    plan, _ = made("schedule")
    export = ftplan.export_plan(plan, "storm", **inputs("schedule"))
    conf = yaml.safe_load(export.text)
    recovered = [item for step in plan.plan["steps"] for item in step["recover"]]
    ends = {(item["operator"], item["index"]): item["node"] for item in recovered}
    listed = {
        (component, index): host
        for component, hosts in conf["ftplan.component.supervisors"].items()
        for host, indices in hosts.items()
        for index in indices
    }
    assert listed == ends
    assert conf["topology.scheduler.favored.nodes"] == sorted(set(ends.values()), key=natural_key)
    assert [text.split("/")[0] for text in conf["ftplan.recovery.order"]] == [item["operator"] for item in recovered]
    together = Counter((operator, node) for (operator, _), node in ends.items())
    for (operator, _), count in together.items():
        assert conf["topology.ras.constraints"][operator]["maxNodeCoLocationCnt"] >= count


def test_flink_is_told_its_options() -> None:
    told = {
        name: yaml.safe_load(ftplan.export_plan(made(name)[0], "flink", **inputs(name)).text)
        for name in ("checkpoint", "replication", "schedule", "drained")
    }
    assert told["checkpoint"] == {
        "pipeline.max-parallelism": 8,
        "execution.state-recovery.from-local": True,
        "taskmanager.load-balance.mode": "SLOTS",
    }
    nodes = {item["node"] for item in made("replication")[0].plan["replicas"]}
    assert told["replication"]["slotmanager.redundant-taskmanager-num"] == len(nodes)
    assert told["schedule"]["jobmanager.execution.failover-strategy"] == "region"
    rounds = made("drained")[0].plan["rounds"]
    assert told["drained"]["slotmanager.redundant-taskmanager-num"] == max(len(item["nodes"]) for item in rounds)


@pytest.mark.parametrize(
    "name", ["checkpoint", "schedule", "struck_again", "replication", "drained", "moved", "rebalanced", "scaled"]
)
def test_a_csv_adds_up_to_its_plan(name: str) -> None:
    plan, _ = made(name)
    frame = pd.read_csv(io.StringIO(ftplan.export_plan(plan, "csv").text), keep_default_na=False)
    table = plan.plan[row(plan.kind).table]
    if plan.kind == "recovery-schedule":
        tasks = [item for step in table for item in step["recover"]]
        started = frame[frame["operator"] != ""]
        assert len(started) == len(tasks)
        assert started["cpu"].astype(float).sum() == pytest.approx(sum(item["cpu"] for item in tasks))
        assert list(started["operator"] + "/" + started["index"].astype(float).astype(int).astype(str)) == [
            f"{item['operator']}/{item['index']}" for item in tasks
        ]
        assert sorted(set(frame["step"])) == [step["step"] for step in table]
        whole = dict(zip(frame["step"], frame["restored"], strict=True))
        assert [whole[step["step"]] for step in table] == [
            ";".join(f"{query['operator']}/{query['index']}" for query in step["restored"]) for step in table
        ]
    elif plan.kind == "drain-schedule":
        assert list(zip(frame["round"], frame["node"], strict=True)) == [
            (item["round"], node) for item in table for node in item["nodes"]
        ]
    else:
        assert len(frame) == len(table)
        for column in plan.to_frame().columns:
            values = canonical([item.get(column) for item in table])
            cells = [";".join(map(entry, v)) if isinstance(v, list) else "" if v is None else v for v in values]
            if any(v is None for v in values):  # a column of numbers and empty fields is one of texts
                cells = list(map(str, cells))
            assert frame[column].tolist() == cells


def entry(value: Any) -> str:
    """Return an entry of a list as a cell holds it: ranges as FIRST-LAST."""
    return "-".join(map(str, value)) if isinstance(value, list) else str(value)


def test_flink_and_storm_say_what_gives_way() -> None:
    """Advice for Flink; Storm cannot stop single tasks, and the table has them with their step."""
    pause = [{"operator": "o", "index": 2, "node": "n1", "cpu": 1.0}]
    step = {"at_s": 5, "recover": [{"operator": "o", "index": 0, "node": "n1"}], "pause": pause}
    plan = by_hand("recovery-schedule", {"steps": [step]})
    assert "5 s: stop o/2 on n1 with a savepoint, then o/0 on n1." in ftplan.export_plan(plan, "flink").text
    storm = ftplan.export_plan(plan, "storm")
    assert [w.message for w in storm.warnings if w.code == "PAUSED_TASKS"] == [
        "Storm cannot stop single tasks as the plan does with o/2"
    ]
    (line,) = pd.read_csv(io.StringIO(ftplan.export_plan(plan, "csv").text)).to_dict("records")
    assert json.loads(line["pause"]) == pause[0]


def test_flink_and_storm_are_told_new_parallelisms() -> None:
    """Those of operators that change; the vertices of Flink by their ids, where the topology has them."""
    plan, _ = made("scaled")
    changed = {
        item["operator"]: item["parallelism_to"]
        for item in plan.plan["operators"]
        if item["parallelism_to"] != item["parallelism_from"]
    }
    assert len(changed) > 1
    told = ftplan.export_plan(plan, "flink", topology=scale_out_cases.TOPOLOGY)
    overrides = yaml.safe_load(told.text)["pipeline.jobvertex-parallelism-overrides"]
    assert dict(pair.split(":") for pair in overrides.split(",")) == {k: str(v) for k, v in changed.items()}
    assert {"NO_VERTEX_ID", "UNEVEN_RANGES"} <= {warning.code for warning in told.warnings}
    named = [{**o, "labels": {"vertex": f"{o['id']}-id"}} for o in scale_out_cases.TOPOLOGY["operators"]]
    told = ftplan.export_plan(plan, "flink", topology={**scale_out_cases.TOPOLOGY, "operators": named})
    overrides = yaml.safe_load(told.text)["pipeline.jobvertex-parallelism-overrides"]
    assert dict(pair.split(":") for pair in overrides.split(",")) == {f"{k}-id": str(v) for k, v in changed.items()}
    assert "NO_VERTEX_ID" not in {warning.code for warning in told.warnings}
    imported = [
        {**o, "labels": {"engine_id": f"{i:032x}"}} for i, o in enumerate(scale_out_cases.TOPOLOGY["operators"])
    ]
    told = ftplan.export_plan(plan, "flink", topology={**scale_out_cases.TOPOLOGY, "operators": imported})
    overrides = yaml.safe_load(told.text)["pipeline.jobvertex-parallelism-overrides"]
    ids = {o["id"]: o["labels"]["engine_id"] for o in imported}
    assert dict(pair.split(":") for pair in overrides.split(",")) == {ids[k]: str(v) for k, v in changed.items()}
    assert "NO_VERTEX_ID" not in {warning.code for warning in told.warnings}
    told = ftplan.export_plan(plan, "storm", topology=scale_out_cases.TOPOLOGY)
    assert yaml.safe_load(told.text)["ftplan.component.executors"] == changed
    assert all(f"-e {name}={count}" in told.text for name, count in changed.items())


def _properties(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))


def test_a_ring_tells_kafka_streams_its_zones() -> None:
    """Standbys as many as copies; each instance has the tag of its zone."""
    ring = [{"node": f"n{k}", "zone": "abc"[k % 3], "token": k / 10, "backups": ["x", "y"]} for k in range(10)]
    told = ftplan.export_plan(by_hand("peer-ring", {"ring": ring}), "kafka-streams")
    assert _properties(told.text) == {"num.standby.replicas": "2", "rack.aware.assignment.tags": "zone"}
    tags = [line[2:] for line in told.text.splitlines() if ": client.tag." in line]
    assert tags == [f"n{k}: client.tag.zone={'abc'[k % 3]}" for k in range(10)]
    assert [warning.code for warning in told.warnings] == ["ENGINE_LIMITS"]


@pytest.mark.parametrize(
    ("zones", "code", "said"),
    [
        ((None, "b"), "NO_ZONES", "n0 has no zone"),
        (("a", "a"), "NO_ZONES", "all nodes are in one zone"),
        (("a", "b"), "FEW_ZONES", "2 zones for 3 copies"),
        (("a", "b" * 31), "TAG_TOO_LONG", "30 characters at most"),
    ],
)
def test_what_zones_of_a_ring_lack_is_said(zones: tuple[str | None, ...], code: str, said: str) -> None:
    ring = [{"node": f"n{k}", "zone": zone, "token": k / 2, "backups": ["x", "y"]} for k, zone in enumerate(zones)]
    warnings = ftplan.export_plan(by_hand("peer-ring", {"ring": ring}), "kafka-streams").warnings
    assert [said in warning.message for warning in warnings if warning.code == code] == [True]


def test_the_same_plan_gives_the_same_bytes() -> None:
    plan, _ = made("replication")
    for target in ("kubernetes", "flink", "csv"):
        shuffled = json.loads(plan.to_json())
        shuffled = dict(sorted(shuffled.items(), reverse=True))
        assert ftplan.export_plan(plan, target).text == ftplan.export_plan(shuffled, target).text


@pytest.mark.parametrize("target", targets())
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_taken_or_refused_with_who_takes_it(kind: str, target: str) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "allocate-checkpoints": {"assignments": [{"operator": "o", "key_group": 0, "checkpoints": ["1"]}]},
        "replicate-tasks": {"replicas": [{"operator": "o", "index": 0, "node": None}]},
        "recovery-schedule": {"steps": [{"at_s": 0, "recover": [{"operator": "o", "index": 0}]}]},
        "drain-schedule": {"rounds": [{"nodes": ["a", "b"]}]},
        "rebalance": {"moves": [{"operator": "o", "key_group": 0, "from": "a", "to": "b"}]},
        "peer-ring": {"ring": [{"node": "a", "token": 0.5}, {"node": "b", "token": 0.75}]},
        "scale-out": {
            "operators": [
                {"operator": "o", "state": "promoted", "parallelism_from": 1, "parallelism_to": 2, "key_ranges": None}
            ]
        },
    }
    body = bodies.get(kind, {row(kind).table: [{"operator": "o", "key_ranges": [[0, 3], [4, 7]], "x": {"y": True}}]})
    options = {"application_id": "a"} if target == "kafka-reassignment" else {}
    if kind in targets()[target].kinds:
        export = ftplan.export_plan(by_hand(kind, body), target, **options)
        assert export.text.endswith("\n")
        assert export.warnings[0].code == "ENGINE_LIMITS"
        return
    with pytest.raises(ftplan.FtplanError) as caught:
        ftplan.export_plan(by_hand(kind, body), target, **options)
    able = [name for name, item in targets().items() if kind in item.kinds]
    assert str(caught.value).endswith(f"--to {', '.join(able)} can")


def test_what_there_is_to_say_of_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("topology", "cluster"):
        (tmp_path / f"{name}.yaml").write_bytes((plan_cases.SMALL / f"{name}.yaml").read_bytes())
    problem = ftplan.load(topology="topology.yaml", cluster="cluster.yaml")
    plan = ftplan.plan("replicate-tasks", problem, algorithm="greedy", budget=2)
    assert [w.code for w in ftplan.export_plan(plan, "csv").warnings] == ["ENGINE_LIMITS"]
    (tmp_path / "cluster.yaml").write_text("format: ftplan/cluster\nformat_version: '1.0'\nnodes: [{id: z, cpu: 1}]\n")
    (tmp_path / "topology.yaml").unlink()
    codes = [w.code for w in ftplan.export_plan(plan, "csv").warnings]
    assert codes == ["INPUT_MISSING", "STALE_INPUT", "ENGINE_LIMITS"]


def test_nothing_comes_of_no_answer() -> None:
    plan, _ = made("not_alone")
    with pytest.raises(ftplan.FtplanError, match="nothing to export: the plan's status is infeasible"):
        ftplan.export_plan(plan, "csv")
    with pytest.raises(ftplan.FtplanError, match="did you mean 'storm'"):
        ftplan.export_plan(plan, "strom")


@pytest.mark.parametrize("name", ["checkpoint", "schedule", "replication", "drained"])
def test_damaged_plans_give_an_export_or_one_line(name: str) -> None:
    document = json.loads(made(name)[0].to_json())
    document["inputs"] = []
    for number in range(60):
        bent, said = mutated(document, Random(number))
        for target in targets():
            options = {"application_id": "a", "broker_map": BROKERS} if target == "kafka-reassignment" else {}
            with suppress(ftplan.FtplanError):
                assert ftplan.export_plan(bent, target, **options).text, said


def _texts(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of texts; of lists the first entry."""
    for key, item in value.items() if isinstance(value, dict) else list(enumerate(value))[:1]:
        if isinstance(item, str):
            yield (*place, key)
        elif isinstance(item, (dict, list)):
            yield from _texts(item, (*place, key))


@pytest.mark.parametrize("case", plan_cases.CASES, ids=lambda case: case.__name__)
def test_no_text_of_a_plan_begins_a_line_of_its_own(case: Any, tmp_path: Path) -> None:
    """A line break in a name would end the comment, or the setting, in which an engine's file has it."""
    made, _ = case(tmp_path)
    document = json.loads(made.to_json())
    for *above, last in list(_texts(document)):
        bent = copy.deepcopy(document)
        inner = bent
        for key in above:
            inner = inner[key]
        inner[last] = "x\nnum.standby.replicas=0 $(touch broken)"
        for target in [name for name in targets() if name != "csv"]:  # which quotes them
            with suppress(ftplan.FtplanError):
                text = ftplan.export_plan(bent, target).text
                assert not any(line.lstrip(" -").startswith("num.standby.replicas=0") for line in text.splitlines())
