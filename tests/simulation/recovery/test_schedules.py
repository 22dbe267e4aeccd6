"""What starts when: by plans made for the expected arrivals, and by plans that are given."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.planners.plan_inputs import a_plan
from ftplan.planners.registry import rows
from ftplan.simulation.recovery.contenders import Contender, arrival_times, setting_of
from ftplan.simulation.recovery.schedules import GivenSchedule, starts
from tests.simulation.recovery.file_cases import (
    CLUSTER,
    FAILURE,
    IN_ORDER,
    LINE_0,
    LINE_1,
    TOPOLOGY,
    problem,
    scene,
    schedule,
)

pytestmark = pytest.mark.usefixtures("few_random_orders")

ALGORITHMS = [row.name for row in rows("recovery-schedule")]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_plan_is_made_for_the_expected_arrivals_and_waits_for_its_nodes(algorithm: str) -> None:
    of_seed = scene(algorithm=algorithm, iterations=3)
    made = GivenSchedule.made(of_seed, algorithm)
    assert (made.name, made.algorithm, made.warnings) == (None, algorithm, ())
    expected = arrival_times(of_seed.arrivals, 0, None)
    by_id = {item.node.id: at_s for item, at_s in zip(of_seed.arrivals, expected, strict=True)}
    assert made.times(by_id) == pytest.approx([step["at_s"] for step in made.steps])
    late = {name: at_s + 500.0 for name, at_s in by_id.items()}
    assert max(made.times(late)) == pytest.approx(max(late.values()))


def test_steps_that_are_made_are_those_of_the_command() -> None:
    plan = ftplan.plan("recovery-schedule", problem(), iterations=20)
    assert plan.plan is not None
    made = GivenSchedule.made(scene(), None)
    assert json.dumps(list(made.steps)) == json.dumps(plan.plan["steps"])


def test_a_given_step_happens_when_the_nodes_that_trigger_it_are_there() -> None:
    of_seed = scene()
    there = {"r1": 21.0, "r2": 39.0}
    by_trigger = GivenSchedule.of(a_plan(IN_ORDER), "plan", of_seed)
    assert by_trigger.times(there) == [0.0, 21.0, 39.0]
    assert by_trigger.warnings == ()
    both = schedule((0.0, "failure", {}), (40.0, "arrival:r1,r2", LINE_0 | LINE_1))
    assert GivenSchedule.of(a_plan(both), "plan", of_seed).times(there) == [0.0, 39.0]
    unsaid = schedule((0.0, None, {}), (22.0, None, LINE_0), (35.0, None, LINE_1))
    # each node comes at the step that is nearest to when it is expected, one after the other
    assert GivenSchedule.of(a_plan(unsaid), "plan", of_seed).times(there) == [0.0, 21.0, 39.0]


def test_the_expected_run_of_a_plan_has_its_own_times() -> None:
    plan = ftplan.plan("recovery-schedule", problem())
    assert plan.plan is not None
    of_plan = scene(plan)
    setting = setting_of(of_plan, Contender("incremental", GivenSchedule.of(plan, "plan", of_plan)), None)
    on_the_way = setting_of(of_plan, Contender("incremental", GivenSchedule.made(of_plan, None)), None)
    assert setting.starts == on_the_way.starts
    assert {start.at_s for start in setting.starts} == {s["at_s"] for s in plan.plan["steps"] if s["recover"]}


def test_runs_of_a_mode_and_a_plan_meet_the_same() -> None:
    of_seed = scene(runs=3)
    given = GivenSchedule.of(a_plan(IN_ORDER), "plan", of_seed)
    for run in range(3):
        settings = [
            setting_of(of_seed, Contender(mode, plan), run)
            for mode in ("incremental", "blocking")
            for plan in (GivenSchedule.made(of_seed, None), given)
        ]
        assert len({tuple(node.from_s for node in setting.nodes) for setting in settings}) == 1
        assert len({setting.checkpoint_age_s for setting in settings}) == 1
    best = setting_of(of_seed, Contender("best-case", given), 1)
    assert [node.from_s for node in best.nodes[3:]] == [180.0, 180.0]


def test_a_node_that_comes_back_is_another_one() -> None:
    """Before it fails a task starts on the old one, then on the new one; copies lie on old ones alone."""
    fail = ["node:n1", {"at_s": 50, "select": "node:n3"}, {"at_s": 70, "select": "node:n1"}]
    failure = {**FAILURE, "fail": fail, "arrivals": [{"at_s": 30, "node": {"id": "n1", "cpu": 1}}]}
    placed = {**CLUSTER["placement"], "checkpoints": {"middle": [["n3"], ["n3"], [], []]}}
    of_seed = scene(given=problem(failure=failure, cluster={**CLUSTER, "placement": placed}))
    plan = schedule((0.0, "failure", {"middle/0": "n3"}), (30.0, "arrival:n1", {"source/0": "n1"}), (50.0, None, {}))
    given = GivenSchedule.of(a_plan(plan), "plan", of_seed)
    setting = setting_of(of_seed, Contender("incremental", given), None)
    middle, source = setting.starts
    assert (middle.node, middle.local_bytes) == (2, 10_000_000)
    assert (source.node, source.local_bytes) == (3, 0.0)
    assert [sorted(item.nodes) for item in setting.failures] == [[0], [2], [0, 3]]
    assert starts(given.steps, [0.0, 30.0, 50.0], of_seed) == setting.starts


def test_a_node_that_comes_early_takes_over_what_fails_only_later() -> None:
    """The plan expects r1 at 26.7 s, after the failure at 25 s of what it starts there; it may come at 21 s."""
    failure = {**FAILURE, "fail": ["node:n1", {"at_s": 25, "select": "node:n2"}]}
    of_seed = scene(given=problem(failure=failure), runs=50)
    second = {"source/1": "r1", "middle/1": "r1"}
    plan = schedule((0.0, "failure", {}), (25.0, "failure:node:n2", {}), (80 / 3, "arrival:r1", second))
    given = GivenSchedule.of(a_plan(plan), "plan", of_seed)
    settings = [setting_of(of_seed, Contender("incremental", given), run) for run in range(50)]
    assert min(setting.nodes[3].from_s for setting in settings) < 25.0 < max(s.nodes[3].from_s for s in settings)
    for setting in settings:
        assert {start.at_s for start in setting.starts} == {max(25.0, setting.nodes[3].from_s)}


def test_after_a_complete_failure_the_first_node_hosts_the_coordinator() -> None:
    of_seed = scene(complete_failure=True, coordinator_cpu=0.25)
    setting = setting_of(of_seed, Contender("incremental", GivenSchedule.made(of_seed, None)), 5)
    assert arrival_times(of_seed.arrivals, 0, 5)[0] == setting.nodes[3].from_s
    assert [node.cores for node in setting.nodes] == [1.0, 1.0, 1.0, 0.75, 1.0]
    assert setting.failures[0].nodes == {0, 1, 2}
    assert len(setting.failures[0].tasks) == 6


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (schedule((0.0, None, {"source/0": "n9"})), "plan: plan.steps[0] starts source/0 on node 'n9', which neither"),
        (
            schedule((0.0, None, {"source/0": None})),
            "plan: plan.steps[0] starts source/0 on no node: a simulation needs",
        ),
        (schedule((0.0, None, {"sourc/0": "n3"})), "plan: unknown operator 'sourc' (did you mean 'source'?)"),
        (schedule((0.0, None, {"source/7": "n3"})), "plan: task:source/7: 'source' has 2 tasks"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(plan: dict[str, Any], said: str) -> None:
    with pytest.raises(FtplanError) as refused:
        GivenSchedule.of(a_plan(plan), "plan", scene())
    assert str(refused.value).startswith(said)


def test_a_plan_that_breaks_rules_is_simulated_with_a_warning() -> None:
    crowded = schedule((0.0, "failure", {f"{operator}/0": "n3" for operator in ("source", "middle")}))
    given = GivenSchedule.of(a_plan(crowded), "plan", scene())
    assert [warning.code for warning in given.warnings] == ["PLAN_BREAKS_RULES"]
    assert "OVER_CAPACITY" in given.warnings[0].message


@pytest.mark.parametrize(
    ("changed", "asked", "said"),
    [
        ({"topology": None, "cluster": None, "failure": None}, {}, "a simulation needs a topology"),
        ({"cluster": None, "failure": None}, {"fail": ["task:sink/0"]}, "a simulation needs to know where tasks run"),
        (
            {"cluster": {**CLUSTER, "placement": {"tasks": {"source": ["n1", "n2"]}}}},
            {},
            "a simulation needs to know where every task runs, and the cluster does not say so of middle and 1 more",
        ),
        ({"failure": None}, {}, "nothing fails: give --fail"),
        (
            {"failure": {**FAILURE, "fail": [{"at_s": 9, "select": "node:n1"}]}},
            {},
            "nothing fails at 0 s, the first failure is at 9 s: times count from the first failure",
        ),
        (
            {"failure": {**FAILURE, "fail": ["node:n1", {"at_s": 95, "select": "node:n2"}]}},
            {},
            "--until: 90 s is not after the last failure, at 95 s",
        ),
        ({}, {"checkpoint_age_s": 11.0}, "--checkpoint-age: 11 s is more than the 10 s between checkpoints"),
        (
            {"topology": {**TOPOLOGY, "operators": [{**o, "rate_out": 0} for o in TOPOLOGY["operators"]]}},
            {},
            "topology: no source emits anything",
        ),
    ],
)
def test_a_scene_that_cannot_be_is_refused(changed: dict[str, Any], asked: dict[str, Any], said: str) -> None:
    with pytest.raises(FtplanError) as refused:
        scene(given=problem(**changed), **asked)
    assert str(refused.value).startswith(said)
