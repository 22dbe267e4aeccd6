"""Upkeep through the Python face: where the present comes from, what the summary says, what is refused."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import ftplan
from ftplan.api import explain, verify
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"
CLUSTER = yaml.safe_load((SMALL / "cluster.yaml").read_text())


def load(**placement: Any) -> ftplan.Problem:
    """The small project, with parts of the placement replaced or, by None, removed."""
    cluster = copy.deepcopy(CLUSTER)
    for name, value in placement.items():
        cluster["placement"][name] = value
        if value is None:
            del cluster["placement"][name]
    return ftplan.load(topology=SMALL / "topology.yaml", cluster=cluster, stats=SMALL / "stats")


@pytest.fixture(scope="module")
def problem() -> ftplan.Problem:
    return load()


def plan(problem: ftplan.Problem, **options: Any) -> ftplan.Plan:
    return ftplan.plan("allocate-checkpoints", problem, **options)


@pytest.mark.parametrize("balance", ["auto", "none", 0.8, "count"])
@pytest.mark.parametrize("algorithm", ["correlated", "exact", "even"])
def test_from_an_earlier_plan(problem: ftplan.Problem, algorithm: str, balance: Any, tmp_path: Path) -> None:
    """The plan given with current wins over the placement; its path and hash are among the inputs."""
    first = plan(problem, algorithm="baseline", seed=3)
    (tmp_path / "first.json").write_text(first.to_json())
    kept = plan(
        problem, algorithm=algorithm, balance=balance, current=tmp_path / "first.json", threshold=0.3, bound=True
    )
    assert verify(kept, problem).violations == ()
    assert [item.role for item in kept.inputs][-1] == "current"
    assert kept.plan is not None
    assert first.plan is not None
    summary = kept.summary["upkeep"]
    assert summary["moves"] == len(kept.plan["moves"])
    assert summary["bytes"] == sum(move["bytes"] for move in kept.plan["moves"])
    assert kept.objective is not None
    assert summary["after"] == pytest.approx(kept.objective.value)
    assert summary["difference"] is None or summary["difference"] <= 0.3 + 1e-9
    assert kept.objective.bound >= kept.objective.value
    held = {(a["operator"], a["key_group"]): a["checkpoints"] for a in first.plan["assignments"]}
    for move in kept.plan["moves"]:
        assert move["from"] in held[move["operator"], move["key_group"]]
    assert summary["before"] == pytest.approx(first.objective.value if first.objective else None)
    again = plan(problem, algorithm=algorithm, balance=balance, current=kept, threshold=0.3)
    assert again.plan is not None
    if algorithm != "even" and balance != "auto":
        assert again.plan["moves"] == []
        assert str(again.reason).startswith("no change: ")


def test_a_plan_of_another_objective_is_kept_up(problem: ftplan.Problem) -> None:
    """Checkpoints that were planned by correlation are what is in place; their value is that of the new objective."""
    first = plan(problem, algorithm="exact", objective="correlation")
    kept = plan(problem, algorithm="exact", balance="none", current=first, max_moves=2)
    assert first.summary["after"]["usable_share"] is not None
    assert kept.objective is not None
    assert kept.objective.name == "usable"
    assert kept.summary["upkeep"]["moves"] <= 2
    assert kept.objective.value == kept.summary["upkeep"]["after"] > kept.summary["upkeep"]["before"]
    assert verify(kept, problem).violations == ()


@pytest.mark.parametrize("objective", ["node-correlation", "usable"])
def test_other_objectives(objective: str) -> None:
    """The summary speaks in the objective's own sense; the rules and the stated value verify."""
    now = load()
    chosen: dict[str, Any] = {"objective": objective, "balance": "none", "overload": 0.7}
    first = plan(now, algorithm="baseline", objective=objective, overload=0.7)
    kept = plan(now, current=first, threshold=0.2, **chosen)
    fresh = plan(now, **chosen)
    assert verify(kept, now).violations == ()
    assert first.objective is not None
    assert kept.objective is not None
    assert fresh.objective is not None
    assert kept.objective.value is not None
    summary = kept.summary["upkeep"]
    assert summary["before"] == pytest.approx(first.objective.value)
    assert summary["after"] == pytest.approx(kept.objective.value)
    assert summary["fresh"] == pytest.approx(fresh.objective.value)
    sign = 1 if kept.objective.sense == "min" else -1
    assert sign * summary["fresh"] <= sign * summary["after"] <= sign * summary["before"]
    assert summary["difference"] is None or summary["difference"] <= 0.2 + 1e-9


def test_a_fresh_plan_that_changes_nothing_says_so() -> None:
    first = plan(load())
    assert first.plan is not None
    assert first.reason is None
    copies = {name: [a["checkpoints"] for a in first.plan["assignments"] if a["operator"] == name] for name in
              ("alerts", "sessions")}  # fmt: skip
    again = plan(load(checkpoints=copies))
    assert again.plan is not None
    assert again.plan["moves"] == []
    assert again.reason == "no change: a fresh plan has the copies in place"


