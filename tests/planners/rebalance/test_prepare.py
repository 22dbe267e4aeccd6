"""The question of a rebalance: computed by hand from a small job."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time
from ftplan.planners.rebalance.effects import fair_load
from ftplan.planners.rebalance.migration_costs import CPA, DIRECT, LAZY, PROTOCOLS
from tests.planners.rebalance.prepared_cases import (
    CLUSTER,
    COSTS,
    MB,
    TOPOLOGY,
    codes,
    job,
    prepared,
    statistics,
    time,
)

INF = float("inf")


def setting(name: str, answer: Any) -> list[float]:
    """Return a part of the setting of the first group of ranks and of sums."""
    values = np.asarray(getattr(answer.setting, name), dtype=float)
    return [float(values[0]), float(values[3])]


def with_tasks(**columns: Any) -> dict[str, Any]:
    """Return the statistics with those of one task of ranks in each window."""
    rows = [
        {"operator": "ranks", "task": 0, "window_start": time(window), "records_in": 10.0}
        | {name: values[window] for name, values in columns.items()}
        for window in range(3)
    ]
    return {**statistics(), "tasks": rows}


def test_groups_stand_in_order_with_what_the_files_say_of_them() -> None:
    problem = prepared().problem
    assert problem.nodes == ("n1", "n2", "n3", "n10")
    assert list(zip(problem.operators, problem.key_group.tolist(), strict=True)) == [
        *(("ranks", g) for g in range(3)),
        *(("sums", g) for g in range(4)),
    ]
    assert problem.home.tolist() == [1, 1, 0, 0, 0, 1, 1]
    assert problem.copies == ((), (), (), (1,), (2,), (0,), (0, 3))
    assert problem.load.tolist() == [30, 0, 10, 20, 20, 20, 40]
    assert problem.rate.tolist() == [3, 0, 1, 2, 2, 2, 4]
    assert problem.state.tolist() == [0, 0, 0, *4 * [4 * MB]]
    assert problem.zone.tolist() == [0, 0, 1, 1]
    assert problem.domain.tolist() == [0, 1, 2, 3]
    assert prepared(anti_affinity="zone").problem.domain.tolist() == [0, 0, 1, 1]
    assert problem.hosts.tolist() == [True, True, False, True]
    assert problem.keeps.tolist() == [True, True, True, True]
    assert problem.memory.tolist() == [64 * MB, INF, INF, INF]
    assert problem.protocols == ("cpa", "cpal", "lazy", "direct")


def test_capacity_and_limits_are_those_of_node_loads() -> None:
    answer = prepared(capacity_per_core=5.0, overload=0.8)
    problem = answer.problem
    assert problem.capacity.tolist() == [100, 200, 100, 100]
    assert problem.foreign.tolist() == [0, 50, 0, 0]
    assert problem.ceiling.tolist() == problem.upper.tolist() == [80, 160, 80, 80]
    assert problem.lower.tolist() == [-INF] * 4
    assert problem.start_load.tolist() == [50, 140, 0, 0]
    # 140 of key groups and 50 of other work over 8 cores
    assert fair_load(answer.problem).tolist() == pytest.approx([47.5, 95, 0, 47.5])
    even = prepared(capacity_per_core=5.0, overload=0.8, tolerance=0.6).problem
    assert even.upper.tolist() == pytest.approx([76, 152, 80, 76])
    assert even.lower.tolist() == pytest.approx([19, 38, -INF, 19])
    # by default all the cores of the cluster are used to 0.7, other work included
    assert prepared().problem.capacity.sum() * 0.7 == pytest.approx(140 + prepared().problem.foreign.sum())


def test_cpu_time_has_cores_of_a_thousand_milliseconds() -> None:
    stats = statistics(cpu_ms=lambda operator, records: 30.0 * records)
    problem = prepared(job(stats), load="cpu_ms").problem
    assert problem.capacity.tolist() == [20_000, 40_000, 20_000, 20_000]
    assert problem.load.tolist() == pytest.approx([900, 0, 300, 600, 600, 600, 1200])
    assert problem.rate.tolist() == [3, 0, 1, 2, 2, 2, 4]


@pytest.mark.parametrize(
    ("demand", "load"),
    [("last:1", [30, 0, 0, 30, 20, 60, 30]), ("p100", [30, 0, 30, 30, 20, 60, 50]), ("p50", [30, 0, 0, 20, 20, 0, 40])],
)
def test_loads_and_rates_are_those_of_the_demand(demand: str, load: list[float]) -> None:
    problem = prepared(demand=demand).problem
    assert problem.load.tolist() == load
    assert problem.rate.tolist() == [value / 10 for value in load]


def test_added_nodes_get_their_share_but_for_the_fill() -> None:
    options: Any = {"capacity_per_core": 5.0, "add": ("n10",)}
    assert prepared(**options).problem.lower.tolist() == [-INF] * 4
    filled = prepared(**options).filled(0.2).problem
    assert filled.added.tolist() == [False, False, False, True]
    assert filled.lower.tolist() == pytest.approx([-INF, -INF, -INF, 0.8 * 47.5])


def test_removed_nodes_host_and_keep_nothing() -> None:
    answer = prepared(remove=("n2",), capacity_per_core=5.0, within_s=120.0)
    assert answer.problem.removed.tolist() == [False, True, False, False]
    assert answer.problem.hosts.tolist() == [True, False, False, True]
    assert answer.problem.keeps.tolist() == [True, False, True, True]
    assert fair_load(answer.problem).tolist() == pytest.approx([70, 0, 0, 70])
    assert answer.problem.limits.within_s == 120
    assert "UNKEYED_TASKS_STAY" in codes(answer)
    text = next(w.message for w in answer.problem.warnings if w.code == "UNKEYED_TASKS_STAY")
    assert text.startswith("tasks of clicks, sink, without key groups, run on nodes that are removed")
    assert prepared(remove=("zone:b", "node:n2")).problem.removed.tolist() == [False, True, True, True]


def test_load_on_nodes_that_take_no_tasks_is_not_shared_out() -> None:
    where = {**CLUSTER["placement"], "key_groups": {"ranks": ["n3", "n2", "n1"]}}
    answer = prepared(job(placement=where), capacity_per_core=5.0)
    assert answer.problem.start_load.tolist() == [50, 110, 30, 0]
    assert fair_load(answer.problem).sum() == pytest.approx(160)


def test_limits_are_handed_on() -> None:
    limits = prepared(
        max_moves=3, max_bytes=5.0, max_pause_s=6.0, phase_bytes=7.0, phase_overhead_s=8.0, objective="bytes"
    ).problem.limits
    assert limits == (type(limits))(3, 5.0, 6.0, 7.0, None, 8.0)


def test_prices_follow_from_the_topology() -> None:
    answer = prepared()
    # of ranks by cpu: 1 core for 4 records/s
    assert setting("record_time_s", answer) == [0.25, 0.02]
    assert setting("interval_s", answer) == setting("age_s", answer) == [10, 20]
    assert setting("full", answer) == [1, 0]
    assert setting("bandwidth_mb_s", answer) == [50, 50]
    assert setting("delay_s", answer) == setting("queue_s", answer) == [0.002, 0.002]
    assert setting("restart_s", answer) == setting("detection_s", answer) == setting("rho", answer) == [0, 0]
    assert codes(answer) == {"STATE_UNKNOWN", "RECORD_BYTES_UNKNOWN", "RECORD_TIME_ASSUMED"}
    latency = answer.problem.costs.latency_s
    assert latency[PROTOCOLS.index(LAZY), 0] == pytest.approx(0.002)
    assert latency[PROTOCOLS.index(LAZY), 3] == INF
    assert latency[PROTOCOLS.index(CPA), 3] == pytest.approx(0.002 + 20 * 0.04 / 0.96)
    assert latency[PROTOCOLS.index(DIRECT), 3] == pytest.approx(0.002 + 4 / 50 / 0.96)


def test_options_win_over_files() -> None:
    answer = prepared(checkpoint_age_s=15.0, record_bytes=512.0, bandwidth=8.0, serialisation=16.0, queue_s=0.5)
    assert setting("age_s", answer) == [10, 15]
    assert setting("record_bytes", answer) == [512, 512]
    assert setting("bandwidth_mb_s", answer) == [8, 8]
    assert setting("serialisation_mb_s", answer) == [16, 16]
    assert setting("queue_s", answer) == [0.5, 0.5]
    assert "RECORD_BYTES_UNKNOWN" not in codes(answer)


def test_statistics_win_over_the_topology() -> None:
    stats = statistics(
        bytes=lambda operator, records: 100.0 * records if operator == "sums" else None,
        cpu_ms=lambda operator, records: 30.0 * records if operator == "sums" else None,
        state_bytes=lambda operator, records: 1000.0 + records if operator == "ranks" else None,
    )
    answer = prepared(
        job({**stats, "tasks": with_tasks(cpu_ms=[400.0, 800.0, 600.0], queue_length=[3.0, None, 5.0])["tasks"]})
    )
    assert setting("record_time_s", answer) == pytest.approx([0.06, 0.03])
    assert setting("record_bytes", answer) == [0, 100]
    assert setting("queue_s", answer) == pytest.approx([4 * 0.06, 0.002])
    # nobody saw the second group
    assert answer.problem.state.tolist() == [1030, 0, 1030, *4 * [4 * MB]]
    assert codes(answer) == {"STATE_UNKNOWN", "RECORD_BYTES_UNKNOWN"}
    assert ["ranks" in w.message for w in answer.problem.warnings if w.code == "RECORD_BYTES_UNKNOWN"] == [True]


def test_a_reserved_cpu_keeps_no_group_from_catching_up() -> None:
    answer = prepared(demand="p100")
    assert (answer.problem.rate[:3] * np.asarray(answer.setting.record_time_s)[:3]).max() == pytest.approx(0.75)
    whole: Any = {**TOPOLOGY, "operators": [{**o, "cpu": 1} for o in TOPOLOGY["operators"]]}
    answer = prepared(ftplan.load(topology=whole, cluster=CLUSTER, stats=statistics()))
    assert (answer.problem.rate * np.asarray(answer.setting.record_time_s)).max() == pytest.approx(0.85)
    measured = prepared(job(with_tasks(cpu_ms=[4000.0] * 3)))
    assert "NEVER_CATCHES_UP" in codes(measured)
    assert np.isinf(measured.problem.costs.latency_s[:, 0]).all()
    assert np.isfinite(measured.problem.costs.latency_s[:, 1]).any()


def test_without_a_network_a_bandwidth_is_assumed() -> None:
    answer = prepared(job(network=None))
    assert setting("bandwidth_mb_s", answer) == [100, 100]
    assert setting("delay_s", answer) == [0.001, 0.001]
    assert "BANDWIDTH_ASSUMED" in codes(answer)
    assert "BANDWIDTH_ASSUMED" not in codes(prepared(job(network=None), bandwidth=3.0))


def test_recovery_costs_price_moves_as_recoveries() -> None:
    answer = prepared(costs=COSTS, record_bytes=0.0)
    assert setting("rho", answer) == [0.5, 0.5]
    assert setting("restart_s", answer) == [10, 10]
    assert setting("detection_s", answer) == [50, 50]
    assert setting("bandwidth_mb_s", answer) == [2, 2]
    assert setting("age_s", answer) == [2.5, 5]
    assert [file.role for file in answer.inputs] == ["costs"]
    parameters = RecoveryParameters(0.0, 10.0, 2.0, 0.25, 20.0)
    for group, interval in ((0, 10.0), (3, 20.0)):
        expected = float(recovery_time(parameters, 10.0, interval).total_s)
        assert answer.problem.costs.latency_s[0, group] == pytest.approx(0.002 + expected)
    assert codes(answer) == {"STATE_UNKNOWN"}
    assert setting("bandwidth_mb_s", prepared(costs=COSTS, bandwidth=8.0)) == [8, 8]
    slow = {**COSTS, "fitted_on": {"recoveries": 5, "rates": [1, 2], "intervals_s": [10, 60]}}
    assert "OUTSIDE_FITTED_RANGE" in codes(prepared(costs=slow))


def test_remote_state_goes_anywhere_and_is_not_sent() -> None:
    answer = prepared(costs={**COSTS, "state": "remote"})
    assert answer.problem.remote
    assert answer.problem.protocols == ("cpa",)
    assert answer.problem.costs.bytes[0].tolist() == [0] * 7
    assert "REMOTE_STATE" in codes(answer)
    parameters = RecoveryParameters(0.0, 10.0, 2.0, 0.25, 20.0)
    expected = float(recovery_time(parameters, 10.0, 20.0, 4 * MB).total_s)
    assert answer.problem.costs.latency_s[0, 3] == pytest.approx(0.002 + expected)
    assert prepared(costs={**COSTS, "state": "remote"}, protocol="cpal").problem.protocols == ("cpal",)


def test_checkpoints_of_a_plan_win_over_the_placement() -> None:
    plan = {
        "format": "ftplan/plan", "format_version": "1.0", "kind": "allocate-checkpoints",
        "plan": {"assignments": [{"operator": "ranks", "key_group": 1, "primary": "n2", "checkpoints": ["n3", "n1"]}]},
    }  # fmt: skip
    answer = prepared(checkpoints=plan)
    assert answer.problem.copies == ((), (0, 2), (), (1,), (2,), (0,), (0, 3))
    assert [file.role for file in answer.inputs] == ["checkpoints"]


def test_without_checkpoints_moves_have_none_to_use() -> None:
    bare = {name: part for name, part in CLUSTER["placement"].items() if name != "checkpoints"}
    answer = prepared(job(placement=bare))
    assert "NO_CHECKPOINTS" in codes(answer)
    assert answer.problem.copies == ((),) * 7
    assert "NO_CHECKPOINTS" not in codes(prepared(job(placement=bare), protocol="direct"))
    assert "NO_CHECKPOINTS" not in codes(prepared())


def test_operators_without_statistics_or_interval_are_named() -> None:
    bare: Any = {
        **TOPOLOGY,
        "operators": [{n: v for n, v in o.items() if n != "checkpoint"} for o in TOPOLOGY["operators"]],
    }
    stats = statistics()
    stats["key_groups"] = [row for row in stats["key_groups"] if row["operator"] == "ranks"]
    del stats["manifest"]["operators"]["sums"]
    answer = prepared(ftplan.load(topology=bare, cluster=CLUSTER, stats=stats))
    said = {warning.code: warning.message for warning in answer.problem.warnings}
    assert said["NO_STATISTICS"] == "no statistics for sums: its key groups count as idle"
    assert "for sums:" in said["INTERVAL_UNKNOWN"]
    assert answer.problem.load.tolist() == [30, 0, 10, 0, 0, 0, 0]
    assert setting("age_s", answer) == [0, 0]


def test_a_job_without_key_groups_has_nothing_to_move() -> None:
    topology = {**TOPOLOGY, "operators": [{"id": "a"}], "edges": []}
    stats = {"manifest": {**statistics()["manifest"], "operators": {}}, "key_groups": []}
    cluster = {**CLUSTER, "placement": {"tasks": {"a": ["n1"]}}}
    problem = ftplan.load(topology=topology, cluster=cluster, stats=stats)
    answer = prepared(problem, cross_zone_cost=1.0)
    assert answer.problem.load.shape == (0,)
    assert answer.problem.traffic is not None
    assert answer.problem.traffic.shape == (0, 4)
    assert "NO_KEY_GROUPS" in codes(answer)


def test_traffic_between_zones_is_priced_by_node() -> None:
    """All that runs is in zone a (n1 and n2), and of three edges only that from sums to ranks is measured."""
    answer = prepared(cross_zone_cost=2.0, record_bytes=float(MB))
    crossing = [3, 0, 3, 2, 2, 2 / 3, 4 / 3]  # MB/s of each group
    assert answer.problem.traffic is not None
    assert answer.problem.traffic == pytest.approx(np.array([[0, 0, 2 * mb, 2 * mb] for mb in crossing]))
    said = {warning.code: warning.message for warning in answer.problem.warnings}
    assert "leaves out clicks -> sums, ranks -> sink:" in said["TRAFFIC_UNKNOWN"]
    assert "NEIGHBOURS_STAY" in said
    unsized = prepared(cross_zone_cost=2.0)
    assert unsized.problem.traffic is not None
    assert not unsized.problem.traffic.any()
    assert "clicks -> sums, sums -> ranks, ranks -> sink:" in str(unsized.problem.warnings)
    assert prepared().problem.traffic is None
