"""Recovery costs in schedules: times recomputed from documents alone, bounds held to brute force, faults found."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan import api
from ftplan.errors import FtplanError
from ftplan.model.plan import Plan
from ftplan.model.recovery_costs import PARAMETERS as NAMES
from ftplan.planners.recovery_schedule.incident import at_planned_times, horizon_of, incident_of
from ftplan.planners.recovery_schedule.replay.outcome import outcome, repair_scores
from tests.planners.recovery_schedule.recovery_cases import CLUSTER, PLACEMENT, TOPOLOGY

pytestmark = pytest.mark.usefixtures("few_random_orders")

Task = tuple[str, int]
#: What each task of the case reads from, the state of a join, and what comes in: a record per second and source.
READS: Mapping[Task, list[Task]] = {
    **{("join", i): [("source", i // 2)] for i in range(4)},
    **{("sink", i): [("join", i)] for i in range(4)},
    **{("source", i): [] for i in range(2)},
}
MB_OF_JOIN, RATE, INTERVAL_S = 8.0, 2.0, 30.0
LATER_S = 40.0


def costs(state: str = "remote", **parameters: float) -> dict[str, Any]:
    return {
        "format": "ftplan/recovery-costs",
        "format_version": "1.0",
        "state": state,
        "parameters": {name: {"value": value} for name, value in parameters.items()},
    }


def job(later: bool = False, arrivals: Any = (), checkpoints: Any = None) -> ftplan.Problem:
    """Return the case with checkpoints every 30 s; zone a fails, and *later* node n10, on which join/3 runs."""
    operators = [{**operator, "checkpoint": {"interval_s": INTERVAL_S}} for operator in TOPOLOGY["operators"]]
    fail: list[Any] = ["zone:a"]
    fail += [{"at_s": LATER_S, "select": "node:n10"}] if later else []
    placement = {"tasks": PLACEMENT} | ({} if checkpoints is None else {"checkpoints": checkpoints})
    return ftplan.load(
        topology={**TOPOLOGY, "operators": operators},
        cluster={**CLUSTER, "placement": placement},
        failure={"format": "ftplan/failure", "format_version": "1.0", "fail": fail}
        | ({"arrivals": list(arrivals)} if arrivals else {}),
    )


NEW = ({"at_s": 20, "node": {"id": "new-1", "cpu": 3}}, {"at_s": 70, "node": {"id": "new-2", "cpu": 3}})


def planned(problem: ftplan.Problem, **options: Any) -> Plan:
    return ftplan.plan("recovery-schedule", problem, **{"iterations": 50, "time_limit_s": 3600.0, **options})


def query(item: Mapping[str, Any]) -> Task:
    return item["operator"], item["index"]


class Times:
    """When tasks run and have caught up, by hand from the steps of a plan, the costs and the bandwidth of restores."""

    def __init__(self, plan: Plan, document: Mapping[str, Any], bandwidth: float | None) -> None:
        self.cost = {name: item["value"] for name, item in document["parameters"].items()}
        self.bandwidth = bandwidth
        self.node = {(o, i): node for o, nodes in PLACEMENT.items() for i, node in enumerate(nodes)}
        self.failed = {task: 0.0 for task, node in self.node.items() if node in ("n1", "n2")}
        self.down = dict(self.failed)
        self.ready: list[float] = []  # of each entry, in the order of the plan
        self.back = dict.fromkeys(self.node, 0.0)
        busy: dict[str, float] = {}
        for step in (plan.plan or {})["steps"]:
            if step["trigger"] == "failure:node:n10":
                for task in [task for task, node in self.node.items() if node == "n10"]:
                    if task not in self.failed or self.back[task] <= LATER_S:
                        self.down[task] = LATER_S
                    self.failed[task] = LATER_S
            for item in step["recover"]:
                self._start(query(item), item["node"], step["at_s"], busy)

    def _start(self, task: Task, node: str, at_s: float, busy: dict[str, float]) -> None:
        rho = RATE / self.cost["capacity_records_s"] if "capacity_records_s" in self.cost else 0.0
        again = self.cost.get("replay_share", 0.0) * INTERVAL_S
        noticed = self.failed[task] + self.cost.get("detection_s", 0.0)
        runs = max(at_s, noticed) + self.cost.get("restart_s", 0.0)
        if task[0] == "join" and self.bandwidth:
            runs = max(runs, busy.get(node, 0.0)) + MB_OF_JOIN / self.bandwidth
            busy[node] = runs
        self.node[task] = node
        self.ready.append(runs)
        self.back[task] = runs + (runs - self.down[task] + again) * rho / (1.0 - rho)

    def whole(self, task: Task) -> float:
        """Return when a task and all that it reads from have caught up."""
        return max([self.back[task], *(self.whole(other) for other in READS[task])])


PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "detection_s": st.integers(0, 90),
        "restart_s": st.integers(0, 30),
        "bandwidth_mb_s": st.sampled_from([0.05, 0.5, 4.0]),
        "replay_share": st.sampled_from([0.0, 0.5, 1.0]),
        "capacity_records_s": st.sampled_from([2.125, 3.0, 8.0]),
    },
)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["local", "remote"]),
    PARAMETERS,
    st.booleans(),
    st.sampled_from(["priority", "priority-time", "fidelity-time"]),
    st.booleans(),
)
def test_times_are_those_computed_by_hand(
    state: str, parameters: Mapping[str, float], later: bool, objective: str, asked: bool
) -> None:
    """Ready and back times; nodes arrive, one fails later.

    A bandwidth that is asked for wins over a fitted one, and that over the network's, wherever state lies.
    """
    document = costs(state, **parameters)
    problem = job(later, NEW)
    given = {"bandwidth": 0.5} if asked else {}
    plan = planned(problem, algorithm="best-density", objective=objective, costs=document, horizon=1e4, **given)
    assert plan.plan is not None, plan.reason
    bandwidth = 0.5 if asked else parameters.get("bandwidth_mb_s", 1.0)
    assert plan.options["bandwidth_mb_s"] == bandwidth
    times = Times(plan, document, bandwidth)
    stated = [item["ready_s"] for step in plan.plan["steps"] for item in step["recover"]]
    assert stated == pytest.approx(times.ready)
    last = {query(item): item["back_s"] for item in plan.plan["queries"]}
    unrecovered = {query(item) for item in plan.plan["unrecovered"]}
    for task, back_s in last.items():
        if back_s is not None and not unrecovered & {task, *READS[task], *READS[READS[task][0]]}:
            assert back_s == pytest.approx(times.whole(task))
    assert api.verify(plan, problem).violations == ()


@settings(max_examples=15, deadline=None)
@given(PARAMETERS, st.sampled_from(NAMES), st.booleans())
def test_what_takes_longer_is_never_earlier(parameters: Mapping[str, float], which: str, later: bool) -> None:
    """The same steps under slower costs; what fails again later may end one outage or two."""
    problem = job(later, NEW)
    plan = planned(problem, algorithm="best-density", costs=costs(**parameters), horizon=1e5)
    slower = {"bandwidth_mb_s": 0.04, "capacity_records_s": 2.1, "replay_share": 1.0}.get(which, 120.0)
    documents = costs(**parameters), costs(**{**parameters, which: slower})
    answers = [
        api.evaluate(replace(plan, options={**plan.options, "costs": document, "bandwidth_mb_s": None}), problem)
        for document in documents
    ]
    before, after = ({metric.name: metric.value for metric in answer.metrics} for answer in answers)
    for name in ("last-back-s", *(() if later else ("first-back-s", "mean-back-s", "restore-s"))):
        assert before[name] is not None
        assert after[name] is None or float(after[name] or 0.0) >= float(before[name] or 0.0) - 1e-9


NOTICED = {"detection_s": 90.0, "restart_s": 5.0, "replay_share": 0.5, "capacity_records_s": 5.0}
FETCHED = {"restart_s": 5.0, "bandwidth_mb_s": 0.1, "capacity_records_s": 3.0}


@pytest.mark.parametrize("objective", ["priority-time", "fidelity-time"])
@pytest.mark.parametrize(
    ("parameters", "later"),
    [
        ({"detection_s": 30.0, "restart_s": 5.0}, False),
        ({"replay_share": 1.0, "capacity_records_s": 2.5}, False),
        (NOTICED, False),
        (NOTICED, True),
        (FETCHED, False),
        (FETCHED, True),
    ],
)
def test_no_schedule_beats_the_bound(objective: str, parameters: Mapping[str, float], later: bool) -> None:
    """Every start of every failed task at every step on every node, or none, carried out by the judge's simulation."""
    topology = {
        **TOPOLOGY,
        "operators": [
            {"id": "a", "parallelism": 2, "cpu": 1.0, "state_bytes": 2**21, "checkpoint": {"interval_s": 30}},
            {"id": "b", "parallelism": 2, "cpu": 1.0, "priority": [1, 3]},
        ],
        "edges": [{"from": "a", "to": "b", "partitioning": "one-to-one"}],
    }
    nodes = [{"id": "n1", "cpu": 4, "zone": "a"}, {"id": "n2", "cpu": 2}, {"id": "n3", "cpu": 1}]
    placement = {"tasks": {"a": ["n1", "n1"], "b": ["n1", "n2"]}}
    fail: list[Any] = ["zone:a", *([{"at_s": 60, "select": "node:n3"}] if later else [])]
    problem = ftplan.load(
        topology=topology,
        cluster={**CLUSTER, "nodes": nodes, "placement": placement},
        failure={
            "format": "ftplan/failure",
            "format_version": "1.0",
            "fail": fail,
            "arrivals": [{"at_s": 40, "node": {"id": "n4", "cpu": 1}}],
        },
    )
    asked = {"objective": objective, "costs": costs(**parameters), "max_cpu": 1.0, "horizon": 400.0}
    plan = planned(problem, algorithm="exact", iterations=None, **asked)
    assert plan.plan is not None
    assert plan.objective is not None
    assert plan.objective.bound is not None
    assert api.verify(plan, problem).violations == ()
    incident = at_planned_times(incident_of(plan, problem))
    steps = [{"at_s": step["at_s"], "trigger": step["trigger"]} for step in plan.plan["steps"]]
    tasks = [("a", 0), ("a", 1), ("b", 0)]
    places = [None, *itertools.product(range(len(steps)), ("n2", "n3", "n4"))]
    sign = 1.0 if objective == "priority-time" else -1.0
    best = float("inf")
    for choice in itertools.product(places, repeat=len(tasks)):
        recover: list[list[dict[str, Any]]] = [[] for _ in steps]
        for (operator, index), place in zip(tasks, choice, strict=True):
            if place is not None:
                recover[place[0]].append({"operator": operator, "index": index, "node": place[1]})
        made = [{**step, "recover": items} for step, items in zip(steps, recover, strict=True)]
        value = repair_scores(outcome(made, incident), incident, horizon_of(plan, incident))[objective]
        best = min(best, sign * float(value or 0.0))
    assert sign * plan.objective.bound <= best + 1e-6
    if plan.status == "optimal":
        assert sign * float(plan.objective.value or 0.0) == pytest.approx(best)
    if "bandwidth_mb_s" not in parameters and not later:
        assert plan.objective.bound == pytest.approx(sign * best, rel=0.5)


