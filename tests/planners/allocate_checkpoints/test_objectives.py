"""Objectives and unseen time through the Python face: planned, recorded, verified, explained, evaluated."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.api import explain, verify
from ftplan.io.plan_file import load_plan
from ftplan.model.measures.key_group_series import key_group_series
from ftplan.planners.allocate_checkpoints.metrics import allocation_score
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective, objective_value
from ftplan.planners.allocate_checkpoints.prepare import seen_and_unseen
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"
ASKED: list[dict[str, Any]] = [
    {"objective": "correlation", "correlate": "share"},
    {"objective": "correlation", "correlate": "residual"},
    {"objective": "node-correlation"},
    {"objective": "node-correlation", "correlate": "share"},
    {"objective": "usable"},
    {"objective": "usable", "capacity_per_core": 0.03, "overload": 0.7},
]


@pytest.fixture(scope="module")
def problem() -> ftplan.Problem:
    return ftplan.load(topology=SMALL / "topology.yaml", cluster=SMALL / "cluster.yaml", stats=SMALL / "stats")


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("holdout", [None, 0.4])
def test_verify_recomputes_the_plans_own_objective(
    problem: ftplan.Problem, asked: dict[str, Any], holdout: float | None
) -> None:
    """What is written to a file says all that verify needs; value, bound and sense cannot be lied about."""
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", holdout=holdout, **asked)
    assert plan.objective is not None
    assert plan.status == "optimal"
    assert plan.objective.name == asked["objective"]
    assert plan.objective.sense == ("max" if asked["objective"] == "usable" else "min")
    read = load_plan(json.loads(plan.to_json())).value
    assert verify(read, problem).violations == ()
    better = 1.0 if plan.objective.sense == "max" else -1.0
    assert plan.objective.value is not None
    for lie in (
        {"value": plan.objective.value + better},
        {"value": plan.objective.value - better},
        {"bound": plan.objective.value - better},
        {"sense": {"max": "min", "min": "max"}[plan.objective.sense]},
    ):
        lied = dataclasses.replace(plan, objective=dataclasses.replace(plan.objective, **lie))  # type: ignore[arg-type]
        follow = {"GAP_DIFFERS", "STATUS_DIFFERS"} if "bound" in lie else set()
        assert {v.code for v in verify(lied, problem).violations} - follow == {"OBJECTIVE_DIFFERS"}, lie
    loose = dataclasses.replace(plan.objective, bound=plan.objective.value + better, scale=None, gap=None)
    assert [v.code for v in verify(dataclasses.replace(plan, objective=loose), problem).violations] == [
        "STATUS_DIFFERS"
    ]
    assert verify(dataclasses.replace(plan, objective=loose, status="feasible"), problem).valid
    for changed in ({"overload": 0.5}, {"correlate": "raw"}, {"holdout": 0.7}):
        matters = ("overload" in changed) == (plan.objective.name == "usable") or "holdout" in changed
        other = dataclasses.replace(plan, options={**plan.options, **changed})
        if matters and changed.items() - plan.options.items():
            codes = {v.code for v in verify(other, problem).violations}
            assert "OBJECTIVE_DIFFERS" in codes, changed
    assert plan.objective.bound is not None
    scale = abs(plan.objective.value)
    if plan.objective.sense == "min":
        scale = abs(plan.summary["random"][plan.objective.name.replace("-", "_")] - plan.objective.bound)
    assert plan.objective.scale == pytest.approx(max(scale, 1e-9))


@pytest.mark.parametrize("algorithm", ["baseline", "even", "correlated"])
@pytest.mark.parametrize("asked", ASKED)
def test_heuristics_state_a_bound_on_the_right_side(
    problem: ftplan.Problem, asked: dict[str, Any], algorithm: str
) -> None:
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm=algorithm, bound=True, **asked)
    assert plan.objective is not None
    assert plan.objective.bound is not None
    assert plan.objective.value is not None
    sign = -1.0 if asked["objective"] == "usable" else 1.0
    assert sign * plan.objective.value >= sign * plan.objective.bound
    assert verify(plan, problem).valid
    key = asked["objective"].replace("-", "_")
    assert plan.summary["after"][key] == pytest.approx(plan.objective.value)
    assert 0 <= plan.summary["random"]["usable_share"] <= 1
    assert sum(plan.summary["random"]["by_operator"].values()) == pytest.approx(plan.summary["random"][key])


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.99])
def test_holdout_splits_whole_windows(problem: ftplan.Problem, share: float) -> None:
    assert problem.stats is not None
    whole = key_group_series(problem.stats, "records", problem.topology)
    seen, unseen = seen_and_unseen(whole, share)
    assert unseen is not None
    assert np.array_equal(np.vstack([seen.loads, unseen.loads]), whole.loads)
    assert unseen.loads.shape[0] == min(max(round(48 * share), 1), 47)
    assert np.allclose(seen.mean_load, seen.loads.mean(axis=0))


def ending(windows: int) -> ftplan.Problem:
    """Load the job with statistics that end after some of their 48 windows of an hour."""
    import pandas as pd
    import pyarrow.parquet as pq

    table = pq.read_table(SMALL / "stats" / "key_groups.parquet").to_pandas()
    manifest = json.loads((SMALL / "stats" / "manifest.json").read_text())
    end = pd.Timestamp(manifest["end"]) - pd.Timedelta(hours=48 - windows)
    short = manifest | {"end": end.isoformat().replace("+00:00", "Z"), "windows": windows}
    return ftplan.load(
        topology=SMALL / "topology.yaml",
        cluster=SMALL / "cluster.yaml",
        stats={"manifest": short, "key_groups": table[table.window_start < end]},
    )


@pytest.fixture(scope="module")
def evens(problem: ftplan.Problem) -> list[Any]:
    """The assignments of the twenty even plans that know three fifths of the time."""
    plans = [
        ftplan.plan("allocate-checkpoints", problem, algorithm="even", seed=seed, holdout=0.4).plan
        for seed in range(20)
    ]
    return [plan["assignments"] for plan in plans if plan is not None]


def test_holdout_plans_on_the_first_part_and_judges_on_the_rest(problem: ftplan.Problem, evens: list[Any]) -> None:
    """A plan with a holdout is the plan of a trace that ends there; its figures on the rest are those of that rest."""
    first = ending(29)
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", objective="usable", holdout=0.4)
    alone = ftplan.plan("allocate-checkpoints", first, algorithm="exact", objective="usable")
    assert plan.plan == alone.plan
    assert plan.objective == alone.objective
    assert plan.options["capacity_per_core"] == alone.options["capacity_per_core"]

    held = plan.summary["holdout"]
    assert held["windows"] == {"planned": 29, "unseen": 19}
    assert problem.stats is not None
    assert problem.cluster is not None
    assert plan.plan is not None
    series = key_group_series(problem.stats, "records", problem.topology)
    rest = dataclasses.replace(series, loads=series.loads[29:])
    yardstick = CheckpointObjective("usable", capacity_per_core=plan.options["capacity_per_core"])
    score = allocation_score(plan.plan["assignments"], problem.cluster, rest, yardstick)
    assert held["plan"] == {"usable_share": score.usable_share, "usable": score.value}
    assert held["random"]["usable_share"] == score.random_usable_share
    assert held["even"]["plans"] == 20
    values = [objective_value(yardstick, even, rest, problem.cluster) for even in evens]
    shares = [allocation_score(even, problem.cluster, rest, yardstick).usable_share for even in evens]
    assert held["even"]["usable"] == pytest.approx(np.mean(values))
    assert held["even"]["usable_share"] == pytest.approx(np.mean(shares))


def test_holdout_interval_comes_from_splits_that_see_all_before_them(problem: ftplan.Problem, evens: list[Any]) -> None:
    """Five parts of the unseen time, each judged by a plan on all windows before it, against the mean of even."""
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", objective="usable", holdout=0.4)
    held = plan.summary["holdout"]
    assert [split["windows"] for split in held["splits"]] == [
        {"planned": 29, "unseen": 4},
        {"planned": 33, "unseen": 4},
        {"planned": 37, "unseen": 3},
        {"planned": 40, "unseen": 4},
        {"planned": 44, "unseen": 4},
    ]
    assert problem.stats is not None
    assert problem.cluster is not None
    assert plan.plan is not None
    series = key_group_series(problem.stats, "records", problem.topology)
    yardstick = CheckpointObjective("usable", capacity_per_core=plan.options["capacity_per_core"])
    gains = []
    for split in held["splits"]:
        first = split["windows"]["planned"]
        part = dataclasses.replace(series, loads=series.loads[first : first + split["windows"]["unseen"]])
        asked: dict[str, Any] = {"algorithm": "exact", "capacity_per_core": plan.options["capacity_per_core"]}
        known = ftplan.plan("allocate-checkpoints", ending(first), **asked).plan
        assert known is not None
        score = allocation_score(known["assignments"], problem.cluster, part, yardstick)
        assert split["plan"] == score.usable_share
        assert len(evens) == 20
        shares = [allocation_score(even, problem.cluster, part, yardstick).usable_share for even in evens]
        if None in shares:
            assert split["gain"] is None
            continue
        assert split["even"] == pytest.approx(np.mean(shares))
        assert split["gain"] == pytest.approx(split["plan"] - split["even"])
        gains.append(split["gain"])
    gain = held["gain_over_even"]
    assert gain["value"] == pytest.approx(np.mean(gains))
    half = {3: 4.303, 4: 3.182, 5: 2.776}[len(gains)] * np.std(gains, ddof=1) / len(gains) ** 0.5
    assert gain["interval"] == pytest.approx([np.mean(gains) - half, np.mean(gains) + half])
    assert ("NO_GAIN_ON_UNSEEN_TIME" in {w.code for w in plan.warnings}) == (gain["interval"][0] <= 0)


def test_the_plans_of_a_holdout_share_the_time_limit(problem: ftplan.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan takes a third at most, each of the four other splits an equal part of what is left."""
    from ftplan.planners import registry

    load, limits = registry.load, []

    def recording(row: registry.Row) -> Any:
        def planner(problem: Any, options: Any) -> Any:
            if row.name == "auto":
                limits.append(options.time_limit_s)
            return load(row)(problem, options)

        return planner

    monkeypatch.setattr(registry, "load", recording)
    ftplan.plan("allocate-checkpoints", problem, holdout=0.4, time_limit_s=900.0)
    assert len(limits) == 5
    assert limits[0] == 300.0
    for limit, most in zip(limits[1:], (225.0, 300.0, 450.0, 900.0), strict=True):
        assert 0.9 * most < limit <= most
    ftplan.plan("allocate-checkpoints", problem, time_limit_s=900.0)
    assert limits[5:] == [900.0]


