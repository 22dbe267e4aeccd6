"""Task replication from files to plans: budgets, failures, placement, changes, curves, and the same bytes again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import ftplan
from ftplan.api import verify
from ftplan.io.plan_file import load_plan
from ftplan.reports.plot_file import check_plot, plot
from tests.planners.replicate_tasks.replication_cases import CLUSTER, PLACEMENT, TOPOLOGY, loaded, names, planned


def value(plan: ftplan.Plan) -> float:
    assert plan.objective is not None
    assert plan.objective.value is not None
    return plan.objective.value


def codes(plan: ftplan.Plan) -> list[str]:
    return [warning.code for warning in plan.warnings]


def failing(*fail: str, **scenarios: tuple[float, list[str]]) -> dict[str, Any]:
    listed = [{"id": name, "probability": p, "fail": which} for name, (p, which) in scenarios.items()]
    return {"fail": list(fail), "scenarios": listed}


def test_the_worst_case_takes_whole_lanes() -> None:
    """Lanes weigh 3, 2 and 1 of 6: two replicas buy the first, five buy two and leave one without use."""
    problem = loaded(with_cluster=False)
    two = planned(problem, budget=2)
    assert names(two) == ["sink/0", "source/0"]
    assert value(two) == pytest.approx(0.5)
    assert two.status == "optimal"
    assert two.rules == ("budget",)
    five = planned(problem, budget=5)
    assert names(five) == ["sink/0", "sink/1", "source/0", "source/1"]
    assert value(five) == pytest.approx(5 / 6)
    assert five.summary["random"]["output_fidelity"] < value(five)
    assert planned(problem, budget=0).plan == {"replicas": [], "activate": None, "deactivate": None, "curve": None}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"budget": "34%"}, ["sink/0", "source/0"]),
        ({"budget": "33%"}, []),
        ({"budget_cpu": 3.0}, ["sink/0", "sink/1", "source/0", "source/1"]),
        ({"budget_cpu": 2.9}, ["sink/0", "source/0"]),
        ({"budget_mb": 3.0}, ["sink/0", "sink/2", "source/0", "source/2"]),
        ({"budget": 2, "weight": "priority"}, ["sink/2", "source/2"]),
        ({"budget": 2, "metric": "internal-completeness"}, ["sink/0", "source/0"]),
        ({"budget": 1, "metric": "internal-completeness"}, ["source/0"]),
    ],
)
def test_budgets_weights_and_metrics(options: dict[str, Any], expected: list[str]) -> None:
    plan = planned(loaded(with_cluster=False), **options)
    assert names(plan) == expected
    assert plan.objective is not None
    assert plan.objective.name == options.get("metric", "output-fidelity")
    assert verify(plan, loaded(with_cluster=False)).violations == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "how many replicas may there be"),
        ({"budget": 1, "target": 0.5}, "--budget and --target: give one of them"),
        ({"budget": "101%"}, "--budget: '101%' is neither"),
        ({"budget": -1}, "--budget: -1 is not a number of replicas"),
        ({"budget": 1.5}, "--budget: 1.5 is not a number of replicas"),
        ({"target": 0.0}, "--target: 0.0 is not a number above 0"),
        ({"budget_cpu": -1.0}, "--budget-cpu: -1.0 is not a number of at least 0"),
        ({"budget": 1, "metric": "output"}, "--metric: 'output' is not one of output-fidelity"),
        ({"budget": 1, "weight": "rates"}, r"--weight: 'rates' is not .* \(did you mean 'rate'\?\)"),
        ({"budget": 1, "budgett": 1}, r"unknown option 'budgett' \(did you mean 'budget'\?\)"),
        ({"budget": 1, "max_changes": 1}, "need the replicas now in place"),
        ({"budget": 1, "max_cpu": 0.0}, "--max-cpu: 0.0 is not a number above 0"),
        ({"budget": 1, "fail": ["node:n1"]}, "without a cluster"),
        ({"budget": 1, "fail": ["task:sinks/0"]}, "sinks"),
    ],
)
def test_mistakes_are_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ftplan.FtplanError, match=message) as caught:
        ftplan.plan("replicate-tasks", loaded(with_cluster=False), **options)
    assert "\n" not in str(caught.value)


def test_only_what_fails_is_replicated() -> None:
    """Without n1 lane 0 and the source of lane 1 are gone; sink/1 on n2 lives."""
    plan = planned(loaded(), budget=1, fail=["node:n1"])
    assert names(plan) == ["source/1@n3"] or names(plan) == ["source/1@n4"]
    assert plan.summary["before"]["output_fidelity"] == pytest.approx(1 / 6)
    assert value(plan) == pytest.approx(0.5)
    assert plan.options["cases"] == ["failure"]
    everything = planned(loaded(), budget=1, fail=["node:n1"], worst_case=True)
    assert value(everything) == 0.0


def test_nothing_fails() -> None:
    plan = planned(loaded(), budget=3, fail=["node:n4"])
    assert (names(plan), codes(plan)) == ([], ["NOTHING_FAILS"])
    assert value(plan) == pytest.approx(1.0)


def test_useless_replicas_are_dropped() -> None:
    """The first four tasks are all sinks and one source: two sinks are of no use."""
    plan = planned(loaded(with_cluster=False), "wasteful", budget=4)
    assert names(plan) == ["sink/0", "source/0"]
    assert codes(plan) == ["USELESS_REPLICAS"]
    assert "2 replicas complete no tree" in plan.warnings[0].message


def test_scenarios_count_with_their_probabilities() -> None:
    """Rack a is likely, n3 is not: with one replica the lane of rack a that lacks one task only is the best choice."""
    problem = loaded(failing(rack=(0.9, ["zone:a"]), third=(0.1, ["node:n3"])))
    plan = planned(problem, budget=1)
    assert [case["id"] for case in plan.summary["after"]["by_case"]] == ["rack", "third"]
    assert names(plan)[0].startswith("source/2@")
    assert value(plan) == pytest.approx(0.9 * 1 / 6 + 0.1 * 5 / 6)


def test_a_replica_does_not_fail_with_its_primary() -> None:
    """Zone b is the only other one with room but n3 fails in the likely scenario with n1: n4 it is."""
    problem = loaded(failing(both=(0.9, ["node:n1", "node:n3"]), one=(0.1, ["node:n1"])))
    plan = planned(problem, budget=1)
    assert names(plan) == ["source/1@n4"]
    crowded = [{**node, "cpu": 0.1} if node["id"] == "n4" else node for node in CLUSTER["nodes"]]
    worse = planned(
        loaded(failing(both=(0.9, ["node:n1", "node:n3"]), one=(0.1, ["node:n1"])), nodes=crowded), budget=1
    )
    assert names(worse) == ["sink/2@n2"]  # n3 would be no good to source/1, and n2 lives when sink/2 fails with n3
    assert value(worse) < value(plan)


def test_replicas_stand_apart_and_within_capacity() -> None:
    plan = planned(loaded(), budget="100%")
    assert plan.plan is not None
    assert len(plan.plan["replicas"]) == 6
    assert value(plan) == pytest.approx(1.0)
    zones = {"n1": "a", "n2": "a", "n3": "b", "n4": "d"}
    for item in plan.plan["replicas"]:
        assert zones[item["node"]] != zones[PLACEMENT[item["operator"]][item["index"]]]
    found = verify(plan, loaded(), strict=True)
    assert found.violations == ()
    assert set(found.rules) == {
        "budget", "replica-not-with-primary", "replica-not-in-primary-zone", "capacity", "memory",
    }  # fmt: skip


def test_packing_is_repaired_by_search() -> None:
    """Only n4 has much room and all could go there, but the sinks of zone a may go to n3 too; sink/2 may not."""
    nodes = [
        {"id": "n1", "cpu": 4, "zone": "a", "used_cpu": 4.0},
        {"id": "n2", "cpu": 4, "zone": "a", "used_cpu": 4.0},
        {"id": "n3", "cpu": 10, "zone": "b", "used_cpu": 4.4},
        {"id": "n4", "cpu": 3.75},
    ]
    plan = planned(loaded(nodes=nodes), budget=6, max_cpu=0.8)
    assert plan.status == "optimal", plan.infeasible
    assert {n.partition("@")[0]: n.partition("@")[2] for n in names(plan)}["sink/2"] == "n4"


def with_fix(fix: str, nodes: list[Any], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Apply a fix as a person would."""
    flag = re.fullmatch(r"--([a-z-]+) ([0-9.e+]+)", fix)
    if flag:
        number: Any = float(flag[2]) if "." in flag[2] else int(flag[2])
        return nodes, {**options, flag[1].replace("-", "_"): number}
    return [*nodes, yaml.safe_load(fix.removeprefix("add to the nodes of the cluster file: "))], options


