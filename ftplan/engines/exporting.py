"""What an exporter returns, and what several of them write.

An exporter is a function ``write(plan, problem, **options) -> Export``; of *problem* topology and cluster count, and
either may be missing. It takes the options that its row in :mod:`ftplan.engines.registry` names.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.engines.registry import targets
from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Node
from ftplan.model.kinds import noun
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem

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
    """Write the main table of a plan of any kind; see :func:`ftplan.io.plan_csv.csv_text`."""
    from ftplan.io.plan_csv import csv_text

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
