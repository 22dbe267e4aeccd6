"""The pass over a log, and what it adds up to.

The node that held a task or key group is the one that logged most of its records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.spark_stats import tables
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import Operators, as_id
from ftplan.spark_stats.readers import MOST_NAMED_FILES, Log
from ftplan.spark_stats.records import to_records
from ftplan.spark_stats.rejects import Rejects, check_share, collect_rejects
from ftplan.spark_stats.windows import Grouping, aggregate


def majority_nodes(sums: Any) -> dict[str, dict[int, str]]:
    """Return operator → slot → node with most rows; ties go to the first by name. *sums* has ``node``, maybe null."""
    totals = sums.group_by(["operator", "slot", "node"]).aggregate([("rows", "sum")])
    best: dict[str, dict[int, tuple[int, str]]] = {}
    columns = (totals[c].to_pylist() for c in ("operator", "slot", "node", "rows_sum"))
    for operator, slot, node, rows in zip(*columns, strict=True):
        if node is None or slot is None:
            continue
        vote = (-rows, as_id(node))
        of_operator = best.setdefault(operator, {})
        of_operator[slot] = min(vote, of_operator.get(slot, vote))
    return {o: {s: node for s, (_, node) in slots.items()} for o, slots in sorted(best.items())}


def placement_document(
    tasks: dict[str, dict[int, str]], key_groups: dict[str, dict[int, str]], operators: Operators
) -> dict[str, Any]:
    """Return ``{"tasks": {operator: [node, …]}, "key_groups": {…}}`` as a cluster file's ``placement`` takes it.

    A task or key group that no record named takes the node of the nearest one before it (else after it); these are
    listed by index under ``assumed``.
    """
    document: dict[str, Any] = {}
    assumed: dict[str, dict[str, list[int]]] = {}
    for kind, by_operator in (("tasks", tasks), ("key_groups", key_groups)):
        for operator, nodes in by_operator.items():
            count = max(nodes) + 1
            if kind == "key_groups":
                count = operators.count(operator) or count
            elif operators.topology is not None:
                count = operators.topology.operator(operator).parallelism
            document.setdefault(kind, {})[operator] = _without_gaps(nodes, count)
            if gaps := [i for i in range(count) if i not in nodes]:
                assumed.setdefault(kind, {})[operator] = gaps
    return {**document, **({"assumed": assumed} if assumed else {})}


def _without_gaps(nodes: dict[int, str], count: int) -> list[str]:
    line = [nodes[min(nodes)]]
    for i in range(count):
        line.append(nodes.get(i, line[-1]))
    return line[1:]


#: Bytes of rejected texts that are kept apart, about, while a log is read; more of them share buckets.
TEXT_BYTES = 1 << 26


@dataclass(frozen=True, slots=True)
class LogStatistics:
    """What the passes over a log gave; ``windows_us`` are the starts of the windows with records, each once."""

    tables: Mapping[str, Any]
    placement: Mapping[str, Any]
    windows_us: npt.NDArray[np.int64]
    rejects: Rejects
    warnings: tuple[Warn, ...] = ()


def run_passes(log: Log, mapping: LogMapping, operators: Operators, in_steps: bool = False) -> LogStatistics:
    """Pass over the log, and put the tables together; for *in_steps* see :func:`ftplan.spark_stats.windows.aggregate`.

    Raises FtplanError if too many rows were rejected, or none was accepted.
    """
    records = to_records(log, mapping, operators)
    groupings = _groupings(mapping, operators)
    sums = aggregate(records, groupings, _buckets(log.files, mapping.max_kept_rejects), in_steps)
    first = next(iter(sums.tables.values()))
    first = first.filter(pc.equal(first["entry"], 0))
    accepted = pc.sum(first["rows"]).as_py() or 0
    names = [f.path for f in log.files]
    rejects = collect_rejects(sums.rejected, accepted, records.reasons, names, mapping.max_kept_rejects)
    check_share(rejects, mapping.max_rejects, log.files[0].name if len(log.files) == 1 else f"{len(log.files)} files")
    if not accepted:
        raise FtplanError(f"{names[0]}: no record is left: {rejects.rows_read:,} rows read, none accepted")
    ids = operators.resolve(_names(sums.tables))
    known = {
        table: tables.accepted(part, records.entries if table == "key_groups" else records.entries[:1], ids)
        for table, part in sums.tables.items()
    }
    windows_us = np.unique(first["window_us"].to_numpy())
    put_together = _tables(known, mapping, operators, ids) | {
        name: tables.as_given(table, mapping, ids) for name, table in log.tables.items()
    }
    return LogStatistics(put_together, _placement(known, mapping, operators), windows_us, rejects, log.warnings)


def _buckets(files: Sequence[LogFile], kept: int) -> int:
    """Return in how many buckets texts of rejected rows are kept: each has its own in a small log."""
    if not kept:
        return 0
    rows = sum(f.rows or 0 for f in files)
    size = sum(f.bytes or 0 for f in files) / rows if rows else 256
    most = max(8 * kept, round(TEXT_BYTES / size)) // min(len(files), MOST_NAMED_FILES)
    return 2**40 if rows <= most and all(f.rows is not None for f in files) else most


def _groupings(mapping: LogMapping, operators: Operators) -> dict[str, Grouping]:
    """Return how each table that the log can give is grouped."""
    node = ("node",) if mapping.node_column else ()
    passes = {}
    entries = [mapping.key_columns] if mapping.has_main else []
    entries += [columns for _, columns in mapping.keys]
    if any(entries) or not mapping.task_column:
        if not any(entries) and operators.topology is None and not operators.default and not operators.counts:
            raise FtplanError("nothing to count by: give --key-column, --task-column or --key-groups N")
        slots = tuple(f"group_{i}" if columns else None for i, columns in enumerate(entries))
        measures: tuple[str, ...] = ("records", "bytes", "cpu", "state")
        extra = node if mapping.key_columns else ()
        if mapping.from_engine and mapping.task_column:
            extra = (*extra, "task")
        passes["key_groups"] = Grouping(slots, operators.most_key_groups, extra, measures)
    if mapping.task_column:
        measures = ("records", "records_out", "bytes", "cpu", "busy", "memory", "queue", "state")
        passes["tasks"] = Grouping(("task",), extra=node, measures=measures)
    if mapping.upstream_task_column:
        sender = ("upstream_operator",) if mapping.upstream_operator_column else ()
        passes["substreams"] = Grouping(("task",), extra=("upstream_task", *sender), measures=("records",))
    return passes


def _names(sums: Mapping[str, Any]) -> set[str]:
    """Return the operators as the log names them."""
    columns = [s[c] for s in sums.values() for c in ("operator", "upstream_operator") if c in s.column_names]
    return {name for column in columns for name in column.unique().to_pylist() if name is not None}


def _tables(
    sums: Mapping[str, Any], mapping: LogMapping, operators: Operators, ids: Mapping[str, str]
) -> dict[str, Any]:
    """Return the tables; where the key is not in the log, tasks or operators are spread over their key groups."""
    spread = []
    if mapping.has_main and not mapping.key_columns:
        by_task = mapping.task_column is not None
        source = sums["tasks"] if by_task else _of_main(sums["key_groups"])
        spread = [tables.spread_over_groups(source, operators, by_task)]
    elif mapping.from_engine:
        spread = [tables.spread_over_groups(*part) for part in _without_key(sums["key_groups"], operators)]
    measured = sums.get("key_groups")
    if measured is not None:
        measured = measured.filter(pc.is_valid(measured["slot"]))
    # Without key groups the table is empty, not absent: the loads of tasks are of use by themselves.
    result = {"key_groups": tables.key_groups_table(measured, *spread)}
    if "substreams" in sums:
        known = sums["substreams"].filter(pc.is_valid(sums["substreams"]["upstream_task"]))
        if operators.upstream is None:
            known = known.filter(pc.is_valid(known["upstream_operator"]))
        result["substreams"] = tables.substreams_table(known, operators.upstream, ids)
    if "tasks" in sums:
        of_tasks = sums["tasks"].filter(pc.is_valid(sums["tasks"]["slot"]))
        result["tasks"] = tables.tasks_table(of_tasks, result.get("substreams"))
    return result


def _without_key(sums: Any, operators: Operators) -> list[tuple[Any, Operators, bool]]:
    """Return what of an engine's log is about tasks, and about whole operators, as arguments of spread_over_groups."""
    coarse = sums.filter(pc.is_null(sums["slot"])).drop_columns(["slot"])
    if "task" not in coarse.column_names:
        return [(coarse, operators, False)]
    known = pc.is_valid(coarse["task"])
    of_tasks = coarse.filter(known)
    of_tasks = of_tasks.rename_columns(["slot" if c == "task" else c for c in of_tasks.column_names])
    return [(of_tasks, operators, True), (coarse.filter(pc.invert(known)), operators, False)]


def _of_main(sums: Any) -> Any:
    """Return the sums of the operator, or of the operator column, beside those in ``keys``."""
    return sums.filter(pc.equal(sums["entry"], 0))


def _placement(sums: Mapping[str, Any], mapping: LogMapping, operators: Operators) -> dict[str, Any]:
    """Return the placement that the node column shows, empty without one."""
    if mapping.node_column is None:
        return {}
    by_task = majority_nodes(sums["tasks"]) if "tasks" in sums else {}
    by_group = majority_nodes(_of_main(sums["key_groups"])) if mapping.key_columns else {}
    return placement_document(by_task, by_group, operators)
