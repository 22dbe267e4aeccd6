"""Loads over time as statistics, and adaptations simulated over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

import ftplan
from ftplan.generators.loads import START_S, joined, rows_of
from ftplan.generators.options import StatsKnobs
from ftplan.model.problem import Problem, StatsTables
from ftplan.model.statistics import EPOCH, Manifest, OperatorStatistics
from ftplan.model.topology import FloatArray

#: Figures of ``simulate migration --level trace`` that tables hold.
FIGURES = (
    "moves",
    "assisted_share",
    "usable_share",
    "latency_s",
    "completion_s",
    "bytes",
    "copies_moved",
    "overloaded_after",
)
COLUMNS = ("allocation", "preferred", *FIGURES)


def stats_of(records: Mapping[str, FloatArray], window_s: float) -> StatsTables:
    """Return statistics of records in each window by operator, each (windows, key groups)."""
    windows = len(next(iter(records.values())))
    knobs = replace(StatsKnobs(), windows=windows, window_s=window_s)
    parts = [
        rows_of(knobs, "key_groups", {"operator": name}, {"key_group": np.arange(load.shape[1])}, {"records": load})
        for name, load in sorted(records.items())
    ]
    start = EPOCH + timedelta(seconds=START_S // window_s * window_s)
    operators = {name: OperatorStatistics(load.shape[1]) for name, load in sorted(records.items())}
    manifest = Manifest(window_s, start, start + timedelta(seconds=windows * window_s), operators)
    return StatsTables(manifest, {"key_groups": joined("key_groups", parts)})


def adaptations(problem: Problem, **options: Any) -> list[Mapping[str, Any]]:
    """Return the adaptations of a problem, each with its allocation, its preference and its means of figures."""
    document = ftplan.simulate("migration", problem, level="trace", **options).to_dict()
    return [
        {
            "allocation": item["allocation"],
            "preferred": item["preferred"],
            **{name: None if item["summary"][name] is None else item["summary"][name]["mean"] for name in FIGURES},
        }
        for item in document["trace"]["adaptations"]
    ]
