"""A folder that cannot be written is a failure of the disk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ftplan.errors import OutputError
from ftplan.model.statistics import Manifest
from ftplan.spark_stats.rejects import Rejects
from ftplan.spark_stats.writers import write_documents, write_tables


def test_disk_failures(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(OutputError, match=r"gone: cannot be written \("):
        write_tables({"tasks": pa.table({"a": [1]})}, gone)
    at = datetime(2024, 1, 1, tzinfo=UTC)
    with pytest.raises(OutputError, match=r"gone: cannot be written \(No such file or directory\)"):
        write_documents(Manifest(60.0, at, at, {}), {}, Rejects(0, {}, ()), gone, "1")