def test_groups_without_copies_get_them(problem: ftplan.Problem) -> None:
    """Only alerts has copies in place: the eight of sessions are added, which counts as moves."""
    kept = plan(problem, max_moves=8, balance="none", anti_affinity="node")
    assert kept.plan is not None
    assert [m["from"] for m in kept.plan["moves"] if m["operator"] == "sessions"] == [None] * 8
    assert kept.summary["upkeep"]["moves_to_mend_rules"] >= 8
    short = plan(problem, max_moves=7, balance="none", anti_affinity="node")
    assert short.status == "feasible"
    assert short.plan is not None
    assert len(short.plan["moves"]) == 7
    assert short.summary["upkeep"]["moves_to_mend_all"] == 8
    fixed = plan(problem, max_moves=8, balance="none", anti_affinity="node")
    assert verify(fixed, problem).violations == ()


@pytest.mark.parametrize("balance", ["none", "auto", "count"])
@pytest.mark.parametrize("most", [0, 3, 7])
def test_too_few_moves_mend_a_part_and_say_what_stays_broken(problem: ftplan.Problem, most: int, balance: Any) -> None:
    """The eight groups of sessions have no copies; the plan claims no rule that it breaks, and names the others."""
    kept = plan(problem, max_moves=most, balance=balance, bound=True)
    assert kept.plan is not None
    assert len(kept.plan["moves"]) == most
    assert kept.summary["upkeep"]["bound_by"] == "max-moves"
    assert f"--max-moves {most} allows no more" in str(kept.reason)
    assert str(kept.reason).startswith("no change: " if most == 0 else f"moved {most} copies: ")
    broken = kept.summary["upkeep"]["still_broken"]
    assert "copies-on-distinct-nodes" in broken
    assert not set(broken) & set(kept.rules or ())
    said = [w.message for w in kept.warnings if w.code == "RULES_STILL_BROKEN"]
    assert len(said) == 1
    assert all(name in said[0] for name in broken)
    assert "has 0 copies instead of 1" in said[0]
    found = verify(kept, problem)
    assert found.violations == ()
    assert set(found.rules) == set(kept.rules or ())
    assert {v.code for v in verify(kept, problem, strict=True).violations} >= {"WRONG_COPIES"}
    assert kept.objective is not None
    assert kept.objective.bound is not None
    assert kept.objective.value is not None
    assert kept.objective.sense == "max"
    assert kept.objective.bound >= kept.objective.value
    bare = next(a for a in kept.plan["assignments"] if not a["checkpoints"])
    told = explain(kept, problem, f"key-group:{bare['operator']}/{bare['key_group']}")
    assert f"primary on {bare['primary']}, no copies; mean load" in told.notes[0]
    assert told.notes[1] == kept.reason
    emptied = dataclasses.replace(kept, warnings=())
    assert {v.code for v in verify(emptied, problem).violations} == {"WRONG_COPIES"}
    document = json.loads(kept.to_json())
    again = plan(problem, current=document, max_moves=20, balance=balance)
    assert verify(again, problem).violations == ()


def test_a_copy_beside_its_primary_is_moved_first() -> None:
    """After an assisted migration group and checkpoint may share a node: that is mended before anything improves."""
    sessions = [[f"n{n}"] for n in (3, 4, 5, 6, 3, 6, 4, 5)]  # groups 0 and 1 live on n3, so the first is broken
    now = load(checkpoints={"alerts": [["n2"], ["n2"], ["n1"], ["n1"]], "sessions": sessions})
    kept = plan(now, max_moves=3, balance="none", anti_affinity="node")
    assert kept.plan is not None
    broken = {a["key_group"] for a in kept.plan["assignments"] if a["operator"] == "sessions"} & {0}
    assert broken <= {m["key_group"] for m in kept.plan["moves"] if m["operator"] == "sessions"}
    assert verify(kept, now).violations == ()


def test_refusals(problem: ftplan.Problem) -> None:
    bare = load(checkpoints=None)
    for option in ({"threshold": 0.1}, {"max_moves": 1}, {"max_bytes": 10}):
        with pytest.raises(ftplan.FtplanError, match=r"--current PLAN.*placement\.checkpoints"):
            plan(bare, **option)
    first = json.loads(plan(problem).to_json())

    def changed(**fields: Any) -> dict[str, Any]:
        document = copy.deepcopy(first)
        document["plan"]["assignments"][0].update(fields)
        return document

    for document, message in (
        (changed(checkpoints=["n77"]), "unknown node 'n77'"),
        (changed(operator="alarts"), "did you mean 'alerts'"),
        (changed(key_group=4), "has 4 key groups"),
        (changed(key_group=1), "more than once"),
        (changed(checkpoints=["n3", "n3"]), "more than once"),
        ({**first, "plan": None, "status": "infeasible"}, "holds no answer"),
    ):
        with pytest.raises(ftplan.FtplanError, match=message):
            plan(problem, current=document)
    for option in ({"threshold": -1}, {"max_moves": -1}, {"max_moves": 1.5}, {"max_bytes": float("nan")}):
        with pytest.raises(ftplan.FtplanError, match="--"):
            plan(problem, **option)


def test_bytes_need_a_known_state() -> None:
    topology = yaml.safe_load((SMALL / "topology.yaml").read_text())
    del topology["operators"][1]["state_bytes"]
    unknown = ftplan.load(topology=topology, cluster=CLUSTER, stats=SMALL / "stats")
    with pytest.raises(ftplan.FtplanError, match=r"state of 'sessions' is unknown.*--state-column"):
        plan(unknown, max_bytes=1e9)
    kept = plan(unknown, max_moves=30)
    assert kept.summary["upkeep"]["bytes"] is None