def test_a_fix_makes_it_feasible() -> None:
    nodes = [{"id": f"n{i}", "cpu": 2, "zone": "a", "memory_mb": 8} for i in range(1, 4)]
    nodes.append({"id": "n4", "cpu": 0.1})
    refused = planned(loaded(nodes=nodes), budget=4)
    assert refused.status == "infeasible"
    assert refused.plan is None
    assert refused.infeasible is not None
    assert refused.infeasible.limit == "room on a node"
    more, options = with_fix(refused.infeasible.smallest_fix, nodes, {"budget": 4})
    assert more[-1] == {"id": "extra-1", "cpu": 4.375, "memory_mb": 4}
    fixed = planned(loaded(nodes=more), **options)
    assert fixed.status == "optimal"
    assert all(name.endswith("@extra-1") for name in names(fixed))


def test_the_fewest_replicas_that_reach_a_target() -> None:
    plan = planned(loaded(with_cluster=False), target=0.7)
    assert plan.objective is not None
    assert plan.objective.to_dict() == {
        "name": "replicas", "sense": "min", "value": 4.0, "bound": 4.0, "scale": 4.0, "gap": 0.0,
    }  # fmt: skip
    assert plan.status == "optimal"
    assert plan.summary["after"]["output_fidelity"] == pytest.approx(5 / 6)
    assert verify(plan, loaded(with_cluster=False)).violations == ()
    assert len(names(planned(loaded(with_cluster=False), target=1.0))) == 6


