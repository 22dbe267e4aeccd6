"""Starter files: a small project that can be checked, planned and edited at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ftplan.io.starter_from_stats import StarterFiles, files_from_stats
from ftplan.model.defaults import MAX_SUBSTREAMS

_FOLDER = Path(__file__).with_name("starter_project")
_WINDOWS = 96  # of 30 minutes: two days
_CUSTOMERS = 24
_PRODUCTS = 16


def starter_files(
    stats: str | None = None, output: str | os.PathLike[str] = ".", max_substreams: int = MAX_SUBSTREAMS
) -> StarterFiles:
    """Return the starter files for the folder *output*, by name: topology, cluster and ``ftplan.toml``.

    From nothing they describe a small shop, with a made-up log beside; from the statistics folder *stats* they have
    its operators, key groups, streams and nodes. An edge lists up to *max_substreams* measured substreams.
    """
    if stats is not None:
        return files_from_stats(stats, output, max_substreams)
    log = "time,customer,product\n" + "".join(_log_lines())
    texts = {name: (_FOLDER / name).read_text("utf-8") for name in ("topology.yaml", "cluster.yaml", "ftplan.toml")}
    return StarterFiles({**texts, "orders.csv": log})


def _log_lines() -> Iterator[str]:
    """Yield the rows of a made-up log: half of the customers buy by day, the other half by night."""
    order = 0
    for window in range(_WINDOWS):
        by_day = 16 <= window % 48 < 40
        for turn in range(8):
            order += 1
            half = by_day == (turn < 6)
            customer = (order * order * 7 + turn) % (_CUSTOMERS // 2) * 2 + half
            product = (order * 5 + customer * (3 if by_day else 7)) % _PRODUCTS
            minutes = window * 30 + turn * 3
            day, minute = divmod(minutes, 1440)
            yield f"2024-03-{4 + day:02d}T{minute // 60:02d}:{minute % 60:02d}:00Z,c{customer:02d},p{product:02d}\n"
