"""What an exporter returns, what several of them write, and the main table of any plan as CSV.

An exporter is a function ``write(plan, problem, **options) -> Export``; of *problem* topology and cluster count, and
either may be missing. It takes the options that its row in :mod:`ftplan.engines.registry` names.
"""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.engines.registry import targets
from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Node
from ftplan.model.kinds import DRAIN_SCHEDULE, RECOVERY_SCHEDULE, noun, row, with_article
from ftplan.model.plan import Plan, Warn, canonical
from ftplan.model.problem import Problem
from ftplan.reports.answer import csv_cell

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
    writer.writerows({name: csv_cell(value) for name, value in line.items()} for line in lines)
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


#: Text that every reader of YAML takes for text as it stands, also those of YAML 1.1 and those that read 1e3 as number.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


@dataclass(frozen=True, slots=True)
class Export:
    """A plan in an engine's words.

    Attributes
    ----------
    target
        The engine.
    kind
        The kind of the plan.
    text
        What the file holds.
    warnings
        What the engine cannot be told, and what deserves a second look before the file is used.
    """

    target: str
    kind: str
    text: str
    warnings: tuple[Warn, ...] = ()


def csv_table(plan: Plan, problem: Problem) -> Export:
    """Write the main table of a plan of any kind; see :func:`ftplan.engines.exporting.csv_text`."""
    return Export("csv", plan.kind, csv_text(plan), (targets()["csv"].limits(),))


def yaml_text(
    title: str, warnings: Iterable[Warn], remarks: Sequence[str], documents: Sequence[Mapping[str, Any]]
) -> str:
    """Return YAML documents below a head of comments: title, warnings and remarks."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')

    Dumper.add_representer(str, text)
    said = [title, *(f"{warning.code}: {warning.message}" for warning in warnings), *remarks]
    lines = [line for item in said for line in textwrap.wrap(item, 110, subsequent_indent="  ", break_on_hyphens=False)]
    head = "".join(f"# {line}\n" for line in lines)
    dumped = yaml.dump_all(
        [dict(document) for document in documents],
        Dumper=Dumper,
        sort_keys=False,
        width=120,
        explicit_start=len(documents) > 1,
        allow_unicode=True,
        default_flow_style=False,
    )
    return head + (dumped if any(documents) else "{}\n")


def title_of(plan: Plan) -> str:
    """Return what a file says that it was made from."""
    by = f" by {plan.algorithm}" if plan.algorithm else ""
    return f"From a {noun(plan.kind)}{by} ({plan.status or 'made by hand'})."


def scaled_of(plan: Plan) -> list[Mapping[str, Any]]:
    """Return the operators of a scale-out that get another number of tasks."""
    return [item for item in (plan.plan or {})["operators"] if item["parallelism_to"] != item["parallelism_from"]]


def node_of(problem: Problem, node_id: str) -> Node | None:
    """Return a node of the cluster; None without a cluster, and for a node that arrives later."""
    cluster = problem.cluster
    return cluster.node(node_id) if cluster is not None and node_id in cluster.position else None


def operator_name(problem: Problem, operator_id: str) -> str:
    """Return an operator as the engine calls it: its name in the topology, else its id.

    Raises FtplanError if the topology has no such operator.
    """
    if problem.topology is None:
        return operator_id
    return problem.topology.operator(operator_id).name or operator_id


def host_of(problem: Problem, node_id: str, hosts: Mapping[str, str], label: str) -> str:
    """Return the host name of a node: as mapped, else its label, else its id."""
    if node_id in hosts:
        return hosts[node_id]
    node = node_of(problem, node_id)
    return node_id if node is None else node.labels.get(label, node_id)


def refuse_unknown(option: str, mapped: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """Refuse a map with an entry for what the plan does not have.

    Raises FtplanError with the nearest name that it has.
    """
    names = sorted(set(known))
    for name in mapped:
        if name not in names:
            raise FtplanError(f"{option} {name}=…: the plan has no such {what}{suggestion(name, names)}")
