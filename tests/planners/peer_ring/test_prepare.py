from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ftplan
from ftplan.api.verification import verify
from ftplan.model.plan import Plan
from ftplan.planners.peer_ring.from_plan import question_of, ring_of
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.prepare import PreparedRing, prepare
from ftplan.planners.peer_ring.ring import written_token
from tests.planners.peer_ring.cases import CLUSTER, EVEN, MEMBERS, SPARE, by_hand, job, planned
from tests.planners.rebalance.cases import MB, TOPOLOGY, WINDOWS, statistics

#: Records per second of the source: what comes into agg, and then into join.
SOURCE = 300.0
COSTS: Mapping[str, Any] = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "local",
    "parameters": {
        "detection_s": {"value": 4.0},
        "restart_s": {"value": 2.5},
        "replay_share": {"value": 0.4},
        "bandwidth_mb_s": {"value": 50.0},
        "capacity_records_s": {"value": 960.0},
    },
}


def prepared(problem: ftplan.Problem, **options: Any) -> PreparedRing:
    return prepare(problem, PeerRingOptions.of("peer-ring", options))


def bare(topology: Mapping[str, Any] = TOPOLOGY, cluster: Mapping[str, Any] = CLUSTER, **others: Any) -> ftplan.Problem:
    return ftplan.load(topology=topology, cluster=cluster, **others)


def codes(made: PreparedRing) -> set[str]:
    return {warning.code for warning in made.problem.warnings}


def ids(made: PreparedRing, flags: Any) -> list[str]:
    return [made.problem.nodes[k] for k in np.flatnonzero(flags).tolist()]


