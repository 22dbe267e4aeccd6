"""From files to a recovery problem: what failed, what it costs, where there is room and when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import prepare
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from tests.planners.recovery_schedule.recovery_cases import CLUSTER, TOPOLOGY, loaded, statistics


def recovery_problem(problem: ftplan.Problem, **asked: Any) -> RecoveryProblem:
    return prepare(problem, RecoveryScheduleOptions.of("recovery-schedule", asked)).problem


def names(case: RecoveryProblem, flags: Any) -> list[str]:
    return ["{}/{}".format(*case.graph.name(task)) for task in np.flatnonzero(flags).tolist()]


def codes(case: RecoveryProblem) -> list[str]:
    return [warning.code for warning in case.warnings]


def rooms(case: RecoveryProblem) -> dict[str | None, float]:
    return {host.id: host.room for host in case.hosts}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("node:n1", ["join/0", "join/1", "source/0"]),
        ("zone:a", ["join/0", "join/1", "join/2", "source/0", "source/1"]),
        ("operator:source", ["source/0", "source/1"]),
        ("task:join/3", ["join/3"]),
        ("query:sink/1", ["join/1", "sink/1", "source/0"]),
        ("key-group:join/5", ["join/2"]),
    ],
)
def test_every_kind_of_selector(selector: str, expected: list[str]) -> None:
    case = recovery_problem(loaded(), fail=[selector])
    assert names(case, case.failed) == expected


def test_the_failure_file_and_the_command_line_add_up() -> None:
    case = recovery_problem(
        loaded({"fail": ["task:sink/0", {"at_s": 9, "select": "node:n2"}, {"at_s": 5, "select": "zone:b"}]}),
        fail=["task:sink/1"],
    )
    assert names(case, case.failed) == ["sink/0", "sink/1"]
    assert [(e.at_s, e.selector, sorted(e.nodes)) for e in case.failures] == [
        (5.0, "zone:b", ["n10", "n3"]),
        (9.0, "node:n2", ["n2"]),
    ]
    assert case.failed_nodes == 0


def test_room_is_what_runs_there_leaves() -> None:
    """n3: 0.8 x 4 - 1 used - 4 sinks of 0.25; n10: 0.8 x 4 - join/3; natural order, n3 before n10."""
    case = recovery_problem(loaded(), fail=["zone:a"], arrivals=False)
    assert rooms(case) == pytest.approx({"n3": 1.2, "n10": 2.2})
    assert [host.id for host in case.hosts] == ["n3", "n10"]
    assert case.live_hosts == 2
    assert [case.home[case.graph.number(*task)] for task in [("sink", 0), ("join", 3), ("join", 0)]] == [0, 1, -1]
    full = recovery_problem(loaded(), fail=["zone:a"], arrivals=False, max_cpu=0.3)
    assert rooms(full) == pytest.approx({"n3": 0.0, "n10": 0.2})


def test_a_node_that_takes_no_tasks_has_no_room() -> None:
    nodes = [{**node, "accepts": ["checkpoints"]} if node["id"] == "n10" else node for node in CLUSTER["nodes"]]
    case = recovery_problem(loaded(nodes=nodes), fail=["zone:a"], arrivals=False)
    assert rooms(case) == pytest.approx({"n3": 1.2, "n10": 0.0})


def test_without_a_cluster_capacity_is_one_host_without_a_name() -> None:
    case = recovery_problem(ftplan.load(topology=TOPOLOGY), fail=["operator:join"], capacity=3)
    assert rooms(case) == {None: 3}
    assert case.capacity is None
    assert case.horizon_s == 600.0
    assert "BLOCKING_RECOVERY" not in codes(case)
    capped = recovery_problem(loaded(), fail=["zone:a"], capacity=1.5)
    assert capped.capacity == 1.5


def test_default_arrivals_are_as_many_as_failed_at_the_expected_order_statistics() -> None:
    """Two nodes uniform in [120, 360]: the first is expected at 120 + 240/3, the second at 120 + 480/3."""
    case = recovery_problem(loaded(), fail=["zone:a"])
    arriving = case.hosts[case.live_hosts :]
    assert [(host.id, host.room) for host in arriving] == [("new-1", 3.2), ("new-2", pytest.approx(2.4))]
    assert [(a.at_s, a.range_s) for a in case.arrivals] == [(200.0, (120.0, 360.0)), (280.0, (120.0, 360.0))]
    assert case.horizon_s == 720.0
    assert "DEFAULT_ARRIVALS" in codes(case)
    assert "DEFAULT_ARRIVALS" not in codes(recovery_problem(loaded(), fail=["task:sink/0"]))
    assert recovery_problem(loaded(), fail=["zone:a"], arrivals=False).arrivals == ()


def test_a_node_that_fails_later_is_replaced_later() -> None:
    case = recovery_problem(loaded({"fail": ["node:n1", {"at_s": 100, "select": "node:n2"}]}))
    assert [(a.at_s, a.range_s) for a in case.arrivals] == [(240.0, (120.0, 360.0)), (340.0, (220.0, 460.0))]


def test_given_arrivals() -> None:
    """Ranges of their own, fixed times, one at once, one under a failed node's id: it comes back empty."""
    arrivals: list[Any] = [
        {"at_s": [0, 90], "node": {"id": "r10", "cpu": 1}},
        {"at_s": [0, 90], "node": {"id": "r9", "cpu": 2}},
        {"at_s": 50, "node": {"id": "n1", "cpu": 1, "used_cpu": 0.3}},
        {"at_s": 0, "node": {"id": "n2", "cpu": 1}},
        {"at_s": 1, "node": {"id": "disk", "cpu": 1, "accepts": ["checkpoints"]}},
    ]
    placement = {"checkpoints": {"join": [["n2"]] * 8}}
    case = recovery_problem(loaded({"fail": ["zone:a"], "arrivals": arrivals}, placement))
    assert [host.id for host in case.hosts] == ["n2", "n3", "n10", "r9", "n1", "r10"]
    assert case.live_hosts == 3
    assert [(a.at_s, a.host) for a in case.arrivals] == [(30.0, 3), (50.0, 4), (60.0, 5)]
    assert case.hosts[4].room == pytest.approx(0.5)
    assert case.horizon_s == 180.0
    assert dict(case.local_bytes) == {}  # n2 is back, and empty
    assert codes(case) == []


