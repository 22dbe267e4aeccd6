"""Tables of recoveries and curves: what is read, under which names, and exact messages for what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ftplan.costs.recoveries import read_recoveries
from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading
from ftplan.errors import FtplanError
from tests.places import ROOT

EXAMPLE = ROOT / "examples" / "recoveries"


def read(path: Path, form: str = "auto", interval_s: float | None = None, **columns: str) -> RecoveryReading:
    return read_recoveries([path], form, ReadingOptions(columns, interval_s))


def written(folder: Path, text: str, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_rows_without_an_interval_are_left_out_and_counted() -> None:
    reading = read(EXAMPLE / "recoveries.csv")
    assert len(reading.recoveries) == 60
    (said,) = reading.warnings
    assert said.code == "ROWS_LEFT_OUT"
    assert said.message.endswith("12 rows are left out without a checkpoint interval")
    first = reading.recoveries[0]
    assert (first.recovery_s, first.interval_s, first.rate) == (122.0, 10.0, 57116.571653)
    assert first.where.endswith("recoveries.csv: row 12")
    assert reading.inputs[0].role == "recoveries"


def test_names_units_and_endings(tmp_path: Path) -> None:
    text = "recovery_time_ms,rate,checkpoint_interval_ms,restored_bytes,download_ms,down_s,since_checkpoint_s\n"
    text += "1500,10,60000,1e9,500,1,30\n"
    (one,) = read(written(tmp_path, text)).recoveries
    assert one[1:] == (1.5, 10.0, 60.0, 1e9, None, None, None, 0.5, 1.0, 30.0, None)
    (same,) = read(written(tmp_path, text.replace(",", "\t"), "r.tsv")).recoveries
    assert same[1:] == one[1:]
    pd.DataFrame({"recovery_s": [1.5], "rate": pd.array([None], "Int64")}).to_parquet(tmp_path / "r.parquet")
    (sparse,) = read(tmp_path / "r.parquet", interval_s=30.0).recoveries
    assert (sparse.recovery_s, sparse.rate, sparse.interval_s) == (1.5, None, 30.0)
    actual = read(written(tmp_path, "recovery_s,recovery_s_actual\n5,7\n6,\n")).recoveries
    assert [one.recovery_s for one in actual] == [7.0, 6.0]
    (named,) = read(written(tmp_path, "dauer,last\n5,7\n"), recovery="dauer", rate="last").recoveries
    assert (named.recovery_s, named.rate) == (5.0, 7.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recovery_s,rate\nx,1\n", "column 'recovery_s': row 0: 'x' is no number"),
        ("recovery_s,rate\n1,1\n-2,1\n", "column 'recovery_s': row 1: must be 0 or from 1e-12 to 1e+09, got -2"),
        ("recovery_s,rate\n1,inf\n", "column 'rate': row 0: must be 0 or from 1e-09 to 1e+12, got inf"),
        (
            "recovery_s,checkpoint_interval_s\n1,0\n",
            "row 0: must be from 1e-06 to 1e+09, got 0",
        ),
        ("recovery_s,rate\n", "holds no rows"),
        ("", "cannot be read as a table: No columns to parse from file"),
        (
            "a,b\n1,2\n",
            "nor curves: no column of time: --column time=COLUMN names it; there are a, b",
        ),
        ("time,b\n1,2\n", "no column of throughput, lag or latency: --column lag=COLUMN names it; there are time, b"),
        ("time,lag\nsoon,2\n", "column 'time': row 0: 'soon' is no time"),
        ("recovery_s,rate\n,1\n", "no recovery that can be used: "),
        ("recovery_s,rate\n0,1\n", "1 row is left out with a recovery of 0 seconds"),
    ],
)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FtplanError) as error:
        read(written(tmp_path, text))
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "r.csv")[:20])


def test_files_and_columns_that_are_not_there(tmp_path: Path) -> None:
    written(tmp_path, "recovery_s,rate\n1,1\n")
    with pytest.raises(FtplanError, match=r"no such file or folder \(did you mean 'r.csv'\?\)"):
        read(tmp_path / "r.cvs")
    with pytest.raises(FtplanError, match=r"there is no column 'rates' \(did you mean 'rate'\?\)"):
        read(tmp_path / "r.csv", rate="rates")
    (tmp_path / "r.parquet").write_bytes(b"PAR1 but not")
    with pytest.raises(FtplanError, match="cannot be read as a table"):
        read(tmp_path / "r.parquet")


def test_curves(tmp_path: Path) -> None:
    (one,) = read(EXAMPLE / "curve.parquet").curves
    assert one.interval_s == 60.0
    assert one.throughput is not None
    assert one.time_s.shape == one.throughput.shape == (22_000,)
    text = "timestamp,checkpoint_interval,lag\n2026-01-01T00:00:02Z,30,7\n2026-01-01T00:00:01Z,30,\n"
    text += "2026-01-01T00:00:01Z,10,1\n2026-01-01T00:00:01Z,10,2\n"
    ten, thirty = read(written(tmp_path, text)).curves
    assert (ten.interval_s, thirty.interval_s) == (10.0, 30.0)
    assert thirty.lag is not None
    assert ten.lag is not None
    assert np.diff(thirty.time_s).tolist() == [1.0]
    assert np.isnan(thirty.lag).tolist() == [True, False]
    assert ten.lag.tolist() == [2.0]  # of two samples of one moment the later row
    (milli,) = read(written(tmp_path, "ts,lag\n1795334968245,1\n1795334969245,1\n"), interval_s=5.0).curves
    assert np.diff(milli.time_s).tolist() == [1.0]
    assert milli.interval_s == 5.0
