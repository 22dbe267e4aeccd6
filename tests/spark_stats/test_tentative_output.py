"""Sets of replicas judged from end to end, on each engine: documents, plans that are given, what is foretold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.simulation.tentative_output.answer import TentativeOutput
from ftplan.simulation.tentative_output.document import TentativeOutputModel
from ftplan.simulation.tentative_output.simulate import simulate_tentative_output
from ftplan.spark_stats.session import Session
from tests.spark_stats.conftest import WIKITICKER, write_csv

SMALL: dict[str, Any] = {
    "rate": 60,
    "users": 240,
    "segments": 40,
    "duration_s": 60.0,
    "window_s": 20.0,
    "slide_s": 5.0,
    "incident_every_s": 1.0,
}


#: Documents of the engines so far.
ANSWERS: list[str] = []


@pytest.fixture(scope="module")
def incidents(session: Session) -> TentativeOutput:
    return simulate_tentative_output(**SMALL, ratios=(0.3, 0.5, 0.7, 0.9), algorithm=("structure-aware", "greedy"))


def test_the_document_is_what_its_model_says(incidents: TentativeOutput) -> None:
    document = json.loads(incidents.to_json())
    TentativeOutputModel.model_validate(document)
    jsonschema.Draft202012Validator(TentativeOutputModel.model_json_schema()).validate(document)
    assert len(document["sets"]) == 4 * 2 * 2
    assert document["different_sets"] == len({json.dumps(item["replicas"]) for item in document["sets"]})


def test_every_engine_answers_the_same(incidents: TentativeOutput) -> None:
    ANSWERS.append(incidents.to_json())
    assert len(set(ANSWERS)) == 1


def test_accuracy_rises_with_output_fidelity_and_not_with_internal_completeness(incidents: TentativeOutput) -> None:
    """What figure 12 (b) of [SuZhou2016] shows."""
    by = {item.measure: item for item in incidents.predictions}
    fidelity, completeness = by["output_fidelity"], by["internal_completeness"]
    assert fidelity.spearman is not None
    assert completeness.spearman is not None
    assert fidelity.spearman > 0.95
    assert completeness.spearman < 0.6
    assert fidelity.error < 0.1 < completeness.error
    planned = [
        item for item in incidents.sets if (item.algorithm, item.metric) == ("structure-aware", "output-fidelity")
    ]
    assert [item.accuracy for item in planned] == sorted(item.accuracy for item in planned)


def test_no_set_has_more_than_the_bound_of_its_metric(incidents: TentativeOutput) -> None:
    for item in incidents.sets:
        assert item.bound is not None
        assert item.budget is not None
        assert getattr(item, str(item.metric).replace("-", "_")) <= item.bound + 1e-9
        assert len(item.replicas) <= item.budget


def test_a_plan_made_for_the_query_is_judged(sail: Session, incidents: TentativeOutput, tmp_path: Path) -> None:
    problem = ftplan.load(topology=dict(incidents.topology))
    plan = ftplan.plan("replicate-tasks", problem, budget="70%", algorithm="structure-aware")
    path = tmp_path / "plan.json"
    path.write_text(plan.to_json())
    judged = simulate_tentative_output(**SMALL, replicas=str(path))
    (item,) = judged.sets
    (same,) = (
        other
        for other in incidents.sets
        if (other.ratio, other.algorithm, other.metric) == (0.7, "structure-aware", "output-fidelity")
    )
    assert (item.replicas, item.accuracy) == (same.replicas, same.accuracy)
    assert item.output_fidelity == pytest.approx(plan.objective.value)
    assert [file.role for file in judged.inputs] == ["replicas"]
    assert judged.predictions[0].spearman is None


def test_all_replicated_loses_nothing_and_none_everything(sail: Session) -> None:
    whole = simulate_tentative_output(**SMALL, ratios=(0, 1), algorithm="exact", metric="key-aligned-fidelity")
    assert [item.accuracy for item in whole.sets] == [0.0, 1.0]
    assert [item.key_aligned_fidelity for item in whole.sets] == [0.0, 1.0]


def test_streams_that_lack_the_same_keys_are_foretold_by_key_aligned_fidelity(sail: Session, tmp_path: Path) -> None:
    """Half of both streams of a join, by the same keys: output fidelity takes the losses as unrelated."""
    tasks = [("speeds", 0), ("incidents", 0), ("jams", 0), ("report", 0)]
    plan = {
        "format": "ftplan/plan",
        "format_version": "1.0",
        "kind": "replicate-tasks",
        "plan": {"replicas": [{"operator": operator, "index": index, "node": "n1"} for operator, index in tasks]},
    }
    asked = {**SMALL, "parallelism": (2, 2, 1, 1), "segments": 200, "users": 2000, "rate": 400, "zipf": 0.0}
    (item,) = simulate_tentative_output(**asked, replicas=plan).sets
    assert item.output_fidelity == pytest.approx(0.25, abs=0.05)
    assert item.key_aligned_fidelity == pytest.approx(0.5, abs=0.05)
    assert item.accuracy == pytest.approx(0.5, abs=0.15)


def test_wikipedia_edits_by_channel(sail: Session) -> None:
    answer = simulate_tentative_output(
        [WIKITICKER],
        time_columns=("time",),
        key_columns="page",
        partition_columns="channel",
        window_s=6 * 3600.0,
        slide_s=2 * 3600.0,
        k=20,
        ratios="0.4,0.8",
        algorithm="structure-aware",
        metric="output-fidelity",
    )
    assert answer.run == {"windows": 10, "outputs": 200, "seconds": 86400.0}
    assert [file.role for file in answer.inputs] == ["log"]
    assert [len(item.replicas) for item in answer.sets] == [5, 10]
    assert 0.0 < answer.sets[0].accuracy < answer.sets[1].accuracy < 1.0
    assert all(item.key_aligned_fidelity == item.output_fidelity for item in answer.sets)  # nothing is joined


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queri": "top-k"}, "unknown option 'queri' (did you mean 'query'?)"),
        ({"ratios": [0.5, "x"]}, "--ratios: [0.5, 'x'] is not shares from 0 to 1"),
        ({"algorithm": ("greedy", "best")}, "--algorithm: ('greedy', 'best') is not one or several of"),
        ({"time_columns": 3}, "--time-columns: 3 is not the name of a column, or several"),
        ({"users": 0}, "--users: 0 is not a whole number from 1 to 10,000,000"),
        ({"algorithm": "dynamic-programming", "metric": "key-aligned-fidelity"}, "does not plan for it"),
    ],
)
def test_mistakes_are_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FtplanError) as caught:
        simulate_tentative_output(**options)
    assert message in str(caught.value)


def test_a_log_of_two_records_has_one_window(sail: Session, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "log.csv", [["t", "k"], [0, "a"], [9, "b"]])
    answer = simulate_tentative_output(
        str(log),
        time_columns="t",
        time_format="epoch-s",
        key_columns="k",
        window_s=10.0,
        slide_s=10.0,
        parallelism=(1, 1, 1),
        ratios=(0.5, 1),
        algorithm="greedy",
        metric="output-fidelity",
    )
    assert answer.run == {"windows": 1, "outputs": 2, "seconds": 10.0}
    assert [item.accuracy for item in answer.sets] == [0.0, 1.0]
