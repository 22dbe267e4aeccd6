"""One session for each engine, shared by all tests here. Sail answers in ``make test``, Spark in ``make test-slow``."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ftplan.spark_stats.choice import LEAST_JAVA, java_version
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.pipeline import compute
from ftplan.spark_stats.session import Session, open_session
from tests.places import ROOT

HOUSTON = ROOT / "examples" / "flights" / "hflights.csv.gz"
WIKITICKER = ROOT / "examples" / "wikiticker" / "wikiticker-2015-09-12-sampled.json.gz"


@pytest.fixture(scope="package", params=["sail", pytest.param("spark", marks=pytest.mark.slow)])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    if request.param == "spark" and (java_version() or 0) < LEAST_JAVA:
        pytest.skip("no Java")
    if request.param == "sail":
        pytest.importorskip("pysail")
    with open_session(request.param) as opened:
        yield opened


@pytest.fixture
def sail(session: Session) -> Session:
    """What is no matter of the engine is tried on the one that is quicker to begin."""
    if session.kind != "sail":
        pytest.skip("tried on Sail")
    return session


class Statistics:
    """A computed folder, read back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = json.loads((folder / "manifest.json").read_text())

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        found = pq.read_table(self.folder / f"{table}.parquet")
        columns = columns or tuple(found.column_names)
        return list(zip(*(found[c].to_pylist() for c in columns), strict=True))

    def rejects(self) -> list[dict[str, Any]]:
        path = self.folder / "rejects" / "rows.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


Run = Callable[..., Statistics]


@pytest.fixture
def run(session: Session, tmp_path: Path) -> Run:
    """Compute statistics on the shared session, into a new folder each time."""
    count = 0

    def compute_once(paths: Any, *, topology: Any = None, **options: Any) -> Statistics:
        nonlocal count
        count += 1
        folder = tmp_path / f"stats-{count}"
        folder.mkdir()
        paths = [str(p) for p in (paths if isinstance(paths, list) else [paths])]
        compute(LogMapping(**options), paths, folder=folder, topology=topology)
        return Statistics(folder)

    return compute_once


def write_csv(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)
    return path