def test_one_unseen_window_has_no_interval(problem: ftplan.Problem) -> None:
    held = ftplan.plan("allocate-checkpoints", problem, holdout=0.01).summary["holdout"]
    assert len(held["splits"]) == 1
    assert held["gain_over_even"] is None or held["gain_over_even"]["interval"] is None


def test_usable_is_the_default(problem: ftplan.Problem) -> None:
    plan = ftplan.plan("allocate-checkpoints", problem)
    assert plan.objective is not None
    assert (plan.objective.name, plan.objective.sense, plan.options["objective"]) == ("usable", "max", "usable")
    assert plan.summary["after"]["usable_share"] > plan.summary["random"]["usable_share"]
    assert plan.summary["after"]["usable_share"] > plan.summary["even"]["usable_share"]
    assert "NO_GAIN_IN_USABLE_SHARE" not in {w.code for w in plan.warnings}
    even = ftplan.plan("allocate-checkpoints", problem, algorithm="even")
    assert plan.summary["even"]["usable_share"] == even.summary["after"]["usable_share"]


def test_a_plan_no_better_than_chance_warns(problem: ftplan.Problem) -> None:
    """The correlated plan of this trace has a usable share below that of random copies: it says so, and what to do."""
    plan = ftplan.plan(
        "allocate-checkpoints", problem, objective="correlation", algorithm="exact", anti_affinity="node"
    )
    share = plan.summary["after"]["usable_share"]
    assert share <= max(plan.summary["random"]["usable_share"], plan.summary["even"]["usable_share"])
    (warning,) = (w for w in plan.warnings if w.code == "NO_GAIN_IN_USABLE_SHARE")
    assert f"usable share {share:.4g}" in warning.message
    assert "--objective usable" in warning.message
    even = ftplan.plan("allocate-checkpoints", problem, algorithm="even")
    assert "NO_GAIN_IN_USABLE_SHARE" not in {w.code for w in even.warnings}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"capacity_per_core": 10.0}, "no node is overloaded in any of 48 windows .* lower --overload"),
        ({"overload": 0.0}, "could another one take a key group .* higher --overload"),
    ],
)
def test_without_usable_copies_correlation_decides(problem: ftplan.Problem, asked: dict[str, Any], said: str) -> None:
    """Where every plan is worth 0, the plan is that of correlation, says so and why, and verifies."""
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", **asked)
    by_name = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", objective="correlation", **asked)
    assert plan.objective == by_name.objective
    assert plan.plan == by_name.plan
    assert (plan.options["objective_requested"], plan.options["objective"]) == ("usable", "correlation")
    (warning,) = (w for w in plan.warnings if w.code == "NO_USABLE_COPIES")
    assert re.search(said, warning.message)
    assert "NO_USABLE_COPIES" not in {w.code for w in by_name.warnings}
    assert verify(load_plan(json.loads(plan.to_json())).value, problem).valid


