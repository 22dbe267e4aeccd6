"""What a page says of a scale-out, from a plan made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ftplan.io.topology_file import load_topology
from ftplan.model.plan import Plan
from ftplan.planners.scale_out.figure import due, figures, highlights, lead, states
from ftplan.reports.drawing import Line

TOPOLOGY: dict[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [{"id": name, "parallelism": 2} for name in ("reads", "sums", "ranks", "idle")],
    "edges": [{"from": a, "to": b, "partitioning": "full"} for a, b in (("reads", "sums"), ("sums", "ranks"))],
}


def by_hand(**summary: Any) -> Plan:
    """The sums are a bottleneck, the ranks behind them lack tasks, the idle ones have too many, the readers suffice."""
    body = {
        "operators": [
            {"operator": "idle", "state": "scale-in", "parallelism_from": 2, "parallelism_to": 1, "pause_s": 0.2},
            {"operator": "sums", "state": "promoted", "parallelism_from": 2, "parallelism_to": 4, "pause_s": 1.5,
             "utilisation_from": 1.4, "utilisation_to": 0.7},
            {"operator": "ranks", "state": "normal", "parallelism_from": 2, "parallelism_to": 3, "pause_s": None},
            {"operator": "reads", "state": "prepared", "parallelism_from": 2, "parallelism_to": 2},
        ]
    }  # fmt: skip
    known: dict[str, Any] = {
        "before": {"sustained_load": 0.5, "cpu": 8.0},
        "after": {"sustained_load": 1.0, "cpu": 10.0, "pause_s": 1.5, "extra_core_s": 120.0},
        "thresholds": {"scale_in": 25.0, "alarming": 55.0, "promote": 70.0},
        "span_s": 600.0,
        "scores": [
            {"operator": "reads", "scores": [20.0, 30.0, 60.0, 60.0], "states": ["normal"] * 2 + ["prepared"] * 2},
            {"operator": "sums", "scores": [50.0, None, 60.0, 75.0], "states": ["normal"] * 3 + ["promoted"]},
            {"operator": "ranks", "scores": [30.0, 30.0, 31.0, 30.0], "states": ["normal"] * 4},
            {"operator": "idle", "scores": [21.0] * 4, "states": ["normal", "normal", "scale-in", "scale-in"]},
        ],
    }
    return Plan("scale-out", body, options={"target_utilisation": 0.7}, summary={**known, **summary})


def test_the_lead_says_what_happens() -> None:
    said = " ".join(lead(by_hand())).replace("\u00a0", " ")
    assert said == (
        "sums is a bottleneck. reads may soon be a bottleneck. 3 operators change, from 8 tasks in all to 10. "
        "The jobs sustain 100 % of their demand with no task above the target, as they run now 50 %. "
        "No pause is longer than 1.5 s."
    )
    nothing = Plan("scale-out", {"operators": [
        {"operator": "reads", "state": "normal", "parallelism_from": 2, "parallelism_to": 2}
    ]})  # fmt: skip
    assert lead(nothing) == ["No operator gets other tasks."]


def test_highlights_hold_figures_against_those_before() -> None:
    shown = [(h.what, h.value, h.beside) for h in highlights(by_hand())]
    assert shown == [
        ("Sustained share of the demand", "100\u00a0%", "before: 50\u00a0%"),
        ("Cores of all tasks", "10", "before: 8"),
        ("Longest pause", "1.5\u00a0s", ""),
        ("Extra core-seconds", "120", ""),
    ]


def test_scores_are_drawn_with_thresholds_and_gaps() -> None:
    """Of the first three: those that matter most; the line of the sums has a gap where no score is known."""
    scores, over_time, use = figures(by_hand())
    assert [entry[2] for entry in scores.key] == [
        "sums", "reads", "ranks", "a bottleneck above 70", "prepared from 55", "too many tasks below 25",
    ]  # fmt: skip
    drawn = [shape for shape in scores.wide.shapes if isinstance(shape, Line)]
    assert [len(shape.points) for shape in drawn if shape.style in ("value-line", "arrival-line")] == [2, 4]
    assert sum(shape.style == "limit-line" for shape in drawn) == 1
    assert "3 operators that left the normal state" in over_time.description
    assert use.title == "Utilisation by operator"


def test_states_of_tasks() -> None:
    known = states(by_hand(), load_topology(TOPOLOGY).value, None)
    assert {task: state.text for task, state in known.items() if task[1] == 1} == {
        ("reads", 1): "soon a bottleneck",
        ("sums", 1): "bottleneck",
        ("ranks", 1): "next bottleneck",
        ("idle", 1): "too many tasks",
    }


def test_what_a_plan_does_not_state_is_not_drawn() -> None:
    bare = Plan("scale-out", {"operators": [
        {"operator": "sums", "state": "promoted", "parallelism_from": 1, "parallelism_to": 2}
    ]})  # fmt: skip
    assert list(figures(bare)) == []
    titles = [item.title for item in figures(by_hand(span_s=None, scores="none"))]
    assert titles == ["Utilisation by operator"]


@pytest.mark.parametrize(
    ("state", "foretold", "text"),
    [
        ("promoted", None, "now"),
        ("prepared", None, "not foreseen"),
        ("normal", None, ""),
        ("normal", {"promote_in_s": None, "prepare_in_s": None}, ""),
        ("prepared", {"promote_in_s": [60.0, 300.0, 900.0], "prepare_in_s": 30.0}, "in 5 min (60 s to 15 min)"),
        (
            "normal",
            {"promote_in_s": [600.0, 900.0, None], "prepare_in_s": 570.0},
            "in 15 min (10 min to never); prepare in 9 min 30 s",
        ),
        ("normal", {"promote_in_s": [5.0, None, None], "prepare_in_s": 0.0}, "perhaps, from 5 s on; prepare now"),
    ],
)
def test_when_an_operator_is_a_bottleneck(state: str, foretold: dict[str, Any] | None, text: str) -> None:
    assert due({"state": state}, foretold).replace("\u00a0", " ") == text
