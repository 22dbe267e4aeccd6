"""Imports of Kafka Streams: descriptions of both layouts, log directories, members of a group."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import ftplan
from ftplan.engines.kafka_streams.tools import log_dirs, members, sub_topologies
from ftplan.errors import FtplanError
from tests.engines.importing.cases import DATA, KAFKA, codes, imported

NEW, DISK, GROUP = (KAFKA / f"{name}.txt" for name in ("topology", "log-dirs", "members"))
OLD = DATA / "kafka_streams" / "topology-1.0.txt"


def operators(done: Any) -> dict[str, Any]:
    return {o["labels"]["engine_id"]: o for o in done.topology["operators"]}


@pytest.mark.parametrize("path", [NEW, OLD], ids=["new", "old"])
def test_descriptions_recounted(path: Path) -> None:
    """Sub-topologies are the weakly connected parts of the processors' graph; the arrows say it, and networkx."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    text = path.read_text()
    name = ""
    for kind, word in re.findall(r"(Source:|Processor:|Sink:|-->|<--)\s+([^\s(,]+)", text):
        if kind.endswith(":"):
            name = word
            graph.add_node(name)
        elif word != "none":
            graph.add_edge(*((name, word) if kind == "-->" else (word, name)))
    parts = sub_topologies(text, "t")
    assert sorted(sorted(part.nodes) for part in parts) == sorted(map(sorted, nx.weakly_connected_components(graph)))


def test_a_topology_with_its_disks_and_members() -> None:
    done = imported([NEW, DISK, GROUP], "kafka-streams")
    known = operators(done)
    assert {key: (o["parallelism"], o.get("key_groups"), o.get("inputs")) for key, o in known.items()} == {
        "0": (4, None, None), "1": (2, None, None), "2": (4, 4, "correlated"), "4": (4, 4, None),
    }  # fmt: skip
    # Both windows of the join: the larger copy of each partition of both changelogs.
    assert known["2"]["state_bytes"] == [1500, 2600, 3500, 4700]
    assert known["4"]["state_bytes"] == [64, 128, 0, 32]
    assert [(e["from"][-1], e["to"][-1]) for e in done.topology["edges"]] == [("0", "2"), ("1", "2"), ("2", "4")]
    assert done.cluster is not None
    assert len(done.cluster["nodes"]) == 3
    placed = done.cluster["placement"]
    nodes = [n["id"] for n in done.cluster["nodes"]]
    order = {name: i for i, name in enumerate(nodes)}
    shown = {part: {k[-1]: _numbers(v, order) for k, v in lists.items()} for part, lists in placed.items()}
    assert shown["tasks"] == {"0": [0, 0, 1, 1], "1": [2, 2], "2": [0, 1, 2, 2], "4": [1, 1, 2, 2]}
    assert shown["key_groups"] == {"2": [0, 1, 2, 2], "4": [1, 1, 2, 2]}
    assert shown["checkpoints"] == {"2": [[1, 2], [0], [0], [1]], "4": [[0], [2], [1], [1]]}
    assert codes(done) == [
        "STATE_FROM_CHANGELOG", "TOPICS_UNKNOWN", "JOIN_BY_NAME", "HOSTS_UNKNOWN", "WARMUP_COUNTED",
        "CPU_UNKNOWN", "RATES_UNKNOWN", "ZONE_UNKNOWN", "CORES_UNKNOWN",
    ]  # fmt: skip
    assert [note.code for note in done.notes] == ["GLOBAL_STORE"]
    assert done.topology["name"] == "shop"


def _numbers(value: Any, order: dict[str, int]) -> Any:
    return [_numbers(item, order) for item in value] if isinstance(value, list) else order[value]


def test_partitions_from_options_disks_and_writers() -> None:
    alone = operators(imported(NEW, "kafka-streams", partitions=["orders=6", "payments=3"]))
    assert {key: o["parallelism"] for key, o in alone.items()} == {"0": 6, "1": 3, "2": 6, "4": 6}
    for twelve in (["12"], "12", 12, [3, 12]):
        every = imported(OLD, "kafka-streams", partitions=twelve)
        assert {key: o["parallelism"] for key, o in operators(every).items()} == {"0": 12, "1": 12}
    assert "PARTITIONS_UNKNOWN" not in codes(every)
    assert "PARTITIONS_UNKNOWN" in codes(imported(OLD, "kafka-streams"))
    disk = operators(imported([NEW, DISK], "kafka-streams", partitions=["orders=2"]))
    assert {key: o["parallelism"] for key, o in disk.items()} == {"0": 2, "1": 2, "2": 4, "4": 4}
    group = operators(imported([NEW, GROUP], "kafka-streams"))
    assert {key: o["parallelism"] for key, o in group.items()} == {"0": 4, "1": 2, "2": 4, "4": 4}


