"""Rebalances of small random jobs against the cheapest by trying all, from the documents alone."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.api import verify
from tests.effort import examples
from tests.planners.rebalance.random_jobs import random_job
from tests.planners.rebalance.trying_all import TryingAll

Documents = dict[str, Any]
NAMES = {"max-pause": "max_pause_s", "within": "within_s"}


def cheapest(documents: Documents, asked: Documents) -> tuple[tuple[float, int] | None, TryingAll]:
    """Return value and number of moves, with added nodes as full as they can be."""
    filling = asked.get("add") and asked.get("tolerance", "auto") == "auto"
    for step in range(1, 11) if filling else (0,):
        oracle = TryingAll(documents, asked, step / 10 if filling else None)
        best = oracle.cheapest()
        if best is not None:
            break
    return best, oracle


def planned(documents: Documents, asked: Documents, algorithm: str) -> Documents:
    problem = ftplan.load(**documents)
    plan = ftplan.plan("rebalance", problem, algorithm=algorithm, time_limit_s=3600.0, **asked)
    assert plan.plan is None or verify(plan, problem, strict=True).violations == ()
    made: Documents = json.loads(plan.to_json())
    return made


def moves_of(oracle: TryingAll, plan: Documents) -> list[tuple[int, int, str]]:
    return [
        (oracle.names.index((move["operator"], move["key_group"])), oracle.ids.index(move["to"]), move["protocol"])
        for move in plan["plan"]["moves"]
    ]


def with_fix(documents: Documents, asked: Documents, fix: str) -> tuple[Documents, Documents]:
    """Apply a smallest fix as a user would read it."""
    documents, asked = copy.deepcopy(documents), dict(asked)
    for part in fix.split(" and "):
        if part.startswith("leave out"):
            asked["remove"] = [name for name in asked["remove"] if f"--remove {name}" not in part]
            asked = {k: v for k, v in asked.items() if v != [] and not (k == "within_s" and "--within" in part)}
        elif part.startswith("raise memory_mb"):
            for node in documents["cluster"]["nodes"]:
                node["memory_mb"] = node.get("memory_mb", 1e9) + float(part.split()[-1])
        else:
            name, value = re.fullmatch(r"--(\S+) (\S+)", part).groups()  # type: ignore[union-attr]
            field = NAMES.get(name, name.replace("-", "_"))
            number = value.removesuffix("s") if field in NAMES.values() else value
            asked[field] = value if value in ("auto", "none") else (int if name == "max-moves" else float)(number)
    return documents, asked


@pytest.mark.parametrize("seed", range(examples(40)))
def test_plans_are_what_trying_all_says(seed: int) -> None:
    documents, asked = random_job(seed)
    best, oracle = cheapest(documents, asked)
    values = []
    for algorithm in ("exact", "adaptive"):
        plan = planned(documents, asked, algorithm)
        if best is None:
            assert plan["status"] == "infeasible"
            fixed = with_fix(documents, asked, plan["infeasible"]["smallest_fix"])
            assert cheapest(*fixed)[0] is not None, plan["infeasible"]
            assert planned(*fixed, algorithm)["plan"] is not None, plan["infeasible"]
            continue
        moves, goal = moves_of(oracle, plan), plan["objective"]
        assert all(name in oracle.able(group, target) for group, target, name in moves)
        assert oracle.keeps_rules(moves)
        assert oracle.phaseable(moves)
        assert goal["value"] == pytest.approx(oracle.value(moves), rel=1e-9, abs=1e-9)
        assert goal["bound"] <= best[0] * (1 + 1e-9) + 1e-9
        assert goal["value"] >= best[0] * (1 - 1e-9) - 1e-9
        if plan["status"] == "optimal":
            assert goal["value"] == pytest.approx(best[0], rel=1e-9, abs=1e-9)
        values.append(goal["value"])
        home_again(oracle, plan)
    if values:
        assert values[0] == pytest.approx(best[0] if best else None, rel=1e-9, abs=1e-9)
        assert values[0] <= values[1] * (1 + 1e-9)


def home_again(oracle: TryingAll, plan: Documents) -> None:
    """Undo a plan: each phase keeps to the load of nodes, and all that was moved is where it was."""
    place, back = list(oracle.home), plan["plan"]["rollback"]
    moves = moves_of(oracle, plan)
    for group, target, _ in moves:
        place[group] = target
    for phase in sorted({move["phase"] for move in back}):
        load = oracle.loads(place)
        for move in (move for move in back if move["phase"] == phase):
            group = oracle.names.index((move["operator"], move["key_group"]))
            assert (move["from"], move["to"]) == (oracle.ids[place[group]], oracle.ids[oracle.home[group]])
            load[oracle.home[group]] += oracle.load[group]
            load[place[group]] -= 0.0 if move["protocol"] == "cpal" else oracle.load[group]
            place[group] = oracle.home[group]
        assert (load <= oracle.transient * (1 + 1e-9) + 1e-9).all()
    if not {"recover", "fetch"} & {name for *_, name in moves}:
        assert place == oracle.home


@pytest.mark.parametrize("seed", [2, 5, 11])
def test_the_order_of_inputs_changes_nothing(seed: int) -> None:
    documents, asked = random_job(seed)
    rng, other = np.random.default_rng(seed), copy.deepcopy(documents)
    rng.shuffle(other["cluster"]["nodes"])
    rng.shuffle(other["topology"]["operators"])
    other["stats"]["key_groups"] = other["stats"]["key_groups"].sample(frac=1.0, random_state=seed)
    one, two = (planned(some, asked, "adaptive") for some in (documents, other))
    assert {**one, "inputs": None} == {**two, "inputs": None}