def test_a_target_out_of_reach_says_which_one_is_not() -> None:
    """All nodes fail together: no replica on any of them survives."""
    failure = failing(all=(1.0, ["node:n1", "node:n2", "node:n3", "node:n4"]), some=(1.0, ["node:n1"]))
    refused = planned(loaded(failure), target=0.9)
    assert refused.status == "infeasible"
    assert refused.infeasible is not None
    assert refused.infeasible.limit == "target"
    _, options = with_fix(refused.infeasible.smallest_fix, [], {})
    assert planned(loaded(failure), **options).status in ("optimal", "feasible")


def test_what_to_activate_and_to_deactivate() -> None:
    now = {"replicas": {"source": [None, None, "n4"], "sink": [None, None, "n4"]}}
    plan = planned(loaded(placement=now), budget=2)
    assert sorted(name.partition("@")[0] for name in names(plan, "activate")) == ["sink/0", "source/0"]
    assert names(plan, "deactivate") == ["sink/2@n4", "source/2@n4"]
    assert plan.summary["before"]["output_fidelity"] == pytest.approx(1 / 6)
    few = planned(loaded(placement=now), budget=4, max_changes=2)
    assert names(few, "deactivate") == []
    assert value(few) == pytest.approx(4 / 6)
    none = planned(loaded(placement=now), budget=2, max_changes=1)
    assert names(none, "activate") == names(none, "deactivate") == []
    kept = planned(loaded(placement=now), budget=2, threshold=0.4)
    assert kept.reason is not None
    assert kept.reason.startswith("no change: a fresh plan would gain 0.333333, below --threshold 0.4")
    assert names(kept) == ["sink/2@n4", "source/2@n4"]


def test_no_change_names_its_limit() -> None:
    now = {"replicas": {"source": [None, None, "n4"], "sink": [None, None, "n4"]}}
    few = planned(loaded(placement=now), budget=2, max_changes=1)
    assert few.reason == "no change: nothing within --max-changes 1 gains anything"
    best = planned(loaded(), budget=2)
    again = planned(loaded(), budget=2, current=best)
    assert again.reason == "no change: a fresh plan has the replicas that are in place"
    assert planned(loaded(), budget=2, current=best, threshold=0.0).reason == (
        "no change: a fresh plan is no better than the replicas in place"
    )
    reached = planned(loaded(), target=0.5)
    assert planned(loaded(), target=0.5, current=reached).reason == (
        "no change: a fresh plan has the replicas that are in place"
    )
    assert best.reason is None
    assert planned(loaded(placement=now), budget=2).reason is None


def test_a_budget_that_shrank_needs_changes() -> None:
    before = planned(loaded(with_cluster=False), budget=4)
    refused = planned(loaded(with_cluster=False), budget=2, current=before, max_changes=1)
    assert refused.infeasible is not None
    assert refused.infeasible.smallest_fix == "--max-changes 2"
    fixed = planned(loaded(with_cluster=False), budget=2, current=before, max_changes=2)
    assert value(fixed) == pytest.approx(0.5)
    assert names(fixed, "deactivate") == ["sink/1", "source/1"]


