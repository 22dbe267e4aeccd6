"""Imports of Flink: a folder of saved answers, single answers, collected sets over time, plans of all shapes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from tests.engines.collecting.server import served
from tests.engines.flink.cases import job, vertex
from tests.engines.importing.cases import DATA, codes, imported

ANSWERS = DATA / "flink" / "answers"
PLANS = DATA / "flink" / "plans"
JOB = "b232e39d3ca77af59262f861c8786bc0"


def answer(name: str) -> Any:
    return json.loads((ANSWERS / f"{name}.json").read_text())


def by_name(topology: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {o.get("name", o["id"]).partition("[")[0]: o for o in topology["operators"]}


def rates(edge: dict[str, Any], side: int) -> dict[int, float]:
    total: dict[int, float] = {}
    for item in edge["substreams"]:
        total[item[side]] = total.get(item[side], 0.0) + item[2]
    return total


def test_a_folder_of_saved_answers() -> None:
    """Held to the answers themselves: figures per subtask, added up by hand."""
    done = imported(ANSWERS, "flink")
    names = by_name(done.topology)
    assert {name: o["parallelism"] for name, o in names.items()} == dict.fromkeys(
        ["Source: clicks", "Source: buys", "WindowAggregate", "IntervalJoin", "GroupAggregate"], 4
    )
    assert {name: o.get("key_groups") for name, o in names.items() if "key_groups" in o} == dict.fromkeys(
        ["WindowAggregate", "IntervalJoin", "GroupAggregate"], 128
    )
    assert [name for name, o in names.items() if o.get("inputs") == "correlated"] == ["IntervalJoin"]
    ids = {o["id"]: name for name, o in names.items()}
    edges = {(ids[e["from"]], ids[e["to"]]): e for e in done.topology["edges"]}
    assert set(edges) == {
        ("Source: clicks", "WindowAggregate"), ("Source: clicks", "IntervalJoin"), ("Source: buys", "IntervalJoin"),
        ("IntervalJoin", "GroupAggregate"),
    }  # fmt: skip
    for number, name in ((2, "WindowAggregate"), (3, "IntervalJoin"), (4, "GroupAggregate")):
        read: dict[int, float] = dict.fromkeys(range(4), 0.0)
        for (_, target), edge in edges.items():
            if target == name:
                read = {i: read[i] + rate for i, rate in rates(edge, 1).items()}
        state = [s["state_size"] for s in answer(f"v{number}_checkpoint_subtasks")["subtasks"]]
        assert names[name]["state_bytes"] == state
        for subtask in answer(f"v{number}_vertex")["subtasks"]:
            index, seconds = subtask["subtask"], subtask["status-duration"]["RUNNING"] / 1000
            assert read[index] == pytest.approx(subtask["metrics"]["read-records"] / seconds, rel=2e-3)
            busy = subtask["metrics"]["accumulated-busy-time"] / 1000 / seconds
            assert names[name]["cpu"][index] == pytest.approx(busy, rel=1e-9)
    # Two operators of the source write each record once: Flink counts it twice, each edge carries it once.
    written = sum(s["metrics"]["write-records"] for s in answer("v0_vertex")["subtasks"])
    assert sum(names["Source: clicks"]["rate_out"]) == pytest.approx(written / 2 / 115.1, rel=5e-3)
    assert "rate_out" not in names["GroupAggregate"]
    # The join's result is counted by the join's key: each task sends to its namesake alone.
    assert [item[:2] for item in edges["IntervalJoin", "GroupAggregate"]["substreams"]] == [[i, i] for i in range(4)]
    assert all(o["checkpoint"] == {"interval_s": 10.0, "kind": "full"} for o in names.values())
    assert codes(done) == ["CPU_BY_RECORDS", "PAIRS_BY_SHARES", "KEYS_KEPT", "ZONE_UNKNOWN"]


def test_pages_that_nobody_needs_or_can_read_are_left_out(tmp_path: Path) -> None:
    """A flame graph without a word, a broken page with a warning; what is needed and broken is named."""
    folder = shutil.copytree(ANSWERS, tmp_path / "answers")
    (folder / "v3_flamegraph.json").write_text(
        '{"endTimestamp": 1700000000000, "data": '
        + '{"name": "f", "value": 1, "children": [' * 2000
        + "]}" * 2000
        + "}"
    )
    whole = imported(ANSWERS, "flink")
    assert imported(folder, "flink") == whole
    (folder / "v1_backpressure.json").write_text('{"status": ')
    (folder / "notes.yaml").write_bytes(b"\x80")
    for source in (folder, sorted(folder.iterdir())):
        done = imported(source, "flink")
        assert done.topology == whole.topology
        assert sorted(codes(done)) == sorted([*codes(whole), "UNREADABLE", "UNREADABLE"])
    with pytest.raises(FtplanError, match="--strict"):
        imported(folder, "flink", strict=True)
    for name in ("job", "job_plan"):
        (folder / f"{name}.json").write_text("{")
    with pytest.raises(FtplanError, match=r"holds no plan of a Flink job.*could not be read: .*job\.json: line 1"):
        imported(folder, "flink")


GOLDEN = DATA / "flink" / "imports.json"


def test_golden_imports() -> None:
    """Every document as it was; FTPLAN_GOLDEN=write writes them anew."""
    sources = {"answers": ANSWERS, "job": ANSWERS / "job.json", "job_plan": ANSWERS / "job_plan.json"}
    sources |= {path.stem: path for path in sorted(PLANS.glob("*-info.json")) + sorted(PLANS.glob("*-rest.json"))}
    done = {name: imported(source, "flink") for name, source in sources.items()}
    documents = {
        name: {
            "topology": one.topology,
            "cluster": one.cluster,
            "assumptions": [warning.to_dict() for warning in one.assumptions],
            "notes": [warning.to_dict() for warning in one.notes],
        }
        for name, one in done.items()
    }
    text = json.dumps(documents, indent=1, sort_keys=True) + "\n"
    if os.environ.get("FTPLAN_GOLDEN") == "write":
        GOLDEN.write_text(text)
    assert json.loads(GOLDEN.read_text()) == json.loads(text)


def test_hosts_and_processes() -> None:
    done = imported(ANSWERS, "flink")
    assert done.cluster is not None
    assert [(n["id"], n["cpu"]) for n in done.cluster["nodes"]] == [("localhost", 2.0)]  # a machine of two cores
    assert "ONE_HOST" in [note.code for note in done.notes]
    apart = imported(ANSWERS, "flink", node_by="process").cluster
    assert apart is not None
    assert [(n["id"], n["cpu"], n["memory_mb"]) for n in apart["nodes"]] == [
        ("localhost-33605-9348c5", 2.0, 1400.0), ("localhost-41235-40489b", 2.0, 1400.0),
    ]  # fmt: skip
    where = [s["taskmanager-id"].replace(":", "-") for s in answer("v3_vertex")["subtasks"]]
    assert [n["slots"] for n in done.cluster["nodes"] + apart["nodes"]] == [4, 2, 2]
    placed = apart["placement"]["tasks"]["IntervalJoin-16-Calc-17"]
    assert placed == where


def test_cpu_never_exceeds_the_cores_of_a_node() -> None:
    for by in ("host", "process"):
        done = imported(ANSWERS, "flink", node_by=by)
        assert done.cluster is not None
        used: dict[str, float] = {}
        for operator in done.topology["operators"]:
            cpu = operator["cpu"] if isinstance(operator["cpu"], list) else [operator["cpu"]] * 4
            for node, cores in zip(done.cluster["placement"]["tasks"][operator["id"]], cpu, strict=True):
                used[node] = used.get(node, 0.0) + cores
        assert all(used[node["id"]] <= node["cpu"] * (1 + 1e-9) for node in done.cluster["nodes"])


def test_single_answers() -> None:
    """The plan alone and the job alone give the same operators and edges as the folder, and say what they assume."""
    whole = imported(ANSWERS, "flink")
    for name in ("job", "job_plan"):
        done = imported(ANSWERS / f"{name}.json", "flink")
        assert [o["id"] for o in done.topology["operators"]] == [o["id"] for o in whole.topology["operators"]]
        assert [(e["from"], e["to"]) for e in done.topology["edges"]] == [
            (e["from"], e["to"]) for e in whole.topology["edges"]
        ]
        assert all(o["cpu"] == pytest.approx(0.2) for o in done.topology["operators"])  # five share a slot of one core
        assert {"CPU_BY_SLOT", "RATES_UNKNOWN", "STATE_UNKNOWN"} <= set(codes(done))
        assert ("MAX_PARALLELISM_UNKNOWN" in codes(done)) == (name == "job_plan")
    with pytest.raises(FtplanError, match=r"--strict: \d+ assumptions"):
        ftplan.import_topology(ANSWERS / "job.json", "flink", strict=True)


def test_the_text_that_flink_info_prints(tmp_path: Path) -> None:
    line = "----------------------- Execution Plan -----------------------"
    text = (PLANS / "sql-info.json").read_text()
    (tmp_path / "info.txt").write_text(f"{line}\n{text}\n{'-' * 62}\n\nNo description provided.\n")
    done = imported(tmp_path / "info.txt", "flink")
    joins = {o["id"].partition("-")[0] for o in done.topology["operators"] if o.get("inputs") == "correlated"}
    assert joins == {"IntervalJoin", "Join", "TemporalJoin"}
    assert done.topology == imported(PLANS / "sql-info.json", "flink").topology


def test_partitionings() -> None:
    done = imported(PLANS / "streams-rest.json", "flink")
    rules = {e["to"]: e["partitioning"] for e in done.topology["edges"]}
    assert rules == {
        "Sink-split-sink": "split", "Sink-merge-sink": "merge", "Sink-broadcast-sink": "full",
        "Sink-global-sink": "full", "Sink-shuffle-sink": "full", "Sink-union-sink": "full",
    }  # fmt: skip
    operators = {o["id"]: o for o in done.topology["operators"]}
    assert operators["Sink-global-sink"]["input_share"] == [1.0, 0.0]
    assert {"RESCALE_UNEVEN", "BROADCAST_AS_FULL"} <= set(codes(done))


def test_joins_can_be_corrected() -> None:
    join, union = "IntervalJoin-16-Calc-17", "WindowAggregate-6-Calc-7-o1-8-Writer"
    done = imported(ANSWERS, "flink", independent=(join,), correlated=(union,))
    marked = [o["id"] for o in done.topology["operators"] if o.get("inputs") == "correlated"]
    assert marked == [union]


def test_a_live_endpoint_is_asked_once_and_says_what_saved_answers_say() -> None:
    answers = {
        "/overview": {"taskmanagers": 2, "flink-version": "2.3.0"},
        "/jobs/overview": {"jobs": [{"jid": JOB, "name": "ftplan-sample", "state": "RUNNING"}]},
        "/taskmanagers": answer("taskmanagers"),
        f"/jobs/{JOB}": answer("job"),
        f"/jobs/{JOB}/checkpoints": answer("checkpoints"),
        f"/jobs/{JOB}/checkpoints/details/12": answer("checkpoint_details"),
    }
    for number in range(5):
        page = answer(f"v{number}_vertex")
        answers[f"/jobs/{JOB}/vertices/{page['id']}"] = page
        answers[f"/jobs/{JOB}/checkpoints/details/12/subtasks/{page['id']}"] = answer(f"v{number}_checkpoint_subtasks")
    with served(answers) as endpoint:
        live = imported(endpoint.url, "flink", job=JOB)
        assert endpoint.paths.count(f"/jobs/{JOB}") == 1
    folder = imported(ANSWERS, "flink")
    assert (live.topology, live.cluster, live.assumptions) == (folder.topology, folder.cluster, folder.assumptions)


@pytest.fixture
def collected(tmp_path: Path) -> Iterator[Callable[[list[list[tuple[str, Any]]]], Path]]:
    """Write sets of (path, answer), a minute apart, as a collected folder."""

    def write(sets: list[list[tuple[str, Any]]]) -> Path:
        folder = tmp_path / "collected"
        (folder / "answers").mkdir(parents=True)
        (folder / "collection.json").write_text(json.dumps({"format": "ftplan/collection", "format_version": "1.0"}))
        begin = datetime(2026, 11, 22, 7, tzinfo=UTC)
        lines = [
            {"at": (begin + timedelta(minutes=i)).isoformat(), "path": path, "status": 200, "answer": value}
            for i, answers in enumerate(sets)
            for path, value in answers
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "answers" / "2026-11-22T07.jsonl").write_text(text + '{"at": "2026-11-22T07:')
        return folder

    yield write
    shutil.rmtree(tmp_path / "collected", ignore_errors=True)


def pages(now: int, sizes: dict[str, int], counted: dict[str, list[tuple[int, int]]], **more: Any) -> Any:
    described = job(sizes, [("a", "b", "HASH")])
    return [("/jobs/j", described)] + [
        (f"/jobs/j/vertices/{key}", vertex(key, now, values, **more)) for key, values in counted.items()
    ]


Collected = Callable[[list[list[tuple[str, Any]]]], Path]
SIZES = {"a": 1, "b": 2}


def test_rates_over_the_collected_time(collected: Collected) -> None:
    """From the first set to the newest complete one: what was counted before is not measured, what is cut is left."""
    folder = collected(
        [
            pages(100_000, SIZES, {"a": [(0, 900_000)], "b": [(450_000, 0), (450_000, 0)]}),
            pages(160_000, SIZES, {"a": [(0, 906_000)], "b": [(454_000, 0), (452_000, 0)]}),
            pages(220_000, SIZES, {"a": [(0, 0)], "b": [(0, 0), (0, 0)]}, complete=False),
            pages(280_000, SIZES, {"a": [(0, 999_999)]}),
        ]
    )
    done = imported(folder, "flink")
    a, b = done.topology["operators"]
    assert a["rate_out"] == 100.0
    assert rates(done.topology["edges"][0], 1) == {0: pytest.approx(200 / 3), 1: pytest.approx(100 / 3)}
    assert b["cpu"] == pytest.approx(0.1)
    notes = {note.code: note.message for note in done.notes}
    assert notes["INCOMPLETE_LEFT_OUT"].startswith("figures of 3 subtasks")
    assert notes["SETS_LEFT_OUT"].startswith("1 sets")


def test_a_restart_begins_counters_anew(collected: Collected) -> None:
    folder = collected(
        [
            pages(100_000, SIZES, {"a": [(0, 500_000)], "b": [(250_000, 0)] * 2}),
            pages(160_000, SIZES, {"a": [(0, 3_000)], "b": [(1_500, 0)] * 2}, attempt=1, since=130_000),
        ]
    )
    assert imported(folder, "flink").topology["operators"][0]["rate_out"] == pytest.approx(100.0)


def test_rates_are_of_the_time_after_the_last_change_of_parallelism(collected: Collected) -> None:
    wider = {"a": 1, "b": 3}
    folder = collected(
        [
            pages(100_000, SIZES, {"a": [(0, 500_000)], "b": [(250_000, 0)] * 2}),
            pages(160_000, SIZES, {"a": [(0, 900_000)], "b": [(450_000, 0)] * 2}),
            pages(220_000, wider, {"a": [(0, 30_000)], "b": [(10_000, 0)] * 3}, attempt=1, since=190_000),
            pages(280_000, wider, {"a": [(0, 33_000)], "b": [(11_000, 0)] * 3}, attempt=1, since=190_000),
        ]
    )
    done = imported(folder, "flink")
    assert done.topology["operators"][0]["rate_out"] == pytest.approx(50.0)
    assert "RESCALED" in [note.code for note in done.notes]


def test_a_change_of_parallelism_and_back_is_in_the_history_of_rescales(collected: Collected) -> None:
    """As /jobs/:jobid/rescales/history lists it; the first one was before the first set."""

    def history(*ends: int) -> tuple[str, Any]:
        done = [{"rescaleUuid": str(end), "terminalState": "COMPLETED", "endTimestampInMillis": end} for end in ends]
        return "/jobs/j/rescales/history", [*done, {"rescaleUuid": "x", "terminalState": "FAILED"}]

    counted = [(0, 0), (0, 6_000), (0, 30_000), (0, 33_000)]
    ends = [(50,), (50,), (50, 170_000), (50, 170_000)]
    sets = [
        [*pages(100_000 + 60_000 * i, SIZES, {"a": [one], "b": [(one[1] // 2, 0)] * 2}), history(*ends[i])]
        for i, one in enumerate(counted)
    ]
    done = imported(collected(sets), "flink")
    assert done.topology["operators"][0]["rate_out"] == pytest.approx(50.0)
    assert "RESCALED" in [note.code for note in done.notes]


def test_several_jobs_need_a_choice(collected: Collected) -> None:
    other = job({"x": 1}, []) | {"jid": "k", "name": "other"}
    folder = collected([[*pages(100_000, SIZES, {}), ("/jobs/k", other)]])
    with pytest.raises(FtplanError, match=r"2 jobs, 2 of them running .job, other.: choose"):
        imported(folder, "flink")
    assert [o["id"] for o in imported(folder, "flink", job="other").topology["operators"]] == ["x"]
    with pytest.raises(FtplanError, match=r"--job: there is no job 'othr' .did you mean 'other'"):
        imported(folder, "flink", job="othr")


def test_flows_follow_where_one_end_is_known(tmp_path: Path) -> None:
    """Union of a broadcast and a keyed stream, a merge of unequal parts, state behind a keyed vertex."""
    sizes = {"rules": 1, "in": 5, "merge": 2, "keyed": 2, "after": 2}
    streams = [
        ("in", "merge", "RESCALE"), ("merge", "keyed", "HASH"), ("rules", "keyed", "BROADCAST"),
        ("keyed", "after", "FORWARD"),
    ]  # fmt: skip
    counted: dict[str, list[tuple[int, int]]] = {
        "rules": [(0, 100)],
        "in": [(0, 1000), (0, 2000), (0, 3000), (0, 4000), (0, 5000)],
        "merge": [(3000, 300), (12000, 1200)],
        "keyed": [(600, 60), (1100, 110)],
        "after": [(60, 0), (110, 0)],
    }
    (tmp_path / "job.json").write_text(json.dumps(job(sizes, streams)))
    for i, (key, values) in enumerate(counted.items()):
        (tmp_path / f"v{i}_vertex.json").write_text(json.dumps(vertex(key, 100_000, values)))
    state = {"num_subtasks": 2, "subtasks": [{"index": i, "state_size": 7.0, "status": "completed"} for i in (0, 1)]}
    (tmp_path / "v4_checkpoint_subtasks.json").write_text(json.dumps(state))
    done = imported(tmp_path, "flink")
    edges = {(e["from"], e["to"]): e for e in done.topology["edges"]}
    pairs = json.loads((PLANS / "pointwise-pairs.json").read_text())["5-2"]
    assert [item[:2] for item in edges["in", "merge"]["substreams"]] == pairs
    assert rates(edges["in", "merge"], 0) == pytest.approx({i: 10.0 * (i + 1) for i in range(5)})
    assert rates(edges["rules", "keyed"], 1) == pytest.approx({0: 1.0, 1: 1.0})
    assert rates(edges["merge", "keyed"], 1) == pytest.approx({0: 15 * 600 / 1700, 1: 15 * 1100 / 1700})
    assert edges["keyed", "after"]["substreams"] == [[0, 0, pytest.approx(0.6)], [1, 1, pytest.approx(1.1)]]
    assert {o["id"] for o in done.topology["operators"] if "key_groups" in o} == {"keyed", "after"}
    assert "KEYED_BY_STATE" in codes(done)


@pytest.mark.parametrize("sides", ["1-3", "2-5", "3-7", "4-4", "5-2", "7-3", "8-4", "32-5", "9-8"])
def test_who_reads_from_whom_is_flinks(sides: str) -> None:
    from ftplan.engines.flink.flows import Flow, VertexRates, substreams
    from ftplan.engines.flink.plan import Vertex

    n, m = map(int, sides.split("-"))
    edge = Flow(Vertex("a", "a", "", n), Vertex("b", "b", "", m), "RESCALE", 1.0)
    even = {"a": VertexRates([0.0] * n, [1.0] * n, None), "b": VertexRates([1.0] * m, [0.0] * m, None)}
    listed = substreams(edge, even)
    assert listed is not None
    assert sorted([i, j] for i, j, _ in listed) == json.loads((PLANS / "pointwise-pairs.json").read_text())[sides]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "holds no plan of a Flink job"),
        ("[]", "holds no plan of a Flink job"),
        ('{"jid": "j", "vertices": []}', "is no plan of a Flink job: it lists no nodes"),
        ('{"nodes": [', "not JSON"),
        ("", "holds no plan|empty|not JSON"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "answer.json"
    path.write_text(text)
    with pytest.raises(FtplanError, match=message):
        ftplan.import_topology(path, "flink")