def test_no_gain_recommends_even(problem: ftplan.Problem) -> None:
    """Loads that are drawn anew in every window hold nothing to learn."""
    assert problem.stats is not None
    table = problem.stats.tables["key_groups"]
    noise = table.set_column(
        table.schema.get_field_index("records"),
        "records",
        [np.random.default_rng(0).gamma(1.0, 100.0, table.num_rows).round() + 1],
    )
    stats = dataclasses.replace(problem.stats, tables={**problem.stats.tables, "key_groups": noise})
    random = dataclasses.replace(problem, stats=stats)
    plan = ftplan.plan("allocate-checkpoints", random, objective="node-correlation", balance="none", holdout=0.5)
    warning = next(w for w in plan.warnings if w.code == "NO_GAIN_ON_UNSEEN_TIME")
    assert "--algorithm even" in warning.message
    even = ftplan.plan("allocate-checkpoints", random, algorithm="even", holdout=0.5)
    assert "NO_GAIN_ON_UNSEEN_TIME" not in {w.code for w in even.warnings}


def test_without_overload_the_objective_decides(problem: ftplan.Problem) -> None:
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", capacity_per_core=10.0, holdout=0.5)
    held = plan.summary["holdout"]
    assert held["plan"]["usable_share"] is None
    assert held["gain_over_even"]["in"] == "correlation"
    assert held["gain_over_even"]["value"] > 0
    assert [w.code for w in plan.warnings] == ["NO_USABLE_COPIES", "NO_GAIN_ON_UNSEEN_TIME"]
    assert json.loads(plan.to_json())["summary"]["holdout"]["even"]["usable_share"] is None


