"""The log of the engine that is made by the guide, docs/contributing/importers.md, becomes statistics."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftplan.errors import FtplanError
from tests.engines import toy
from tests.spark_stats.conftest import Run

LINES = "0 read 0 6 h1\n1 read 1 4 h2\n60000000 count 2 5.5 h3\n"


def test_rows_of_the_log_become_tables(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "toy.log"
    log.write_text(LINES, "utf-8")
    with toy.added(tmp_path / "engines"):
        stats = run(log, input_format="toy-log")
        with pytest.raises(FtplanError, match="--time-column: toy-log knows its columns"):
            run(log, input_format="toy-log", time_columns=("t",))
    assert stats.rows("tasks", "operator", "task", "records_in") == [
        ("count", 2, 5.5), ("read", 0, 6.0), ("read", 1, 4.0),
    ]  # fmt: skip
    with pytest.raises(FtplanError, match="--input-format: unknown format 'toy-log'"):
        run(log, input_format="toy-log")