def test_verify_finds_planted_times() -> None:
    problem = job(arrivals=NEW)
    document = costs(detection_s=30.0, restart_s=5.0, bandwidth_mb_s=0.5, replay_share=0.5, capacity_records_s=5.0)
    plan = planned(problem, costs=document, objective="priority-time", horizon=1e4)
    assert api.verify(plan, problem).violations == ()
    text = plan.to_json()
    body = json.loads(text)["plan"]

    def codes(change: Any) -> set[str]:
        made = json.loads(text)
        change(made)
        return {violation.code for violation in api.verify(made, problem).violations}

    entries = [(s, r) for s, step in enumerate(body["steps"]) for r in range(len(step["recover"]))]
    for step, entry in entries:
        at = ("plan", "steps", step, "recover", entry)
        earlier = body["steps"][step]["recover"][entry]["ready_s"] - 0.5
        assert "READY_TOO_EARLY" in codes(lambda made, at=at, to=earlier: _at(made, at).update(ready_s=to))
    for number, item in enumerate(body["queries"]):
        at = ("plan", "queries", number)
        later = item["back_s"] + 0.5
        assert "WRONG_QUERIES" in codes(lambda made, at=at, to=later: _at(made, at).update(back_s=to))
    assert codes(lambda made: made["options"].update(bandwidth_mb_s=0.6)) >= {"OPTION_DIFFERS"}
    assert codes(lambda made: made["objective"].update(value=1.0)) >= {"OBJECTIVE_DIFFERS"}
    restarting = {"restart_s": {"value": 6.0}}
    slower = codes(lambda made: made["options"]["costs"]["parameters"].update(restarting))
    assert slower >= {"READY_TOO_EARLY"}


