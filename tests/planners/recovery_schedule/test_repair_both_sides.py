"""The planner's model of a repair and the judge's, written apart, agree: times, lanes, replay, rollbacks, pauses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.plan import Plan
from ftplan.model.rates import rates
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.repair.instance import instance_of, value
from ftplan.planners.recovery_schedule.algorithms.repair.policy import due
from ftplan.planners.recovery_schedule.algorithms.schedule import arrival_replay
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import random_order
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule, nothing_recovered
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState, by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of, priority_time_of
from ftplan.planners.recovery_schedule.body import body
from ftplan.planners.recovery_schedule.hosts import default_horizon_s
from ftplan.planners.recovery_schedule.incident import Incident, at_planned_times, horizon_of, incident_of
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import prepare
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.replay.outcome import outcome, repair_scores
from ftplan.planners.recovery_schedule.replay.replay import replay
from ftplan.planners.recovery_schedule.rules import judged
from ftplan.planners.recovery_schedule.schedule import Schedule
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.repair_cases import scattered
from tests.planners.recovery_schedule.repair_documents import loaded, random_case

OPTIONS: dict[str, Any] = {"pause_lower_priority": True, "objective": "priority-time"}


def both(seed: int, **more: Any) -> tuple[RecoveryProblem, Incident]:
    """Return a random repair as the planner is asked about it, and as the judge holds it against."""
    case, options = loaded(random_case(seed)), {**OPTIONS, **more}
    plan = Plan("recovery-schedule", options={"cost": "topology", **options}, plan={"steps": []})
    incident = at_planned_times(incident_of(plan, case))
    return prepare(case, RecoveryScheduleOptions(**options)).problem, incident


def pausing(inner: Policy, draws: int) -> Policy:
    """Let some of the tasks and standbys that may give way do so, now and then, and decide then."""
    rng = np.random.default_rng(draws)

    def policy(state: StepState, budget: Budget, seed: int) -> Decision:
        tasks = [t for t in np.flatnonzero(state.may_pause).tolist() if rng.random() < 0.7]
        standbys = [t for t in np.flatnonzero(state.may_drop).tolist() if rng.random() < 0.5]
        paused = state.after_pause(tasks, standbys) if tasks or standbys else state
        decision = inner(paused, budget, seed)
        return replace(decision, pause=tuple(tasks), pause_standby=tuple(standbys))

    return policy


def agree(schedule: Schedule, problem: RecoveryProblem, incident: Incident) -> dict[str, Any]:
    """Check that the judge finds no fault with a schedule and comes to the same figures; return its document."""
    document = body(schedule, problem)
    played = replay(document["steps"], incident)
    assert judged(document, incident, played) == ()
    scores = repair_scores(outcome(document["steps"], incident), incident, problem.horizon_s)
    assert scores["priority-time"] == pytest.approx(priority_time_of(schedule, problem))
    model = fidelity_model(problem.graph, rates(problem.graph))
    assert scores["fidelity-time"] == pytest.approx(fidelity_time_of(schedule, problem, model))
    rolled_back = {(d.query, d.down_s) for d in schedule.downtimes if d.rolled_back}
    assert {(o.query, o.down_s) for o in played.outages if o.rolled_back} == rolled_back
    return document


@pytest.mark.parametrize("seed", range(examples(60)))
def test_both_sides_agree(seed: int) -> None:
    problem, incident = both(seed, parallel_recovery=seed % 4 == 0, capacity=4.0 if seed % 5 == 0 else None)
    policies = (random_order, by_queries(best_density_step), pausing(by_queries(best_density_step), seed))
    for policy in policies:
        options = RecoveryOptions("priority-time", prefetch=seed % 3 > 0, parallel_recovery=seed % 4 == 0, seed=seed)
        schedule = construct_schedule(problem, options, policy).answer
        if schedule is not None:
            agree(schedule, problem, incident)


@pytest.mark.parametrize("seed", range(examples(20)))
def test_both_sides_agree_on_the_horizon(seed: int) -> None:
    case = random_case(seed)
    case["failure"]["arrivals"].append({"at_s": 1e4, "node": {"id": "store", "cpu": 1.0, "accepts": ["checkpoints"]}})
    if seed % 2:
        for operator in case["topology"]["operators"]:
            operator["checkpoint"] = {"interval_s": 1e5}
    problem = loaded(case)
    incident = incident_of(Plan("recovery-schedule", options={"cost": "topology"}, plan={"steps": []}), problem)
    horizon_s = prepare(problem, RecoveryScheduleOptions()).problem.horizon_s
    assert horizon_of(Plan("recovery-schedule", plan={"steps": []}), incident) == horizon_s
    assert horizon_s > 1000.0 if seed % 2 else horizon_s < 1e4


def test_the_horizon_lasts_until_what_starts_last_has_caught_up() -> None:
    none, down = RecoveryDelays(), np.array([True, True])
    assert default_horizon_s(100.0, 0.0, none, down, 0.0) == 200.0
    assert default_horizon_s(0.0, 0.0, none, down, 0.0) == 600.0
    assert default_horizon_s(0.0, 700.0, none, down, 0.0) == 700.0
    assert default_horizon_s(3.0, 0.0, none, down, 20.0) == 3.0 + 2.0 * 20.0
    delays = RecoveryDelays(replay_s=np.array([0.0, 400.0]), catch_up=np.array([0.0, 4.0]))
    assert default_horizon_s(100.0, 0.0, delays, down, 0.0) == 100.0 + 2.0 * (400.0 + 4.0 * 100.0)
    assert default_horizon_s(0.0, 0.0, delays, down, 0.0) == 800.0
    assert default_horizon_s(100.0, 0.0, delays, np.array([True, False]), 0.0) == 200.0
    never = RecoveryDelays(detection_s=400.0, replay_s=np.array([0.0, np.inf]), catch_up=np.zeros(2))
    assert default_horizon_s(0.0, 0.0, never, down, 0.0) == 800.0


@pytest.mark.parametrize("seed", range(examples(20)))
def test_both_sides_agree_on_what_nothing_recovered_loses(seed: int) -> None:
    problem, incident = both(seed)
    schedule = nothing_recovered(problem)
    assert not any(step.recover for step in schedule.steps)
    agree(schedule, problem, incident)
    never = sum(
        problem.graph.per_task("priority")[d.query] * (problem.horizon_s - d.down_s) for d in schedule.downtimes
    )
    assert problem.rolls_back or priority_time_of(schedule, problem) == pytest.approx(never)


@pytest.mark.parametrize("objective", ["priority", "fidelity-time"])
def test_what_never_has_room_loses_the_later_failures_too(objective: str) -> None:
    head = {"format_version": "1.0"}
    nodes = [{"id": f"n{k}", "cpu": 1.25} for k in range(3)]
    case = ftplan.load(
        topology={"format": "ftplan/topology", **head, "operators": [{"id": "out", "parallelism": 3}], "edges": []},
        cluster={
            "format": "ftplan/cluster",
            **head,
            "nodes": nodes,
            "placement": {"tasks": {"out": ["n0", "n1", "n2"]}},
        },
        failure={
            "format": "ftplan/failure",
            **head,
            "fail": ["node:n0", "node:n1", {"at_s": 10.0, "select": "node:n2"}],
            "arrivals": [{"at_s": 20.0, "node": {"id": "r0", "cpu": 1.25}}],  # room for one of three
        },
    )
    summary = ftplan.plan("recovery-schedule", case, objective=objective, horizon=100.0, samples=0).summary
    assert (summary["before"]["priority_time"], summary["after"]["priority_time"]) == (290.0, 210.0)
    if objective == "fidelity-time":
        assert summary["before"]["fidelity_time"] == pytest.approx(10.0 / 3.0)


@pytest.mark.parametrize("seed", range(examples(30)))
def test_arrivals_at_their_planned_times_bring_what_was_planned(seed: int) -> None:
    problem, _ = both(seed, parallel_recovery=seed % 4 == 0)
    ranges = [replace(item, range_s=(item.at_s, item.at_s + 1e-9)) for item in problem.arrivals]
    problem = replace(problem, arrivals=tuple(ranges))
    options = RecoveryOptions("priority-time", parallel_recovery=seed % 4 == 0, seed=seed)
    schedule = construct_schedule(problem, options, pausing(by_queries(best_density_step), seed)).answer
    if schedule is not None and ranges:
        sampled = arrival_replay.replay(schedule, problem, 1, seed)
        assert sampled is not None
        assert sampled.priority_time[0] == pytest.approx(priority_time_of(schedule, problem), rel=1e-6)


@pytest.mark.parametrize("seed", range(examples(40)))
def test_what_is_left_after_tasks_gave_way_is_worth_what_comes_of_it(seed: int) -> None:
    problem, _ = both(seed)
    problem = replace(problem, failures=(), rolls_back=False)
    waiting: list[Any] = []
    worth: list[float] = []

    def policy(state: StepState, budget: Budget, seed: int) -> Decision:
        pause = tuple(np.flatnonzero(state.may_pause).tolist()[::2])
        if not worth:
            instance = instance_of(state.after_pause(pause))
            placement = scattered(instance, budget, seed)
            worth.append(value(instance, placement))
            waiting.extend(due(instance, placement))
        now = tuple(item for at_s, item in waiting if at_s == state.at_s)
        return Decision(np.array([item.task for item in now], dtype=np.int64), placed=now, pause=pause)

    schedule = construct_schedule(problem, RecoveryOptions("priority-time", seed=seed), policy).answer
    if schedule is not None and worth:
        assert priority_time_of(schedule, problem) == pytest.approx(worth[0])
