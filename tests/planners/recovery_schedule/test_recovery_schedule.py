"""Recovery schedules from files to plans: figure 2, costs, fixes that help, and the same bytes for shuffled input."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
import yaml

import ftplan
from ftplan.planners.registry import rows
from tests.planners.recovery_schedule.recovery_cases import CLUSTER, EXAMPLES, TOPOLOGY, example, loaded


def schedule(problem: ftplan.Problem, algorithm: str = "best-density", **options: Any) -> ftplan.Plan:
    """Plan for the paper's objective where no other is asked for."""
    return ftplan.plan("recovery-schedule", problem, algorithm=algorithm, **{"objective": "priority", **options})


def body(plan: ftplan.Plan) -> dict[str, Any]:
    assert plan.plan is not None, plan.reason
    return dict(plan.plan)


def by_step(plan: ftplan.Plan, key: str) -> list[set[str]]:
    return [{item["operator"] for item in step[key]} for step in body(plan)["steps"]]


def codes(plan: ftplan.Plan) -> list[str]:
    return [warning.code for warning in plan.warnings]


def test_figure_2_by_queries() -> None:
    """Su & Zhou, figure 2, right column: what each node brings back, and which queries are whole by it."""
    plan = schedule(example("figure-2"))
    assert by_step(plan, "recover") == [
        set(), {"p03", "p05"}, {"p07", "p09"}, {"p04", "p10"}, {"p06", "p08"}, {"p11", "p12"},
    ]  # fmt: skip
    assert by_step(plan, "restored") == [set(), set(), {"p09"}, {"p10"}, set(), {"p11", "p12"}]
    assert plan.summary["after"]["priority_time"] == 120 + 180 + 300 + 300
    assert plan.summary["before"]["priority_time"] == 4 * 300
    assert plan.options["horizon_s"] == 600.0


def test_figure_2_by_operators() -> None:
    """The left column."""
    plan = schedule(example("figure-2"), "operator-centric")
    assert by_step(plan, "recover") == [
        set(), {"p03", "p04"}, {"p05", "p06"}, {"p07", "p08"}, {"p09", "p10"}, {"p11", "p12"},
    ]  # fmt: skip
    assert by_step(plan, "restored") == [set(), set(), set(), set(), {"p09", "p10"}, {"p11", "p12"}]
    assert plan.summary["after"]["priority_time"] == 240 + 240 + 300 + 300
    assert "ORDER_GAINS_NOTHING" not in codes(plan)


def test_the_example_of_a_production_topology() -> None:
    plan = schedule(example("storm-recovery"), "exact")
    assert plan.status == "optimal"
    assert plan.objective is not None
    assert (body(plan)["steps"][0]["objective"]["value"], plan.summary["failed_priority"]) == (32.0, 60.0)
    centric = schedule(example("storm-recovery"), "operator-centric")
    assert body(centric)["steps"][0]["objective"]["value"] == centric.summary["after"]["priority_step_0"] == 24.0
    assert centric.status == "feasible"
    assert centric.objective is not None
    assert (plan.objective.value, plan.objective.bound) == (93.0, 93.0)
    assert (centric.objective.value, centric.objective.bound) == (84.0, 112.0)
    assert plan.summary["random"]["priority_step_0"] == 28.5
    assert [step["trigger"] for step in body(plan)["steps"]] == [
        "failure",
        "failure:node:c3",
        "failure:node:c4",
        *(f"arrival:new-{i}" for i in range(1, 5)),
    ]


@pytest.mark.parametrize("row", list(rows("recovery-schedule")), ids=lambda row: row.name)
def test_the_objective_sums_over_the_steps(row: Any) -> None:
    """What each restored, and the most that it could; optimal only where every step is."""
    for case in (example("figure-2"), example("storm-recovery")):
        plan = schedule(case, row.name, iterations=5, samples=0)
        steps = [step["objective"] for step in body(plan)["steps"]]
        assert plan.objective is not None
        assert plan.objective.value == sum(item["priority"] for s in body(plan)["steps"] for item in s["restored"])
        assert plan.objective.value == sum(step["value"] for step in steps)
        assert plan.objective.value == plan.summary["after"]["priority"]
        assert plan.objective.bound == sum(step["bound"] for step in steps)
        assert (plan.status == "optimal") == (plan.objective.gap == 0.0) == all(step["gap"] == 0.0 for step in steps)


def test_a_step_that_restores_less_than_it_could_is_not_optimal() -> None:
    """Figure 2, left: by operators step 3 has the two cores that p09 lacks, and starts p07 and p08."""
    plan = schedule(example("figure-2"), "operator-centric")
    steps = [(step["objective"]["value"], step["objective"]["bound"]) for step in body(plan)["steps"]]
    assert steps[0] == (0.0, 0.0)
    assert steps == [(0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 1.0), (2.0, 2.0), (2.0, 2.0)]
    assert plan.status == "feasible"
    assert plan.objective is not None
    assert (plan.objective.value, plan.objective.bound, plan.objective.gap) == (4.0, 5.0, 0.25)


