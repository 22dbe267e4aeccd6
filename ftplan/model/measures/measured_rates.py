"""Mean rates of tasks and of the streams between them, from the tables ``tasks`` and ``substreams``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.measures.task_costs import known_task, measured_by_task
from ftplan.model.plan import canonical_number
from ftplan.model.problem import StatsTables
from ftplan.model.ranges import RATE
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray, Substreams


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRates:
    """Records per second, as means over the manifest's whole time range, rounded to 12 significant digits.

    ``records_in`` and ``records_out`` have shape (tasks,), NaN where a task has no value. ``streams`` hold the pairs
    of tasks that exchanged records, sorted, by the positions of their operators in the topology.
    """

    records_in: FloatArray
    records_out: FloatArray
    streams: Mapping[tuple[int, int], Substreams]

    def of_operator(self, column: FloatArray, tasks: slice) -> FloatArray | None:
        """Return the rates of an operator's tasks: 0 for one without a value, None where nobody has one."""
        rate = column[tasks]
        return None if np.isnan(rate).all() else np.nan_to_num(rate)


def measured_rates(graph: TaskGraph, stats: StatsTables) -> MeasuredRates:
    """Return the rates that statistics hold; windows that are absent count as zero. Cost O(rows + tasks).

    Raises
    ------
    FtplanError
        If the statistics name an operator or task that the topology does not have, or a rate is out of range.
    """
    range_s = stats.manifest.windows * stats.manifest.window_s
    unknown = np.full(graph.tasks, np.nan)
    if not range_s > 0.0:
        return MeasuredRates(unknown, unknown, {})
    totals = measured_by_task(graph, stats, ("records_in", "records_out"))
    received, sent = (_means(graph, totals.get(name, unknown), range_s) for name in ("records_in", "records_out"))
    return MeasuredRates(received, sent, _streams(graph, stats, range_s))


def rounded(values: FloatArray) -> FloatArray:
    """Round to 12 significant digits, as files hold them: then the order of rows decides nothing."""
    return np.array([canonical_number(value) for value in values.tolist()], dtype=np.float64)


def _means(graph: TaskGraph, records: FloatArray, range_s: float) -> FloatArray:
    """Return records per second from the records of each task, shape (tasks,); NaN stays NaN."""
    mean = records / range_s
    most = int(np.argmax(np.nan_to_num(mean)))
    if mean[most] > RATE.high:
        operator, index = graph.name(most)
        raise FtplanError(
            f"the statistics say that task {operator}/{index} has {mean[most]:g} records/s, more than {RATE.high:g}: "
            "mend the records, or the length of a window"
        )
    return rounded(np.where((mean > 0.0) & (mean < RATE.low), RATE.low, mean))


def _streams(graph: TaskGraph, stats: StatsTables, range_s: float) -> dict[tuple[int, int], Substreams]:
    """Return the pairs of tasks that exchanged records, by the positions of their operators."""
    table = stats.tables.get("substreams")
    if table is None or table.num_rows == 0:
        return {}
    sender, receiver = (_task_numbers(graph, table[f"{end}_operator"], table[f"{end}_task"]) for end in ("from", "to"))
    pairs, place = np.unique(sender * graph.tasks + receiver, return_inverse=True)
    records = np.bincount(place, weights=table["records"].to_numpy(), minlength=len(pairs))
    pairs, records = pairs[records > 0.0], records[records > 0.0]
    sender, receiver = pairs // graph.tasks, pairs % graph.tasks
    sent = np.bincount(sender, weights=records, minlength=graph.tasks).astype(np.float64)
    _means(graph, sent, range_s)  # refuses what is out of range
    rate = np.maximum(rounded(records / range_s), RATE.low)
    source, target = graph.operator_of[sender], graph.operator_of[receiver]
    sender, receiver = sender - graph.offset[source], receiver - graph.offset[target]
    order = np.lexsort((receiver, sender, target, source))
    changes = np.flatnonzero(np.diff(source[order]) | np.diff(target[order])) + 1
    return {
        (int(source[here[0]]), int(target[here[0]])): Substreams(sender[here], receiver[here], rate[here])
        for here in np.split(order, changes)
        if len(here)
    }


def _task_numbers(graph: TaskGraph, operators: Any, tasks: Any) -> IntArray:
    """Return the number of the task of each row, from Arrow columns of operators and indices."""
    named = operators.combine_chunks().dictionary_encode()
    code, index = named.indices.to_numpy(), tasks.to_numpy().astype(np.int64)
    names = named.dictionary.to_pylist()
    largest = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(largest, code, index)
    last = [known_task(graph, name, most) for name, most in zip(names, largest.tolist(), strict=True)]
    return np.asarray((np.array(last, dtype=np.int64) - largest)[code] + index, dtype=np.int64)
