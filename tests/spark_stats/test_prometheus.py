"""Statistics of collected answers of Prometheus: counters, rates, gauges, restarts, and folders that are damaged."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftplan.engines.prometheus.queries import collected, find
from ftplan.errors import FtplanError
from ftplan.io.topology_file import load_topology
from ftplan.model.names import slug
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.pipeline import compute
from tests.spark_stats.conftest import Run, Statistics
from tests.spark_stats.prometheus_cases import BEGIN, flink, folder, line, series

#: Where it is not about the engine, one of them is enough.
on_sail = pytest.mark.parametrize("session", ["sail"], indirect=True)

RECORDS, BUSY, STATE = "flink.records_in", "flink.busy_ms", "flink.state_bytes"


def tasks(stats: Statistics, measure: str) -> dict[tuple[int, int], Any]:
    """Return a measure by task and window (minutes after the begin)."""
    rows = stats.rows("tasks", "task", "window_start", measure)
    return {(task, round(start.timestamp() - BEGIN) // 60): value for task, start, value in rows}


def test_counters_rates_and_levels(run: Run, tmp_path: Path) -> None:
    """On both engines: resets, a restart elsewhere, values that are no numbers, a gap, parts of a task."""
    lines = [
        line(RECORDS, [
            flink(0, [(0, 100), (15, 110), (30, "NaN"), (45, 130), (60, 5), (75, 6)]),
            flink(1, [(0, 0), (15, 7)]),
            flink(1, [(45, 20), (60, 30)], tm_id="tm2", host="h2"),
            flink(2, [(0, 10), (120, 70)]),
        ]),
        line(BUSY, [flink(0, [(0, "NaN"), (15, 500), (30, 100), (45, "+Inf"), (75, 1000)])], warnings=["a"]),
        line(STATE, [
            flink(0, [(15, 500), (30, 100), (75, 300)], operator_id="a"),
            flink(0, [(15, 50), (30, 700)], operator_id="b"),
        ]),
        line("flink.state_files_bytes", [flink(0, [(15, 9999)], operator_id="a")]),
        line("flink.restarts", [series({"job_name": "orders"}, [(0, 1)])]),
        {"at": "2023-11-14T22:00:01.000Z", "path": "/x", "status": None, "metric": RECORDS, "error": "gone"},
    ]  # fmt: skip
    stats = run(folder(tmp_path / "collected", lines), input_format="prometheus", key_groups=6)
    assert tasks(stats, "records_in") == pytest.approx({
        (0, 0): 10 + 20 + 5, (0, 1): 1, (1, 0): 7 + 20 + 10, (2, 0): 30, (2, 1): 30,
    })  # fmt: skip
    assert tasks(stats, "busy_ms") == {(0, 0): 15 * 600, (0, 1): 15 * 1000, (1, 0): None, (2, 0): None, (2, 1): None}
    groups = stats.rows("key_groups", "key_group", "window_start", "state_bytes", "resolution", "estimated")
    assert {(g, round(start.timestamp() - BEGIN) // 60): state for g, start, state, *_ in groups if g < 2} == {
        (0, 0): 400, (1, 0): 400, (0, 1): 150, (1, 1): 150,
    }  # fmt: skip
    assert {g[3:] for g in groups} == {("task", True)}
    assert stats.manifest["operators"]["Window"] == {
        "key_groups": 6, "key_hash": None, "resolution": "task", "estimated": True, "coverage": 1.0,
    }  # fmt: skip
    assert (stats.manifest["rows_rejected"], stats.manifest["measures"]) == (0, ["records"])
    told = {w["code"]: w["message"] for w in stats.manifest["warnings"]}
    assert set(told) == {
        "REQUESTS_WITHOUT_ANSWER", "PARTIAL_ANSWERS", "VALUES_NO_NUMBERS", "GAPS_IN_SERIES", "COUNTERS_RESTARTED",
        "QUERY_NOT_USED",
    }  # fmt: skip
    assert told["VALUES_NO_NUMBERS"].startswith("3 of 22 values are NaN or infinite, and left out (flink.records_in")
    assert told["QUERY_NOT_USED"].startswith("flink.state_files_bytes: not used")
    assert "hosts" not in told
    assert "h2" in (stats.folder / "placement.yaml").read_text()


def sums_by_hand(answers: list[dict[str, Any]], kind: str, step: int, window: int) -> dict[tuple[str, int], float]:
    """Return what the series of one query add up to by task and window: straight from the definition."""
    known: dict[str, float] = {}
    found = defaultdict(dict)  # type: ignore[var-annotated]
    for one in answers:
        task = one["metric"]["subtask_index"]
        for time, _ in one["values"]:
            known[task] = min(known.get(task, time), time)
    for one in answers:
        begun, before = one["values"][0][0], None
        for time, text in one["values"]:
            value = float(text)
            if kind == "rate":
                amount, since = value * step, time - step
            elif before is None:
                amount, since = (value if time > known[one["metric"]["subtask_index"]] else None), time - step
            else:
                amount, since = (value - before[1] if value >= before[1] else value), before[0]
            before = time, value
            if amount is not None:
                found[one["metric"]["subtask_index"], time].setdefault(begun, (amount, since))
    sums: dict[tuple[str, int], float] = defaultdict(float)
    for (task, time), candidates in found.items():
        amount, since = candidates[max(candidates)]
        for at in range(int(since), int(time)):
            sums[task, at // window * window] += amount / (time - since)
    return sums


@on_sail
@pytest.mark.parametrize(("metric", "kind", "column"), [(RECORDS, "counter", "records_in"), (BUSY, "rate", "busy_ms")])
def test_sums_are_those_of_the_definition(run: Run, tmp_path: Path, metric: str, kind: str, column: str) -> None:
    """Many tasks at random: gaps, resets, restarts under new labels beside what is stale, repeated answers."""
    draw = random.Random(7)
    answers = []
    for task in range(60):
        time, value = 15 * draw.randrange(4), 0
        for tm in range(draw.randint(1, 4)):
            samples = []
            for _ in range(draw.randint(1, 30)):
                value = draw.randrange(20) if draw.random() < 0.1 else value + draw.randrange(50)
                samples.append((time, value))
                time += 15 * (1 if draw.random() < 0.9 else draw.randint(2, 9))
            answers.append(flink(task, samples, tm_id=f"tm{tm}"))
            value = draw.randrange(100)
            stale = draw.randrange(4) if draw.random() < 0.5 else -draw.randrange(20)
            time = max(samples[0][0] + 15, time - 15 * stale)
    draw.shuffle(answers)
    place = folder(tmp_path / "collected", [line(metric, answers[:100]), line(metric, answers[100:])])
    again = folder(tmp_path / "twice", [line(metric, answers[:100]), line(metric, answers[100:] + answers[::3])])
    expected = sums_by_hand(answers, kind, 15, 60)
    for source in (place, again):
        stats = run(source, input_format="prometheus", window_s=60.0)
        rows = stats.rows("tasks", "task", "window_start", column)
        sums = {(str(task), round(start.timestamp())): value for task, start, value in rows if value is not None}
        assert sums == pytest.approx({k: expected.get(k, 0.0) for k in sums}, rel=1e-6, abs=1e-4)
        assert {k for k, v in expected.items() if v} <= set(sums)


@on_sail
def test_names_that_the_reporter_filtered_resolve(run: Run, tmp_path: Path) -> None:
    """Flink keeps only letters, digits, colons and underscores; the topology's name has all."""
    name = "Source: clicks[1] -> Calc[2]"
    document = {
        "format": "ftplan/topology", "format_version": "1.0", "name": "t",
        "operators": [
            {"id": "clicks", "name": name, "parallelism": 2, "key_groups": 4, "rate_out": 1, "cpu": 1},
            {"id": "Sink", "parallelism": 1, "cpu": 1},
        ],
        "edges": [{"from": "clicks", "to": "Sink"}],
    }  # fmt: skip
    topology = load_topology(document).value
    for i, label in enumerate(("Source:_clicks_1_____Calc_2_", name, slug(name), "clicks")):
        place = folder(
            tmp_path / str(i), [line(RECORDS, [flink(t, [(0, 1), (15, 5)], task_name=label) for t in (0, 1)])]
        )
        stats = run(place, input_format="prometheus", topology=topology)
        assert [row[:3] for row in stats.rows("key_groups", "operator", "key_group", "records")] == [
            ("clicks", group, 2.0) for group in range(4)
        ]
    bare = run(tmp_path / "1", input_format="prometheus")
    assert list(bare.manifest["operators"]) == [slug(name)]


