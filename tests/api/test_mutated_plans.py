"""Every statement of a plan that is changed is found by verify, but for those that are named here with the reason."""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.api import verify
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.planners.peer_ring import judge as ring_judge
from ftplan.planners.peer_ring import prepare as ring_problem
from ftplan.planners.scale_out import prepare as scaling_problem
from tests.effort import some
from tests.fuzz.changes import at, changed, leaves, named, put
from tests.planners.plan_cases import CASES

#: Statements that verify cannot or need not judge, by place; all others must be found.
UNJUDGED: dict[str, str] = {
    r"tool_version|seed": "who made the plan: no part of what it says",
    r"reason|warnings\[\]\.(code|message)|warnings|.*\.reason": "sentences for people",
    r"format_version": "a later minor version is read all the same",
    r"inputs\[\]\.(role|path)|inputs": "the inputs that are given count; what a plan does not name is not compared",
    r"rules(\[\])?": "a rule that is not named is not promised",
    r"summary\.(before|step_by_step|random|sampled)\..*": "of other schedules: only planning again tells (--prove)",
    r"summary\.most_back.*": "a bound: --prove",
    r"summary\.random\.((output|key_aligned)_fidelity|internal_completeness|choices)": "of random choices: --prove",
    r"summary\.upkeep\.(before|fresh|difference|moves_to_mend_rules|bound_by).*": "of the fresh plan: --prove",
    r"summary\.even\..*": "of another plan: --prove",
    r"summary\.holdout.*": "of twenty other plans on unseen time: --prove",
    r"plan\.curve(\[\]\.(budget|value|bound|without_placement.*))?": "of other plans, unless it contradicts: --prove",
    r"plan\.steps\[\]\.recover\[\]\.(prefetch|ready_s)": "why and when a task was begun is the plan's choice",
    r"objective\.bound": "where there is no value to hold it against",
    r"infeasible\.(current|needed|limit|smallest_fix|reason)": "only planning again tells (--prove)",
    r"summary\.ok_to_stop\.(bound|nodes).*": "another set of nodes may stop as well, and none larger: --prove",
    r"summary\.front(\[\]\.(phases|bytes|\w+_s))?": "phases of other sizes, unless there are better ones: --prove",
    r"summary\.front\[\]\.largest_load": "of other rings: --prove",
    r"summary\.assisted\..*": "of two other plans: --prove",
    r"summary\.least_extra_cpu": "a bound: --prove",
    r"summary\.alarming(\[\]\..*)?|summary\.baselines\..*": "of other thresholds and plans: --prove",
    r"plan\.operators\[\]\.steps.*": "sentences for people",
    r"plan\.operators": "an operator that is normal need not be listed",
    r"summary\.levels\.(zone_violations|bytes)\.bound": "a lower one, where the plan is not called optimal: --prove",
    r"summary\.virtual_nodes\..*|summary\.random\.(rings|largest_load|worst_largest_load)": "of other rings: --prove",
    r"plan\.ring\[\]\.token": "where it owns the same key groups another token is as good",
    r"summary\.out_of_room.*": "what the paper's negotiation came to: --prove",
    r"summary\.peers\.(one_by_one|zone_by_zone)\.has_room": "only a planner looks for room: --prove",
}
#: Options that follow from others or from the inputs. All others are the question: where another one has the same
#: answer, nothing that the plan states is false.
DERIVED = {"budget_limit", "budget_unit", "cases", "horizon_s", "capacity_per_core"}


def found(document: Any, problem: ftplan.Problem) -> bool:
    """Return whether a document is refused or found to be wrong."""
    try:
        return not verify(load_plan(document).value, problem).valid
    except FtplanError:
        return True


def missed(document: Any, problem: ftplan.Problem, seen: Counter[tuple[str, str]]) -> tuple[int, list[str]]:
    """Return how many changes were made, and the places of those that nobody found.

    Where places have one name, as the entries of a list or those of plans of one kind, all changes are made at the
    first, and some in turn at the others.
    """
    made, left = 0, []
    for place in leaves(document):
        values, name = list(changed(at(document, place))), (document["kind"], named(place))
        before = seen[name]
        seen[name] += 1
        for value in some(values, before) if before else values:
            made += 1
            if not found(put(document, place, value), problem):
                left.append(f"{named(place)}: {at(document, place)!r} -> {value!r}"[:160])
    return made, left


def excused(line: str, kind: str) -> bool:
    place = line.split(": ")[0]
    if place.startswith("options."):
        name = place.split(".")[1].split("[")[0]
        return name not in DERIVED or (kind == "scale-out" and name == "horizon_s")
    return any(re.fullmatch(pattern, place) for pattern in UNJUDGED)


@pytest.fixture
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepare a question once, however often it is asked; it depends on the inputs and the options alone.

    What follows from a ring is recomputed once, too: it depends on the question, the ring and its steps.
    """
    known: dict[Any, Any] = {}

    def once(prepare: Callable[..., Any]) -> Callable[..., Any]:
        def prepared(problem: ftplan.Problem, options: Any, listed: Any = None, **more: Any) -> Any:
            key = (id(problem), repr(options), listed)
            if key not in known:
                known[key] = prepare(problem, options, *([] if listed is None else [listed]), **more)
            return known[key]

        return prepared

    monkeypatch.setattr("ftplan.planners.scale_out.from_plan.prepare", once(scaling_problem.prepare))
    monkeypatch.setattr("ftplan.planners.peer_ring.from_plan.prepare", once(ring_problem.prepare))

    def of_ring(follows: Callable[..., Any]) -> Callable[..., Any]:
        def found(question: Any, ring: Any, *more: Any) -> Any:
            of_it = None if ring is None else (ring.token, ring.node, ring.tier)
            key = (follows, id(question), pickle.dumps((of_it, more[:1])))
            if key not in known:
                known[key] = follows(question, ring, *more)
            return known[key]

        return found

    for name in ("failure_of", "whole_body", "summary"):
        monkeypatch.setattr(ring_judge, name, of_ring(getattr(ring_judge, name)))


@pytest.fixture(scope="module")
def seen() -> Counter[tuple[str, str]]:
    """How often a place of a kind of plan was changed."""
    return Counter()


@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_every_change_is_found(case: Any, tmp_path: Path, seen: Counter[tuple[str, str]]) -> None:
    plan, problem = case(tmp_path)
    document = json.loads(plan.to_json())
    assert verify(load_plan(document).value, problem).violations == ()
    made, left = missed(document, problem, seen)
    if plan.objective is not None and plan.objective.value is not None:
        assert not any(line.startswith("objective.") for line in left)
    unexpected = [line for line in left if not excused(line, plan.kind)]
    print(f"{case.__name__}: {made} changes, {made - len(left)} found, {len(left) - len(unexpected)} of no account")
    assert unexpected == [], "\n".join(unexpected)
    others = r"summary\.(before|step_by_step|random|sampled|most_back)"
    judged = made - sum(re.match(others, line) is not None for line in left)
    assert made - len(left) > (0.7 if plan.plan is not None else 0.3) * judged