def test_a_live_replica_takes_over_and_its_cpu_counts_where_it_runs() -> None:
    replicas = {"join": ["n10", "n2", "n3", None]}
    case = recovery_problem(loaded(None, {"replicas": replicas}), fail=["zone:a"], arrivals=False)
    assert names(case, case.failed) == ["join/1", "source/0", "source/1"]  # its replica was on n2
    number = case.graph.number
    host = {node.id: i for i, node in enumerate(case.hosts)}
    assert case.home[number("join", 0)] == host["n10"]
    assert case.home[number("join", 2)] == host["n3"]
    assert set(case.standby.tolist()) == {-1}
    assert rooms(case) == pytest.approx({"n3": 0.2, "n10": 1.2})


def test_a_replica_that_still_waits_is_on_standby() -> None:
    case = recovery_problem(loaded(None, {"replicas": {"join": [None, None, None, "n3"]}}), fail=["node:n2"])
    assert case.standby[case.graph.number("join", 3)] == [h.id for h in case.hosts].index("n3")
    assert rooms(case)["n3"] == pytest.approx(0.2)


def test_a_replication_plan_wins_over_the_placement() -> None:
    plan = {
        "format": "ftplan/plan",
        "format_version": "1.0",
        "kind": "replicate-tasks",
        "plan": {"replicas": [{"operator": "source", "index": 0, "node": None}]},
    }
    problem = loaded(None, {"replicas": {"join": ["n10", "n10", "n10", "n1"]}})
    prepared = prepare(problem, RecoveryScheduleOptions(fail=("zone:a",), replicas=plan))
    case = prepared.problem
    assert names(case, case.failed) == ["join/0", "join/1", "join/2", "source/1"]
    assert [item.role for item in prepared.inputs] == ["replicas"]
    with pytest.raises(ftplan.FtplanError, match="needs a plan of kind allocate-checkpoints, not replicate-tasks"):
        recovery_problem(problem, fail=["zone:a"], checkpoints=plan)
    bad: Any = {**plan, "plan": {"replicas": [{"operator": "sauce", "index": 0, "node": None}]}}
    with pytest.raises(ftplan.FtplanError, match=r"plan.replicas\[0\].*'sauce' \(did you mean 'source'\?\)"):
        recovery_problem(problem, fail=["zone:a"], replicas=bad)