def test_current_from_a_file_is_an_input(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(planned(loaded(), budget=2).to_json())
    plan = planned(loaded(), budget=2, current=path)
    assert plan.inputs[-1].role == "current"
    assert names(plan, "activate") == names(plan, "deactivate") == []


def test_the_curve_never_falls() -> None:
    plan = planned(loaded(with_cluster=False), budget=2, curve=True)
    assert plan.plan is not None
    curve = plan.plan["curve"]
    assert [point["budget"] for point in curve] == [1, 2, 3, 4, 5, 6]
    assert [point["value"] for point in curve] == pytest.approx([0, 0.5, 0.5, 5 / 6, 5 / 6, 1])
    assert all(point["bound"] == pytest.approx(point["value"]) for point in curve)
    assert load_plan(plan.to_dict()).value.plan == plan.plan


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_curve_as_a_picture(form: str, tmp_path: Path) -> None:
    pytest.importorskip({"svg": "jinja2", "png": "matplotlib"}[form])
    plan = planned(loaded(with_cluster=False), budget=2, curve=True)
    paths = [tmp_path / f"{name}.{form}" for name in "ab"]
    for path in paths:
        check_plot(path)
        plot(plan, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    with pytest.raises(ftplan.FtplanError, match="exists"):
        check_plot(paths[0])
    with pytest.raises(ftplan.FtplanError, match=r"expected a name that ends in \.svg or \.png"):
        check_plot(tmp_path / "a.pdf")
    with pytest.raises(ftplan.FtplanError, match="nothing to draw"):
        plot(planned(loaded(with_cluster=False), budget=2), tmp_path / f"c.{form}")


def test_shuffled_input_gives_the_same_bytes() -> None:
    failure = failing(rack=(0.9, ["zone:a"]), third=(0.1, ["node:n3"]))
    one = planned(loaded(failure), budget=3, curve=True)
    turned = {**TOPOLOGY, "operators": TOPOLOGY["operators"][::-1]}
    other = planned(
        loaded({"scenarios": failure["scenarios"][::-1]}, topology=turned, nodes=CLUSTER["nodes"][::-1]),
        budget=3,
        curve=True,
    )
    first, second = (json.loads(plan.to_json()) for plan in (one, other))
    del first["inputs"], second["inputs"]
    assert first == second


def test_a_cluster_without_a_placement_says_what_to_do() -> None:
    with pytest.raises(ftplan.FtplanError, match=r"give placement\.tasks in the cluster file, place round robin"):
        planned(loaded(placement={"tasks": {}}), budget=2)


def test_where_some_replicas_find_no_node_others_are_chosen() -> None:
    """Outside zone a there is room for one core: lane 0 needs 1.5, lane 1 lacks its source of 0.5 only."""
    nodes = [*CLUSTER["nodes"][1:3], {"id": "n3", "cpu": 4, "zone": "b"}, {"id": "n4", "cpu": 1.25}]
    full = [{**node, "used_cpu": 3.2} if node["id"] == "n3" else node for node in nodes]
    problem = loaded({"fail": ["task:source/0", "task:source/1", "task:sink/0"]}, nodes=full)
    plan = planned(problem, budget=3)
    assert names(plan) == ["source/1@n4"]
    assert plan.status == "optimal"
    assert codes(plan) == ["NO_ROOM"]
    assert "{id: extra-1, cpu: " in plan.warnings[0].message
    assert plan.objective is not None
    assert plan.objective.bound == plan.objective.value
    assert verify(plan, problem, strict=True).violations == ()


def test_nodes_and_zones_fail_by_their_probability() -> None:
    """As the same single failures in a file; what fails else is told from the cluster's word."""
    nodes = [{**node, "failure_probability": 0.1 * k} for k, node in enumerate(CLUSTER["nodes"])]
    zones = [{"id": "a", "failure_probability": 0.3}]
    written = failing(n1=(0.1, ["node:n1"]), n2=(0.2, ["node:n2"]), n4=(0.3, ["node:n4"]), a=(0.3, ["zone:a"]))
    problem, same = loaded(nodes=nodes, zones=zones), loaded(written, nodes=nodes, zones=zones)
    plan = planned(problem, budget=2, by_probability=True)
    assert value(plan) == pytest.approx(value(planned(same, budget=2)))
    assert plan.options["cases"] == ["node:n1", "node:n2", "node:n4", "zone:a"]
    assert verify(plan, problem, strict=True).violations == ()
    assert ftplan.evaluate(plan, problem)["output-fidelity"] == pytest.approx(value(plan))
    for options, told in (({"fail": ["node:n1"]}, "not from --fail"), ({}, "no node and no zone")):
        with pytest.raises(ftplan.FtplanError, match=told):
            planned(loaded() if not options else problem, budget=2, by_probability=True, **options)
    with pytest.raises(ftplan.FtplanError, match="needs the cluster"):
        planned(loaded(with_cluster=False), budget=2, by_probability=True)
