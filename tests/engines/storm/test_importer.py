"""Imports of Storm: pages of the UI, Flux, decoded topologies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import yaml

import ftplan
from ftplan.engines.storm.components import grouping, is_coordination, is_system
from ftplan.errors import FtplanError
from tests.engines.collecting.server import served
from tests.engines.importing.cases import DATA, EXAMPLES, codes, imported
from tests.engines.storm.cases import BASE, ID, pages

PRODUCTION = sorted((DATA / "storm" / "production").glob("*.json"))
FLUX = sorted((DATA / "storm" / "flux").glob("*.yaml"))


def saved(folder: Path, answers: dict[str, Any]) -> Path:
    for i, value in enumerate(answers.values()):
        (folder / f"answer-{i}.json").write_text(json.dumps(value))
    return folder


@pytest.mark.parametrize("path", PRODUCTION, ids=lambda path: path.stem[-5:])
def test_production_topologies_recounted(path: Path) -> None:
    """Components, tasks, edges, cycles and keyed bolts, counted from the file by hand and by networkx."""
    document = json.loads(path.read_text())
    tasks = {c["id"]: c["parallelism"] for c in document["components"] if c["parallelism"]}
    data = [e for e in document["edges"] if e["from"] in tasks and e["to"] in tasks and e["stream"][0] != "$"]
    graph = nx.DiGraph([(e["from"], e["to"]) for e in data])
    if not nx.is_directed_acyclic_graph(graph):
        with pytest.raises(FtplanError, match=r"cycle: (.+) -> .*\1; plans need"):
            ftplan.import_topology(path, "storm")
    done = imported(path, "storm", break_cycles=True)
    operators = {o["id"]: o for o in done.topology["operators"]}
    assert {name: o["parallelism"] for name, o in operators.items()} == tasks
    pairs = {(e["from"], e["to"]) for e in done.topology["edges"]}
    kept = nx.DiGraph(pairs)
    assert nx.is_directed_acyclic_graph(kept)
    for pair in set(graph.edges) - pairs:  # each edge that was cut closes a cycle with those that were kept
        assert pair[0] == pair[1] or nx.has_path(kept, pair[1], pair[0])
    assert pairs <= set(graph.edges)
    left_out = len(document["edges"]) - len(data)
    notes = [note.message for note in done.notes if note.code == "COORDINATION_LEFT_OUT"]
    missing = len(document["components"]) - len(tasks)
    text = f"left out as coordination of Trident or Storm: components {missing}, streams {left_out}"
    assert notes == ([text] if left_out else [])
    keyed = {e["to"] for e in data if e["grouping"] == "fields" and e["fields"]}
    assert {name for name, o in operators.items() if "key_groups" in o} == keyed
    cpu = "topology.component.cpu.pcore.percent"
    for component in document["components"]:
        if component["id"] in operators:
            percent = component["resources"].get(cpu, document["conf"].get(cpu))
            assert operators[component["id"]]["cpu"] == pytest.approx(percent / 100)


@pytest.mark.parametrize("path", FLUX, ids=lambda path: path.stem)
def test_flux_files_recounted(path: Path) -> None:
    document = yaml.safe_load(path.read_text())
    parts = [*document.get("spouts", ()), *document.get("bolts", ())]
    if not parts:
        with pytest.raises(FtplanError, match=r"is a configuration only \(.*\): it has no spouts and bolts"):
            ftplan.import_topology(path, "storm")
        return
    done = imported(path, "storm")
    assert done.topology["name"] == document["name"]
    tasks = {part["id"]: part.get("parallelism", 1) for part in parts}
    assert {o["id"]: o["parallelism"] for o in done.topology["operators"]} == tasks
    streams = document.get("streams", ())
    assert sorted((e["from"], e["to"]) for e in done.topology["edges"]) == sorted(
        {(s["from"], s["to"]) for s in streams}
    )
    keyed = {
        s["to"]: next(p for p in parts if p["id"] == s["to"]) for s in streams if s["grouping"]["type"] == "FIELDS"
    }
    assert {o["id"]: o["key_groups"] for o in done.topology["operators"] if "key_groups" in o} == {
        name: part.get("numTasks", part.get("parallelism", 1)) for name, part in keyed.items()
    }


def test_the_example_is_this_topology() -> None:
    """What examples/storm-recovery says to have taken from the source: operators, tasks, cpu, who sends to whom."""
    example = yaml.safe_load((EXAMPLES / "storm-recovery" / "topology.yaml").read_text())
    made = imported(EXAMPLES / "storm-recovery" / "TopologyName00034.json", "storm").topology
    assert {(o["id"], o["parallelism"], o["cpu"]) for o in made["operators"]} == {
        (o["id"], o["parallelism"], o["cpu"]) for o in example["operators"]
    }
    assert {(e["from"], e["to"]) for e in made["edges"]} == {(e["from"], e["to"]) for e in example["edges"]}


def test_pages_of_the_ui(tmp_path: Path) -> None:
    done = imported(saved(tmp_path, pages()), "storm", zone_map={"10.11.1.7": "a", "10.11.1.8": "b"})
    spout, split, count = done.topology["operators"]
    assert spout == {"id": "spout", "parallelism": 2, "cpu": 0.2, "rate_out": [10, 20]}  # 6,000 and 12,000 in 600 s
    assert split["cpu"] == [0.1, 0.2, 0.3]  # capacity: the share of time that an executor was busy
    assert (split["rate_out"], split["input_share"], split["selectivity"]) == ([20, 40, 60], [5, 10, 15], 4.0)
    assert (count["parallelism"], count["key_groups"], count["record_time_s"]) == (2, 5, 4.8e-5)
    assert [(e["from"], e["to"]) for e in done.topology["edges"]] == [
        ("spout", "split"),
        ("spout", "count"),
        ("split", "count"),
    ]
    # 600 records in 600 s came on a stream of its own: what it carries is not the spout's whole output.
    assert sum(row[2] for row in done.topology["edges"][1]["substreams"]) == pytest.approx(1.0)
    assert done.cluster is not None
    assert [(n["id"], n["cpu"], n.get("zone")) for n in done.cluster["nodes"]] == [
        ("10.11.1.7", 4.0, "a"), ("10.11.1.8", 4.0, "b"), ("10.11.1.9", 4.0, None), ("10.11.1.10", 4.0, None),
    ]  # fmt: skip
    seven, eight = "10.11.1.7", "10.11.1.8"
    assert done.cluster["placement"]["tasks"] == {
        "count": [seven, eight], "split": [seven, eight, "10.11.1.9"], "spout": [seven, eight],
    }  # fmt: skip
    assert done.cluster["placement"]["key_groups"] == {"count": [seven] * 3 + [eight] * 2}
    assert codes(done) == ["ALL_GROUPING", "INPUTS_UNKNOWN", "SUBSTREAMS_SPREAD", "STATE_UNKNOWN", "ZONE_UNKNOWN"]


def test_pages_without_what_tells_groupings_and_by_process(tmp_path: Path) -> None:
    done = imported(saved(tmp_path, pages(visualization=False)), "storm", node_by="process", correlated=["count"])
    assert "GROUPING_UNKNOWN" in codes(done)
    assert "INPUTS_UNKNOWN" not in codes(done)
    assert all("key_groups" not in o for o in done.topology["operators"])
    assert done.topology["operators"][2]["inputs"] == "correlated"
    assert done.cluster is not None
    assert {n["id"] for n in done.cluster["nodes"]} >= {"10.11.1.7-6700", "10.11.1.8-6701"}
    assert done.cluster["nodes"][0]["labels"] == {"host": "10.11.1.7:6700"}


def test_pages_since_the_beginning_and_of_older_versions(tmp_path: Path) -> None:
    answers = pages()
    for path, page in answers.items():
        if "/component/" in path:
            page["window"] = ":all-time"
            for row in page["executorStats"]:
                del row["uptimeSeconds"]
                row["uptime"] = "1h 0m 0s"
    spout, split, _ = imported(saved(tmp_path, answers), "storm").topology["operators"]
    assert spout["rate_out"] == pytest.approx([6000 / 3600, 12000 / 3600])
    assert split["selectivity"] == 4.0
    for path, page in answers.items():
        for row in page["executorStats"] if "/component/" in path else ():
            del row["uptime"]
    done = imported(saved(tmp_path, answers), "storm")
    assert codes(done).count("WINDOW_UNKNOWN") == 3
    assert all("rate_out" not in operator for operator in done.topology["operators"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SHUFFLE", "shuffle"), ("LOCAL_OR_SHUFFLE", "local_or_shuffle"), ("localOrShuffle", "local_or_shuffle"),
        ("custom_serialized", "custom"), ("CUSTOM", "custom"), ("NONE", "none"), ("fields", "fields"), ("?", "unknown"),
        ("PARTIAL_KEY", "custom"), ("DIRECT", "direct"), ("ALL", "all"), ("GLOBAL", "global"),
    ],
)  # fmt: skip
def test_groupings_by_any_spelling(name: str, kind: str) -> None:
    assert grouping(name) == kind


def test_what_coordinates_is_left_out() -> None:
    assert all(map(is_system, ("__acker", "__system", "$mastercoord-bg0", "$spoutcoord-spout0")))
    assert all(map(is_coordination, ("$batch", "$coord-bg7", "__ack_init", "__metrics")))
    assert not any(map(is_system, ("spout-words", "b-0", "Bolt-1")))


def test_a_topology_page_alone(tmp_path: Path) -> None:
    done = imported(saved(tmp_path, {BASE: pages()[BASE]}), "storm")
    assert done.topology["edges"] == []
    assert {"EDGES_UNKNOWN", "PLACEMENT_UNKNOWN"} <= {*codes(done)}
    assert [o["cpu"] for o in done.topology["operators"]] == [0.15, 0.2, 0.2]


def test_several_topologies_need_a_name(tmp_path: Path) -> None:
    other = {**pages()[BASE], "id": "other-1", "name": "other"}
    folder = saved(tmp_path, {**pages(), "other": other})
    with pytest.raises(FtplanError, match="holds several topologies: choose one with --job: WordCount3, other"):
        ftplan.import_topology(folder, "storm")
    with pytest.raises(FtplanError, match="holds no topology 'x'"):
        ftplan.import_topology(folder, "storm", job="x")
    assert imported(folder, "storm", job="other").topology["name"] == "other"
    assert imported(folder, "storm", job=ID).topology["name"] == "WordCount3"


@pytest.fixture(scope="module")
def storm_ui() -> Iterator[str]:
    """A server that answers as Storm's UI does."""
    answers = {
        **pages(),
        "/api/v1/cluster/summary": {"supervisors": 4},
        "/api/v1/topology/summary": {"topologies": [{"id": ID, "name": "WordCount3", "encodedId": ID}]},
    }
    with served(answers) as endpoint:
        yield endpoint.url


