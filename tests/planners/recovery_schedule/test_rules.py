"""Figure 2 as a valid plan, and every code of the rule checker."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.model.cluster import Node
from ftplan.model.failure import Arrival, Fail
from ftplan.model.names import parse_selector
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.recovery_schedule.incident import Incident, Transfers
from ftplan.planners.recovery_schedule.replay.replay import replay
from ftplan.planners.recovery_schedule.rules import violations
from tests.model import figure_2 as fig
from tests.planners.recovery_schedule.replay.cases import failing_again, later, split_task


def codes(body: dict[str, Any], incident: Incident | None = None) -> list[str]:
    return [v.code for v in violations(body, fig.incident() if incident is None else incident)]


def back(body: dict[str, Any], incident: Incident) -> dict[str, list[float | None]]:
    """When each query is back, by its operator."""
    found: dict[str, list[float | None]] = {}
    for outage in replay(body["steps"], incident).outages:
        found.setdefault(incident.graph.name(outage.query)[0], []).append(outage.back_s)
    return found


def test_both_columns_of_figure_2_are_valid() -> None:
    assert codes(fig.full()) == []
    assert codes(fig.by_hand()) == []
    assert codes(fig.by_hand(fig.OPERATOR_CENTRIC)) == []
    assert codes(fig.full(fig.OPERATOR_CENTRIC, {4: (9, 10), 5: (11, 12)})) == []


def test_queries_come_back_as_in_the_table() -> None:
    incident = fig.incident()
    assert back(fig.by_hand(), incident) == {"p09": [120.0], "p10": [180.0], "p11": [300.0], "p12": [300.0]}
    assert back(fig.by_hand(fig.OPERATOR_CENTRIC), incident) == {
        "p09": [240.0],
        "p10": [240.0],
        "p11": [300.0],
        "p12": [300.0],
    }


def test_the_order_of_the_file_does_not_count() -> None:
    shuffled = fig.incident(graph=TaskGraph(fig.topology(order=[12, 3, 7, 1, 9, 10, 2, 11, 4, 6, 5, 8])))
    assert codes(fig.full(), shuffled) == []


def test_an_incomplete_schedule_lists_what_is_down() -> None:
    short = fig.full((*fig.QUERY_CENTRIC[:4], ()), {2: (9,), 3: (10,)})
    assert codes(short) == []


Change = Callable[[dict[str, Any]], object]

FAULTS: list[tuple[str, str, Change]] = [
    ("UNKNOWN_TASK", "p99", lambda b: b["steps"][1]["recover"].append(fig.entry(99, "a1", 60.0))),
    ("NOT_FAILED", "p01", lambda b: b["steps"][1]["recover"].append(fig.entry(1, "a1", 60.0))),
    ("RECOVERED_TWICE", "p03", lambda b: b["steps"][2]["recover"].append(fig.entry(3, "a2", 120.0))),
    ("RECOVERED_TWICE", "p07", lambda b: b["steps"][2]["recover"].append(fig.entry(7, "a2", 120.0))),
    ("UNKNOWN_NODE", "b1", lambda b: b["steps"][1]["recover"][0].update(node="b1")),
    ("UNKNOWN_NODE", "no node", lambda b: b["steps"][1]["recover"][0].update(node=None)),
    ("NODE_NOT_THERE", "a2", lambda b: b["steps"][1]["recover"][0].update(node="a2")),
    ("NODE_NOT_THERE", "f1", lambda b: b["steps"][1]["recover"][0].update(node="f1")),
    ("OVER_CAPACITY", "a1", lambda b: b["steps"][2]["recover"][0].update(node="a1")),
    ("OVER_CAPACITY", "n0", lambda b: b["steps"][2]["recover"][0].update(node="n0")),
    ("WRONG_CPU", "p03", lambda b: b["steps"][1]["recover"][0].update(cpu=0.5)),
    ("READY_TOO_EARLY", "p03", lambda b: b["steps"][1]["recover"][0].update(ready_s=59.0)),
    ("WRONG_STEP_TIME", "step 7", lambda b: b["steps"][1].update(step=7)),
    ("WRONG_TRIGGER", "arrival:a2", lambda b: b["steps"][1].update(trigger="arrival:a2")),
    ("WRONG_TRIGGER", "failure", lambda b: b["steps"][1].update(trigger="failure")),
    ("WRONG_ROLLBACK", "step 1", lambda b: b["steps"][1].update(global_rollback=True)),
    ("WRONG_CAPACITY", "3", lambda b: b["steps"][1].update(capacity=3.0)),
    ("WRONG_USED", "1", lambda b: b["steps"][1].update(used=1.0)),
    ("WRONG_RESTORED", "p10", lambda b: b["steps"][3].update(restored=[])),
    ("WRONG_RESTORED", "p11", lambda b: b["steps"][3]["restored"].append({"operator": "p11", "index": 0})),
    ("WRONG_RESTORED", "twice", lambda b: b["steps"][3]["restored"].append({"operator": "p10", "index": 0})),
    ("WRONG_RESTORED", "100 s", lambda b: b["steps"][3]["restored"][0].update(at_s=100.0)),
    ("WRONG_RESTORED", "priority", lambda b: b["steps"][3]["restored"][0].update(priority=2.0)),
    ("WRONG_QUERIES", "p09", lambda b: b["queries"][0].update(back_s=60.0)),
    ("WRONG_QUERIES", "p09", lambda b: b["queries"][0].update(back_s=None)),
    ("WRONG_QUERIES", "p09", lambda b: b["queries"].pop(0)),
    ("WRONG_QUERIES", "priority", lambda b: b["queries"][0].update(priority=3.0)),
    ("WRONG_QUERIES", "p01", lambda b: b["queries"].append({"operator": "p01", "index": 0, "back_s": 1.0})),
    ("UNRECOVERED_DIFFERS", "p03", lambda b: b["unrecovered"].append({"operator": "p03", "index": 0})),
    ("WRONG_TIMELINE", "timeline[1]", lambda b: b["timeline"][1].update(queries=3)),
    ("WRONG_TIMELINE", "nothing more", lambda b: b["timeline"].pop()),
    ("OBJECTIVE_DIFFERS", "step 3", lambda b: b["steps"][3]["objective"].update(value=2.0)),
    ("OBJECTIVE_DIFFERS", "bound", lambda b: b["steps"][3]["objective"].update(bound=0.5)),
]


@pytest.mark.parametrize(("code", "text", "change"), FAULTS)
def test_each_fault_has_its_code(code: str, text: str, change: Change) -> None:
    body = copy.deepcopy(fig.full())
    change(body)
    found = violations(body, fig.incident())
    assert any(text in v.message for v in found if v.code == code)
    # A task too many or elsewhere moves the sums; a fault of a statement is the only one.
    if code not in ("NOT_FAILED", "UNKNOWN_TASK", "RECOVERED_TWICE", "NODE_NOT_THERE", "OVER_CAPACITY", "UNKNOWN_NODE"):
        assert {v.code for v in found} == {code}


def test_missing_step() -> None:
    body = fig.by_hand()
    del body["steps"][5]
    (found,) = violations(body, fig.incident())
    assert found.code == "MISSING_STEP"
    assert found.message == ("there is no step at 300 s, where node:a5 arrives: every failure and arrival is a step")
    body = fig.by_hand()
    del body["steps"][0]
    assert codes(body) == ["MISSING_STEP"]


def test_a_step_at_which_nothing_happens() -> None:
    body = fig.by_hand()
    body["steps"].insert(1, {"at_s": 30.0, "recover": []})
    assert codes(body) == ["WRONG_STEP_TIME"]
    body["steps"][1]["at_s"] = 0.0
    assert codes(body) == ["WRONG_STEP_TIME"]


def test_steps_out_of_order() -> None:
    body = fig.by_hand()
    body["steps"][1], body["steps"][2] = body["steps"][2], body["steps"][1]
    assert codes(body) == ["WRONG_STEP_TIME"]


def test_a_range_of_arrival() -> None:
    """The step may lie anywhere within the range, and its trigger tells whose it is."""
    arrivals = tuple(Arrival((0.0, 400.0), Node(f"a{i}", 2.5)) for i in range(1, 6))
    assert codes(fig.full(), fig.incident(arrivals=arrivals)) == []
    late = tuple(Arrival((310.0, 400.0), Node(f"a{i}", 2.5)) for i in range(1, 6))
    assert "MISSING_STEP" in codes(fig.full(), fig.incident(arrivals=late))


def test_arrivals_of_one_range_come_one_after_another() -> None:
    """A schedule by hand need not say which of them a step is for."""
    body = fig.full()
    for step in body["steps"]:
        step.pop("trigger", None)
    arrivals = tuple(Arrival((0.0, 400.0), Node(f"a{i}", 2.5)) for i in range(1, 6))
    assert codes(body, fig.incident(arrivals=arrivals)) == []


def test_a_node_that_arrives_under_the_id_of_a_failed_one() -> None:
    arrivals = tuple(Arrival((60.0 * i, 60.0 * i), Node(f"f{i}", 2.5)) for i in range(1, 6))
    body = fig.by_hand()
    for i, step in enumerate(body["steps"]):
        for item in step["recover"]:
            item["node"] = f"f{i}"
    assert codes(body, fig.incident(arrivals=arrivals)) == []


def test_max_cpu_and_used_cpu_limit_a_node() -> None:
    assert codes(fig.by_hand(), fig.incident(max_cpu=0.7)) == ["OVER_CAPACITY"] * 5
    used = tuple(Arrival(a.at_s, replace(a.node, used_cpu=0.5)) for a in fig.incident().arrivals)
    assert codes(fig.by_hand(), fig.incident(arrivals=used)) == ["OVER_CAPACITY"] * 5
    assert codes(fig.by_hand(), fig.incident(arrivals=used, max_cpu=1.0)) == []


def test_a_node_that_accepts_no_tasks() -> None:
    nodes = (*fig.cluster().nodes, Node("store", 9.0, accepts=frozenset(("checkpoints",))))
    body = fig.by_hand()
    body["steps"][1]["recover"][0]["node"] = "store"
    assert codes(body, fig.incident(cluster=replace(fig.cluster(), nodes=nodes))) == ["NODE_ACCEPTS_NO_TASKS"]


def test_capacity_caps_the_nodes_of_the_start_together() -> None:
    nodes = (*fig.cluster().nodes, Node("s1", 2.5), Node("s2", 2.5))
    body: dict[str, Any] = {"steps": [{"at_s": 0.0, "recover": []}]}
    body["steps"][0]["recover"] = [{"operator": "p03", "index": 0, "node": "s1"}]
    roomy = fig.incident(cluster=replace(fig.cluster(), nodes=nodes), arrivals=(), capacity=1.5)
    assert codes(body, roomy) == []
    body["steps"][0]["recover"].append({"operator": "p04", "index": 0, "node": "s2"})
    assert codes(body, roomy) == ["OVER_CAPACITY"]


def test_without_a_cluster() -> None:
    bare = fig.incident(cluster=None, arrivals=(), capacity=4.0, fail=(Fail(parse_selector("query:p09/0")),))
    tasks = [{"operator": fig.name(n), "index": 0, "node": None} for n in (1, 3, 5, 7)]
    body: dict[str, Any] = {"steps": [{"at_s": 0.0, "recover": tasks}]}
    assert codes(body, bare) == []
    tasks.append({"operator": "p09", "index": 0, "node": None})
    assert codes(body, bare) == ["OVER_CAPACITY"]


def test_a_failure_on_the_way() -> None:
    again = fig.incident(fail=(*fig.incident().fail, later("node:a1", 150.0)), arrivals=fig.incident().arrivals[:4])
    body = failing_again()
    assert codes(body, again) == []
    assert back(body, again)["p09"] == [120.0, 180.0]
    body["timeline"] = [
        {"at_s": 120.0, "queries": 1, "priority": 1.0},
        {"at_s": 150.0, "queries": 0, "priority": 0.0},
        {"at_s": 180.0, "queries": 1, "priority": 1.0},
        {"at_s": 240.0, "queries": 2, "priority": 2.0},
    ]
    assert codes(body, again) == []
    del body["steps"][3]
    assert codes(body, again)[0] == "MISSING_STEP"


def test_a_lost_node_hosts_nothing() -> None:
    again = fig.incident(fail=(*fig.incident().fail, later("node:a1", 150.0)), arrivals=fig.incident().arrivals[:4])
    body = failing_again()
    body["steps"][4]["recover"][0]["node"] = "a1"
    assert codes(body, again) == ["NODE_NOT_THERE"]


def test_a_failure_without_determinism_forces_a_rollback() -> None:
    graph = TaskGraph(fig.topology(deterministic=False))
    again = fig.incident(
        fail=(*fig.incident().fail, later("node:a1", 150.0)), arrivals=fig.incident().arrivals[:4], graph=graph
    )
    body = failing_again()
    assert codes(body, again) == ["WRONG_ROLLBACK"]
    body["steps"][3]["global_rollback"] = True
    assert codes(body, again) == []


def test_a_query_that_was_still_restoring_never_came_back() -> None:
    again = fig.incident(fail=(*fig.incident().fail, later("node:a1", 150.0)), arrivals=fig.incident().arrivals[:4])
    body = failing_again()
    body["steps"][1]["recover"][0]["ready_s"] = 151.0
    body["steps"][2]["restored"] = []
    assert codes(body, again) == []
    assert back(body, again)["p09"] == [180.0]


def test_replicas_take_over_and_fail_with_their_node() -> None:
    graph = fig.incident().graph
    nodes = (*fig.cluster().nodes, Node("s1", 2.5))
    prepared = fig.incident(
        cluster=replace(fig.cluster(), nodes=nodes),
        arrivals=(),
        replicas={graph.number("p03", 0): "s1", graph.number("p05", 0): None, graph.number("p04", 0): "f1"},
    )
    body: dict[str, Any] = {"steps": [{"at_s": 0.0, "capacity": 1.0, "recover": []}]}
    tasks = body["steps"][0]["recover"]
    tasks.append({"operator": "p07", "index": 0, "node": "s1"})
    assert codes(body, prepared) == []
    tasks[0]["operator"] = "p03"
    assert codes(body, prepared) == ["NOT_FAILED"]
    tasks[0]["operator"] = "p04"
    assert codes(body, prepared) == []


def test_everything_failed_and_the_first_node_has_a_coordinator() -> None:
    whole = fig.incident(complete=True, fail=(), reserved={"a1": 0.5})
    body: dict[str, Any] = {"steps": [{"at_s": 60.0 * i, "recover": []} for i in range(6)]}
    body["steps"][1]["recover"] = [{"operator": "p01", "index": 0, "node": "a1"}]
    assert codes(body, whole) == []
    body["steps"][1]["recover"].append({"operator": "p03", "index": 0, "node": "a1"})
    assert codes(body, whole) == ["OVER_CAPACITY"]


def test_restores_on_one_node_go_one_after_another() -> None:
    transfers = Transfers(np.full(12, 100.0), 10.0, 1.0)
    slow = fig.incident(transfers=transfers)
    assert back(fig.by_hand(), slow)["p09"] == [142.0]
    body = fig.by_hand()
    body["steps"][1]["recover"][0]["ready_s"] = 82.0
    body["steps"][1]["recover"][1]["ready_s"] = 71.0
    assert codes(body, slow) == []
    body["steps"][1]["recover"][0]["ready_s"] = 80.0
    assert codes(body, slow) == ["READY_TOO_EARLY"]


def test_no_transfer_where_a_copy_lies() -> None:
    """A node that arrives comes empty, whatever lay on the one that had its id."""
    nodes = (*fig.cluster().nodes, Node("s1", 2.5))
    graph = fig.incident().graph
    task = graph.number("p03", 0)
    transfers = Transfers(np.full(12, 100.0), 10.0, 1.0, {(task, "s1"): 100.0, (task, "a1"): 100.0})
    prepared = fig.incident(cluster=replace(fig.cluster(), nodes=nodes), transfers=transfers)
    body = fig.by_hand(((), (), (), (), ()))
    body["steps"][0]["recover"] = [{"operator": "p03", "index": 0, "node": "s1", "ready_s": 0.0}]
    assert codes(body, prepared) == []
    body = fig.by_hand(((), (), (), (), ()))
    body["steps"][1]["recover"] = [{"operator": "p03", "index": 0, "node": "a1", "ready_s": 60.0}]
    assert codes(body, prepared) == ["READY_TOO_EARLY"]


def test_a_heavy_task_split_over_nodes() -> None:
    incident, body = split_task()
    assert codes(body, incident) == []
    body["steps"][2]["recover"][1]["key_groups"] = [3, 5]
    assert codes(body, incident) == ["WRONG_KEY_GROUPS"]
    incident, body = split_task()
    body["steps"][2]["recover"][1]["cpu"] = 0.5
    assert codes(body, incident) == ["WRONG_CPU"]
    incident, body = split_task()
    del body["steps"][2]["recover"][1]["key_groups"]
    assert "RECOVERED_TWICE" in codes(body, incident)
