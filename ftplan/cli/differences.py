"""Differences between plans as tables."""

from __future__ import annotations

from ftplan.api.answers import Difference
from ftplan.api.checkpoints.diff import AllocationDifference
from ftplan.api.recovery.diff import ScheduleDifference
from ftplan.api.replication.diff import ReplicationDifference
from ftplan.cli.render import Table, cell


def shown(found: Difference) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    if isinstance(found, AllocationDifference):
        return _allocation(found)
    if isinstance(found, ScheduleDifference):
        return _schedule(found)
    if isinstance(found, ReplicationDifference):
        return _replication(found)
    raise TypeError(f"no table for {type(found).__name__}")


def _allocation(found: AllocationDifference) -> tuple[list[Table], list[str]]:
    rows = [(f"key-group:{c['operator']}/{c['key_group']}", c["what"], c["from"], c["to"]) for c in found.changes]
    tables = [Table(("key group", "what", "from", "to"), rows)] if rows else []
    tables += _options(found)
    if found.moves:
        moves = [(f"key-group:{m['operator']}/{m['key_group']}", m["from"], m["to"], m["bytes"]) for m in found.moves]
        tables.append(Table(("copy of", "from", "to", "bytes"), moves))
    size = "an unknown number of" if found.bytes_moved is None else cell(int(found.bytes_moved))
    groups = len({row[0] for row in rows})
    return tables, [
        f"{found.copies_moved} copies move, {size} bytes",
        f"{groups} of {found.key_groups} key groups change; {_objective(found)}",
    ]


def _schedule(found: ScheduleDifference) -> tuple[list[Table], list[str]]:
    rows = [(f"task:{c['operator']}/{c['index']}", c["what"], c["from"], c["to"]) for c in found.changes]
    tables = [Table(("task", "what", "from", "to"), rows)] if rows else []
    back = [(f"query:{q['operator']}/{q['index']}", q["from"], q["to"]) for q in found.queries]
    tables += [Table(("query", "back before, s", "after"), back)] if back else []
    tables += _options(found)
    tasks = len({row[0] for row in rows})
    return tables, [f"{tasks} of {found.tasks} tasks change, {len(back)} queries; {_objective(found)}"]


def _replication(found: ReplicationDifference) -> tuple[list[Table], list[str]]:
    rows = [(f"task:{c['operator']}/{c['index']}", c["what"], c["from"], c["to"]) for c in found.changes]
    tables = [Table(("replica of", "what", "from", "to"), rows)] if rows else []
    tables += _options(found)
    started, stopped, moved = (found.count(what) for what in ("activate", "deactivate", "move"))
    return tables, [f"{started} replicas start, {stopped} stop, {moved} move; {_objective(found)}"]


def _options(found: Difference) -> list[Table]:
    rows = [(o["name"], o["from"], o["to"]) for o in found.options]
    return [Table(("option", "from", "to"), rows)] if rows else []


def _objective(found: Difference) -> str:
    return f"{found.objective['name'] or 'objective'}: {found.objective['from']} -> {found.objective['to']}"
