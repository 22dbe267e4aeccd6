"""What a plan is where nothing was asked for: the algorithm, and copies apart by zone wherever that is possible."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

import ftplan
from ftplan.planners.allocate_checkpoints.view import answer
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"
CLUSTER = yaml.safe_load((SMALL / "cluster.yaml").read_text())
APART = "copies-in-distinct-zones"


def planned(zones: dict[str, str] | None = None, **options: Any) -> ftplan.Plan:
    """Plan the small project with the zones of its nodes renamed; with none at all where they are empty."""
    cluster = copy.deepcopy(CLUSTER)
    for node in cluster["nodes"] if zones is not None else ():
        zone = zones.get(node.pop("zone"))
        node |= {} if zone is None else {"zone": zone}
    cluster.pop("zones", None)
    problem = ftplan.load(topology=SMALL / "topology.yaml", cluster=cluster, stats=SMALL / "stats")
    return ftplan.plan("allocate-checkpoints", problem, **options)


def test_the_default_is_proven_and_no_worse_than_correlated() -> None:
    plan, first = planned(), planned(algorithm="correlated")
    assert (plan.algorithm, plan.status, first.status) == ("auto", "optimal", "feasible")
    assert plan.objective.value > first.objective.value
    assert plan.to_json() == planned().to_json()


@pytest.mark.parametrize(
    ("zones", "copies", "apart"),
    [
        (None, 1, True),
        ({"a": "a", "b": "a", "c": "c"}, 1, True),
        ({"a": "a", "b": "a", "c": "c"}, 2, False),
        ({"a": "a", "b": "a", "c": "a"}, 1, False),
        ({}, 1, False),
    ],
)
def test_copies_are_apart_by_zone_where_that_is_possible(
    zones: dict[str, str] | None, copies: int, apart: bool
) -> None:
    plan = planned(zones, copies=copies)
    assert plan.status in ("optimal", "feasible")
    assert (APART in plan.rules) == apart
    assert plan.options["anti_affinity"] == ("zone" if apart else "node")
    assert plan.options["anti_affinity_requested"] == "auto"
    warned = "ZONES_NOT_APART" in {warning.code for warning in plan.warnings}
    assert warned == (not apart and zones != {})  # nothing is amiss where nobody speaks of zones


def test_what_was_asked_for_is_kept_or_refused() -> None:
    assert APART not in planned(anti_affinity="node").rules
    assert planned({"a": "a", "b": "a", "c": "a"}, anti_affinity="zone").status == "infeasible"


def test_a_long_table_is_cut_and_ends_with_the_verdict() -> None:
    shown = answer(planned(copies=2))
    moves = next(table for table in shown.tables if table.columns[0] == "move")
    assert len(moves.rows) == 24
    assert len(moves.first(None, "").rows) == 20
    assert moves.first(None, "--rows all").title == "first 20 … and 4 more (--rows all)"
    assert moves.first(24, "") == moves
    assert len(moves.first(3, "").rows) == 3
    assert [note.split(":")[0] for note in shown.notes] == ["Usable"]
    assert "proven optimal" in shown.notes[0]