def test_shuffled_input_gives_the_same_bytes() -> None:
    folder = EXAMPLES / "storm-recovery"
    topology, cluster, failure = (
        yaml.safe_load((folder / f"{name}.yaml").read_text()) for name in ("topology", "cluster", "failure")
    )
    expected = ftplan.load(topology=topology, cluster=cluster, failure=failure)
    turned = ftplan.load(
        topology={**topology, "operators": topology["operators"][::-1], "edges": topology["edges"][::-1]},
        cluster={
            **cluster,
            "nodes": cluster["nodes"][::-1],
            "placement": {"tasks": dict(reversed(cluster["placement"]["tasks"].items()))},
        },
        failure={**failure, "fail": failure["fail"][::-1], "arrivals": failure["arrivals"][::-1]},
    )
    for name in ("best-density", "operator-centric"):
        one, other = (json.loads(schedule(p, name).to_json()) for p in (expected, turned))
        del one["inputs"], other["inputs"]
        assert one == other


def test_nothing_failed_is_a_plan_that_recovers_nothing() -> None:
    plan = schedule(loaded({"fail": ["node:n9"]}, nodes=[*CLUSTER["nodes"], {"id": "n9", "cpu": 1}]))
    assert plan.status == "optimal"
    assert [step["recover"] for step in body(plan)["steps"]] == [[], []]
    assert body(plan)["queries"] == []
    assert plan.summary["failed_queries"] == 0


def test_options_are_recorded_and_inputs_have_roles() -> None:
    plan = schedule(loaded(), fail="zone:a", horizon=100.0, bandwidth=2)
    assert plan.options["fail"] == ["zone:a"]
    assert (plan.options["cost"], plan.options["horizon"], plan.options["horizon_s"]) == ("topology", 100.0, 100.0)
    assert (plan.options["bandwidth"], plan.options["bandwidth_mb_s"]) == (2, 2.0)
    assert [item.role for item in plan.inputs] == ["topology", "cluster"]
    with pytest.raises(ftplan.FtplanError, match=r"unknown option 'horizons' \(did you mean 'horizon'\?\)"):
        schedule(loaded(), fail=["zone:a"], horizons=1)
    with pytest.raises(ftplan.FtplanError, match=r"--objective: 'prority' is not one of .*did you mean 'priority'"):
        schedule(loaded(), fail=["zone:a"], objective="prority")