def test_state_lies_where_copies_of_key_groups_lie() -> None:
    """Each join task owns two of eight groups, 4 MiB each."""
    checkpoints = {"join": [["n3"], ["n3", "n10"], [], ["n1"], ["n10"], ["n10"], [], []]}
    case = recovery_problem(loaded(None, {"checkpoints": checkpoints}), fail=["zone:a"])
    host = {node.id: i for i, node in enumerate(case.hosts)}
    task = [case.graph.number("join", i) for i in range(4)]
    mib = 2.0**20
    assert dict(case.local_bytes) == {
        (task[0], host["n3"]): 8 * mib,
        (task[0], host["n10"]): 4 * mib,
        (task[2], host["n10"]): 8 * mib,
    }
    assert case.state_bytes is not None
    assert case.state_bytes[task].tolist() == [8 * mib] * 4
    assert case.bandwidth_bytes_s == mib
    assert recovery_problem(loaded(), fail=["zone:a"], bandwidth=3.0).bandwidth_bytes_s == 3 * mib


def test_measured_state_wins() -> None:
    stats = statistics(key_groups=[("join", 0, 0, 1, None, 100.0), ("join", 0, 1, 1, None, 300.0)])
    case = recovery_problem(loaded(stats=stats), fail=["zone:a"])
    assert case.state_bytes is not None
    assert case.state_bytes[case.graph.number("join", 0)] == 4 * 2.0**20 + 300.0


def test_unknown_bandwidth_is_said() -> None:
    case = recovery_problem(loaded(network={}), fail=["zone:a"])
    assert case.bandwidth_bytes_s is None
    assert "RESTORE_TIME_UNKNOWN" in codes(case)


def test_costs_by_hand() -> None:
    """120 s of two windows: 60,000 ms are half a core; sink by records of the process on n3, 4 x 0.25 cores."""
    stats = statistics(
        tasks=[
            ("source", 0, 0, 10, 30_000.0),
            ("source", 0, 1, 10, 30_000.0),
            ("sink", 0, 0, 30, None),
            ("sink", 1, 0, 10, None),
        ],
        key_groups=[("join", 0, 0, 1, 12_000.0), ("join", 1, 1, 1, 12_000.0), ("join", 7, 0, 1, 6_000.0)],
    )
    prepared = prepare(loaded(stats=stats), RecoveryScheduleOptions(fail=("zone:a",)))
    case = prepared.problem
    cost = {"{}/{}".format(*case.graph.name(i)): c for i, c in enumerate(case.cost.tolist())}
    assert prepared.cost == "statistics"
    assert cost == pytest.approx(
        {
            "source/0": 0.5,
            "source/1": 0.5,  # no statistics: what the topology says
            "join/0": 0.2,
            "join/1": 1.0,  # likewise
            "join/2": 1.0,
            "join/3": 0.05,
            "sink/0": 0.75,
            "sink/1": 0.25,
            "sink/2": 0.0,
            "sink/3": 0.0,
        }
    )
    (text,) = [warning.message for warning in case.warnings if warning.code == "COST_FROM_TOPOLOGY"]
    assert text.startswith("3 tasks have no statistics")
    assert text.endswith("join/1, join/2, source/1")


