"""The Python face of calibrate: documents, questions, files, what it refuses."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
import yaml

import ftplan
from ftplan.costs.calibration import Calibration
from ftplan.errors import FtplanError
from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.io.schemas import schema
from tests.places import ROOT

EXAMPLE = ROOT / "examples" / "recoveries"


@pytest.fixture(scope="module")
def khaos() -> Calibration:
    return ftplan.calibrate(EXAMPLE / "recoveries.csv", draws=20)


def test_measured_recoveries_of_a_real_job(khaos: Calibration) -> None:
    """Of [Geldenhuys2022]: held out by rate, the median error is at most 6 %."""
    accuracy = khaos.fitted.accuracy
    assert accuracy is not None
    assert accuracy.by == "rate"
    assert accuracy.held_out is not None
    assert accuracy.held_out <= 0.06
    assert accuracy.median <= 0.056
    document = khaos.to_dict()
    assert document["fitted_on"]["recoveries"] == 60
    assert document["fitted_on"]["intervals_s"] == [10.0, 120.0]
    assert set(document["parameters"]) == {"restart_s", "replay_share", "capacity_records_s"}
    for item in document["parameters"].values():
        assert item["low"] <= item["value"] <= item["high"]


def test_the_document_is_what_plans_take(khaos: Calibration, tmp_path: Path) -> None:
    document = khaos.to_dict()
    jsonschema.Draft202012Validator(schema("recovery-costs")).validate(document)
    loaded = load_recovery_costs(document)
    assert loaded.warnings == loaded.ignored == ()
    assert loaded.value.estimates.keys() == khaos.costs.estimates.keys()
    assert loaded.value.rates == khaos.costs.rates
    path = tmp_path / "costs.yaml"
    ftplan.calibrate(EXAMPLE / "recoveries.csv", output=path, draws=0)
    assert path.read_text().startswith("# ftplan calibrate ")
    assert load_recovery_costs(path).value == load_recovery_costs(yaml.safe_load(path.read_text())).value
    with pytest.raises(FtplanError, match="exists already"):
        ftplan.calibrate(EXAMPLE / "recoveries.csv", output=path, draws=0)


def test_questions(khaos: Calibration) -> None:
    inside = khaos.predict(rate=80_000, interval_s=60)
    assert inside.warnings == ()
    assert inside.low is not None
    assert inside.high is not None
    assert inside.low < inside.recovery_s < inside.high
    assert sum(inside.parts.values()) == pytest.approx(inside.recovery_s)
    assert khaos.predict(rate=90_000, interval_s=60).recovery_s > inside.recovery_s
    beyond = khaos.predict(rate=50_000, interval_s=600)
    assert [item.code for item in beyond.warnings] == ["OUTSIDE_FITTED_RANGE"] * 2
    with pytest.raises(FtplanError, match="it never catches up"):
        khaos.predict(rate=1e6, interval_s=60)
    with pytest.raises(FtplanError, match="--predict: the rate is missing"):
        khaos.predict(interval_s=60)
    with pytest.raises(FtplanError, match="--predict: the interval is missing"):
        khaos.predict(rate=1.0)


def test_recoveries_beside_their_predictions(khaos: Calibration) -> None:
    rows = list(csv.DictReader(io.StringIO(khaos.rows_as_csv())))
    assert len(rows) == 60
    measured = pd.read_csv(EXAMPLE / "recoveries.csv")["recovery_s"].iloc[12:].tolist()
    assert [float(row["recovery_s"]) for row in rows] == measured
    for row in rows:
        assert float(row["error"]) == pytest.approx(float(row["predicted_s"]) / float(row["recovery_s"]) - 1, abs=1e-4)


def test_curves_and_spans_together() -> None:
    sources = [EXAMPLE / "curve.parquet", EXAMPLE.parent / "flink" / "jobmanager.log"]
    both = ftplan.calibrate(sources, draws=0, replay_share=0.5)
    assert both.fitted.basis["restart_s"] == "median of 2 measured"
    assert both.fitted.basis["detection_s"] == "fitted to 6 recoveries"
    assert len(both.to_dict()["inputs"]) == 2
    assert both.to_dict()["fitted_on"]["state_bytes"] == [2610396.0, 2653908.0]
    small = both.predict(rate=80_000, interval_s=60, state_bytes=1e3)
    assert [item.code for item in small.warnings] == ["OUTSIDE_FITTED_RANGE"]


def test_a_plot(khaos: Calibration, tmp_path: Path) -> None:
    khaos.plot(tmp_path / "p.svg")
    assert "Predicted over measured recoveries" in (tmp_path / "p.svg").read_text()
    with pytest.raises(FtplanError, match="exists already"):
        khaos.plot(tmp_path / "p.svg")
    parts = ftplan.calibrate(EXAMPLE.parent / "flink" / "jobmanager.log")
    with pytest.raises(FtplanError, match="nothing to draw"):
        parts.plot(tmp_path / "q.svg")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "speed=x"}, "--column: 'speed=x' is not ROLE=COLUMN with one of recovery, rate"),
        ({"detection_s": -1}, "--detection: -1 is not a number of at least"),
        ({"capacity": 0}, "--capacity: 0 is not a number above 0"),
        ({"capacity": 80_000}, "--capacity: 80000 records/s are too few: the job caught up at 91498.7"),
        ({"state": "disk"}, "--state: 'disk' is not one of local, remote"),
        ({"form": "csv"}, "--from: 'csv' is not one of auto, recoveries, curves, flink, spark"),
        ({"draw": 1}, "unknown option 'draw' (did you mean 'draws'?)"),
        ({"form": "curves"}, "column 'records_s'"),
    ],
)
def test_messages(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FtplanError) as error:
        ftplan.calibrate(EXAMPLE / "recoveries.csv", **options)
    assert message in str(error.value) or "no column of time" in str(error.value)


def test_nothing_given() -> None:
    with pytest.raises(FtplanError, match="no recoveries are given"):
        ftplan.calibrate([])


def test_what_recoveries_do_not_tell_can_still_be_read(tmp_path: Path) -> None:
    """Killed task managers of examples/flink, whose recoveries were longest after the shortest part of an interval."""
    rows = [(5, 673, 6.1), (5, 1178, 9.3), (5, 1683, 27.3), (15, 673, 5.3), (15, 1178, 24.2), (15, 1683, 23.9)]
    table = tmp_path / "recoveries.csv"
    pd.DataFrame(rows, columns=["checkpoint_interval_s", "records_s", "recovery_s"]).to_csv(table, index=False)
    document = ftplan.calibrate(table, draws=5).to_dict()
    assert document["parameters"]["replay_share"]["value"] < 1e-6
    assert load_recovery_costs(document).value.replay_share is not None