def test_hosts_where_the_tool_names_them(tmp_path: Path) -> None:
    text = GROUP.read_text().replace("CLIENT-ID", "HOST CLIENT-ID").replace(" shop-", " /10.0.0.1 shop-")
    path = tmp_path / "members.txt"
    path.write_text(text)
    done = imported([NEW, path], "kafka-streams")
    assert done.cluster is not None
    assert [n["id"] for n in done.cluster["nodes"]] == ["10.0.0.1"]
    assert "HOSTS_UNKNOWN" not in codes(done)
    done = imported([NEW, path], "kafka-streams", node_by="process")
    assert done.cluster is not None
    assert len(done.cluster["nodes"]) == 3


def test_log_dirs_take_the_largest_copy_and_leave_moves_out() -> None:
    sizes = log_dirs(DISK.read_text(), "d")
    assert sizes["orders"] == {0: 9000, 1: 9100, 2: 9200, 3: 9300}
    assert sizes["shop-KSTREAM-JOINTHIS-0000000012-store-changelog"] == {0: 1000, 1: 2100, 2: 3000, 3: 4000}


def test_members_have_what_they_run_now_not_what_they_shall() -> None:
    text = GROUP.read_text().replace("TARGET-ACTIVE-TASKS:: 0: [[0, 1]", "TARGET-ACTIVE-TASKS:: 9: [[9]")
    group, listed = members(text, "g")
    assert group == "shop"
    assert listed[0].tasks == {"active": [(0, 0), (0, 1), (2, 0)], "standby": [(2, 1), (2, 2), (4, 0)], "warmup": []}


def test_members_of_topologies_without_tasks_or_with_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "members.txt"
    path.write_text(GROUP.read_text().replace("4: [[0, 1]", "4: [[0]"))
    done = imported([NEW, DISK, path], "kafka-streams")
    assert "PLACEMENT_UNKNOWN" in codes(done)
    assert done.cluster is not None
    assert [name[-1] for name in done.cluster["placement"]["tasks"]] == ["0", "1", "2"]
    path.write_text(GROUP.read_text().replace("4: [[0, 1]", "9: [[0]"))
    with pytest.raises(FtplanError, match="has the task 9_0, but no sub-topology 9"):
        ftplan.import_topology([NEW, path], "kafka-streams")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("(topics: [orders])", "(topics: [orders]"), "line 3: expected a node such as"),
        (("--> KSTREAM-KEY-SELECT-0000000001", "--> elsewhere"), "line 4: names the node 'elsewhere'"),
        (("Sub-topology: 1\n", "Sub-topology: 0\n"), "line 14: a second sub-topology 0"),
        (("    Sink: settled", "    Drain: settled"), "is no line of a topology's description"),
        (("[paid-repartition]", "[other]"), "no sub-topology reads the repartition topic 'paid-repartition'"),
    ],
)
def test_descriptions_that_are_damaged(change: tuple[str, str], said: str) -> None:
    with pytest.raises(FtplanError, match=re.escape(said)):
        sub_topologies(NEW.read_text().replace(*change), "t")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ACTIVE-TASKS:: 0: [[0]]\n", "line 1: tasks of no member"),
        ("GROUP MEMBER\ng m x\nACTIVE-TASKS:: \n", "line 2: 3 columns under a heading of 2"),
        ("GROUP MEMBER\ng m\nh n\nACTIVE-TASKS:: \n", "line 3: a second group 'h'"),
        ("GROUP MEMBER\ng m\nTARGET-ACTIVE-TASKS:: 0: [[0]]\n", "names no tasks"),
        ("GROUP MEMBER\nACTIVE-TASKS are none\n", "line 2: tasks of no member"),
    ],
)
def test_members_that_are_damaged(text: str, said: str) -> None:
    with pytest.raises(FtplanError, match=re.escape(said)):
        members(text, "g")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"error":null', '"error":"KafkaStorageException"'), "error: KafkaStorageException"),
        (('"orders-0"', '"orders"'), "expected a name such as orders-0"),
        (('"size":9000', '"size":-1'), "size: expected a number of at least 0"),
        (('"brokers":[{', '"brokers":[{{'), "not JSON"),
    ],
)
def test_log_dirs_that_are_damaged(change: tuple[str, str], said: str) -> None:
    with pytest.raises(FtplanError, match=re.escape(said)):
        log_dirs(DISK.read_text().replace(*change), "d")


def test_applications_whose_topics_mix(tmp_path: Path) -> None:
    text = DISK.read_text()
    value = json.loads(text[text.index("{") :])
    value["brokers"][0]["logDirs"][0]["partitions"].append({"partition": "store-revenue-changelog-0", "size": 1})
    path = tmp_path / "disk.txt"
    path.write_text(json.dumps(value))
    with pytest.raises(FtplanError, match="topics of several applications fit: choose one with --job: shop, store"):
        ftplan.import_topology([NEW, path], "kafka-streams")
    assert imported([NEW, path], "kafka-streams", job="shop").topology["name"] == "shop"
    two = [NEW, DISK, GROUP, GROUP]
    with pytest.raises(FtplanError, match="a second description of a group's members"):
        ftplan.import_topology(two, "kafka-streams")
    with pytest.raises(FtplanError, match="the description of the topology is missing"):
        ftplan.import_topology([DISK, GROUP], "kafka-streams")
    with pytest.raises(FtplanError, match="a second topology's description"):
        ftplan.import_topology([NEW, OLD], "kafka-streams")
