"""What key groups are planned with: their load by demand, and what a record of their operator takes.

Shapes: W windows, K key groups, O operators. Groups are those of a :class:`KeyGroupSeries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.defaults import OVERLOAD
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import BoolArray, FloatArray, Operator
from ftplan.model.units import MS_PER_CORE_SECOND


def demand(series: KeyGroupSeries, which: str) -> FloatArray:
    """Return the load that each key group is planned with, (K,), in load units per window.

    Parameters
    ----------
    which
        ``mean`` over all windows; ``pN``, the percentile of its own windows, between two of them in proportion; or
        ``last:N``, the mean of the last N windows.

    Raises
    ------
    FtplanError
        If there are fewer windows than the last N.
    """
    windows = series.loads.shape[0]
    if which.startswith("last:"):
        last = int(which.removeprefix("last:"))
        if last > windows:
            raise FtplanError(f"--demand: {which}: the statistics have {windows:,} windows")
        return np.asarray(series.loads[windows - last :].mean(axis=0))
    if which == "mean" or windows == 0:
        return series.mean_load
    return np.asarray(np.percentile(series.loads, float(which.removeprefix("p")), axis=0))


class RecordTimes(NamedTuple):
    """Seconds of a thread that a record takes, (O,), and where they follow from the cpu that the topology states."""

    seconds: FloatArray
    assumed: BoolArray


def record_times(
    stats: StatsTables, operators: Sequence[Operator], records: KeyGroupSeries, rate: FloatArray
) -> RecordTimes:
    """Return the time per record of keyed operators.

    In this order: ``cpu_ms`` of their key groups by records; that of their tasks by ``records_in``; the topology's
    ``record_time_s``; the topology's cpu by input rate. The last is what is reserved, not what is used, so that no key
    group is taken to need more than the share of a thread at which nodes are overloaded: the job keeps up.

    Parameters
    ----------
    records
        Records in each window, of the key groups of *operators*.
    rate
        Records per second into each group that is planned with, (K,).
    """
    names = [operator.id for operator in operators]
    measured = _per_record(stats.tables["key_groups"], names, "cpu_ms", "records")
    if "tasks" in stats.tables:
        by_task = _per_record(stats.tables["tasks"], names, "cpu_ms", "records_in")
        measured = np.where(np.isnan(measured), by_task, measured)
    stated = np.array([np.nan if o.record_time_s is None else o.record_time_s for o in operators], dtype=np.float64)
    known = np.where(np.isnan(measured), stated, measured / MS_PER_CORE_SECOND)
    mean = np.bincount(records.operator, records.mean_load, minlength=len(names)) / records.window_s
    heaviest = np.zeros(len(names))
    np.maximum.at(heaviest, records.operator, rate)
    cpu = np.array([operator.cpu.sum() for operator in operators], dtype=np.float64)
    reserved = np.divide(cpu, mean, out=np.zeros(len(names)), where=mean > 0.0)
    most = np.divide(OVERLOAD, heaviest, out=np.zeros(len(names)), where=heaviest > 0.0)
    assumed = np.isnan(known)
    return RecordTimes(np.where(assumed, np.minimum(reserved, most), known), assumed & (mean > 0.0))


def record_bytes(stats: StatsTables, operators: Sequence[str]) -> FloatArray:
    """Return the bytes of a record that comes into each operator, (O,), NaN where they were not measured."""
    return _per_record(stats.tables["key_groups"], operators, "bytes", "records")


def queue_lengths(stats: StatsTables, operators: Sequence[str]) -> FloatArray:
    """Return the longest input queue of a window in records, as a mean over tasks and windows, (O,); NaN if unknown."""
    table = stats.tables.get("tasks")
    if table is None:
        return np.full(len(operators), np.nan)
    known = table.filter(table["queue_length"].is_valid())
    means = known.group_by("operator").aggregate([("queue_length", "mean")])
    return _by_operator(means, operators, "queue_length_mean")


def _per_record(table: Any, operators: Sequence[str], column: str, records: str) -> FloatArray:
    """Return a column's sum over that of records, of the rows that have it, (O,); NaN where there are none."""
    known = table.filter(table[column].is_valid())
    sums = known.group_by("operator").aggregate([(column, "sum"), (records, "sum")])
    total, count = (_by_operator(sums, operators, f"{name}_sum") for name in (column, records))
    return np.asarray(np.divide(total, count, out=np.full(len(operators), np.nan), where=count > 0.0))


def _by_operator(rows: Any, operators: Sequence[str], column: str) -> FloatArray:
    values = dict(zip(rows["operator"].to_pylist(), rows[column].to_pylist(), strict=True))
    return np.array([values.get(name, np.nan) for name in operators], dtype=np.float64)
