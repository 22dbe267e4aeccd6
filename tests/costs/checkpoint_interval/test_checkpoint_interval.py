"""``checkpoint-interval``: what it takes, what it answers, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.io.checkpoint_interval_file import load_checkpoint_interval
from tests.planners.recovery_schedule.recovery_cases import TOPOLOGY

COSTS: dict[str, Any] = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "remote",
    "parameters": {
        "detection_s": {"value": 40, "low": 30, "high": 50},
        "restart_s": {"value": 20},
        "bandwidth_mb_s": {"value": 4},
        "replay_share": {"value": 0.5},
        "capacity_records_s": {"value": 100, "low": 50, "high": 120},
    },
    "fitted_on": {"recoveries": 9, "rates": [40, 80], "intervals_s": [10, 120]},
}
ASKED: dict[str, Any] = {
    "costs": COSTS,
    "checkpoint_cost_s": 2.0,
    "mtbf_s": 7200.0,
    "rate": 60.0,
    "state_bytes": 2.0**22,
}


def asked(**changes: Any) -> Any:
    options = {name: value for name, value in {**ASKED, **changes}.items() if value is not None}
    return ftplan.checkpoint_interval(**options)


def lost(interval_s: float, rho: float = 0.6, fixed_s: float = 61.0) -> float:
    """Return the share that is lost, written out."""
    recovery = fixed_s + (0.5 * interval_s + fixed_s) * rho / (1.0 - rho)
    return float(1.0 - (1.0 - 2.0 / interval_s) * np.exp(-recovery / 7200.0))


def test_the_best_interval_and_its_figures() -> None:
    answer = asked()
    best = answer.best
    grid = np.linspace(5.0, 2000.0, 200_000)
    values = [lost(s) for s in grid[::100]]
    assert lost(best["interval_s"]) <= min(values)
    assert best["lost_s_per_hour"] == pytest.approx(3600.0 * lost(best["interval_s"]))
    assert best["lost_s_per_hour"] == pytest.approx(best["checkpoint_s_per_hour"] + best["recovery_s_per_hour"])
    assert best["recovery_s"] == pytest.approx(61.0 + (0.5 * best["interval_s"] + 61.0) * 1.5)
    assert (answer.limited, answer.longest_s, answer.reason) == (False, None, None)
    rows = [row["interval_s"] for row in answer.table]
    assert rows == sorted(rows)
    names = {row["name"] for row in answer.table}
    assert names == {None, "best", "Young", "Daly"}
    assert all(row["lost_s_per_hour"] >= best["lost_s_per_hour"] - 1e-9 for row in answer.table)
    assert [w.code for w in answer.warnings] == ["OUTSIDE_FITTED_RANGE"]


def test_a_limit_on_recoveries() -> None:
    free = asked()
    answer = asked(max_recovery_s=180.0)
    assert answer.limited
    assert answer.best["recovery_s"] == pytest.approx(180.0)
    assert answer.longest_s == answer.best["interval_s"] < free.best["interval_s"]
    assert answer.unlimited["interval_s"] == free.best["interval_s"]
    assert "would lose" in str(answer.reason)
    loose = asked(max_recovery_s=1e4)
    assert (loose.limited, loose.best) == (False, free.best)
    none = asked(max_recovery_s=120.0)
    assert none.best is None
    assert none.smallest_recovery_s == pytest.approx(61.0 + (0.5 * none.shortest_s + 61.0) * 1.5)
    assert none.shortest_s == pytest.approx(5.0)
    assert f"one takes {none.smallest_recovery_s:.6g} s" in str(none.reason)
    assert none.to_dict()["status"] == "infeasible"


def test_sensitivity() -> None:
    answer = asked()
    rows = {(row["parameter"], row["limit"]): row for row in answer.sensitivity}
    assert set(rows) == {(name, limit) for name in ("detection_s", "capacity_records_s") for limit in ("low", "high")}
    slow = rows["capacity_records_s", "low"]  # the job gets more than that
    assert (slow["interval_s"], slow["lost_s_per_hour"], slow["regret_s_per_hour"]) == (None, None, None)
    fast = rows["capacity_records_s", "high"]
    assert fast["lost_s_per_hour"] == pytest.approx(3600.0 * lost(fast["interval_s"], 0.5))
    regret = 3600.0 * (lost(answer.best["interval_s"], 0.5) - lost(fast["interval_s"], 0.5))
    assert fast["regret_s_per_hour"] == pytest.approx(regret)
    later = rows["detection_s", "high"]
    assert later["interval_s"] == pytest.approx(answer.best["interval_s"])  # the same for all intervals


def test_a_log_of_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    times = np.cumsum(draw.exponential(3600.0, size=2001))  # of 50 nodes
    rows = [f"{time:.3f},n{draw.integers(40)}" for time in times]
    Path("log.csv").write_text("\n".join(["when,host", *rows]))
    log = {"mtbf_s": None, "failure_log": "log.csv", "log_time": "when", "log_node": "host"}
    answer = asked(**log, nodes=10, log_nodes=50)
    assert answer.asked["failures_per_day"] == pytest.approx(24.0 / 5.0, rel=0.06)
    counted = 2000 / (times[-1] - times[0]) * 86400.0 / 5.0
    assert answer.asked["failures_per_day"] == pytest.approx(counted, rel=1e-6)
    limits = {row["limit"]: row["value"] for row in answer.sensitivity if row["parameter"] == "failures_per_day"}
    assert limits["low"] == pytest.approx(counted * (1.0 - 1.96 / np.sqrt(2000)), rel=0.01)
    assert limits["high"] == pytest.approx(counted * (1.0 + 1.96 / np.sqrt(2000)), rel=0.01)
    assert [(item.role, item.path) for item in answer.inputs][-1] == ("failure-log", "log.csv")
    unknown = asked(**log, nodes=10)
    assert "NODES_OF_LOG_UNKNOWN" in {w.code for w in unknown.warnings}
    with pytest.raises(FtplanError, match="--nodes: is missing: on how many nodes"):
        asked(**log)
    with pytest.raises(FtplanError, match="--log-nodes: 3 are fewer than the 40 nodes that fail in log"):
        asked(**log, nodes=10, log_nodes=3)
    Path("log.csv").write_text("when,host\n5,n1\n5,n2\n")
    with pytest.raises(FtplanError, match="all its failures are of one time"):
        asked(**log, nodes=10)


def test_a_topology_says_what_is_not_asked() -> None:
    operators = [{**operator, "checkpoint": {"interval_s": 60}} for operator in TOPOLOGY["operators"]]
    costs = {**COSTS, "parameters": {**COSTS["parameters"], "capacity_records_s": {"value": 4}}}
    topology = {**TOPOLOGY, "operators": operators}
    answer = asked(topology=topology, costs=costs, rate=None, state_bytes=None)
    assert answer.asked["records_s"] == 2.0
    assert answer.asked["state_bytes"] == 8 * 2**20
    assert [row["interval_s"] for row in answer.table if row["name"] == "present"] == [60.0]
    local = asked(topology=topology, costs={**costs, "state": "local"}, rate=None, state_bytes=None)
    assert local.asked["state_bytes"] == 0.0
    assert "STATE_UNKNOWN" in {w.code for w in asked(state_bytes=None).warnings}


def test_the_document_is_valid_and_the_same_again() -> None:
    for answer in (asked(), asked(max_recovery_s=180.0), asked(max_recovery_s=1.0)):
        document = json.loads(answer.to_json())
        assert load_checkpoint_interval(document).value == document
    assert asked().to_json() == asked().to_json()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"costs": None}, "--costs: is missing"),
        ({"checkpoint_cost_s": None}, "--checkpoint-cost: is missing"),
        ({"checkpoint_cost_s": 0.0}, "--checkpoint-cost: 0.0 is not a number above 0"),
        ({"mtbf_s": None}, "how often does the job fail"),
        ({"failures_per_day": 2.0}, "--mtbf and --failures-per-day say it twice"),
        ({"nodes": 3}, "--nodes: goes with --failure-log only"),
        ({"rate": None}, "--rate: is missing"),
        ({"rate": 100.0}, "never catches up after a failure"),
        ({"rate": 0.0}, "a longer interval costs nothing"),
        ({"costs": {**COSTS, "parameters": {}}}, "a longer interval costs nothing"),
        ({"interval": 3.0}, "unknown option 'interval'"),
        ({"topology": 3}, "--topology: 3 is not a path"),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FtplanError, match=message.replace("(", "\\(")):
        asked(**changes)