def with_fix(fix: str, failure: dict[str, Any] | None, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Apply a fix as a person would."""
    flag = re.fullmatch(r"--(capacity|horizon) ([0-9.e+]+)", fix)
    if flag:
        return failure, {**options, flag[1]: float(flag[2])}
    node = yaml.safe_load(fix.removeprefix("add to the arrivals of the failure file: ").partition(", and drop")[0])
    assert fix.endswith("--no-arrivals") == (not options.get("arrivals", True))
    arrivals = [*(failure or {}).get("arrivals", []), node]
    return {**(failure or {}), "arrivals": arrivals}, {**options, "arrivals": True}


@pytest.mark.parametrize("algorithm", ["best-density", "operator-centric"])
@pytest.mark.parametrize(
    ("failure", "options", "limit"),
    [
        (None, {"arrivals": False, "max_cpu": 0.3}, "capacity"),
        (None, {"max_cpu": 0.1}, "room on a node"),
        (None, {"arrivals": False, "capacity": 0.1}, "capacity"),
        ({"arrivals": [{"at_s": 60, "node": {"id": "r1", "cpu": 1}}]}, {"capacity": 0.0, "max_cpu": 0.4}, "capacity"),
        (None, {"complete_failure": True, "arrivals": False, "fail": []}, "capacity"),
        (None, {"complete_failure": True, "max_cpu": 0.05, "fail": []}, "capacity"),
        (None, {"horizon": 1.0, "bandwidth": 0.01, "fail": ["zone:a", "task:join/3"]}, "horizon"),
    ],
)
def test_a_fix_makes_it_feasible(
    failure: dict[str, Any] | None, options: dict[str, Any], limit: str, algorithm: str
) -> None:
    """Exit 1 names the cheapest query; applying the smallest fix brings a query back."""
    options = {"fail": ["zone:a"], **options}
    refused = schedule(loaded(failure), algorithm, **options)
    assert refused.status == "infeasible"
    assert refused.plan is None
    assert refused.infeasible is not None
    assert refused.infeasible.limit == limit
    assert "the cheapest, query:sink/" in str(refused.reason)
    changed, more = with_fix(refused.infeasible.smallest_fix, failure, options)
    fixed = schedule(loaded(changed), algorithm, **more)
    assert fixed.status != "infeasible", (refused.infeasible, fixed.infeasible)


def test_a_longer_horizon_is_that_of_the_first_query_as_it_comes_back_by_this_plan() -> None:
    """Started ahead of what it waits for, with what came in meanwhile to process, a task is back much earlier."""
    operators = [
        {"id": "in", "cpu": 0.95, "state_bytes": 100 * 2**20, "checkpoint": {"interval_s": 30}},
        {"id": "out", "cpu": 0.95, "output": True},
    ]
    head = {"format_version": "1.0"}
    problem = ftplan.load(
        topology={
            "format": "ftplan/topology",
            **head,
            "operators": operators,
            "edges": [{"from": "in", "to": "out", "partitioning": "full"}],
        },
        cluster={
            "format": "ftplan/cluster",
            **head,
            "nodes": [{"id": "a", "cpu": 2}, {"id": "b", "cpu": 1}],
            "network": {"bandwidth_mb_s": 10},
            "placement": {"tasks": {"in": ["a"], "out": ["a"]}},
        },
        failure={
            "format": "ftplan/failure",
            **head,
            "fail": ["node:a"],
            "arrivals": [{"at_s": 60, "node": {"id": "r", "cpu": 1}}],
        },
    )
    asked: dict[str, Any] = {"max_cpu": 0.95, "objective": "priority-time"}
    refused = schedule(problem, horizon=65.0, **asked)
    assert refused.infeasible is not None
    last_s = schedule(problem, horizon=10000.0, **asked).summary["after"]["last_back_s"]
    assert refused.infeasible.smallest_fix == f"--horizon {math.ceil(last_s)}"


def test_a_fix_without_a_cluster_is_a_capacity() -> None:
    problem = ftplan.load(topology=TOPOLOGY)
    refused = schedule(problem, fail=["operator:join", "operator:source"], capacity=1.2)
    assert refused.infeasible is not None
    assert refused.infeasible.smallest_fix == "--capacity 1.5"
    assert "needs 1.5 cores and there are 1.2 in all: it lacks 0.3" in refused.infeasible.reason
    fixed = schedule(problem, fail=["operator:join", "operator:source"], capacity=1.5)
    assert fixed.summary["after"]["queries_back"] == 1
    assert {item["node"] for step in body(fixed)["steps"] for item in step["recover"]} == {None}


def test_tasks_too_large_for_any_node() -> None:
    """Four nodes have room for 0.8 cores each, a join task needs 1."""
    nodes = [{"id": f"n{i}", "cpu": 1} for i in range(1, 5)]
    cluster = {"format": "ftplan/cluster", "format_version": "1.0", "nodes": nodes}
    refused = schedule(ftplan.load(topology=TOPOLOGY, cluster=cluster), fail=["operator:join"])
    assert refused.infeasible is not None
    assert (refused.infeasible.limit, refused.infeasible.needed) == ("room on a node", 1.0)
    assert refused.infeasible.smallest_fix.endswith("{at_s: 300, node: {id: extra-1, cpu: 1.25}}")
    arrivals = [yaml.safe_load(refused.infeasible.smallest_fix.partition("file: ")[2])]
    failure = {"format": "ftplan/failure", "format_version": "1.0", "arrivals": arrivals}
    fixed = schedule(ftplan.load(topology=TOPOLOGY, cluster=cluster, failure=failure), fail=["operator:join"])
    assert fixed.summary["after"]["queries_back"] == 1


def test_an_order_that_completes_nothing_names_an_algorithm_that_does() -> None:
    """By operators both sources start first, and neither sink fits beside them; one source and its sink would."""
    operators = [
        {"id": "a", "parallelism": 2, "cpu": 0.4},
        {"id": "b", "parallelism": 2, "cpu": 0.6, "output": True},
    ]
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": operators,
        "edges": [{"from": "a", "to": "b", "partitioning": "one-to-one"}],
    }
    asked: dict[str, Any] = {"fail": ["operator:a", "operator:b"], "capacity": 1.0, "arrivals": False}
    plan = schedule(ftplan.load(topology=topology), "operator-centric", **asked)
    assert plan.infeasible is not None
    assert (plan.infeasible.limit, plan.infeasible.smallest_fix) == ("algorithm", "--algorithm best-density")
    assert "completes no query" in plan.infeasible.reason
    fixed = schedule(ftplan.load(topology=topology), plan.infeasible.smallest_fix.split()[1], **asked)
    assert fixed.summary["after"]["queries_back"] == 1


def test_blocking_and_random_stand_beside_the_plan() -> None:
    plan = schedule(example("storm-recovery"))
    before, after, random = (plan.summary[name] for name in ("before", "after", "random"))
    assert set(before) - {"timeline"} == set(after) == set(random) - {"orders"}
    assert set(plan.summary["step_by_step"]) == set(before)
    assert random["orders"] == 20
    assert before["priority_step_0"] == 0.0
    assert after["priority_time"] < random["priority_time"] < before["priority_time"]


def test_a_task_that_a_replica_keeps_alive_is_not_recovered() -> None:
    plan = schedule(loaded(None, {"replicas": {"join": ["n10", "n10", "n3", None]}}), fail=["zone:a"])
    recovered = {item["operator"] for step in body(plan)["steps"] for item in step["recover"]}
    assert recovered == {"source"}


def test_recovery_next_to_a_copy_takes_no_time() -> None:
    """8 MiB at 1 MiB/s are 8 s; with all copies on n10 join/0 comes back there at once."""
    far = schedule(loaded(), fail=["task:join/0"])
    near = schedule(loaded(None, {"checkpoints": {"join": [["n10"]] * 8}}), fail=["task:join/0"])
    times = [[i["ready_s"] for i in body(plan)["steps"][0]["recover"]] for plan in (far, near)]
    assert times == [[8.0], [0.0]]
    assert body(near)["steps"][0]["recover"][0]["node"] == "n10"


def test_the_plan_is_judged_on_sampled_arrivals() -> None:
    """Two nodes uniform in [100, 300], one for a source, one for a join: the later of two comes at 233 on average."""
    arrivals = [{"at_s": [100, 300], "node": {"id": f"r{i}", "cpu": 1.25}} for i in (1, 2)]
    nodes = [{"id": "n1", "cpu": 1}]
    cluster = {**CLUSTER, "nodes": nodes, "placement": {"tasks": {"sink": ["n1"] * 4}}}
    failure = {"format": "ftplan/failure", "format_version": "1.0", "arrivals": arrivals}
    problem = ftplan.load(topology=TOPOLOGY, cluster=cluster, failure=failure)
    fail = ["task:join/0", "task:source/0"]
    plan = schedule(problem, fail=fail, samples=4000, bandwidth=8, prefetch=False)
    planned = 100 + 200 * 2 / 3
    assert plan.summary["after"]["last_back_s"] == pytest.approx(planned + 1)
    found = plan.summary["sampled"]
    assert found["samples"] == 4000
    assert found["last_back_s"]["mean"] == pytest.approx(planned + 1, rel=0.02)
    assert found["last_back_s"]["p95"] == pytest.approx(100 + 200 * 0.95**0.5 + 1, rel=0.02)
    assert found["queries_back"] == {"mean": 2.0, "p5": 2.0}
    short = schedule(problem, fail=fail, samples=4000, bandwidth=8, prefetch=False, horizon=250.0).summary["sampled"]
    within = (249 - 100) / 200  # the later of two nodes by then; where one query is not back, no last one is
    assert short["last_back_s"]["mean"] == pytest.approx(100 + 200 * within * 2 / 3 + 1, rel=0.02)
    assert short["queries_back"]["mean"] == pytest.approx(2 * within**2 + 2 * within * (1 - within), rel=0.02)
    assert schedule(problem, fail=fail, samples=0).summary["sampled"] is None
    assert schedule(loaded(), fail=["zone:a"], arrivals=False).summary["sampled"] is None


@pytest.mark.parametrize(
    ("objective", "sense"), [("priority", "max"), ("priority-time", "min"), ("fidelity-time", "max")]
)
def test_every_objective_has_its_value_and_its_sense(objective: str, sense: str) -> None:
    plan = schedule(example("figure-2"), objective=objective, time_limit_s=3600)
    assert plan.objective is not None
    assert (plan.objective.name, plan.objective.sense) == (objective, sense)
    assert plan.objective.value is not None
    if plan.objective.bound is not None:
        assert (plan.objective.bound <= plan.objective.value) == (sense == "min" or plan.objective.gap == 0.0)
    if objective == "priority-time":
        assert plan.objective.value == plan.summary["after"]["priority_time"] == 900.0
    if (
        objective == "fidelity-time"
    ):  # four sinks of equal weight, whole from 120, 180, 300 and 300 s on, and parts before
        assert plan.objective.value >= (480 + 420 + 300 + 300) / 4
        assert plan.objective.value == plan.summary["after"]["fidelity_time"]
        assert plan.summary["before"]["fidelity_time"] == pytest.approx(300)  # everything at 300 of 600 s
    refused = schedule(example("figure-2"), objective=objective, arrivals=False)
    assert refused.objective is not None
    assert (refused.status, refused.objective.sense) == ("infeasible", sense)