def test_a_live_url_and_a_collected_folder_say_the_same(storm_ui: str, tmp_path: Path) -> None:
    live = imported(storm_ui, "storm")
    files = imported(saved(tmp_path, pages()), "storm")
    assert (live.topology, live.cluster) == (files.topology, files.cluster)
    collected = tmp_path / "collected"
    (collected / "answers").mkdir(parents=True)
    (collected / "collection.json").write_text("{}")
    stale = {**pages()[BASE], "name": "before"}
    lines = [
        {"at": "2026-11-22T07:40:00Z", "path": path, "status": 200, "answer": value}
        for path, value in [(BASE, stale), *pages().items()]
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (collected / "answers" / "2026-11-22T07.jsonl").write_text(text)
    again = imported(collected, "storm")
    assert (again.topology, again.cluster) == (live.topology, live.cluster)
    with pytest.raises(FtplanError, match="there is no such topology"):
        ftplan.import_topology(storm_ui, "storm", job="nothing")


def test_an_endpoint_out_of_reach() -> None:
    with pytest.raises(FtplanError, match=r"127\.0\.0\.1:1: connection refused"):
        ftplan.import_topology("http://127.0.0.1:1", "storm")


def test_flux_includes_properties_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERS", "6")
    (tmp_path / "shared.yaml").write_text(
        "bolts:\n- {id: count, className: A, parallelism: 9}\n- {id: log, className: B}\nname: other\n"
    )
    (tmp_path / "dev.properties").write_text("# tasks\nsplit.tasks = 12\n")
    main = tmp_path / "main.yaml"
    main.write_text(
        "name: main\nincludes:\n- {resource: false, file: elsewhere/shared.yaml, override: false}\n"
        "- {resource: true, file: /missing.yaml}\n"
        "spouts:\n- {id: s, className: S}\nbolts:\n"
        '- {id: split, className: org.apache.storm.bolt.JoinBolt, parallelism: 3, numTasks: "${split.tasks}"}\n'
        '- {id: count, className: C, parallelism: "${ENV-COUNTERS}"}\n'
        "streams:\n- {from: s, to: split, grouping: {type: FIELDS, args: [a]}}\n"
        "- {from: split, to: count, grouping: {type: GLOBAL}}\n"
        "- {from: s, to: log, grouping: {type: LOCAL_OR_SHUFFLE}}\n"
    )
    done = imported([main, tmp_path / "dev.properties"], "storm")
    operators = {o["id"]: o for o in done.topology["operators"]}
    assert operators["split"]["key_groups"] == 12
    assert (operators["count"]["parallelism"], operators["count"]["labels"]) == (6, {"class": "C"})
    assert operators["count"]["input_share"] == [1.0, 0, 0, 0, 0, 0]  # a global grouping: all to the first task
    assert operators["log"]["parallelism"] == 1
    assert operators["split"]["inputs"] == "correlated"
    assert codes(done)[0] == "INCLUDE_MISSING"
    main.write_text(main.read_text().replace("override: false", "override: true"))
    assert imported([main], "storm").topology["name"] == "other"
    main.write_text(main.read_text().replace("elsewhere/shared", "lost"))
    with pytest.raises(FtplanError, match=r"includes\[0\]: there is no file 'lost.yaml'"):
        ftplan.import_topology(main, "storm")


def test_a_topology_that_a_class_makes(tmp_path: Path) -> None:
    path = tmp_path / "flux.yaml"
    path.write_text("name: t\ntopologySource: {className: a.B}\n")
    with pytest.raises(FtplanError, match="its topology is made by a class"):
        ftplan.import_topology(path, "storm")


def test_a_folder_of_topologies_needs_a_choice(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(f"name: job-{name}\nspouts: [{{id: s, className: S}}]\n")
    with pytest.raises(FtplanError, match="holds 2 files that may be topologies"):
        ftplan.import_topology(tmp_path, "storm")
    assert imported(tmp_path, "storm", job="job-b").topology["name"] == "job-b"