@on_sail
def test_engines_that_name_their_tasks_otherwise(run: Run, tmp_path: Path) -> None:
    thread = "orders-64aae07e-5ac1-4b94-9b62-b5a9d1ff1f02-StreamThread-1"
    kafka = [
        series({"task_id": f"0_{p}", "thread_id": thread, "instance": f"host{p}:9404"}, [(15, 5), (30, 8 + p)])
        for p in (0, 1)
    ]
    busy = series({"task_id": "0_1", "thread_id": thread, "instance": "host1:9404"}, [(15, 0.5), (30, "0.25")])
    lines = [line("kafka-streams.records_in", kafka), line("kafka-streams.busy_ms", [busy])]
    place = folder(tmp_path / "kafka", lines)
    stats = run(place, input_format="prometheus", key_groups=2)
    assert stats.rows("tasks", "operator", "task", "records_in", "busy_ms") == [
        ("Sub-topology-0", 0, 3.0, None), ("Sub-topology-0", 1, 4.0, 250 * 15 + 500 * 15),
    ]  # fmt: skip
    placement = (stats.folder / "placement.yaml").read_text()
    assert "host0" in placement
    assert "9404" not in placement
    name = "metrics_app_driver_spark_streaming_clicks_by_user_inputRate_total_Value"
    spark = series({"__name__": name, "type": "gauges"}, [(15, 10), (30, 20), (45, 0)])
    place = folder(tmp_path / "spark", [line("spark.records_in", [spark])])
    stats = run(place, input_format="prometheus", key_groups=3)
    assert stats.rows("key_groups", "operator", "key_group", "records", "resolution") == [
        ("clicks_by_user", group, 150.0, "operator") for group in range(3)
    ]
    assert "tasks" not in stats.manifest["tables"]
    bolts = [
        series({"__name__": "bolts_executed", "TopologyName": "wc", "BoltId": b}, [(0, 20), (15, 60)]) for b in "ab"
    ]
    place = folder(tmp_path / "storm", [line("storm.bolts_executed", bolts)])
    stats = run(place, input_format="prometheus", key_groups=1)
    assert stats.rows("key_groups", "operator", "records") == [("a", 40.0), ("b", 40.0)]


