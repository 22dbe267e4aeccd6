"""Small repairs reckoned by hand: lanes, replay, global rollbacks, tasks that give way; and what verify says."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.api import explain, verify
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.body import body
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import prepare
from ftplan.planners.recovery_schedule.problem import RecoveryOptions

MB = 2**20


def repair(
    operators: list[dict[str, Any]],
    nodes: Mapping[str, float],
    tasks: dict[str, list[str]],
    fail: list[Any],
    arrivals: list[tuple[float, str, float]] = [],  # noqa: B006
    **network: Any,
) -> Problem:
    head = {"format_version": "1.0"}
    return ftplan.load(
        topology={"format": "ftplan/topology", **head, "operators": operators, "edges": []},
        cluster={
            "format": "ftplan/cluster",
            **head,
            "nodes": [{"id": name, "cpu": cpu} for name, cpu in nodes.items()],
            "network": {"bandwidth_mb_s": 10, **network},
            "placement": {"tasks": tasks},
        },
        failure={
            "format": "ftplan/failure",
            **head,
            "fail": fail,
            "arrivals": [{"at_s": at_s, "node": {"id": name, "cpu": cpu}} for at_s, name, cpu in arrivals],
        },
    )


def planned(problem: Problem, **options: Any) -> Any:
    made = ftplan.plan("recovery-schedule", problem, algorithm="best-density", samples=0, **options)
    assert verify(made, problem).violations == ()
    return made


def column(made: Plan, name: str) -> list[Any]:
    assert made.plan is not None
    return [item[name] for step in made.plan["steps"] for item in step["recover"]]


@pytest.mark.parametrize(("lanes", "ready"), [(1, [10.0, 20.0, 30.0]), (2, [20.0, 20.0, 40.0]), (4, [40.0] * 3)])
def test_restores_share_the_bandwidth_of_a_node(lanes: int, ready: list[float]) -> None:
    """100 MB at 10 MB/s: in N lanes N restores at a time take N times as long; one alone is no faster."""
    operator = {"id": "a", "parallelism": 3, "cpu": 0.5, "state_bytes": 100 * MB}
    problem = repair([operator], {"n1": 4, "n2": 4}, {"a": ["n1"] * 3}, ["node:n1"], restores_at_once=lanes)
    made = planned(problem)
    assert column(made, "ready_s") == ready
    early = changed(made, lambda b: b["steps"][0]["recover"][2].update(ready_s=ready[2] - 1.0))
    assert "READY_TOO_EARLY" in codes(early, problem)


@pytest.mark.parametrize(
    ("cpu", "arrives", "options", "expected"),
    [
        (0.5, 0.0, {}, 5.0),  # rho 0.5 of a core: 5 s of input take 2.5 s at full pace, 5 s beside what comes in
        (0.5, 10.0, {}, 25.0),  # and 10 s of it as long again
        (0.5, 10.0, {"checkpoint_age": 1.0}, 30.0),
        (0.5, 10.0, {"checkpoint_age": 0.0}, 20.0),
        (0.5, 10.0, {"replay": False}, 10.0),
        (2.0, 0.0, {}, 20.0),  # rho 0.8 by the share of cores that may be used
        (2.0, 0.0, {"max_cpu": 0.5}, 5.0),
        (2.0, 0.0, {"max_cpu": 0.95}, 95.0),
    ],
)
def test_tasks_catch_up_at_their_own_pace(cpu: float, arrives: float, options: dict[str, Any], expected: float) -> None:
    operator = {"id": "a", "cpu": cpu, "checkpoint": {"interval_s": 10}}
    live, coming = ({"n1": 8, "n2": 8}, []) if arrives == 0.0 else ({"n1": 8}, [(arrives, "n2", 8.0)])
    problem = repair([operator], live, {"a": ["n1"]}, ["node:n1"], coming)
    made = planned(problem, arrivals=arrives > 0.0, horizon=200.0, **options)
    assert column(made, "ready_s") == [arrives]
    assert column(made, "caught_up_s") == pytest.approx([expected])
    assert made.plan["queries"][0]["back_s"] == pytest.approx(expected)
    early = changed(made, lambda b: b["steps"][-1]["recover"][0].update(caught_up_s=max(0.0, expected - 1.0)))
    assert codes(early, problem) == ["WRONG_CAUGHT_UP"]


def test_replay_that_is_known_of_some_only() -> None:
    operators: list[dict[str, Any]] = [{"id": "a", "checkpoint": {"interval_s": 10}}, {"id": "b"}]
    problem = repair(operators, {"n1": 4, "n2": 4}, {"a": ["n1"], "b": ["n1"]}, ["node:n1"])
    (said,) = [w for w in planned(problem).warnings if w.code == "REPLAY_UNKNOWN"]
    assert said.message.startswith("b: no checkpoint.interval_s")
    for quiet in (
        planned(problem, replay=False),
        planned(repair(operators[1:], {"n1": 4, "n2": 4}, {"b": ["n1"]}, ["node:n1"])),
    ):
        assert "REPLAY_UNKNOWN" not in {w.code for w in quiet.warnings}


def rolling_back(again_s: float, interval_s: float | None = None) -> Problem:
    """Two queries of 50 MB each; the node of the first fails, then that of the second, for which no room is left."""
    operator: dict[str, Any] = {"id": "a", "parallelism": 2, "state_bytes": 50 * MB, "deterministic": False}
    if interval_s is not None:
        operator["checkpoint"] = {"interval_s": interval_s}
    nodes = {"n1": 1.25, "n2": 1.25, "n3": 1.25}
    fail = ["node:n1", {"at_s": again_s, "select": "node:n2"}]
    return repair([operator], nodes, {"a": ["n1", "n2"]}, fail)


@pytest.mark.parametrize(
    ("again_s", "interval_s", "first", "second"),
    [
        (60.0, None, 5.0, 65.0),  # 50 MB at 10 MB/s
        (3.0, None, None, 8.0),  # it begins anew
        (60.0, 10.0, 45.0, 105.0),  # rho 0.8: 5 + 4 (5 + 5), and since 60 s likewise
        (50.0, 10.0, 45.0, 295.0),  # no checkpoint since the first failure: 55 + 4 (5 + 55)
    ],
)
def test_all_tasks_go_back_at_every_failure(
    again_s: float, interval_s: float | None, first: float | None, second: float
) -> None:
    problem = rolling_back(again_s, interval_s)
    made = planned(problem, objective="priority-time", horizon=1000.0, arrivals=False)
    times = [first, second] if first is not None else [second]
    others = [None] if first is None else [first, None]
    back = [(item["index"], item["back_s"]) for item in made.plan["queries"]]
    assert back == [(0, pytest.approx(at_s)) for at_s in times] + [
        (1, at_s if at_s is None else pytest.approx(at_s)) for at_s in others
    ]
    assert [step["global_rollback"] for step in made.plan["steps"]] == [True, True]
    assert made.summary.get("rolled_back_queries") == (None if first is None else 2)
    lost = second - (again_s if first is not None else 0.0) + 1000.0
    lost += 0.0 if first is None else first + first - again_s
    assert made.summary["after"]["priority_time"] == pytest.approx(lost)
    scores = {metric.name: metric.value for metric in ftplan.evaluate(made, problem).metrics}
    assert scores["priority-time"] == pytest.approx(lost)
    assert "ROLLBACK" in str(codes(changed(made, lambda b: b["steps"][1].update(global_rollback=False)), problem))
    if first is not None:
        told = explain(made, problem, "query:a/1").notes
        assert any("does not come back" in note for note in told)
        assert "WRONG_QUERIES" in codes(changed(made, lambda b: b["queries"].pop(0)), problem)


def test_a_job_that_is_deterministic_loses_nothing_by_going_back() -> None:
    problem = rolling_back(60.0)
    assert problem.topology is not None
    sure = replace(problem.topology.operators[0], deterministic=True)
    problem = replace(problem, topology=replace(problem.topology, operators=(sure,)))
    made = planned(problem, objective="priority-time", arrivals=False)
    assert [(item["index"], item["back_s"]) for item in made.plan["queries"]] == [(0, 5.0), (1, None)]
    assert "rolled_back_queries" not in made.summary


def test_a_failure_that_takes_no_task_down_sends_nothing_back() -> None:
    operator = {"id": "a", "parallelism": 1, "state_bytes": 50 * MB, "deterministic": False}
    fail = ["node:n1", {"at_s": 60, "select": "node:n2"}]
    made = planned(repair([operator], {"n1": 2, "n2": 2, "n3": 4}, {"a": ["n1"]}, fail, [(70.0, "n4", 4.0)]))
    again = made.plan["queries"]
    went = {item["node"] for step in made.plan["steps"] for item in step["recover"]}
    assert ([step["global_rollback"] for step in made.plan["steps"]], len(again)) == (
        ([True, False, False], 1) if went == {"n3"} else ([True, True, False], 2)
    )


def changed(made: Plan, change: Callable[[dict[str, Any]], object]) -> Plan:
    plan = copy.deepcopy(dict(made.plan or {}))
    change(plan)
    return replace(made, plan=plan)


def codes(made: Plan, problem: Problem) -> list[str]:
    return [violation.code for violation in verify(made, problem).violations]


def give_way(state: StepState, budget: Budget, seed: int) -> Decision:
    """Stop what may be stopped, and start the queries of highest priority first."""
    pause = tuple(np.flatnonzero(state.may_pause).tolist())
    after = state.after_pause(pause)
    order = np.argsort(-after.priority, kind="stable")
    tasks = [task for row in order for task in after.queries.tasks_of(_of(after, int(row))).tolist()]
    return Decision(np.array(list(dict.fromkeys(tasks)), dtype=np.int64), one_by_one=True, pause=pause)


def _of(state: StepState, row: int) -> Any:
    flags = np.zeros(state.queries.bundles, dtype=np.bool_)
    flags[state.queries.members(row)] = True
    return flags


def giving_way(interval_s: float | None = None, **options: Any) -> tuple[Problem, Plan, float]:
    """A query of priority 5 fails, one of priority 1 runs on the only node that is left; another comes at 20 s."""
    more = {} if interval_s is None else {"checkpoint": {"interval_s": interval_s}}
    operators = [{"id": name, "priority": p, "state_bytes": 50 * MB, **more} for name, p in (("hi", 5), ("lo", 1))]
    nodes, tasks = {"n1": 1.25, "n2": 1.25}, {"hi": ["n2"], "lo": ["n1"]}
    problem = repair(operators, nodes, tasks, ["node:n2"], [(20.0, "n3", 1.25)])
    given = {"pause_lower_priority": True, "objective": "priority-time", "horizon": 1000.0, **options}
    question = prepare(problem, RecoveryScheduleOptions(**given)).problem
    schedule = construct_schedule(question, RecoveryOptions("priority-time"), give_way).answer
    assert schedule is not None
    made = Plan("recovery-schedule", options={"cost": "topology", **given}, plan=body(schedule, question))
    return problem, made, priority_time_of(schedule, question)


@pytest.mark.parametrize(("interval_s", "hi", "lo"), [(None, 5.0, 25.0), (10.0, 45.0, 125.0)])
def test_a_task_gives_way_and_comes_back_elsewhere(interval_s: float | None, hi: float, lo: float) -> None:
    """What gives way processes nothing again: rho 0.8, back at 25 s, 25 + 4 * 25; what failed at 5 + 4 (5 + 5)."""
    problem, made, value = giving_way(interval_s)
    assert made.plan is not None
    first, second = made.plan["steps"]
    assert first["pause"] == [{"operator": "lo", "index": 0, "node": "n1", "cpu": 1.0}]
    assert (first["capacity"], first["used"]) == (0.0, 1.0)
    assert [(item["operator"], item["node"], item["ready_s"]) for item in second["recover"]] == [("lo", "n3", 25.0)]
    back = {item["operator"]: item["back_s"] for item in made.plan["queries"]}
    assert back == pytest.approx({"hi": hi, "lo": lo})
    assert value == pytest.approx(5 * hi + lo)
    assert codes(made, problem) == []
    assert {m.name: m.value for m in ftplan.evaluate(made, problem).metrics}["priority-time"] == pytest.approx(value)
    notes = explain(made, problem, "query:lo/0").notes
    assert any("give way" in note for note in notes)
    assert explain(made, problem, "task:lo/0").notes[0].startswith("step 0 at 0 s lets it give way")


PAUSED: list[tuple[str, str, Callable[[dict[str, Any]], object]]] = [
    ("PAUSED_WRONGLY", "on n3, it runs on n1", lambda b: b["steps"][0]["pause"][0].update(node="n3")),
    ("PAUSED_WRONGLY", "it runs nowhere", lambda b: b["steps"][0]["pause"].append(b["steps"][0]["pause"][0])),
    ("PAUSED_WRONGLY", "it runs nowhere", lambda b: b["steps"][0]["pause"].append({"operator": "hi", "index": 0})),
    ("PAUSED_WRONGLY", "none waits", lambda b: b["steps"][0]["pause"][0].update(replica=True)),
    ("PAUSED_WRONGLY", "nothing fails then", lambda b: b["steps"][1].update(pause=b["steps"][0].pop("pause"))),
    ("UNKNOWN_TASK", "lo/1", lambda b: b["steps"][0]["pause"][0].update(index=1)),
    ("WRONG_CPU", "2 cores", lambda b: b["steps"][0]["pause"][0].update(cpu=2.0)),
    ("OVER_CAPACITY", "n1", lambda b: b["steps"][0].pop("pause")),
    ("UNRECOVERED_DIFFERS", "lo/0", lambda b: b["steps"][1].update(recover=[])),
    ("READY_TOO_EARLY", "24 s", lambda b: b["steps"][1]["recover"][0].update(ready_s=24.0)),
]


@pytest.mark.parametrize(("code", "text", "change"), PAUSED)
def test_each_fault_of_a_pause_has_its_code(code: str, text: str, change: Callable[[dict[str, Any]], object]) -> None:
    problem, made, _ = giving_way()
    found = verify(changed(made, change), problem).violations
    assert any(text in violation.message for violation in found if violation.code == code), found


def test_who_may_not_give_way() -> None:
    problem, made, _ = giving_way()
    options = {name: value for name, value in made.options.items() if name != "pause_lower_priority"}
    assert "--pause-lower-priority" in str(verify(replace(made, options=options), problem).violations)
    assert problem.topology is not None
    hi, lo = problem.topology.operators
    equal = replace(problem, topology=replace(problem.topology, operators=(hi, replace(lo, priority=hi.priority))))
    found = verify(made, equal).violations
    assert any(v.code == "PAUSED_WRONGLY" and "one of priority 5" in v.message for v in found)


def test_its_state_stays_where_it_gave_way() -> None:
    problem, _, _ = giving_way()
    question = prepare(problem, RecoveryScheduleOptions(pause_lower_priority=True)).problem

    def back_at_once(state: StepState, budget: Budget, seed: int) -> Decision:
        lo = question.graph.number("lo", 0)
        return Decision(np.array([lo]), one_by_one=True, pause=(lo,) if state.may_pause[lo] else ())

    schedule = construct_schedule(question, RecoveryOptions("priority-time", prefetch=False), back_at_once).answer
    assert schedule is not None
    (item,) = schedule.steps[0].recover
    assert (item.ready_s, item.caught_up_s, item.savepoint) == (0.0, 0.0, True)


def test_other_nodes_of_a_task_with_two_lanes() -> None:
    """Two of 100 MB take 20 s each beside each other; the third waits for one of them, on an empty node for none."""
    operator = {"id": "a", "parallelism": 3, "cpu": 0.5, "state_bytes": 100 * MB}
    problem = repair([operator], {"n1": 4, "n2": 1.875, "n3": 0.75}, {"a": ["n1"] * 3}, ["node:n1"], restores_at_once=2)
    made = planned(problem, arrivals=False)
    entries = {(item["index"]): item for item in (made.plan or {})["steps"][0]["recover"]}
    for index, item in entries.items():
        rows = {row["node"]: row for row in explain(made, problem, f"task:a/{index}").candidates}
        assert rows[item["node"]]["ready, s"] == item["ready_s"]
        before = [other for other in entries.values() if other["node"] != item["node"]]
        (empty,) = (row for name, row in rows.items() if name not in (item["node"], "n1"))
        assert empty["ready, s"] == (20.0 if len(before) < 2 else 40.0)


def test_who_gives_way_has_to_run_somewhere_that_is_known() -> None:
    problem, _, _ = giving_way()
    with pytest.raises(ftplan.FtplanError, match="--pause-lower-priority: which tasks run where"):
        ftplan.plan(
            "recovery-schedule",
            replace(problem, cluster=None),
            capacity=1.0,
            fail=["task:hi/0"],
            pause_lower_priority=True,
        )