def _at(made: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        made = made[key]
    return made


def test_what_waits_for_detection() -> None:
    """A node that arrives before the failure is noticed; what fails later is noticed later."""
    plan = planned(job(True, NEW), costs=costs(detection_s=30.0), algorithm="best-density", horizon=1e4)
    assert plan.plan is not None
    for step in plan.plan["steps"]:
        for item in step["recover"]:
            assert item["ready_s"] >= (30.0 if query(item) != ("join", 3) else LATER_S + 30.0)


def test_copies_count_only_where_state_is_local() -> None:
    copies = {"join": [["n10"]] * 8}
    problem = job(checkpoints=copies)
    fast = {"restart_s": 5.0, "bandwidth_mb_s": 0.1}
    local, remote = (planned(problem, costs=costs(state, **fast)) for state in ("local", "remote"))
    ready = [
        max(item["ready_s"] for step in (plan.plan or {})["steps"] for item in step["recover"] if item["node"] == "n10")
        for plan in (local, remote)
    ]
    assert ready[0] == 5.0
    assert ready[1] >= 25.0
    assert not any(warning.code == "REMOTE_STATE" for warning in local.warnings)
    assert sum(warning.code == "REMOTE_STATE" for warning in remote.warnings) == 1
    without = planned(job(), costs=costs("remote", **fast))
    assert not any(warning.code == "REMOTE_STATE" for warning in without.warnings)
    assert api.verify(remote, problem).violations == ()


def test_sampled_arrivals_have_costs() -> None:
    """Nodes that arrive within a moment: every sample is the plan."""
    nodes = [{**item, "at_s": [item["at_s"], item["at_s"] + 1e-6]} for item in NEW]
    document = costs(detection_s=30.0, restart_s=5.0, bandwidth_mb_s=0.5, replay_share=0.5, capacity_records_s=5.0)
    plan = planned(job(True, nodes), costs=document, horizon=1e4, samples=3)
    assert plan.summary["sampled"]["priority_time"]["mean"] == pytest.approx(plan.summary["after"]["priority_time"])
    assert plan.summary["sampled"]["last_back_s"]["mean"] == pytest.approx(plan.summary["after"]["last_back_s"])


def test_warnings_and_refusals() -> None:
    document = costs(capacity_records_s=3.0, bandwidth_mb_s=0.5)
    document["fitted_on"] = {"rates": [10, 20], "intervals_s": [60, 90]}
    plan = planned(job(), costs=document, objective="priority-time", horizon=1e5)
    said = {warning.code for warning in plan.warnings}
    assert "OUTSIDE_FITTED_RANGE" in said
    none = planned(ftplan.load(topology=TOPOLOGY, cluster=CLUSTER), fail=["zone:a"], costs=costs(replay_share=0.5))
    assert "INTERVAL_UNKNOWN" in {warning.code for warning in none.warnings}
    with pytest.raises(FtplanError, match="can process 2 records/s and gets 2: it never catches up after a failure"):
        planned(job(), costs=costs(capacity_records_s=2.0))
    with pytest.raises(FtplanError, match="--costs: 3 is not the path of a recovery-costs file"):
        planned(job(), costs=3)


def test_the_file_is_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is fingerprinted, verified against, and an axis of what-if."""
    monkeypatch.chdir(tmp_path)
    Path("slow.yaml").write_text(yaml.safe_dump(costs(restart_s=50.0, capacity_records_s=4.0)))
    problem = job()
    plan = planned(problem, costs="slow.yaml")
    assert [(item.role, item.path) for item in plan.inputs][-1] == ("costs", "slow.yaml")
    assert plan.options["costs"] == "slow.yaml"
    assert api.verify(plan, problem).violations == ()
    back = {item["back_s"] for item in (plan.plan or {})["queries"]}
    assert min(back) == pytest.approx(100.0)
    Path("slow.yaml").write_text(yaml.safe_dump(costs(restart_s=60.0, capacity_records_s=4.0)))
    codes = [violation.code for violation in api.verify(plan, problem).violations]
    assert {"STALE_INPUT", "READY_TOO_EARLY"} <= set(codes)
    assert "back means caught up" in " ".join(api.explain(plan, problem, "query:sink/0").notes)


def test_the_recovery_after_replicas_has_costs() -> None:
    """Its value is that of the schedules, its bound below that of any replicas, and both rise with slower restarts."""
    problem = job(arrivals=NEW)
    values = []
    for restart_s in (0.0, 20.0):
        document = costs(detection_s=10.0, restart_s=restart_s, capacity_records_s=5.0, bandwidth_mb_s=1.0)
        options = {"budget": 2, "then_recover": True, "iterations": 1, "time_limit_s": 3600.0, "algorithm": "greedy"}
        plan = ftplan.plan("replicate-tasks", problem, costs=document, **options)
        assert api.verify(plan, problem).violations == ()
        assert plan.objective is not None
        assert plan.objective.value is not None
        assert plan.objective.bound is not None
        assert plan.objective.bound <= plan.objective.value
        values.append(plan.objective.value)
        bound = plan.objective.bound
    envelope = {"format": "ftplan/plan", "format_version": "1.0", "kind": "replicate-tasks"}
    asked: dict[str, Any] = {"algorithm": "best-density", "objective": "priority-time", "iterations": 0}
    for one, other in itertools.combinations([("source", 1), ("join", 1), ("sink", 3), ("join", 2)], 2):
        chosen = [{"operator": operator, "index": index, "node": "n3"} for operator, index in (one, other)]
        replicas = {**envelope, "plan": {"replicas": chosen}}
        after = planned(problem, replicas=replicas, costs=document, **asked)
        assert after.objective is not None
        assert after.objective.value is not None
        assert after.objective.value >= bound - 1e-6
    assert values[1] > values[0]
