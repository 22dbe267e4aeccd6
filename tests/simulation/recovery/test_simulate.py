"""Simulated recoveries from files to answers: what options change, what stays the same, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.simulation.document import load_simulation
from ftplan.simulation.recovery import runs
from ftplan.simulation.recovery.contenders import Contender, setting_of
from ftplan.simulation.recovery.options import MODE_NAMES, RecoverySimulationOptions
from ftplan.simulation.recovery.schedules import GivenSchedule
from ftplan.simulation.recovery.simulate import RecoverySimulation
from tests.simulation.recovery.file_cases import (
    CLUSTER,
    COSTS,
    FAILURE,
    IN_ORDER,
    LINE_0,
    LINE_1,
    QUICK,
    problem,
    scene,
    schedule,
)

pytestmark = pytest.mark.usefixtures("few_random_orders")


def simulated(plan: Any = None, given: ftplan.Problem | None = None, **asked: Any) -> RecoverySimulation:
    answer = ftplan.simulate("recovery", given or problem(), plan, **{**QUICK, "jobs": 1, **asked})
    assert isinstance(answer, RecoverySimulation)
    return answer


TWO_MODES: dict[str, Any] = {"mode": ["incremental", "blocking"], "until_s": 150.0}


@pytest.fixture(scope="module")
def several() -> RecoverySimulation:
    """Three runs of two modes with two plans."""
    other = schedule((0.0, "failure", {}), (80 / 3, "arrival:r1", {}), (100 / 3, "arrival:r2", LINE_0 | LINE_1))
    return simulated(IN_ORDER, runs=3, against=other, **TWO_MODES)


def test_the_document_is_what_its_schema_says(several: RecoverySimulation) -> None:
    document = json.loads(several.to_json())
    assert load_simulation(document).value == document
    assert document["runs"] == 3
    names = [(item["mode"], item["plan"], item["algorithm"]) for item in document["recoveries"]]
    assert names == [(mode, plan, None) for mode in ("incremental", "blocking") for plan in ("plan", "against")]
    assert [item["mode"] for item in document["comparison"]] == ["incremental", "blocking", "blocking"]
    cells = len(document["time_s"])
    assert document["time_s"][0] > -QUICK["warm_up_s"]
    assert document["time_s"][-1] == TWO_MODES["until_s"]
    for recovery in document["recoveries"]:
        assert len(recovery["lag_records"]) == cells
        for query in recovery["queries"]:
            assert {len(value) for value in query.values() if isinstance(value, list)} == {cells}
    assert {item["role"] for item in document["inputs"]} == {"topology", "cluster", "failure", "plan", "against"}


def test_processes_give_the_same_bytes(several: RecoverySimulation) -> None:
    other = several.files["against"]
    again = simulated(IN_ORDER, runs=3, against=other, jobs=2, **TWO_MODES)
    first = several.to_dict()
    assert again.to_dict() == {**first, "inputs": again.to_dict()["inputs"]}


def test_less_waits_for_one_node_than_for_both(several: RecoverySimulation) -> None:
    """Going line by line is never later than both lines at the second node, on the same arrivals."""
    differences = {row["figure"]: row for row in several.body["comparison"][0]["differences"]}
    assert differences["first_back_s"]["less"] == 0
    assert differences["first_back_s"]["mean"] > 0.0


def test_a_plan_against_itself_differs_in_nothing() -> None:
    answer = simulated(IN_ORDER, runs=2, against=IN_ORDER, until_s=60.0)
    assert {row["mean"] for row in answer.body["comparison"][0]["differences"]} == {0.0}
    first, second = answer.recoveries
    assert {**second, "plan": "plan"} == first


def test_another_seed_draws_other_numbers() -> None:
    of_seed = [scene(runs=2, seed=seed) for seed in (0, 0, 1)]
    nodes = [setting_of(item, Contender("incremental", GivenSchedule.made(item, None)), 0).nodes for item in of_seed]
    assert nodes[0] == nodes[1] != nodes[2]


def _plan(kind: str, table: str, *rows: dict[str, Any]) -> dict[str, Any]:
    return {**schedule(), "kind": kind, "plan": {table: list(rows)}}


#: Another value for each option, and what of the scene or of a run's setting shows it.
EFFECTS: dict[str, tuple[Any, Any]] = {
    "fail": (["node:n3"], lambda s, _: s.failures[0].nodes),
    "complete_failure": (True, lambda s, _: s.failures[0].nodes),
    "arrivals": (False, lambda s, _: len(s.nodes)),
    "max_cpu": (0.5, lambda s, _: len(s.starts)),
    "seed": (1, lambda s, _: s.checkpoint_age_s),
    "replicas": (
        {
            **schedule(),
            "kind": "replicate-tasks",
            "plan": {"replicas": [{"operator": "sink", "index": 0, "node": "n2"}]},
        },
        lambda s, _: None if s.replica is None else s.replica.tolist(),
    ),
    "checkpoints": (
        _plan(
            "allocate-checkpoints",
            "assignments",
            {"operator": "middle", "key_group": 0, "primary": "n1", "checkpoints": ["n3"]},
        ),
        lambda _, scene: scene.question.copies,
    ),
    "costs": (COSTS, lambda s, _: (s.timing.detection_s, s.timing.restart_s, s.timing.bandwidth_bytes_s)),
    "bandwidth": (3.0, lambda s, _: s.timing.bandwidth_bytes_s),
    "detection_s": (4.0, lambda s, _: s.timing.detection_s),
    "restart_s": (4.0, lambda s, _: s.timing.restart_s),
    "correlated_failures": (3, lambda s, _: s.timing.correlated_failures),
    "takeover_s": (3.0, lambda s, _: s.timing.takeover_s),
    "replica_lag_s": (3.0, lambda s, _: s.timing.replica_lag_s),
    "warming_s": (3.0, lambda s, _: s.timing.warming_s),
    "warming_pace": (0.5, lambda s, _: s.timing.warming_pace),
    "checkpoint_interval_s": (20.0, lambda s, _: s.checkpoint_s),
    "checkpoint_age_s": (9.0, lambda s, _: s.checkpoint_age_s),
    "batch_s": (0.5, lambda s, _: s.job.batch_s),
    "queue_s": (7.0, lambda s, _: s.queue_batches),
    "headroom": (3.0, lambda s, _: s.job.threads.tolist()),
    "record_bytes": (7.0, lambda s, _: s.job.record_bytes),
    "warm_up_s": (50.0, lambda s, _: s.warm_up_s),
    "until_s": (77.0, lambda s, _: s.until_s),
    "every_s": (0.5, lambda s, _: s.bin_s),
}
#: Options that other tests are about, or that bound the work alone.
ELSEWHERE = {
    "algorithm", "coordinator_cpu", "mode", "best_case_s", "against", "runs", "jobs", "time_limit_s", "iterations",
    "threshold", "window_s", "buffer_memory", "max_down", "max_streams",
}  # fmt: skip


def test_every_option_is_tested() -> None:
    assert set(EFFECTS) | ELSEWHERE == set(RecoverySimulationOptions.options())


@pytest.mark.parametrize("name", EFFECTS)
def test_an_option_has_an_effect(name: str) -> None:
    value, seen = EFFECTS[name]
    base = {"headroom": 4.0} if name == "headroom" else {}
    told = []
    for asked in ({}, {name: value}):
        made = scene(runs=2, **{**base, **asked})
        one = Contender("incremental", GivenSchedule.made(made, made.options.algorithm))
        told.append(seen(setting_of(made, one, 0), made))
    assert told[0] != told[1]


def test_thresholds_windows_and_memory_have_an_effect() -> None:
    usual = simulated().recoveries[0]
    assert simulated(threshold=5.0).recoveries[0]["summary"]["priority_down_s"] != usual["summary"]["priority_down_s"]
    assert simulated(window_s=2.0).recoveries[0]["summary"]["priority_down_s"] != usual["summary"]["priority_down_s"]
    peak = usual["summary"]["peak_buffer_bytes"]["mean"]
    assert peak > 0.0
    spilled = simulated(buffer_memory=peak / 4.0).recoveries[0]["summary"]["spilled_bytes"]["mean"]
    assert spilled == pytest.approx(peak * 3.0 / 4.0)


def test_every_mode_ends_with_all_queries_back() -> None:
    """The node that lives has cores for all, but not within --max-cpu: eager recovery is the only one to use them."""
    given = problem(cluster={**CLUSTER, "nodes": [*CLUSTER["nodes"][:2], {"id": "n3", "cpu": 2.2}]})
    answer = simulated(given=given, mode=MODE_NAMES, best_case_s=30.0, until_s=200.0, headroom=4.0)
    assert [item["mode"] for item in answer.recoveries] == list(MODE_NAMES)
    for recovery in answer.recoveries:
        assert not any(query["runs_not_back"] for query in recovery["queries"]), recovery["mode"]
        assert recovery["summary"]["last_back_s"]["runs"] == 1


def test_a_limit_that_is_not_kept_is_told() -> None:
    down = simulated().recoveries[0]["summary"]["priority_down_s"]["mean"]
    assert simulated(max_down=down).unmet is None
    assert str(simulated(max_down=down / 2.0).unmet).startswith("priority x seconds down are")


def test_what_a_plan_records_counts_where_nothing_is_asked() -> None:
    costs = {**COSTS, "state": "local"}
    plan = ftplan.plan("recovery-schedule", problem(), costs=costs, fail=["node:n3"], max_cpu=0.9)
    assert scene(plan).timing.detection_s == 3.0
    assert scene(plan).schedule_options.max_cpu == 0.9
    assert scene(plan).question.situation.failed.nodes == {"n1", "n2", "n3"}
    assert scene(plan, detection_s=1.0, max_cpu=0.7).timing.detection_s == 1.0


def test_queries_that_are_not_back_are_told() -> None:
    answer = simulated(until_s=35.0)
    assert "NOT_BACK" in [warning.code for warning in answer.warnings]
    assert answer.recoveries[0]["summary"]["last_back_s"] is None


def test_runs_count_that_all_contenders_have_finished_in_whatever_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four runs of two modes, the third is cut: the others count, as if they came in order."""
    asked: dict[str, Any] = {"runs": 4, "mode": ["incremental", "blocking"], "until_s": 60.0}
    every, texts = runs.simulated, set()
    order = [7, 0, 3, 5, 6, 1, 2]
    for kept in (order, sorted(order)):

        def some(*given: Any, kept: list[int] = kept) -> Any:
            made = {one.number: one for outcomes in every(*given) for one in outcomes}
            yield from ([made[number]] for number in kept)

        monkeypatch.setattr(runs, "simulated", some)
        answer = simulated(**asked)
        assert answer.body["runs"] == 3
        assert [w.message for w in answer.warnings if w.code == "RUNS_CUT"] == ["the time limit left out 1 of 4 runs"]
        texts.add(answer.to_json())
    assert len(texts) == 1