def with_nodes(**changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cluster with other fields of some nodes."""
    return {**CLUSTER, "nodes": [{**node, **changes.get(node["id"], {})} for node in CLUSTER["nodes"]]}


def test_key_groups_of_all_operators_lie_on_one_circle() -> None:
    made = prepared(job()).problem
    assert made.position.tolist() == [g / 12 for g in range(12)]
    assert made.atom.tolist() == [*range(12), *range(0, 12, 2)]
    assert made.operators == ("agg",) * 12 + ("join",) * 6
    only = prepared(job(), operator=["join"]).problem
    assert only.position.tolist() == [g / 6 for g in range(6)]


def test_loads_and_state_are_those_of_the_statistics() -> None:
    made, rows = prepared(job()), statistics()["key_groups"]
    problem = made.problem
    mean = rows.groupby(["operator", "key_group"])["records"].sum() / (WINDOWS * 60.0)
    assert problem.group_load == pytest.approx(mean.to_numpy())
    assert problem.rate == pytest.approx(problem.load)
    assert problem.load.sum() == pytest.approx(mean.sum())
    assert problem.group_state.tolist() == [float(1 + g % 5) * 4 * MB for g in [*range(12), *range(6)]]
    assert problem.state[0] == problem.group_state[0] + problem.group_state[12]
    assert problem.windows is not None
    assert problem.windows.mean(axis=0) == pytest.approx(problem.load)
    assert problem.setting.record_bytes == pytest.approx(np.full(12, 100.0))
    assert problem.measured


def test_load_may_be_another_measure_and_demand_a_percentile() -> None:
    problem = prepared(job(), load="cpu_ms", demand="p100").problem
    assert problem.group_load.max() == pytest.approx(2.0 * statistics()["key_groups"]["records"].max() / 60.0)
    assert problem.capacity[0] == 4000.0
    # a core takes a thousand milliseconds a second, and a record two of them
    assert problem.setting.replay_rate[0] == pytest.approx(2000.0)


def test_without_statistics_an_operators_input_is_spread_evenly() -> None:
    made = prepared(bare())
    assert made.problem.group_load.tolist() == pytest.approx([SOURCE / 12] * 12 + [SOURCE / 6] * 6)
    assert made.problem.group_state.tolist() == pytest.approx([96 * MB / 12] * 12 + [24 * MB / 6] * 6)
    assert not made.problem.measured
    assert made.problem.windows is None
    assert "NO_STATISTICS" in codes(made)


def test_without_any_rate_every_key_group_counts_one() -> None:
    source = {**TOPOLOGY["operators"][0], "rate_out": 0.0}
    made = prepared(bare({**TOPOLOGY, "operators": [source, *TOPOLOGY["operators"][1:]]})).problem
    assert made.group_load.tolist() == [1.0] * 18
    assert not made.rate.any()
    assert np.isinf(made.setting.replay_rate).all()


def test_unknown_state_counts_key_groups_instead() -> None:
    operators = [{k: v for k, v in operator.items() if k != "state_bytes"} for operator in TOPOLOGY["operators"]]
    made = prepared(bare({**TOPOLOGY, "operators": operators}))
    assert not made.problem.state_known
    assert made.problem.worth.tolist() == [2.0, 1.0] * 6
    assert "STATE_UNKNOWN" in codes(made)
    partly = prepared(bare({**TOPOLOGY, "operators": [*TOPOLOGY["operators"][:2], operators[2]]}))
    assert partly.problem.state_known
    assert partly.problem.group_state[12:].tolist() == [0.0] * 6
    assert any("join" in warning.message and "agg" not in warning.message for warning in partly.problem.warnings)


def test_members_are_those_that_take_tasks_and_checkpoints() -> None:
    made = prepared(job())
    assert ids(made, made.problem.members) == [*MEMBERS, SPARE]
    without = prepared(job(), remove=[SPARE], tier=["zone:vault"])
    assert ids(without, without.problem.members) == list(MEMBERS)
    assert ids(without, without.problem.tier) == ["v1", "v2"]
    assert "NOT_ON_RING" not in codes(without)


def test_a_ring_in_place_is_changed_by_what_is_asked() -> None:
    made = prepared(job(), current=EVEN, add=[SPARE], remove=["node:n2"])
    problem = made.problem
    assert ids(made, problem.members) == ["n1", "n3", "n4", "n5", "n6", SPARE]
    assert (ids(made, problem.added), ids(made, problem.removed)) == ([SPARE], ["n2"])
    assert problem.current is not None
    assert [problem.nodes[node] for node in problem.current.node.tolist()] == ["n1", "n3", "n5", "n2", "n4", "n6"]
    assert problem.current.token.tolist() == [g / 6 for g in range(6)]  # rounded to nearest in the file
    assert "NOT_ON_RING" in codes(prepared(job(), current=EVEN))


def test_only_a_failure_keeps_the_ring() -> None:
    assert prepared(job(), current=EVEN, fail=["node:n1"]).problem.keep
    for asked in ({"rebalance": True}, {"add": [SPARE]}, {"remove": ["n1"]}, {"max_bytes": 0.0}):
        assert not prepared(job(), current=EVEN, fail=["node:n2"], **asked).problem.keep
    assert not prepared(job(), current=EVEN).problem.keep
    assert not prepared(job(), fail=["node:n1"]).problem.keep


def test_a_ring_whose_plan_answered_a_failure_is_taken_as_before_it() -> None:
    failed = planned(job(), fail=["node:n1", "node:n4"])
    said = {warning.code: warning.message for warning in prepared(job(), current=failed).problem.warnings}
    assert "answers a failure of n1, n4: its ring before that is taken" in said["FAILURE_NOT_TAKEN"]
    assert prepared(job(), current=failed).problem.members.sum() == 6
    assert "FAILURE_NOT_TAKEN" in codes(prepared(job(), current=failed, remove=["n1"]))
    for known in ({"remove": ["n1", "n4"]}, {"fail": ["node:n1", "node:n4"]}, {"remove": ["n1"], "fail": ["node:n4"]}):
        assert "FAILURE_NOT_TAKEN" not in codes(prepared(job(), current=failed, **known))
    assert "FAILURE_NOT_TAKEN" not in codes(prepared(job(), current=EVEN))


def test_what_fails_is_named_whoever_it_is() -> None:
    """A node that only holds last copies has no token, and one beside the ring has nothing to lose."""
    made = planned(job(), tier=["zone:vault"], fail=["node:v1", "node:n3", f"node:{SPARE}"])
    assert made.summary["failure"]["nodes"] == ["n3", "v1"]


def test_more_copies_than_are_in_place_have_to_travel() -> None:
    alone = planned(job())
    assert prepared(job(), current=alone).problem.copies_in_place is None
    twice = planned(job(), "paper", current=alone, remove=[], replication=2)
    assert question_of(twice, job()).problem.copies_in_place == 1
    assert [step["event"] for step in (twice.plan or {})["steps"]] == ["re-plan"]
    assert (twice.plan or {})["ring"] != (alone.plan or {})["ring"]  # as to backups
    total = sum(item["state_bytes"] for item in (alone.plan or {})["ring"])
    assert (
        sum(copy["bytes"] for copy in (twice.plan or {})["copies"])
        == total
        == twice.summary["levels"]["bytes"]["value"]
    )
    assert verify(twice, job()).valid
    none = planned(job(), "paper", current=alone, remove=[], replication=0)
    assert none.summary["levels"]["bytes"]["value"] == 0.0
    assert verify(none, job()).valid


@pytest.mark.parametrize("algorithm", ["exact", "paper", "virtual-nodes"])
def test_copies_count_against_the_bytes_allowed(algorithm: str) -> None:
    alone = planned(job())
    asked: dict[str, Any] = {"current": alone, "remove": [], "replication": 2}
    none = planned(job(), algorithm, **asked, max_bytes=0.0)
    assert none.infeasible is not None
    assert none.infeasible.limit == "max-bytes"
    fixed = planned(job(), algorithm, **asked, max_bytes=float(none.infeasible.needed))
    assert fixed.status in ("optimal", "feasible")
    assert verify(fixed, job()).valid


def test_tiered_copies_count_against_the_bytes_allowed() -> None:
    asked: dict[str, Any] = {"current": planned(job()), "remove": [], "tier": ["zone:vault"]}
    none = planned(job(), **asked, max_bytes=0.0)
    assert none.infeasible is not None
    fixed = planned(job(), **asked, max_bytes=float(none.infeasible.needed))
    assert fixed.status in ("optimal", "feasible")
    assert verify(fixed, job()).valid


def test_a_ring_without_backups_has_no_tier_any_more() -> None:
    tiered = planned(job(), tier=["zone:vault"])
    plain = planned(job(), current=tiered, remove=[], replication=0)
    assert all(item["backups"] == [] for item in (plain.plan or {})["ring"])
    assert verify(plain, job()).valid


def test_a_ring_in_place_may_be_too_small_for_the_copies_asked_for() -> None:
    two = by_hand(("n1", 0.0), ("n3", 0.5))
    made = prepared(job(), current=two, add=["n5", "n2"], replication=2)
    assert made.problem.copies_in_place == 1
    for algorithm in ("exact", "paper", "virtual-nodes"):
        for tier in ([], ["zone:vault"]):
            grown = planned(job(), algorithm, current=two, remove=[], add=["n5", "n2"], replication=2, tier=tier)
            assert verify(grown, job()).valid


def test_a_failure_file_fails_all_at_once() -> None:
    failure = {
        "format": "ftplan/failure",
        "format_version": "1.0",
        "fail": [{"select": "zone:a"}, {"select": "node:n7", "at_s": 20}],
        "scenarios": [{"id": "s", "probability": 1.0, "fail": [{"select": "node:n3"}]}],
    }
    made = prepared(job(failure=failure), fail=["node:v1"], remove=[SPARE])
    assert ids(made, made.problem.fails) == ["n1", "n2", SPARE, "v1"]
    assert {"LATER_FAILURES", "SCENARIOS_IGNORED", "FAILURE_BESIDE_RING"} <= codes(made)


def test_capacity_follows_from_the_ring_in_place_not_from_who_joins() -> None:
    alone = prepared(job(), current=EVEN)
    grown = prepared(job(), current=EVEN, add=[SPARE])
    assert alone.capacity_per_core == grown.capacity_per_core
    total = alone.problem.load.sum()
    assert total / alone.problem.capacity[alone.problem.members].sum() == pytest.approx(0.7)
    assert prepared(job(), capacity_per_core=3.0).problem.capacity[0] == 12.0


def test_times_follow_from_network_topology_and_options() -> None:
    setting = prepared(job()).problem.setting
    assert (setting.interval_s, setting.detection_s, setting.heartbeat_is_checkpoint) == (20.0, 20.0, True)
    assert setting.latency_bound_s == pytest.approx(0.075)
    assert setting.fixed_s == 0.005
    assert setting.bandwidth == 20 * MB
    other = prepared(
        job(), interval_s=5.0, heartbeat_s=1.0, missed_heartbeats=3, grace_s=0.5, latency_bound_s=0.1, bandwidth=40.0,
        replay_rate=77.0,
    ).problem.setting  # fmt: skip
    assert (other.interval_s, other.detection_s, other.heartbeat_is_checkpoint) == (5.0, 3.5, False)
    assert (other.latency_bound_s, other.bandwidth) == (0.1, 40 * MB)
    assert set(other.replay_rate.tolist()) == {77.0}


def test_recovery_costs_say_what_nobody_asked_for() -> None:
    made = prepared(job(), costs=COSTS, remove=[SPARE])
    setting = made.problem.setting
    assert (setting.detection_s, setting.heartbeat_is_checkpoint, setting.fixed_s) == (4.0, False, 2.5)
    assert setting.age_s == pytest.approx(8.0)
    assert setting.bandwidth == 50 * MB
    assert setting.replay_rate[0] == pytest.approx(960.0 * 4.0 / 24.0)
    assert [file.role for file in made.inputs] == ["costs"]
    beating = prepared(job(), costs=COSTS, heartbeat_s=2.0).problem.setting
    assert beating.detection_s == 2.0


def test_intervals_that_nobody_states_are_assumed() -> None:
    operators = [{k: v for k, v in operator.items() if k != "checkpoint"} for operator in TOPOLOGY["operators"]]
    made = prepared(bare({**TOPOLOGY, "operators": operators}))
    assert made.problem.setting.interval_s == 10.0
    assert "INTERVAL_UNKNOWN" in codes(made)


def test_chances_and_zones_are_those_of_the_cluster() -> None:
    problem = prepared(job()).problem
    assert problem.zones == ("a", "b", "c", "vault")
    assert problem.zone_down.tolist() == [0.001] * 4
    assert problem.down.tolist() == [0.01] * 6 + [0.02, 0.005, 0.005]
    lone = {"nodes": [{"id": "n1", "cpu": 1}, {"id": "n2", "cpu": 1, "zone": "a"}]}
    made = prepared(bare(cluster={**CLUSTER, **lone, "zones": []}))
    assert not made.problem.probabilities_known
    assert [made.problem.zone_name(node) for node in (0, 1)] == [None, "a"]
    some = prepared(bare(cluster=with_nodes(n1={"failure_probability": None})))
    assert "PROBABILITY_UNKNOWN" in codes(some)


def test_queues_begin_as_they_were_measured_first() -> None:
    start = pd.Timestamp("2026-01-01T00:00:00Z")
    rows = [
        {"operator": operator, "task": task, "window_start": start + pd.Timedelta(minutes=window), "records_in": 1.0,
         "queue_length": length}
        for operator, task, window, length in (
            ("agg", 0, 0, 50.0), ("join", 1, 0, 30.0), ("agg", 0, 1, 999.0), ("agg", 5, 0, None),
        )
    ]  # fmt: skip
    stats = {**statistics(), "tasks": pd.DataFrame(rows)}
    tasks = {"source": ["n1"] * 3, "agg": ["n2", "n1", "n1", "n1", "n1", "n3"], "join": ["n1", "n2", "n1"]}
    cluster = {**CLUSTER, "placement": {"tasks": tasks}}
    problem = prepared(job(cluster=cluster, stats=stats), current=EVEN).problem
    assert problem.queue_s is not None
    expected = np.zeros(9)
    expected[1] = 80.0 / problem.capacity[1]
    assert problem.queue_s == pytest.approx(expected)
    assert prepared(job(stats=stats), current=EVEN).problem.queue_s is None
    assert prepared(job(cluster=cluster), current=EVEN).problem.queue_s is None


def test_thresholds_never_overlap() -> None:
    limits = prepared(job(), overload=0.5, queue_high_s=0.05).problem.thresholds
    assert (limits.cpu_high, limits.cpu_low, limits.queue_high_s, limits.queue_low_s) == (0.5, 0.5, 0.05, 0.05)


def test_a_plan_by_hand_is_of_the_nodes_that_it_lists() -> None:
    made = question_of(Plan("peer-ring", {"ring": EVEN["plan"]["ring"][:3]}), job())
    assert ids(made, made.problem.members) == ["n1", "n3", "n5"]
    backups = [{**item, "backups": ["n1", "n2"]} for item in EVEN["plan"]["ring"]]
    assert question_of(Plan("peer-ring", {"ring": backups}), job()).problem.replication == 2
    few = question_of(Plan("peer-ring", {"ring": EVEN["plan"]["ring"][:1]}), job())
    assert few.problem.replication == 1  # too few nodes: whoever judges says so


def test_a_plan_is_its_question_again() -> None:
    plan = ftplan.plan("peer-ring", job(), current=EVEN, add=[SPARE], replication=2, iterations=10, time_limit_s=600.0)
    again = question_of(plan, job())
    made = prepared(job(), current=EVEN, add=[SPARE], replication=2)
    for name in ("members", "added", "load", "capacity", "position"):
        assert getattr(again.problem, name).tolist() == getattr(made.problem, name).tolist()
    assert question_of(plan, job(), replication=1).problem.replication == 1


def test_tokens_come_back_from_a_file_as_they_were() -> None:
    topology = {**TOPOLOGY, "operators": [*TOPOLOGY["operators"][:1], {**TOPOLOGY["operators"][1], "key_groups": 3000}]}
    problem = bare({**topology, "edges": TOPOLOGY["edges"][:1]})
    asked = prepared(problem).problem
    cuts = [0, 1, 700, 1999, 2000, 2999]
    entries = [
        {"node": node, "token": json.loads(json.dumps(written_token(asked.position[cut])))}
        for node, cut in zip(MEMBERS, cuts, strict=True)
    ]
    assert ring_of(Plan("peer-ring", {"ring": entries[::-1]}), asked).token.tolist() == asked.position[cuts].tolist()