@pytest.mark.parametrize("wrong", [0, 1, -0.2, 1.5, "x", True, float("nan")])
def test_wrong_holdout(problem: ftplan.Problem, wrong: Any) -> None:
    with pytest.raises(ftplan.FtplanError, match="--holdout"):
        ftplan.plan("allocate-checkpoints", problem, holdout=wrong)


def test_explain_shows_the_costs_of_the_plans_objective(problem: ftplan.Problem) -> None:
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", objective="usable", balance="none")
    assert plan.plan is not None
    assert plan.objective is not None
    total = 0.0
    for item in plan.plan["assignments"]:
        found = explain(plan, problem, f"key-group:{item['operator']}/{item['key_group']}")
        assert "high is good" in found.title
        assert [row["usable windows"] for row in found.rows] == sorted(
            (row["usable windows"] for row in found.rows), reverse=True
        )
        total += sum(row["usable windows"] for row in found.rows if row["chosen"])
    assert total == plan.objective.value


def test_evaluate_on_other_statistics(problem: ftplan.Problem) -> None:
    """Twice the load on the same machines: the plan's capacity stands, so that far less can be used."""
    assert problem.stats is not None
    assert problem.cluster is not None
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", objective="usable")
    assert plan.plan is not None
    same = ftplan.evaluate(plan, problem)
    assert same["usable-share"] == plan.summary["after"]["usable_share"]
    table = problem.stats.tables["key_groups"]
    doubled = table.set_column(
        table.schema.get_field_index("records"), "records", [np.asarray(table["records"].to_numpy() * 2)]
    )
    stats = dataclasses.replace(problem.stats, tables={**problem.stats.tables, "key_groups": doubled})
    other = dataclasses.replace(problem, stats=stats)
    found = ftplan.evaluate(plan, other)
    series = key_group_series(stats, "records", problem.topology)
    wanted = fits = 0
    homes = {(a["operator"], a["key_group"]): a for a in plan.plan["assignments"]}
    limit = {n.id: 0.85 * n.cpu * plan.options["capacity_per_core"] * 3600 for n in problem.cluster.nodes}
    for w in range(48):
        on = dict.fromkeys(limit, 0.0)
        for g, name in enumerate(series.names):
            on[homes[name]["primary"]] += series.loads[w, g]
        for g, name in enumerate(series.names):
            if on[homes[name]["primary"]] > limit[homes[name]["primary"]]:
                host = homes[name]["checkpoints"][0]
                wanted += 1
                fits += bool(on[host] + series.loads[w, g] <= limit[host])
    assert found["usable-share"] == pytest.approx(fits / wanted)
    assert found["imbalance"] == pytest.approx(same["imbalance"])
    capacity = 2 * plan.options["capacity_per_core"]
    again = ftplan.evaluate(plan, other, capacity_per_core=capacity)
    assert again["usable-share"] == same["usable-share"]
    assert again["assisted-migrations"] == same["assisted-migrations"]
    assert ftplan.evaluate(plan, other, overload=100.0)["usable-share"] is None


def test_holdout_without_statistics_of_any_operator() -> None:
    """Nothing to plan is nothing to judge: no error, and no gain to claim."""
    problem = ftplan.load(
        topology={"format": "ftplan/topology", "format_version": "1.0", "operators": [{"id": "a", "key_groups": 4}]},
        cluster={
            "format": "ftplan/cluster",
            "format_version": "1.0",
            "nodes": [{"id": "n1", "cpu": 1}, {"id": "n2", "cpu": 1}],
        },
        stats={
            "manifest": json.loads((SMALL / "stats" / "manifest.json").read_text()) | {"operators": {}, "tables": {}},
            "key_groups": [],
        },
        spread=True,
    )
    plan = ftplan.plan("allocate-checkpoints", problem, holdout=0.5)
    assert plan.plan is not None
    assert plan.plan["assignments"] == []
    assert plan.summary["holdout"]["plan"]["usable_share"] is None
