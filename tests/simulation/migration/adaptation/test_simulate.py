"""Adaptation over the load of statistics, from inputs to answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.cluster import Node
from ftplan.model.plan import InputFile, Warn
from ftplan.planners.allocate_checkpoints.metrics import allocation_score
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.simulation.document import load_simulation
from ftplan.simulation.migration.adaptation.allocations import TECHNIQUES
from ftplan.simulation.migration.adaptation.run import AdaptationPolicy, run_adaptation
from ftplan.simulation.migration.adaptation.simulate import AdaptationScene, scene_of
from ftplan.simulation.migration.options import ALLOCATIONS, MigrationSimulationOptions
from tests.simulation.migration.adaptation.file_cases import AT_THE_CEILING, MB, against_each_other, day, job


def simulated(problem: ftplan.Problem, **options: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(ftplan.simulate("migration", problem, level="trace", **options).to_json())
    return document


def scene(problem: ftplan.Problem, **options: Any) -> AdaptationScene:
    return scene_of(problem, MigrationSimulationOptions.of("simulate migration", options))


def of(document: dict[str, Any], allocation: str, preferred: bool = True) -> dict[str, Any]:
    (one,) = (
        item
        for item in document["trace"]["adaptations"]
        if (item["allocation"], item["preferred"]) == (allocation, preferred)
    )
    return {name: None if value is None else value["mean"] for name, value in one["summary"].items()}


def test_the_papers_synthetic_job_has_half_of_even_and_all_of_optimised_usable() -> None:
    document = simulated(against_each_other(), allocation=["even", "correlated", "usable"], runs=5, **AT_THE_CEILING)
    for preferred in (True, False):
        for name, share in (("even", 0.5), ("correlated", 1.0)):
            figures = of(document, name, preferred)
            # All of o2 has to leave node 2 as soon as the trace begins, and fits on node 1 alone.
            assert (figures["moves"], figures["assisted_share"], figures["usable_share"]) == (10.0, share, share)
            assert figures["bytes"] == pytest.approx(10.0 * (1.0 - share) * MB)
            assert figures["overloaded_after"] == 0.0
    assert document["trace"]["without_adaptation"]["overloaded_nodes"] == 80


def test_on_three_nodes_even_leaves_six_or_seven_of_ten() -> None:
    document = simulated(against_each_other(control=False), allocation="even", runs=5, prefer="yes", **AT_THE_CEILING)
    assert 0.6 <= of(document, "even")["usable_share"] <= 0.7


def test_the_document_is_what_its_schema_says() -> None:
    document = simulated(day(), runs=2, period_s=2.0)
    assert load_simulation(document).value == document
    body = document["trace"]
    assert (body["periods"], body["period_s"], body["planned_on_s"]) == (15, 2.0, 30.0)
    cells = [(item["allocation"], item["preferred"]) for item in body["adaptations"]]
    assert cells == [(name, preferred) for name in ALLOCATIONS for preferred in (True, False)]
    for item in body["adaptations"]:
        assert item["runs"] == (2 if TECHNIQUES[item["allocation"]].random else 1)
        assert {len(values) for values in item["over_time"].values()} == {15}
        summary = item["summary"]
        assert sum(item["over_time"]["moves"]) == pytest.approx(summary["moves"]["mean"])
        assert sum(item["by_protocol"].values()) == pytest.approx(summary["moves"]["mean"])
        assert summary["overloaded_after"]["mean"] <= summary["overloaded_before"]["mean"]


def test_equal_questions_have_equal_answers_and_other_seeds_other_draws() -> None:
    asked = {"allocation": "baseline", "runs": 2}
    assert simulated(day(), **asked) == simulated(day(), **asked)
    first, second = (simulated(day(), allocation="baseline", seed=seed) for seed in (0, 1))
    both = simulated(day(), **asked)
    assert of(both, "baseline")["latency_s"] == pytest.approx(
        (of(first, "baseline")["latency_s"] + of(second, "baseline")["latency_s"]) / 2.0
    )


def test_what_the_time_limit_leaves_out_is_said() -> None:
    asked = {"allocation": ["even", "usable"], "runs": 3, "prefer": "yes"}
    document = simulated(day(), time_limit_s=1e-9, **asked)  # clock: a limit in seconds is what is tested
    assert [(item["allocation"], item["runs"]) for item in document["trace"]["adaptations"]] == [("even", 1)]
    cut = [item["message"] for item in document["warnings"] if item["code"] == "RUNS_CUT"]
    assert [text.rpartition(": ")[2] for text in cut] == [
        "the time limit left out 2 of 3 runs",
        "the time limit left out 1 of 1 runs",
    ]


def test_lazy_moves_go_anywhere_by_the_next_checkpoint() -> None:
    document = simulated(day(), allocation=["baseline", "lazy-move"])
    for preferred in (True, False):
        lazy = of(document, "lazy-move", preferred)
        assert lazy["assisted_share"] == 1.0
        assert lazy["bytes"] == 0.0
        assert lazy["latency_s"] < of(document, "baseline", preferred)["latency_s"]
        both = [item for item in document["trace"]["adaptations"] if item["preferred"] == preferred]
        waited = [item["by_protocol"]["lazy"] for item in both]
        assert waited[0] == 0.0
        assert 0.0 < 10.0 * waited[1] <= lazy["completion_s"]  # the next checkpoint comes within ten seconds


def test_where_no_node_is_overloaded_nothing_moves() -> None:
    document = simulated(day(), capacity_per_core=1e6)
    assert document["trace"]["without_adaptation"] == {"overloaded_nodes": 0, "excess_load": 0.0}
    for item in document["trace"]["adaptations"]:
        assert item["summary"]["moves"]["mean"] == 0.0
        assert item["summary"]["assisted_share"] is None
        assert item["summary"]["usable_share"] is None


@pytest.mark.parametrize("name", ["even", "correlated", "usable"])
def test_without_moves_usable_copies_are_those_of_the_score(name: str) -> None:
    problem = day(seed=3)
    seen = scene(problem)
    start = seen.prepared.problem
    copies = seen.allocator.copies(TECHNIQUES[name], start, seen.planned, seed=5)
    still = run_adaptation(replace(start, copies=copies), seen.trace, AdaptationPolicy(lambda _: ()))
    later = replace(seen.prepared.series, loads=seen.prepared.series.loads[seen.planned :])
    assignments = [
        {
            "operator": operator,
            "key_group": g,
            "primary": start.nodes[home],
            "checkpoints": [start.nodes[n] for n in to],
        }
        for operator, g, home, to in zip(start.operators, start.key_group, start.home, copies, strict=True)
    ]
    objective = CheckpointObjective("usable", capacity_per_core=seen.prepared.capacity_per_core)
    assert problem.cluster is not None
    score = allocation_score(assignments, problem.cluster, later, objective)
    assert still.usable_share == pytest.approx(score.usable_share)
    assert score.usable_share is not None


def test_usable_copies_are_planned_on_the_first_windows_alone() -> None:
    seen = scene(day(seed=1), plan_on=0.25)
    start, shown = seen.prepared.problem, TECHNIQUES["usable"]
    early = seen.allocator.copies(shown, start, seen.planned)
    later = replace(seen.allocator.series, loads=np.concatenate([seen.allocator.series.loads[:15], np.ones((45, 12))]))
    assert replace(seen.allocator, series=later).copies(shown, start, seen.planned) == early


def test_periods_are_means_of_their_windows() -> None:
    by_window, by_period = scene(day()).trace, scene(day(), period_s=7.0).trace
    assert by_period.loads.shape == (4, 12)
    assert by_period.period_s == 7.0
    np.testing.assert_allclose(by_period.loads[1], by_window.loads[7:14].mean(axis=0))
    np.testing.assert_allclose(by_period.rates, by_period.loads)  # windows of one second


def test_upkeep_moves_copies_until_the_threshold_allows_the_rest() -> None:
    asked = {"allocation": ["even", "correlated"], "prefer": "yes", "upkeep_every_s": 10.0}
    none, some, all_of_it = (simulated(day(seed=2), threshold=x, **asked) for x in (1e9, 0.5, 0.0))
    assert of(none, "correlated")["copies_moved"] == 0.0
    assert 0.0 < of(some, "correlated")["copies_moved"] < of(all_of_it, "correlated")["copies_moved"]
    moved = of(all_of_it, "correlated")
    assert moved["copy_bytes"] == moved["copies_moved"] * MB
    assert of(all_of_it, "even")["copies_moved"] == 0.0  # random ones are not looked after


def test_after_upkeep_without_a_threshold_the_copies_are_those_of_a_fresh_plan() -> None:
    seen = scene(day(seed=2), upkeep_every_s=1.0, threshold=0.0)
    start, technique = seen.prepared.problem, TECHNIQUES["correlated"]
    upkeep = seen.allocator.upkeep(technique, lambda period: seen.planned + period, 1, 0.0)
    first = replace(start, copies=seen.allocator.copies(TECHNIQUES["baseline"], start, seen.planned))
    assert upkeep(0, first) == first.copies
    assert upkeep(3, first) == seen.allocator.copies(technique, start, seen.planned + 3)


COSTS = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "local",
    "parameters": {"restart_s": {"value": 2.0}, "bandwidth_mb_s": {"value": 0.5}},
}


@pytest.mark.parametrize("options", [{"copies": 2}, {"copies": 2, "anti_affinity": "zone"}, {"balance": "count"}])
def test_copies_stay_as_many_as_they_were_and_apart(options: dict[str, Any]) -> None:
    problem = day(seed=4, nodes=6)
    assert problem.cluster is not None
    zones = tuple(replace(node, zone="abcd"[i % 4]) for i, node in enumerate(problem.cluster.nodes))
    zoned = replace(problem, cluster=replace(problem.cluster, nodes=zones))
    seen = scene(zoned, **options, upkeep_every_s=5.0, threshold=0.0)
    domain, count = seen.prepared.problem.domain, options.get("copies", 1)
    for name in ("even", "correlated"):
        done = seen.run(TECHNIQUES[name], prefer=True, seed=1)
        assert done.total("moves") > 0
        for home, copies in zip(done.place.tolist(), done.copies, strict=True):
            assert len(copies) == count
            if name == "correlated":  # random ones look at nodes alone
                assert len(set(domain[[home, *copies]].tolist())) == count + 1


def test_recovery_costs_price_pauses_and_are_recorded() -> None:
    asked = {"allocation": "even", "prefer": "no"}
    without, by_costs = simulated(day(), **asked), simulated(day(), costs=COSTS, **asked)
    assert by_costs["options"]["costs"] is not None
    before, after = of(without, "even", False), of(by_costs, "even", False)
    assert before["moves"] == after["moves"]
    assert after["latency_s"] > before["latency_s"] + 2.0  # tasks start, and the bandwidth is half


def test_inputs_and_what_was_said_of_them_are_told() -> None:
    problem = replace(day(), warnings=(Warn("SPREAD", "placed"),), inputs=(InputFile("stats", "stats", "00"),))
    document = simulated(problem, allocation="even")
    assert [item["role"] for item in document["inputs"]] == ["stats"]
    codes = {item["code"] for item in document["warnings"]}
    assert "SPREAD" in codes
    assert "NO_CHECKPOINTS" not in codes  # they are allocated here


def test_key_groups_that_never_catch_up_stay() -> None:
    records = np.full((4, 2), 6000.0)  # 0.1 ms a record: 0.6 of a thread
    records[2:, 0] = 12_000.0
    problem = job({"op": records}, {"op": ["n1", "n1"]}, [Node("n1", 1.0), Node("n2", 1.0)])
    document = simulated(problem, allocation="baseline", prefer="yes", capacity_per_core=15_000.0)
    over_time = document["trace"]["adaptations"][0]["over_time"]
    assert over_time["moves"] == [1.0, 0.0]  # the lighter one leaves
    assert over_time["overloaded_after"] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"plan_on": 0.999}, "60 of 60 windows are planned on"),
        ({"period_s": 1.5}, "--period: 1.5 s is not a multiple of 1 s"),
        ({"period_s": 40.0}, "a period takes 40"),
        ({"upkeep_every_s": 3.0, "period_s": 2.0}, "--upkeep-every: 3 s is not a multiple of 2 s"),
        ({"copies": 4}, "the checkpoints cannot be allocated"),
        ({"allocation": "lazy"}, "--allocation: 'lazy' is not one of baseline, even"),
        ({"plan": {"kind": "rebalance"}}, "leave out the plan"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options: dict[str, Any], said: str) -> None:
    plan = options.pop("plan", None)
    with pytest.raises(FtplanError, match=said) as refused:
        ftplan.simulate("migration", day(), plan, level="trace", **options)
    assert len(str(refused.value)) <= 400
    assert "\n" not in str(refused.value)
