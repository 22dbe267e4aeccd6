"""Simulated scaling from files: a plan's splits beside what is foretold, loads, modes, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.problem import Problem
from ftplan.model.units import MB
from ftplan.planners.scale_out.problem import OperatorScaling, ScalableOperator, ScalingProblem
from ftplan.planners.scale_out.techniques.costs import TechniqueSetting, technique_costs
from ftplan.simulation.document import load_simulation
from ftplan.simulation.scaling.load import RateCurve, batched, curve
from ftplan.simulation.scaling.options import ScalingSimulationOptions
from ftplan.simulation.scaling.run import run_scaling
from ftplan.simulation.scaling.setting import SplitSetting, Technique
from tests.planners.scale_out import cases
from tests.simulation.scaling.cases import even_use, keyed, split_once, steady

Document = dict[str, Any]
#: ``count`` and ``rank`` lack tasks, ``alive`` has too many.
SPLITS = (("alive", 4, 2, "checkpoint"), ("count", 4, 12, "active-backup"), ("rank", 1, 4, "checkpoint"))


def by_hand(*splits: tuple[str, int, int, str]) -> Document:
    """Return a plan made by hand, with even key ranges."""
    states = {"alive": "scale-in"}
    operators = [
        {
            "operator": name, "state": states.get(name, "promoted"), "technique": technique, "parallelism_from": before,
            "parallelism_to": after,
        }
        for name, before, after, technique in splits
    ]  # fmt: skip
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "scale-out", "plan": {"operators": operators}}


@pytest.fixture(scope="module")
def job() -> Problem:
    return ftplan.load(topology=cases.TOPOLOGY, cluster=cases.CLUSTER, stats=cases.statistics())


@pytest.fixture(scope="module")
def carried_out(job: Problem) -> Document:
    plan = by_hand(*SPLITS)
    answer = ftplan.simulate(
        "scaling", job, plan, mode=("none", "planned", "storm-restart"), batch_s=1.0, until_s=400.0
    )
    assert answer.unmet is None
    document: Document = json.loads(answer.to_json())
    load_simulation(document)
    return document


def mode(document: Document, name: str) -> Document:
    return next(item for item in document["modes"] if item["mode"] == name)


def test_a_plan_is_carried_out_and_relieves_the_job(carried_out: Document) -> None:
    none, planned = mode(carried_out, "none"), mode(carried_out, "planned")
    assert [mode["exactly_once"] for mode in carried_out["modes"]] == [True] * 3
    assert planned["summary"]["mean_latency_s"]["mean"] < none["summary"]["mean_latency_s"]["mean"] / 2.0
    assert planned["over_time"]["throughput"][-1] == pytest.approx(carried_out["rate"][-1], rel=0.02)
    assert none["over_time"]["throughput"][-1] < 0.8 * carried_out["rate"][-1]
    assert not none["splits"]
    done = {item["operator"]: item for item in planned["splits"]}
    assert {(n, s["tasks_from"], s["tasks_to"], s["technique"]) for n, s in done.items()} == set(SPLITS)
    assert done["alive"]["promoted_s"] < done["rank"]["promoted_s"] == done["count"]["promoted_s"]
    assert not any(item["late"] for item in done.values())
    assert planned["over_time"]["executors"][-1] == 2 + 2 + 12 + 4 + 1 + 2


def test_pauses_are_at_most_what_is_foretold(carried_out: Document) -> None:
    for item in mode(carried_out, "planned")["splits"]:  # old tasks with a backlog have something to put out meanwhile
        assert 0.0 <= item["pause_s"] <= item["predicted"]["pause_s"] + 1.0
    (alive,) = [item for item in mode(carried_out, "planned")["splits"] if item["operator"] == "alive"]
    assert alive["level_s"] == pytest.approx(alive["predicted"]["pause_s"], abs=1.0)


def test_a_restart_gives_all_operators_their_tasks_at_once(carried_out: Document) -> None:
    storm = mode(carried_out, "storm-restart")
    assert {(item["operator"], item["tasks_from"], item["tasks_to"]) for item in storm["splits"]} == {
        split[:3] for split in SPLITS
    }
    assert min(storm["over_time"]["throughput"]) == 0.0
    assert min(storm["over_time"]["executors"]) == 0.0


@pytest.mark.parametrize("technique", ["checkpoint", "active-backup"])
@pytest.mark.parametrize("busy", [0.4, 0.8])
def test_formulas_foretell_the_pause_of_an_operator_without_backlog(technique: Technique, busy: float) -> None:
    """Two tasks become four; it is prepared in time, and its state takes 6 s to each of them, at 1 MB/s."""
    state = np.full(12, 2.0 * MB)
    operator = keyed(even_use(busy), state_bytes=state)
    ranges = even_ranges(12, 4)
    scaling = OperatorScaling(0, 4, ranges)
    own = ScalableOperator("agg", 0, 2, 1.0, 12, 12, busy, even_use(busy), state, np.inf, 80.0, "promoted")
    setting = TechniqueSetting(5.0, 1.0, interval_s=np.array([30.0]), delay_s=0.001)
    costs = technique_costs(ScalingProblem((own,), np.ones(1)), scaling, setting)
    (cost,) = [item for item in costs if item.technique == technique]
    simulated = split_once(
        technique, operator, load=steady(160.0, 0.1), prepare_s=60.0 - cost.ready_s, promote_s=60.0,
        setting=SplitSetting(5.0, 1.0 * MB, 30.0, 0.001),
    )  # fmt: skip
    outcome = run_scaling(replace(simulated, until_s=160.0))
    (split,) = outcome.splits
    assert split.pause_s is not None
    assert split.level_s is not None
    assert split.pause_s <= cost.pause_s + 0.1
    assert split.level_s == pytest.approx(cost.pause_s, abs=0.3)


def test_the_load_of_the_statistics_and_detection(job: Problem) -> None:
    """Nothing is split at a given time: the score says when, and the operators that may be split are doubled."""
    asked = {"mode": ("active-backup",), "load": "stats", "window_s": 60.0, "batch_s": 10.0, "setup_s": 10.0}
    document = json.loads(ftplan.simulate("scaling", job, **asked).to_json())
    assert document["until_s"] == cases.WINDOWS * cases.WINDOW_S
    assert document["rate"][0] < document["rate"][-1]
    names = [item["operator"] for item in document["modes"][0]["splits"] if item["promoted_s"] is not None]
    assert {"count", "rank"} <= set(names)
    assert document["modes"][0]["exactly_once"]


def test_the_papers_job_doubles_in_the_papers_steps() -> None:
    answer = ftplan.simulate("scaling", ftplan.load(), mode="checkpoint", setup_s=10.0, batch_s=2.0)
    executors = answer.body["modes"][0]["over_time"]["executors"]
    assert list(dict.fromkeys(executors)) == [9.0, 13.0, 11.0, 19.0, 15.0]
    assert [item.code for item in answer.warnings] == ["PAPER_JOB"]
    assert len(answer.to_frame()) == len(answer.body["time_s"])


def test_runs_draw_arrivals_and_are_repeatable() -> None:
    asked = {"mode": ("none", "checkpoint"), "load": "steady", "until_s": 60.0, "batch_s": 1.0, "runs": 3, "seed": 4}
    texts = [ftplan.simulate("scaling", ftplan.load(), **asked).to_json() for _ in range(2)]
    assert texts[0] == texts[1]
    figure = json.loads(texts[0])["modes"][0]["summary"]["mean_latency_s"]
    assert figure["runs"] == 3
    assert figure["low"] < figure["mean"] < figure["high"]
    assert ftplan.simulate("scaling", ftplan.load(), **{**asked, "seed": 5}).to_json() != texts[0]


@pytest.mark.parametrize(("until_s", "every_s"), [(60.0, 7.0), (50.5, 5.0), (10.0, 10.0)])
def test_all_that_is_told_over_time_is_equally_long(until_s: float, every_s: float) -> None:
    asked = {"mode": "none", "load": "steady", "until_s": until_s, "every_s": every_s, "batch_s": 1.0}
    body = ftplan.simulate("scaling", ftplan.load(), **asked).body
    (only,) = body["modes"]
    lists = [*only["over_time"].values(), *(item["queue_records"] for item in only["operators"]), body["rate"]]
    assert {len(values) for values in lists} == {len(body["time_s"])} == {int(until_s / every_s)}


def options(**asked: Any) -> ScalingSimulationOptions:
    return ScalingSimulationOptions.of("simulate scaling", asked)


def test_rates_over_time(tmp_path: Path) -> None:
    """The doubling rate has 200, 400 and 800 records/s; a table says its own."""
    asked = options(load="doubling", ramp_s=0.0, batch_s=10.0)
    given = batched(curve(asked, "steady", 200.0, None), asked, 200.0, None)
    assert (200.0 * given.seconds).reshape(3, -1).sum(axis=1) == pytest.approx([1e5, 2e5, 4e5])
    asked = options(load="alternating", step_s=100.0, ramp_s=0.0, rate=50.0, batch_s=10.0)
    given = batched(curve(asked, "steady", 200.0, None), asked, 200.0, None)
    assert (200.0 * given.seconds).reshape(6, -1).sum(axis=1) == pytest.approx([5e3, 1e4] * 3)
    path = tmp_path / "rates.csv"
    path.write_text("time_s,rate\n0,100\n30,300\n")
    table = curve(options(load=str(path)), "steady", 100.0, None)
    assert (table.at_s.tolist(), table.level.tolist(), table.until_s) == ([0.0, 30.0], [1.0, 3.0], 60.0)


def test_batches_hold_all_that_the_curve_brings() -> None:
    given = RateCurve(np.array([0.0, 7.3, 20.0]), np.array([1.0, 3.0, 0.5]), 33.0)
    for batch_s in (0.7, 5.0, 40.0):
        load = batched(given, options(batch_s=batch_s), 100.0, None)
        assert load.seconds.sum() == pytest.approx(7.3 + 3.0 * 12.7 + 0.5 * 13.0)
        assert load.at_s[-1] == 33.0


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"mode": "planned"}, "none is given"),
        ({"load": "stats"}, "give --stats"),
        ({"load": "nowhere.csv"}, "nowhere.csv"),
        ({"load": {"time_s": [0, 1]}}, "equally long"),
        ({"load": {"time_s": [0, 0], "rate": [1, 1]}}, "rise"),
        ({"load": {"time_s": [0], "rate": [-1]}}, "below 0"),
        ({"promote": 90.0}, "--promote"),
        ({"alarming": 80.0}, "--alarming"),
        ({"costs": {"format": "ftplan/recovery-costs"}}, "--costs"),
        ({"mode": "storm"}, "--mode"),
        ({"batch_s": 0.001}, "--batch"),
        ({"every_s": 1e5}, "--every"),
        ({"restart_at_s": "soon"}, "--restart-at"),
    ],
)
def test_what_does_not_fit_is_refused(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(FtplanError, match=says):
        ftplan.simulate("scaling", ftplan.load(), **asked)


def test_plans_and_jobs_that_do_not_fit_are_refused(job: Problem) -> None:
    with pytest.raises(FtplanError, match="nobody"):
        ftplan.simulate("scaling", job, by_hand(("nobody", 1, 2, "checkpoint")))
    with pytest.raises(FtplanError, match="needs stats"):
        ftplan.simulate("scaling", ftplan.load(topology=cases.TOPOLOGY), by_hand(*SPLITS))
    with pytest.raises(FtplanError, match="is a plan of kind"):
        ftplan.simulate("scaling", job, {**by_hand(), "kind": "rebalance", "plan": {"moves": []}})
    with pytest.raises(FtplanError, match="give --topology"):
        ftplan.simulate("scaling", ftplan.load(stats=cases.statistics()))
    bare = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [{"id": "a", "parallelism": 1}],
        "edges": [],
    }
    with pytest.raises(FtplanError, match="key_groups"):
        ftplan.simulate("scaling", ftplan.load(topology=bare))