def test_costs_without_statistics_are_the_topologys() -> None:
    prepared = prepare(loaded(), RecoveryScheduleOptions(fail=("zone:a",)))
    assert prepared.cost == "topology"
    assert prepared.problem.cost.sum() == pytest.approx(6.0)


def test_complete_failure() -> None:
    """Everything is down, also what replicas protected; the first new node gives half a core to the coordinator."""
    case = recovery_problem(loaded(None, {"replicas": {"join": ["n3"] * 4}}), complete_failure=True)
    assert case.failed.all()
    assert case.live_hosts == 0
    assert [host.room for host in case.hosts] == pytest.approx([2.7, 2.4, 3.2, 3.2])
    assert case.failed_nodes == 4
    with pytest.raises(ftplan.FtplanError, match="--capacity caps nothing"):
        recovery_problem(loaded(), complete_failure=True, capacity=3)


def test_blocking_recovery_is_said_with_its_time() -> None:
    """n2 held 1.5 cores; 0.8 x 4 - 2.5 + 1.2 + 2.2 are free at once."""
    (text,) = [w.message for w in recovery_problem(loaded(), fail=["node:n2"]).warnings if "BLOCKING" in w.code]
    assert text.startswith("1 node failed, fewer than 2")
    assert "room for all that failed, 1.5 cores in sum, which is there at once" in text
    assert "BLOCKING_RECOVERY" not in codes(recovery_problem(loaded(), fail=["zone:a"]))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "nothing fails: give --fail"),
        ({"fail": ["node:n11"]}, r"--fail: node:n11: unknown node 'n11' \(did you mean 'n1"),
        ({"fail": ["n1"]}, "--fail: selector 'n1': expected KIND:NAME"),
        ({"fail": "zone:c"}, "--fail: zone:c: unknown zone 'c'"),
        ({"fail": ["task:join/4"]}, "'join' has 4 tasks"),
        ({"fail": ["query:join/1"]}, "'join' is no output operator"),
        ({"fail": ["zone:a"], "max_cpu": 1.5}, "--max-cpu: 1.5 is not a number above 0"),
        ({"fail": ["zone:a"], "horizon": 0.0}, "--horizon: 0.0 is not a number of at least 1e-06"),
        ({"fail": ["zone:a"], "capacity": float("nan")}, "--capacity: nan"),
        ({"fail": ["zone:a"], "bandwidth": -1}, "--bandwidth: -1"),
    ],
)
def test_mistakes(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ftplan.FtplanError, match=text):
        recovery_problem(loaded(), **options)


def test_missing_inputs() -> None:
    bare = ftplan.load(topology=TOPOLOGY)
    unplaced = ftplan.load(topology=TOPOLOGY, cluster={k: v for k, v in CLUSTER.items() if k != "placement"})
    for problem, options, text in [
        (bare, {"fail": ["operator:join"]}, "give --cluster .* or --capacity CORES"),
        (bare, {"fail": ["node:n1"], "capacity": 1}, "node:n1: which tasks run there is not known without a cluster"),
        (unplaced, {"fail": ["node:n1"]}, "node:n1: the cluster does not say .* --spread"),
        (ftplan.load(cluster=CLUSTER), {"fail": ["node:n1"]}, "needs topology"),
        (bare, {"complete_failure": True}, "--complete-failure: no node arrives"),
        (loaded({"arrivals": [{"at_s": 1, "node": {"id": "n3", "cpu": 1}}]}), {"fail": ["zone:a"]}, "'n3' arrives"),
    ]:
        with pytest.raises(ftplan.FtplanError, match=text):
            recovery_problem(problem, **options)


def test_an_incomplete_placement_is_said() -> None:
    part = {"tasks": {"source": ["n1", "n2"]}}
    case = recovery_problem(ftplan.load(topology=TOPOLOGY, cluster={**CLUSTER, "placement": part}), fail=["zone:a"])
    assert names(case, case.failed) == ["source/0", "source/1"]
    assert "PLACEMENT_INCOMPLETE" in codes(case)
