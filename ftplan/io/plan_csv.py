"""The main table of a plan of any kind as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.kinds import DRAIN_SCHEDULE, RECOVERY_SCHEDULE, row, with_article
from ftplan.model.plan import Plan, canonical

#: By kind, the list in each row of the main table whose entries become rows, and what a plain entry is called.
_ROWS_OF = {RECOVERY_SCHEDULE.name: ("recover", None), DRAIN_SCHEDULE.name: ("nodes", "node")}
#: Columns that come first, in this order.
_FIRST = (
    "phase", "round", "step", "at_s", "trigger", "operator", "key_group", "index", "primary", "node", "checkpoints",
    "from", "to",
)  # fmt: skip
#: What an entry is named by, and what is told of it elsewhere in the plan too.
_QUERY = {"operator", "index", "priority", "at_s"}


def csv_text(plan: Plan) -> str:
    """Return the main table, one record a line.

    A recovery schedule has a line for each task that starts, a drain schedule one for each node that restarts; what
    their steps and rounds have else is repeated, and a step without tasks has one line without a task. Further lists
    are joined by semicolons: tasks and queries as OPERATOR/INDEX (the plan has their times and priorities), ranges as
    FIRST-LAST, what has more parts as JSON. Null is an empty field.

    Raises FtplanError if the plan's body does not hold its main table.
    """
    name = row(plan.kind).table
    body = canonical(plan.plan)
    table = body.get(name)
    if not isinstance(table, list) or not all(isinstance(item, dict) for item in table):
        raise FtplanError(f"the plan's {name} is no list of records, which {with_article(plan.kind)} has there")
    lines = [_flat(line) for record in table for line in _lines(record, *_ROWS_OF.get(plan.kind, (None, None)))]
    columns = sorted(dict.fromkeys(column for line in lines for column in line), key=_order)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def _order(column: str) -> tuple[int, str]:
    """Return a sort key: first what a line is about, then the other columns by name."""
    return (_FIRST.index(column) if column in _FIRST else len(_FIRST), column)


def _lines(record: Mapping[str, Any], split: str | None, called: str | None) -> list[dict[str, Any]]:
    """Return a record once for each entry of its list *split*, once without one where that is empty."""
    if split is None or not isinstance(record.get(split), list):
        return [dict(record)]
    rest = {name: value for name, value in record.items() if name != split}
    entries = [item if isinstance(item, dict) else {called or split: item} for item in record[split]]
    return [
        rest | {name if name not in rest else f"{split}.{name}": v for name, v in e.items()} for e in entries or [{}]
    ]


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = ";".join(map(_entry, value)) if isinstance(value, list) else _scalar(value)
    return flat


def _entry(value: Any) -> str:
    if isinstance(value, Mapping):
        named = {"operator", "index"} <= value.keys() <= _QUERY
        return f"{value['operator']}/{value['index']}" if named else json.dumps(value, sort_keys=True)
    if isinstance(value, Sequence) and not isinstance(value, str):
        whole = len(value) == 2 and all(isinstance(item, int) for item in value)
        return f"{value[0]}-{value[1]}" if whole else json.dumps(value)
    return str(_scalar(value))


def _scalar(value: Any) -> Any:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value
