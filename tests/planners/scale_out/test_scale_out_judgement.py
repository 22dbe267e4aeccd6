"""Scale-outs are judged by what they give to operators, whoever made them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.planners.scale_out.judge import JUDGES
from tests.planners.scale_out.cases import BARE, CLUSTER, TOPOLOGY, job, planned, statistics

Document = dict[str, Any]
SURGE = pd.Timedelta(minutes=10)
Change = Callable[[Document], Any]

#: By name, options of plans that the changes below are made to.
PLANS: dict[str, dict[str, Any]] = {
    "plain": {},
    "hash": {"split": "hash"},
    "backup": {"technique": "active-backup", "latency_budget_s": 0.5},
    "checkpoint": {"technique": "checkpoint"},
    "assisted": {"technique": "auto", "latency_budget_s": 0.5},
    "limited": {"free_cpu": 5.0, "quota": 20.0},
    "memory": {"task_memory": 6.0 * 2**20},
    "few": {"max_parallelism": 5, "target_utilisation": 0.9},
    "bare": {},
    "slots": {},
}


@cache
def problem(name: str) -> ftplan.Problem:
    if name == "slots":
        return job(nodes=[{**node, "slots": 3} for node in CLUSTER["nodes"]])
    return ftplan.load(**BARE) if name == "bare" else job()


@cache
def text(name: str) -> str:
    return planned(problem(name), **PLANS[name]).to_json()


def plan(name: str) -> Document:
    made: Document = json.loads(text(name))
    return made


def codes(given: Document, inputs: ftplan.Problem | None = None, **how: Any) -> list[str]:
    return [
        violation.code for violation in verify(load_plan(given).value, inputs or problem("plain"), **how).violations
    ]


def by_hand(*operators: Document) -> Document:
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "scale-out", "plan": {"operators": [*operators]}}


def of(given: Document, operator: str) -> Document:
    item: Document = next(item for item in given["plan"]["operators"] if item["operator"] == operator)
    return item


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_valid_as_they_are_and_strictly(name: str) -> None:
    made = plan(name)
    assert made["plan"] is not None, made["reason"]
    assert codes(made, problem(name)) == []
    assert codes(made, problem(name), strict=True) == []
    assert {"ranges", "max-parallelism", "technique"} <= set(made["rules"])


def test_a_plan_states_all_that_follows_from_it() -> None:
    """Nothing but what only planners know is left, and nothing of an operator is missing."""
    verified = verify(load_plan(plan("plain")).value, problem("plain"))
    assert set(verified.not_recomputed) == {
        "bound",
        "plan.operators.steps",
        "summary.baselines",
        "summary.least_extra_cpu",
    }
    for item in plan("plain")["plan"]["operators"]:
        changes = item["parallelism_to"] != item["parallelism_from"]
        assert bool(item["steps"]) == changes
        assert (item["pause_s"] is not None) == changes
        assert item["reason"]


def fewer(given: Document) -> None:
    """Take the last task of an operator away, with its key groups, and the node."""
    item = of(given, "count")
    item["parallelism_to"] -= 1
    *rest, (first, _), (_, last) = item["key_ranges"]
    item.update(key_ranges=[*rest, [first, last]], nodes=item["nodes"][:-1])


def together(given: Document) -> None:
    """Put all new tasks on one node."""
    item = of(given, "count")
    item["nodes"] = ["n2"] * item["parallelism_to"]


def tasks(given: Document, operator: str, count: int, **more: Any) -> None:
    item = of(given, operator)
    groups = {"count": 24, "rank": 8, "alive": 8}.get(operator)
    item.update(parallelism_to=count, technique=None, nodes=None, state_bytes=None, pause_s=None, extra_core_s=None)
    item["key_ranges"] = None
    if groups is not None:
        edges = [-(-k * groups // count) for k in range(count + 1)]
        item["key_ranges"] = [[a, b - 1] for a, b in pairwise(edges)]
    item.update(more)


def shifted(given: Document) -> None:
    ranges = of(given, "count")["key_ranges"]
    ranges[0][1] += 1


#: By what is wrong: a plan, what makes it wrong, and the code.
WRONGS: dict[str, tuple[str, Change, str]] = {
    "an operator that is not there": ("plain", lambda p: of(p, "count").update(operator="cuont"), "UNKNOWN_OPERATOR"),
    "a node that is not there": ("plain", lambda p: of(p, "count")["nodes"].__setitem__(0, "n9"), "UNKNOWN_NODE"),
    "a node without a cluster": ("bare", lambda p: of(p, "rank").update(nodes=["n1"] * 3), "UNKNOWN_NODE"),
    "a key group that is not there": (
        "plain", lambda p: of(p, "count")["key_ranges"][-1].__setitem__(1, 24), "UNKNOWN_KEY_GROUP",
    ),
    "a key group with no task": (
        "plain", lambda p: of(p, "count")["key_ranges"][-1].__setitem__(1, 22), "MISSING_KEY_GROUP",
    ),
    "a key group with two tasks": ("plain", shifted, "ASSIGNED_TWICE"),
    "an operator twice": ("plain", lambda p: p["plan"]["operators"].append(of(p, "rank")), "ASSIGNED_TWICE"),
    "ranges in another order": ("plain", lambda p: of(p, "count")["key_ranges"].reverse(), "WRONG_RANGES"),
    "fewer ranges than tasks": ("plain", lambda p: of(p, "count").update(parallelism_to=8, nodes=None), "WRONG_RANGES"),
    "ranges by load for hash": (
        "hash", lambda p: of(p, "rank").update(key_ranges=[[0, 1], [2, 4], [5, 7]], state_bytes=None), "WRONG_RANGES",
    ),
    "ranges without keyed state": ("plain", lambda p: of(p, "parse").update(key_ranges=[[0, 1]]), "WRONG_RANGES"),
    "a task above the target": ("plain", lambda p: tasks(p, "rank", 2), "OVER_CAPACITY"),
    "a task with too much state": ("memory", lambda p: tasks(p, "rank", 1), "OVER_CAPACITY"),
    "a node with too many tasks": ("plain", together, "OVER_CAPACITY"),
    "more tasks on a node than it has slots": ("slots", together, "OVER_CAPACITY"),
    "more tasks than slots": ("slots", lambda p: tasks(p, "count", 13), "OVER_CAPACITY"),
    "another limit": ("plain", lambda p: of(p, "count").update(bound_by="slots"), "WRONG_COST"),
    "too many tasks": ("few", lambda p: tasks(p, "rank", 6), "OVER_PARALLELISM"),
    "fewer tasks than the peak needs": ("few", lambda p: p["options"].update(growth=9.0), "UNDER_PEAK"),
    "too many new cores": ("limited", lambda p: p["options"].update(free_cpu=1.0), "OVER_BUDGET"),
    "more cores than the quota": ("limited", lambda p: p["options"].update(quota=13.5), "OVER_BUDGET"),
    "too long a pause": ("backup", lambda p: p["options"].update(latency_budget_s=0.001), "OVER_PAUSE"),
    "a technique that cannot be": ("bare", lambda p: of(p, "rank").update(technique="assisted"), "WRONG_TECHNIQUE"),
    "a technique that was not asked for": (
        "backup", lambda p: of(p, "count").update(technique="checkpoint"), "WRONG_TECHNIQUE",
    ),
    "no technique that there is": ("plain", lambda p: of(p, "count").update(technique="magic"), "WRONG_TECHNIQUE"),
    "no technique for state": ("backup", lambda p: of(p, "count").update(technique=None), "WRONG_TECHNIQUE"),
    "a technique without state": ("limited", lambda p: tasks(p, "parse", 1, technique="checkpoint"), "WRONG_TECHNIQUE"),
    "a technique of what stays": ("plain", lambda p: of(p, "parse").update(technique="checkpoint"), "WRONG_TECHNIQUE"),
    "another parallelism now": ("plain", lambda p: of(p, "count").update(parallelism_from=5), "WRONG_PARALLELISM"),
    "no task": ("plain", lambda p: of(p, "parse").update(parallelism_to=0), "WRONG_PARALLELISM"),
    "fewer nodes than tasks": ("plain", lambda p: of(p, "count")["nodes"].pop(), "WRONG_PARALLELISM"),
    "another score": ("plain", lambda p: of(p, "parse").update(score=50.0), "WRONG_SCORE"),
    "another state": ("plain", lambda p: of(p, "count").update(state="prepared"), "WRONG_STATE"),
    "a bottleneck that is left out": (
        "plain", lambda p: p["plan"].update(operators=[o for o in p["plan"]["operators"] if o["operator"] != "count"]),
        "WRONG_STATE",
    ),
    "other nodes of what stays": ("plain", lambda p: of(p, "parse")["nodes"].reverse(), "CHANGES_DIFFER"),
    "another pause": ("plain", lambda p: of(p, "count").update(pause_s=0.1), "WRONG_COST"),
    "other core-seconds": ("plain", lambda p: of(p, "rank").update(extra_core_s=1.0), "WRONG_COST"),
    "another fairness": ("plain", lambda p: of(p, "count").update(fairness=1.0), "WRONG_COST"),
    "other state": ("plain", lambda p: of(p, "count")["state_bytes"].__setitem__(0, 5.0), "WRONG_COST"),
    "another utilisation now": ("plain", lambda p: of(p, "rank").update(utilisation_from=1.0), "WRONG_COST"),
    "another utilisation": ("plain", lambda p: of(p, "rank").update(utilisation_to=0.5), "WRONG_COST"),
    "another value": ("limited", lambda p: p["objective"].update(value=0.7), "OBJECTIVE_DIFFERS"),
    "another objective": ("plain", lambda p: p["objective"].update(name="latency"), "OBJECTIVE_DIFFERS"),
    "another sense": ("plain", lambda p: p["objective"].update(sense="min"), "OBJECTIVE_DIFFERS"),
    "another load": ("plain", lambda p: p["summary"]["after"].update(sustained_load=0.9), "SUMMARY_DIFFERS"),
    "another score of then": (
        "plain", lambda p: p["summary"]["scores"][0]["scores"].__setitem__(3, 55.5), "SUMMARY_DIFFERS",
    ),
    "another threshold": ("plain", lambda p: p["summary"]["thresholds"].update(promote=60.0), "SUMMARY_DIFFERS"),
    "a threshold that was not asked for": ("plain", lambda p: p["options"].update(alarming=60.0), "OPTION_DIFFERS"),
    "a rule that there is not": ("plain", lambda p: p["rules"].append("ragnes"), "UNKNOWN_RULE"),
    "fewer cores than the fewest": ("plain", lambda p: p["summary"].update(least_extra_cpu=99.0), "SUMMARY_DIFFERS"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONGS)
def test_what_is_wrong_is_found(what: str) -> None:
    name, change, code = WRONGS[what]
    given = plan(name)
    change(given)
    assert code in codes(given, problem(name))


def test_every_code_is_planted() -> None:
    """Those of this kind; the others are planted in the tests of all kinds."""
    said = (JUDGES.answer.__doc__ or "").replace("``", " ").replace(",", " ").split()
    assert {word for word in said if word.isupper() and "_" in word} <= {code for _, _, code in WRONGS.values()}


def test_what_a_rule_forbids_may_be_where_it_is_not_named() -> None:
    given = plan("backup")
    given["options"]["latency_budget_s"] = 0.001
    given["rules"] = ["ranges"]
    assert "OVER_PAUSE" not in codes(given)
    assert "OVER_PAUSE" in codes(given, strict=True)


#: What a plan made by hand has to say of an operator.
HAND = (
    {"operator": "alive", "state": "scale-in", "parallelism_from": 4, "parallelism_to": 4},
    {"operator": "beats", "state": "normal", "parallelism_from": 1, "parallelism_to": 1},
    {"operator": "clicks", "state": "normal", "parallelism_from": 2, "parallelism_to": 2},
    {"operator": "count", "state": "promoted", "parallelism_from": 4, "parallelism_to": 8},
    {"operator": "rank", "state": "promoted", "parallelism_from": 1, "parallelism_to": 3},
)


def test_a_plan_made_by_hand_is_judged_as_far_as_it_goes() -> None:
    """With even ranges, and the cheapest technique; what it leaves out is named."""
    given = by_hand(*map(dict, HAND))
    verified = verify(load_plan(given).value, problem("plain"))
    assert verified.valid, verified.violations
    assert {text.split(" ")[0] for text in verified.not_recomputed} == {
        f"plan.operators.{operator}.{what}"
        for operator in ("count", "rank")
        for what in ("key_ranges", "nodes", "technique")
    }
    assert codes(by_hand(*map(dict, HAND)), strict=True) == []
    given["plan"]["operators"][3]["parallelism_to"] = 25
    assert codes(given) == ["OVER_PARALLELISM"]
    given["plan"]["operators"][3]["parallelism_to"] = 8
    given["plan"]["operators"][0]["state"] = "normal"
    assert codes(given) == ["WRONG_STATE"]


def test_a_plan_made_by_hand_may_state_a_figure() -> None:
    """Then it is held to it."""
    items = [dict(item) for item in HAND]
    items[4].update(utilisation_to=0.5)
    assert codes(by_hand(*items)) == ["WRONG_COST"]


def test_what_is_wrong_is_one_sentence_elsewhere() -> None:
    given = by_hand({**HAND[3], "operator": "cuont"})
    with pytest.raises(FtplanError, match=r"no operator 'cuont' .did you mean 'count'"):
        ftplan.evaluate(given, problem("plain"))
    given = by_hand(dict(HAND[3]), dict(HAND[3]))
    with pytest.raises(FtplanError, match="listed before"):
        ftplan.evaluate(given, problem("plain"))
    given = by_hand({**HAND[3], "key_ranges": [[0, 3]]})
    with pytest.raises(FtplanError, match="verify names everything"):
        ftplan.evaluate(given, problem("plain"))


def test_other_statistics_are_another_answer() -> None:
    heavier = ftplan.load(topology=TOPOLOGY, cluster=CLUSTER, stats=statistics(1.3))
    found = codes(plan("plain"), heavier)
    assert {"STALE_INPUT", "OBJECTIVE_DIFFERS", "SUMMARY_DIFFERS"} <= set(found)


def test_what_is_scaled_in_keeps_the_peak_whatever_it_is_sized_for() -> None:
    """Sized for the mean, and low for long: as many tasks as the surge before needs."""
    stats = statistics()
    tasks = stats["tasks"]
    surge = (tasks["operator"].isin(["beats", "alive"])) & (tasks["window_start"] < tasks["window_start"].min() + SURGE)
    for column in ("records_in", "records_out", "busy_ms"):
        tasks.loc[surge, column] *= 9.0
    problem = ftplan.load(topology=TOPOLOGY, cluster=CLUSTER, stats=stats)
    for demand in ("mean", "p50", "peak"):
        made = json.loads(planned(problem, demand=demand).to_json())
        assert of(made, "alive")["state"] == "scale-in"
        assert of(made, "alive")["parallelism_to"] == 3
        assert codes(made, problem) == []