@on_sail
@pytest.mark.parametrize(
    ("lines", "options", "told"),
    [
        ([line(RECORDS, [])], {}, "holds no series of what statistics measure"),
        ([line("flink.restarts", [flink(0, [(0, 1)])])], {}, "holds no series of what statistics measure"),
        ([line(RECORDS, [flink(0, [(0, 1)])])], {"window_s": 10.0}, "--window 10s: there is a value each 15 s"),
        (
            [line(RECORDS, [flink(0, [(0, 1)]), flink(0, [(0, 1)], job_name="bids")])], {},
            "holds series of 2 jobs (bids, orders); collect one of them, with --match",
        ),
        (
            [
                line(RECORDS, [flink(0, [(0, 1)])]),
                line("storm.bolts_executed", [series({"BoltId": "a"}, [(0, 1)])]),
            ],
            {},
            "holds series of flink and storm; collect them apart, with --section flink",
        ),
        ([line(RECORDS, [flink(0, [(0, 1)])])], {"time_column": 1}, ""),
        (
            [line(RECORDS, [flink(0, [(0, 1), (15, 2)]), flink(0, [(0, 1)], subtask_index="x")])], {},
            "1 × series without number of a task",
        ),
        ([line(RECORDS, [series({"subtask_index": "0"}, [(0, 1), (15, 2)])])], {}, "series without operator"),
        (
            ['{"at": "2023-11-14T22:00\n', line(RECORDS, [flink(0, [(0, 1), (15, 2)])])],
            {},
            "1 × no line of a collected",
        ),
        ([line(RECORDS, [flink(0, [(0, 1)])])], {}, "no record is left"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(run: Run, tmp_path: Path, lines: list[Any], options: dict[str, Any], told: str) -> None:
    if "time_column" in options:
        options, told = {"time_columns": ("t",)}, "--time-column: prometheus knows its columns"
    with pytest.raises(FtplanError) as error:
        run(folder(tmp_path / "collected", lines), input_format="prometheus", **options)
    assert told in str(error.value)


def test_folders_are_checked_before_an_engine_starts(tmp_path: Path) -> None:
    place = folder(tmp_path / "a", [line(RECORDS, [])])
    other = folder(tmp_path / "b", [line(RECORDS, [])], every_s=30.0)
    assert [Path(path).name for path, _ in find([str(place)])] == ["2023-11-14T22.jsonl"]
    with pytest.raises(FtplanError, match="other queries or another --every"):
        collected([str(place), str(other)])
    head = json.loads((place / "collection.json").read_text())
    for change, told in (
        ({"from": "flink"}, "the answers are of flink"),
        ({"every_s": 0}, "says neither which queries were asked nor how often"),
        ({"options": {"queries": [1]}}, "is no query of a mapping file"),
        ({"options": {"queries": head["options"]["queries"][:1] * 2}}, "a name stands twice"),
        ({"options": []}, "is no head of a collection"),
    ):
        (place / "collection.json").write_text(json.dumps({**head, **change}))
        with pytest.raises(FtplanError, match=told):
            find([str(place)])


@on_sail
def test_a_time_that_is_off_by_decades_fills_no_memory(run: Run, tmp_path: Path) -> None:
    """Digits of it were lost: the increase since then is spread over the last week, not over minutes since 1970."""
    lines = [line(RECORDS, [flink(0, [(170_000 - BEGIN, 0), (0, 20_000)]), flink(1, [(0, 0), (60, 5)])])]
    stats = run(folder(tmp_path / "c", lines), input_format="prometheus")
    windows = tasks(stats, "records_in")
    assert len(windows) == 10_001
    assert windows[0, -1] == windows[0, -10_000] == 2.0
    assert windows[1, 0] == 5.0
    assert [w["code"] for w in stats.manifest["warnings"]] == ["GAPS_IN_SERIES"]


@on_sail
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(damage=st.data())
def test_damaged_answers_are_rows_or_one_line(run: Run, tmp_path_factory: pytest.TempPathFactory, damage: Any) -> None:
    """Bytes of the answers are lost or changed: the rest counts, or one line says what is wrong."""
    good = [
        line(RECORDS, [flink(t, [(15 * i, 10 * i) for i in range(9)]) for t in (0, 1)]),
        line(BUSY, [flink(0, [(0, 1)])]),
    ]
    place = folder(tmp_path_factory.mktemp("fuzz") / "c", good)
    file = place / "answers" / "2023-11-14T22.jsonl"
    data = bytearray(file.read_bytes())
    for _ in range(damage.draw(st.integers(1, 4))):
        at = damage.draw(st.integers(0, len(data) - 1))
        cut = damage.draw(st.integers(0, 40))
        data[at : at + cut] = damage.draw(st.sampled_from([b"", b"}", b"null", b'"', b"[[", b"-1", b"1e999", b"\n"]))
    file.write_bytes(bytes(data) or b"x")
    out = place / "out"
    out.mkdir()
    try:
        manifest = compute(LogMapping(input_format="prometheus", max_rejects=1.0), [str(place)], folder=out)
    except FtplanError as error:
        assert len(str(error)) <= 400  # noqa: PT017
    else:
        assert manifest.rows_read


@on_sail
def test_packed_hours_count_as_well(run: Run, tmp_path: Path) -> None:
    """Files of hours that are over are packed; what was asked in several hours is one series."""
    place = folder(tmp_path / "c", [line(RECORDS, [flink(0, [(15, 7), (30, 9)])])])
    first = place / "answers" / "2023-11-14T22.jsonl"
    (place / "answers" / "2023-11-14T21.jsonl.gz").write_bytes(gzip.compress(first.read_bytes()))
    first.write_text(json.dumps(line(RECORDS, [flink(0, [(45, 19), (60, 29)])])) + "\n")
    stats = run(place, input_format="prometheus")
    assert tasks(stats, "records_in") == {(0, 0): 2 + 10 + 10}
    assert len(stats.manifest["inputs"]) == 2
