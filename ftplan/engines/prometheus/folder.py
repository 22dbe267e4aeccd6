"""A folder of answers of Prometheus: its files, and what it says of its queries; without PySpark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ftplan.engines.prometheus.queries import RangeQuery, query_of
from ftplan.errors import FtplanError


class Collected(NamedTuple):
    """What was asked: the queries, and microseconds from one value of a series to the next."""

    name: str
    queries: tuple[RangeQuery, ...]
    step_us: int


def find(logs: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the files with answers of collected folders, in order of time.

    Raises FtplanError if a path is none, or holds no answers.
    """
    files: list[tuple[str, bool]] = []
    for log in logs:
        folder = Path(log)
        if not (folder / "collection.json").is_file():
            what = "no collection.json in it" if folder.is_dir() else "it is no folder"
            raise FtplanError(f"{log}: is no folder that 'ftplan collect --from prometheus' wrote ({what})")
        here = sorted((folder / "answers").glob("*.jsonl*"))
        if not here:
            raise FtplanError(f"{log}: the folder holds no answers yet")
        files += [(str(file), False) for file in here]
    collected(logs)  # what is wrong with it is said before an engine starts
    return files


def collected(logs: Sequence[str]) -> Collected:
    """Return what all folders say of their queries.

    Raises FtplanError if they were not collected from Prometheus, or do not agree.
    """
    whole: Collected | None = None
    for log in logs:
        one = _collected(log)
        if whole is not None and (one.queries, one.step_us) != (whole.queries, whole.step_us):
            raise FtplanError(f"{log}: was collected with other queries or another --every than {whole.name}")
        whole = whole or one
    if whole is None:
        raise FtplanError("no collected folder is given")
    return whole


def _collected(log: str) -> Collected:
    place = f"{log}/collection.json"
    try:
        head = json.loads((Path(log) / "collection.json").read_text("utf-8"))
        source, every_s, options = head["from"], float(head["every_s"]), head.get("options", {})
        queries = options.get("queries") if source == "prometheus" else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FtplanError(f"{place}: is no head of a collection ({error})") from None
    if source != "prometheus":
        raise FtplanError(f"{place}: the answers are of {source}, not of prometheus; choose its --input-format")
    if not isinstance(queries, list) or not 0.001 <= every_s <= 1e9:
        raise FtplanError(f"{place}: says neither which queries were asked nor how often")
    read = tuple(query_of(value, f"{place}: options.queries[{i}]") for i, value in enumerate(queries))
    if len({query.name for query in read}) < len(read):
        raise FtplanError(f"{place}: options.queries: a name stands twice")
    return Collected(log, read, round(every_s * 1e6))