def test_time_that_does_not_last_for_one_run() -> None:
    with pytest.raises(FtplanError, match=r"--time-limit: 0.001 s do not last for one run"):
        simulated(runs=4, time_limit_s=0.001)  # clock: a limit in seconds is what is tested


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"mode": "incrementel"}, "--mode: 'incrementel' is not one of incremental, blocking, source-replay"),
        ({"plan": 5}, "--plan: 5 is not a plan, the path of one, or its document"),
        ({"plan": ""}, "--plan: '' is not a plan, the path of one, or its document"),
        ({"runs": 0}, "--runs: 0 is not a whole number"),
        ({"until": 5.0}, "simulate recovery: unknown option 'until'"),
        ({"headroom": 1.0}, "--headroom: 1.0 is not a number above 1"),
        ({"every_s": 91.0}, "--every: 91 s is more than the 90 s that are simulated"),
        ({"batch_s": 11.0}, "--batch: 11 s is more than the 10 s between checkpoints"),
        (
            {"against": {**schedule(), "kind": "replicate-tasks", "plan": {"replicas": []}}},
            "against: is a plan of kind",
        ),
    ],
)
def test_wrong_options(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(FtplanError) as refused:
        simulated(**asked)
    assert str(refused.value).startswith(said)


def test_a_job_that_does_not_keep_up_is_refused_in_this_process_and_in_others() -> None:
    nodes = [{"id": "n1", "cpu": 1, "used_cpu": 0.2}, *CLUSTER["nodes"][1:]]
    placement = {"tasks": {**CLUSTER["placement"]["tasks"], "sink": ["n1", "n3"]}}
    cluster = {**CLUSTER, "nodes": nodes, "placement": placement}
    given = problem(cluster=cluster, failure={**FAILURE, "fail": ["node:n2"]})
    said = r"node n1 is busy 112% of its time before anything fails, most with task middle/0"
    for jobs in (1, 2):
        with pytest.raises(FtplanError, match=said):
            simulated(given=given, runs=2, jobs=jobs)


def test_a_node_without_cores_hides_no_job_that_does_not_keep_up() -> None:
    cluster = {**CLUSTER, "nodes": [{"id": "n1", "cpu": 1, "used_cpu": 0.5}, *CLUSTER["nodes"][1:]]}
    asked: dict[str, Any] = {"complete_failure": True, "coordinator_cpu": 5.0}
    with pytest.raises(FtplanError, match=r"node n1 is busy 140% of its time before anything fails"):
        simulated(given=problem(cluster=cluster), **asked)


def test_an_unknown_simulation_is_refused() -> None:
    with pytest.raises(
        FtplanError, match=r"simulate: 'recoverie' is not one of recovery.* \(did you mean 'recovery'\?\)"
    ):
        ftplan.simulate("recoverie", problem())


def test_a_replica_that_never_takes_over_keeps_its_cores_busy() -> None:
    """Of a task on a node that lives; that of a task on a failed one takes over, and counts as a task from then on."""
    plan = {"format": "ftplan/plan", "format_version": "1.0", "kind": "replicate-tasks"}
    lives = {**plan, "plan": {"replicas": [{"operator": "sink", "index": 0, "node": "n2"}]}}
    fails = {**plan, "plan": {"replicas": [{"operator": "source", "index": 0, "node": "n3"}]}}
    assert scene().cores[:3] == (1.0, 1.0, 1.0)
    assert scene(replicas=lives).cores[:3] == pytest.approx((1.0, 0.8, 1.0))
    assert scene(replicas=fails).cores[:3] == (1.0, 1.0, 1.0)


def test_more_streams_than_asked_for_are_refused() -> None:
    with pytest.raises(FtplanError, match=r"on 4 streams, each simulated for itself; --max-streams is 3"):
        scene(max_streams=3)
    assert scene(max_streams=4).running.job.streams == 4
