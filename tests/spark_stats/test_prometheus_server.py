"""Statistics of what a real Prometheus measured, held to what was served and to its own functions."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ftplan.api.collecting import RangeRequest, collect_ranges
from tests.prometheus_server import Exporter, Labels, Prometheus, exporting, labels, needs_prometheus, prometheus
from tests.spark_stats.conftest import Run
from tests.spark_stats.prometheus_cases import BEGIN

pytestmark = [pytest.mark.slow, needs_prometheus]

STEP_S = 0.25
TASK = "flink_taskmanager_job_task"
IN, OUT, BUSY = (f"{TASK}_{name}" for name in ("numRecordsIn", "numRecordsOut", "busyTimeMsPerSecond"))
STATE = f"{TASK}_operator_clicks_rocksdb_estimate_live_data_size"
HISTORY_STEPS, HISTORY_STEP_S = 480, 15


@dataclass
class Measured:
    """Two collected folders, and what they hold."""

    live: Path
    steps: int
    again: Any
    history: Path
    grown: dict[int, float]
    increases: dict[tuple[int, float], float] = field(default_factory=dict)
    resets: float = 0.0


def subtask(index: int, tm: str = "tm1", **more: str) -> Labels:
    return labels(
        host=f"host-{tm}", job_id="b232", job_name="orders", subtask_index=index, task_id="cbc3",
        task_name="Source:_clicks_1_____Calc_2_", tm_id=tm, **more,
    )  # fmt: skip


def served(first: float, second: float, tm: str = "tm1") -> dict[str, dict[Labels, float]]:
    """Return what the exporter says: the records of both subtasks, of which the second runs on *tm*."""
    tasks = [(subtask(0), first), (subtask(1, tm), second)]
    return {
        IN: dict(tasks),
        OUT: {task: 2 * records for task, records in tasks},
        BUSY: {tasks[0][0]: 500.0, tasks[1][0]: math.nan},
        STATE: {task: 1000.0 for task, _ in tasks},
    }


def play(server: Prometheus, exporter: Exporter) -> tuple[float, float]:
    """Let two subtasks count, begin again at 0, and begin again elsewhere; return the first and last grid time."""
    times = []
    for first, second, tm in ((100, 200, "tm1"), (160, 230, "tm1"), (7, 260, "tm1"), (90, 40, "tm2")):
        exporter.say(served(first, second, tm))
        times.append(server.wait_for(f"sum({OUT})", 2 * (first + second), STEP_S))
    return times[0], times[-1]


def history() -> tuple[str, dict[int, float]]:
    """Return two hours of two subtasks as OpenMetrics, and by how much each counter grew."""
    draw = random.Random(13)
    lines, grown = [f"# TYPE {IN} gauge"], {0: 0.0, 1: 0.0}
    for task in grown:
        value, tm = 1000.0, "tm1"
        for step in range(HISTORY_STEPS):
            if task == 1 and 300 <= step < 340:
                continue  # ten minutes in which nothing was scraped
            if task == 0 and step in (70, 200):
                value = growth = float(draw.randrange(5))  # begins again at 0
            elif task == 1 and step == 340:
                tm, value = "tm2", float(draw.randrange(500))
                growth = value
            else:
                growth = float(draw.randrange(100))
                value += growth
            grown[task] += growth if step else 0.0
            said = ",".join(f'{name}="{text}"' for name, text in subtask(task, tm))
            lines.append(f"{IN}{{{said}}} {value} {BEGIN + step * HISTORY_STEP_S}")
    return "\n".join([*lines, "# EOF", ""]), grown


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    place = tmp_path_factory.mktemp("prometheus")
    exporter = Exporter()
    text, grown = history()
    with exporting(exporter) as port, prometheus(place, port, STEP_S, text) as server:
        first, last = play(server, exporter)
        now = RangeRequest(moment(first), moment(last), every_s=STEP_S, sections=("flink",))
        collect_ranges(server.url, place / "live", now)
        again = collect_ranges(server.url, place / "live", now)
        end = BEGIN + HISTORY_STEPS * HISTORY_STEP_S
        then = RangeRequest(moment(BEGIN), moment(end), every_s=HISTORY_STEP_S, match=('job_name="orders"',))
        collect_ranges(server.url, place / "history", then)
        result = Measured(place / "live", round((last - first) / STEP_S) + 1, again, place / "history", grown)
        for task in (0, 1):
            for minute in range(0, 70, 10):
                promql = f'sum(increase({IN}{{subtask_index="{task}"}}[10m]))'
                at = BEGIN + (minute + 10) * 60
                result.increases[task, BEGIN + minute * 60] = server.value(promql, at) or 0.0
        result.resets = server.value(f"sum(resets({IN}[2h]))", end - HISTORY_STEP_S) or 0.0
    return result


def test_sums_agree_with_what_was_served(run: Run, measured: Measured) -> None:
    stats = run(measured.live, input_format="prometheus", key_groups=8)
    totals: dict[int, list[float]] = {}
    for task, *values in stats.rows("tasks", "task", "records_in", "records_out", "busy_ms"):
        sums = totals.setdefault(task, [0.0, 0.0, 0.0])
        totals[task] = [a + (b or 0.0) for a, b in zip(sums, values, strict=True)]
    assert totals[0][:2] == pytest.approx([60 + 7 + 83, 120 + 14 + 166], rel=1e-6)
    assert totals[1] == pytest.approx([30 + 30 + 40, 60 + 60 + 80, 0], rel=1e-6)
    scrapes = totals[0][2] / (500 * STEP_S)  # one that came too late on a busy machine is missing
    assert scrapes == pytest.approx(round(scrapes))
    assert 4 <= scrapes <= measured.steps
    groups = stats.rows("key_groups", "key_group", "records", "state_bytes", "resolution", "estimated")
    assert {(g[3], g[4]) for g in groups} == {("task", True)}
    assert sum(g[1] for g in groups) == pytest.approx(150 + 100, rel=1e-6)
    assert {g[2] for g in groups} == {250.0}
    told = {w["code"] for w in stats.manifest["warnings"]}
    assert told - {"GAPS_IN_SERIES"} == {"VALUES_NO_NUMBERS", "COUNTERS_RESTARTED"}
    assert stats.manifest["rows_rejected"] == 0


def test_what_is_there_is_not_asked_again(measured: Measured) -> None:
    assert (measured.again.asked, measured.again.failed, measured.again.ended) == (0, 0, "complete")
    assert measured.again.already_there >= measured.again.queries
    assert measured.again.series == 3 * 4
    assert "flink.restarts" in measured.again.without_series


@pytest.mark.parametrize("session", ["sail"], indirect=True)
def test_increases_are_those_of_prometheus(run: Run, measured: Measured) -> None:
    """Its increase() guesses what lies before the first sample and after the last; ours is held to the truth too."""
    stats = run(measured.history, input_format="prometheus", window_s=600.0, key_groups=4)
    rows = {
        (task, start.timestamp()): records
        for task, start, records in stats.rows("tasks", "task", "window_start", "records_in")
    }
    for key, increase in measured.increases.items():
        assert rows[key] == pytest.approx(increase, rel=0.05)
    for task, grown in measured.grown.items():
        assert sum(records for (t, _), records in rows.items() if t == task) == pytest.approx(grown, rel=1e-6)
    told = {w["code"]: w["message"] for w in stats.manifest["warnings"]}
    assert f"counters began again {measured.resets:.0f} times, and 1 series carry on" in told["COUNTERS_RESTARTED"]
