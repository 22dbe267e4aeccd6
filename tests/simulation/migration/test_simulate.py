"""The moves of a plan simulated message by message, on the small job of the rebalances."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.simulation.document import load_simulation
from ftplan.simulation.migration import run as simulate
from ftplan.simulation.migration.parts import Upstream
from ftplan.simulation.migration.protocol import MigrationProtocol
from ftplan.simulation.migration.protocols import PROTOCOLS, CpalMigration
from ftplan.simulation.migration.simulate import MigrationSimulation
from tests.planners.rebalance.cases import JOB, job, statistics
from tests.simulation.migration.plan_cases import MOVES, by_hand


def simulated(plan: Any, **options: Any) -> MigrationSimulation:
    answer: MigrationSimulation = ftplan.simulate("migration", job(), plan, **options)
    return answer


@pytest.fixture(scope="module")
def one_run() -> MigrationSimulation:
    return simulated(by_hand(*MOVES, phases=[0, 0, 1, 1]))


def test_each_move_takes_about_what_was_foretold(one_run: MigrationSimulation) -> None:
    body = one_run.body["messages"]
    assert body["exactly_once"]
    assert one_run.unmet is None
    assert [(m["operator"], m["key_group"], m["from"], m["to"], m["protocol"]) for m in body["moves"]] == MOVES
    assert [(phase["phase"], phase["moves"]) for phase in body["phases"]] == [(0, 2), (1, 2)]
    by_protocol = {item["protocol"]: item for item in body["moves"]}
    for item in body["moves"]:
        for name in ("pause_s", "completion_s"):
            # delays of 5 ms each, and what comes in by single records
            assert item["simulated"][name]["mean"] == pytest.approx(item["predicted"][name], rel=0.05, abs=0.05)
    cpa, cpal = by_protocol["cpa"]["simulated"], by_protocol["cpal"]["simulated"]
    assert cpal["pause_s"]["mean"] < 0.01 < cpa["pause_s"]["mean"]
    assert cpal["longest_delay_s"]["mean"] < 0.005
    # a record that came first in a pause is as late as the pause without the catching up
    assert 0.9 < cpa["longest_delay_s"]["mean"] / cpa["pause_s"]["mean"] < 1.0
    assert by_protocol["cpal"]["withheld"] >= by_protocol["cpal"]["replayed"] > 0
    for phase in body["phases"]:
        for name in ("pause_s", "duration_s"):
            of_phase = [m for m in body["moves"] if m["phase"] == phase["phase"]]
            longest = max(m["simulated"][name.replace("duration", "completion")]["mean"] for m in of_phase)
            assert phase["simulated"][name]["mean"] == pytest.approx(longest)
            assert phase["simulated"][name]["mean"] == pytest.approx(phase["predicted"][name], rel=0.05, abs=0.05)


def test_the_document_is_one_of_the_format(one_run: MigrationSimulation) -> None:
    document = json.loads(one_run.to_json())
    assert load_simulation(document).value == document
    assert (document["kind"], document["level"]) == ("migration", "messages")
    assert "trace" not in document
    assert [item["role"] for item in document["inputs"]] == ["topology", "cluster", "stats", "plan"]


def test_moves_without_phase_or_protocol_go_one_by_one_by_the_cheapest() -> None:
    body = simulated(by_hand(*((*move[:4], None) for move in MOVES[:2]))).body["messages"]
    assert [(item["phase"], item["protocol"]) for item in body["moves"]] == [(0, "cpal"), (1, "cpal")]


def test_runs_draw_arrivals_delays_and_ages_by_the_seed() -> None:
    plan = by_hand(*MOVES, phases=[0, 0, 0, 0])
    first, again, other = (simulated(plan, runs=3, seed=seed) for seed in (1, 1, 2))
    assert first.to_json() == again.to_json()
    assert first.body["messages"]["moves"] != other.body["messages"]["moves"]
    cpa = first.body["messages"]["moves"][0]
    assert cpa["simulated"]["pause_s"]["runs"] == 3
    # the newest checkpoint is at most as old as was foretold
    assert cpa["simulated"]["pause_s"]["p5"] < cpa["simulated"]["pause_s"]["p95"] < cpa["predicted"]["pause_s"] + 0.05
    fixed = simulated(plan, runs=3, seed=1, checkpoint_age_s=10.0).body["messages"]["moves"][0]
    assert fixed["simulated"]["pause_s"]["p95"] == pytest.approx(fixed["predicted"]["pause_s"], rel=0.3)


def test_many_records_are_bundled() -> None:
    body = simulated(by_hand(MOVES[0]), messages=100).body["messages"]
    (move,) = body["moves"]
    assert move["records_a_message"] > 1
    assert move["upstream_instances"] == 2  # of 3: few messages are divided among few
    assert move["simulated"]["pause_s"]["mean"] == pytest.approx(move["predicted"]["pause_s"], rel=0.2)
    assert body["exactly_once"]


def test_what_is_lost_with_its_node_is_recovered() -> None:
    """A node that is gone after a second: one group from its checkpoint, one whose checkpoint is sent elsewhere."""
    options = {"remove": ["node:n1"], "within_s": 1.0}
    moves = (("agg", 0, "n1", "n2", "recover"), ("join", 0, "n1", "n7", "fetch"))
    plan = {**by_hand(*moves, phases=[0, 0], remove_nodes=["n1"]), "options": options}
    for runs in (1, 3):
        body = simulated(plan, runs=runs).body["messages"]
        assert body["exactly_once"]
        for item in body["moves"]:
            assert item["simulated"]["pause_s"]["mean"] == item["simulated"]["completion_s"]["mean"]
            if runs == 1:
                assert item["simulated"]["pause_s"]["mean"] == pytest.approx(item["predicted"]["pause_s"], rel=0.1)


def test_where_state_is_remote_nothing_is_sent_between_nodes() -> None:
    """The state is fetched from its store before the replay, by any node; recovery costs price that."""
    estimates = {"detection_s": 5.0, "restart_s": 3.0, "bandwidth_mb_s": 8.0, "replay_share": 0.5}
    costs = {
        "format": "ftplan/recovery-costs", "format_version": "1.0", "state": "remote",
        "parameters": {name: {"value": value, "low": value, "high": value} for name, value in estimates.items()},
    }  # fmt: skip
    answer = simulated(by_hand(("agg", 0, "n1", "n7", "cpa")), costs=costs)
    (move,) = answer.body["messages"]["moves"]
    assert move["predicted"]["pause_s"] > 3.0
    assert move["simulated"]["pause_s"]["mean"] == pytest.approx(move["predicted"]["pause_s"], rel=0.02)
    assert "REMOTE_STATE" in {item.code for item in answer.warnings}


def test_a_group_without_records_moves_too() -> None:
    stats = statistics()
    silent = (stats["key_groups"].operator == "agg") & (stats["key_groups"].key_group == 3)
    stats["key_groups"].loc[silent, ["records", "bytes", "cpu_ms"]] = 0.0
    problem = ftplan.load(topology=JOB["topology"], cluster=JOB["cluster"], stats=stats)
    for runs in (1, 2):
        (move,) = ftplan.simulate("migration", problem, by_hand(("agg", 3, "n2", "n6", "cpa")), runs=runs).body[
            "messages"
        ]["moves"]
        assert move["exactly_once"]
        assert move["replayed"] == 0
        assert move["simulated"]["completion_s"]["mean"] < 0.05


class ForgetsBuffers(MigrationProtocol):
    """A broken protocol: upstream instances send nothing of what they keep."""

    def order(self, upstream: Upstream) -> None:
        upstream.buffer.clear()
        super().order(upstream)


def test_a_broken_protocol_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {**PROTOCOLS, "cpa": ForgetsBuffers}
    monkeypatch.setattr("ftplan.simulation.migration.simulate.run_moves", partial(simulate.run_moves, protocols=broken))
    answer = simulated(by_hand(*MOVES[:2], phases=[0, 0]))
    assert not answer.body["messages"]["exactly_once"]
    assert [item["exactly_once"] for item in answer.body["messages"]["moves"]] == [False, True]
    assert {(item["operator"], item["key_group"]) for item in answer.body["messages"]["faults"]} == {("agg", 0)}
    assert answer.unmet is not None
    assert answer.unmet.startswith("not exactly once: 1 of 2 moves, the first one of agg/0: ")
    document = json.loads(answer.to_json())
    assert load_simulation(document).value == document


class NeverEnds(CpalMigration):
    """Nobody learns that all is replayed."""

    def _say_replayed(self) -> None:
        pass


def test_a_move_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ftplan.simulation.migration.simulate.run_moves",
        partial(simulate.run_moves, protocols={**PROTOCOLS, "cpal": NeverEnds}),
    )
    answer = simulated(by_hand(MOVES[1]), messages=10)
    assert answer.body["messages"]["moves"][0]["simulated"]["completion_s"] is None
    assert "NOT_ENDED" in {item.code for item in answer.warnings}


def _refusals() -> Iterator[tuple[dict[str, Any], str]]:
    yield {"plan": None}, "PLAN is missing: give a plan of kind rebalance, or --level trace"
    yield {"plan": by_hand(("agg", 99, "n1", "n2", "cpa"))}, "there is no key-group:agg/99"
    yield {"plan": by_hand(("agg", 0, "n1", "n9", "cpa"))}, "the cluster has no node 'n9'"
    yield {"plan": by_hand(("agg", 0, "n1", "n7", "cpa"))}, "key-group:agg/0 cannot move to n7 by cpa"
    yield {"plan": by_hand(("agg", 0, "n1", "n2", "lazy"))}, "key-group:agg/0 cannot move to n2 by lazy"
    yield (
        {"plan": {**by_hand(), "kind": "drain-schedule", "plan": {"rounds": []}}},
        "simulate migration takes a rebalance",
    )
    yield {"plan": {**by_hand(), "plan": None, "status": "infeasible"}}, "holds no answer"
    yield {"plan": by_hand(MOVES[0]), "prefer": "yes"}, "--prefer belongs to --level trace"
    yield {"plan": by_hand(MOVES[0]), "runs": 0}, "--runs: 0 is not a whole number"
    yield {"plan": by_hand(MOVES[0]), "time_limit_s": 1e-6}, "--time-limit: 1e-06 s do not last for one run"


@pytest.mark.parametrize(("asked", "said"), list(_refusals()))
def test_what_does_not_fit_is_refused(asked: dict[str, Any], said: str) -> None:
    plan = asked.pop("plan")
    with pytest.raises(FtplanError) as error:
        simulated(plan, **asked)
    assert said in str(error.value)


def test_statistics_are_needed() -> None:
    problem = ftplan.load(topology=JOB["topology"], cluster=JOB["cluster"])
    with pytest.raises(FtplanError, match="a rebalance needs stats"):
        ftplan.simulate("migration", problem, by_hand(MOVES[0]))
