"""Times in every shape, on both engines, against Python's datetime."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ftplan.spark_stats.mapping import micros
from tests.spark_stats.cases import parse
from tests.spark_stats.conftest import Run, write_csv

pytestmark = pytest.mark.spark


def at(*parts: int) -> int:
    return micros(datetime(*parts, tzinfo=UTC))  # type: ignore[misc, arg-type]


def test_one_column_by_itself(session: Any) -> None:
    second = at(2015, 9, 12, 0, 46, 58)
    cases = {
        "1442018818": second, "1442018818.771": second + 771_000, "1442018818771": second + 771_000,
        "1442018818771123": second + 771_123, "1442018818771123456": second + 771_123, "-1.5": -1_500_000,
        "2015-09-12T00:46:58.771Z": second + 771_000, "2015-09-12 00:46:58": second,
        " 2015-09-12T02:46:58+02:00 ": second, "2015-09-12": at(2015, 9, 12), "2011-02-30": None, "soon": None,
        "12:30": None, "NaN": None, "Infinity": None, "99999999999999999999": None, "1e3": 1_000_000_000,
    }  # fmt: skip
    assert dict(zip(cases, parse(session, [(c,) for c in cases]), strict=True)) == cases


def test_one_column_with_a_format(session: Any) -> None:
    assert parse(session, [("1500",), ("x",)], "epoch-ms") == [1_500_000, None]
    assert parse(session, [("1500",)], "epoch-us") == [1500]
    assert parse(session, [("99999999999999",)], "epoch-s") == [None]
    assert parse(session, [("20110103",), ("2011-01-03",)], "iso") == [None, at(2011, 1, 3)]
    stamp = "12/Sep/2015:00:46:58 +0200"
    assert parse(session, [(stamp,), ("x",)], "dd/MMM/yyyy:HH:mm:ss Z") == [at(2015, 9, 11, 22, 46, 58), None]


def test_several_columns(session: Any) -> None:
    texts = (
        "2011 1 3 1352, 2011 12 31 2400, 2012 2 29 5, 2011 2 29 5, 2011 13 1 5, 2011 1 3 1360, 2011 1 3 2401, "
        "2011 1 3.0 7.0, 1969 12 31 2359, 2000 02 29 0000, 1900 2 29 0, x 1 1 1"
    )
    rows = [tuple(text.split()) for text in texts.split(", ")]
    assert parse(session, rows) == [
        at(2011, 1, 3, 13, 52), at(2012, 1, 1), at(2012, 2, 29, 0, 5), None, None, None, None, at(2011, 1, 3, 0, 7),
        at(1969, 12, 31, 23, 59), at(2000, 2, 29), None, None,
    ]  # fmt: skip
    assert parse(session, [("2011", "1", "3")]) == [at(2011, 1, 3)]
    assert parse(session, [("2011", "1", "3", "4", "5"), ("2011", "1", "3", "24", "5")]) == [at(2011, 1, 3, 4, 5), None]
    assert parse(session, [("2011", "1", "3", "4", "5", "6.5")]) == [at(2011, 1, 3, 4, 5, 6) + 500_000]
    rows = [("2011-01-03", "1352"), ("2011-01-03", "13:52:07"), ("2011-01-03", "x"), ("junk", "5")]
    assert parse(session, rows) == [at(2011, 1, 3, 13, 52), at(2011, 1, 3, 13, 52, 7), None, None]
    assert parse(session, [("2011", "7", "0930")], "yyyy D HHmm") == [at(2011, 1, 7, 9, 30)]


def test_random_moments(session: Any) -> None:
    rng = random.Random(7)
    moments = [datetime(1, 1, 1, tzinfo=UTC) + timedelta(minutes=rng.randrange(5_000_000_000)) for _ in range(500)]
    rows = [(str(m.year), str(m.month), str(m.day), f"{m.hour}{m.minute:02d}") for m in moments]
    assert parse(session, rows) == [micros(m) for m in moments]


def test_windows_align_to_the_epoch_on_both_sides(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "k"], *[[t, "a"] for t in (-0.001, 0, 1.999, 2, -7)]])
    found = run(log, time_columns=("t",), operator="op", key_columns=("k",), key_groups=1, window_s=2.0)
    starts = [micros(w) // 10**6 for (w,) in found.rows("key_groups", "window_start")]
    assert starts == [-8, -2, 0, 2]
    assert found.manifest["windows"] == 6
