"""Starter files: a small project that can be checked, planned and edited at once.

From a statistics folder they have the operators, key groups and nodes that the log showed.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ftplan.errors import MADE_BY
from ftplan.io.configuration import FILE_NAME
from ftplan.io.starter.topology import topology_text, yaml_id
from ftplan.io.stats_store import load_stats
from ftplan.model.defaults import MAX_SUBSTREAMS
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS, RECOVERY_SCHEDULE
from ftplan.model.names import natural_key
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables

_DEFAULT_PARALLELISM = 4
_DEFAULT_NODES = {"n1": "rack-a", "n2": "rack-a", "n3": "rack-b", "n4": "rack-b"}


class StarterFiles(NamedTuple):
    """Texts of files by name, and what in them deserves a second look."""

    files: dict[str, str]
    warnings: tuple[Warn, ...] = ()


def files_from_stats(
    stats: str | os.PathLike[str], output: str | os.PathLike[str], max_substreams: int = MAX_SUBSTREAMS
) -> StarterFiles:
    """Return topology, cluster and ``ftplan.toml`` for a statistics folder, by name; see ``starter_files``."""
    tables = load_stats(stats).value
    placement: Mapping[str, Mapping[str, Sequence[str]]] = tables.placement or {}
    parallelism = _parallelism(tables, placement)
    relative = Path(os.path.relpath(stats, output)).as_posix()
    topology, warnings = topology_text(tables, parallelism, max_substreams)
    files = {
        "topology.yaml": topology,
        "cluster.yaml": _cluster(tables, placement, parallelism),
        FILE_NAME: configuration_text({"topology": "topology.yaml", "cluster": "cluster.yaml", "stats": relative}),
    }
    return StarterFiles(files, warnings)


def _parallelism(stats: StatsTables, placement: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, int]:
    """Return the number of tasks of each operator: what the tables or the placement show, else 4."""
    seen: dict[str, int] = {}

    def note(table: str, operator: str, task: str) -> None:
        if table in stats.tables:
            largest = stats.tables[table].group_by(operator).aggregate([(task, "max")])
            for name, index in zip(largest[operator].to_pylist(), largest[f"{task}_max"].to_pylist(), strict=True):
                seen[name] = max(seen.get(name, 0), index + 1)

    note("tasks", "operator", "task")
    note("substreams", "from_operator", "from_task")
    note("substreams", "to_operator", "to_task")
    for name, nodes in placement.get("tasks", {}).items():
        seen[name] = max(seen.get(name, 0), len(nodes))
    result: dict[str, int] = {}
    for name in sorted({*stats.manifest.operators, *seen}):
        item = stats.manifest.operators.get(name)
        groups = item.key_groups if item is not None else None
        result[name] = seen.get(name) or min(_DEFAULT_PARALLELISM, groups or _DEFAULT_PARALLELISM)
    return result


def _cluster(
    stats: StatsTables, placement: Mapping[str, Mapping[str, Sequence[str]]], parallelism: Mapping[str, int]
) -> str:
    kept = _fitting(stats, placement, parallelism)
    nodes = sorted({node for part in kept.values() for names in part.values() for node in names}, key=natural_key)
    lines = ["# The machines. cpu in cores; nodes of one zone fail together.", "format: ftplan/cluster"]
    lines += ['format_version: "1.0"', "nodes:"]
    if nodes:
        lines[0] = "# The machines that the log names: put in their cores, memory and zones."
        lines += [f"  - {{id: {yaml_id(node)}, cpu: 4.0}}" for node in nodes]
        lines.append("placement:                  # as the log shows it")
    else:
        lines[0] = "# The log names no machines: these are made up, and so is the placement. Put in your own."
        lines += [f"  - {{id: {node}, cpu: 4.0, zone: {zone}}}" for node, zone in _DEFAULT_NODES.items()]
        lines.append("placement:                  # round robin")
    kept = _complete(kept, nodes or list(_DEFAULT_NODES), parallelism)
    for part, lists in kept.items():
        lines.append(f"  {part}:")
        lines += [f"    {yaml_id(name)}: [{', '.join(map(yaml_id, names))}]" for name, names in lists.items()]
    return "\n".join(lines) + "\n"


def _fitting(stats: StatsTables, placement: Mapping[str, Any], parallelism: Mapping[str, int]) -> dict[str, Any]:
    """Return the parts of the log's placement that have one node for every task or key group."""
    groups = {name: item.key_groups for name, item in stats.manifest.operators.items()}
    tasks = {n: v for n, v in placement.get("tasks", {}).items() if len(v) == parallelism.get(n)}
    key_groups = {n: v for n, v in placement.get("key_groups", {}).items() if len(v) == groups.get(n)}
    return {part: lists for part, lists in (("tasks", tasks), ("key_groups", key_groups)) if lists}


def _complete(kept: Mapping[str, Any], nodes: Sequence[str], parallelism: Mapping[str, int]) -> dict[str, Any]:
    """Return the placement with round robin for the operators that it does not place."""
    tasks = dict(kept.get("tasks", {}))
    start = 0
    for name, count in parallelism.items():
        if name not in tasks and name not in kept.get("key_groups", {}):
            tasks[name] = [nodes[(start + i) % len(nodes)] for i in range(count)]
            start += count
    return {part: lists for part, lists in ({**kept, "tasks": dict(sorted(tasks.items()))}).items() if lists}


def configuration_text(inputs: Mapping[str, str]) -> str:
    """Return an ``ftplan.toml`` that names inputs by role: paths relative to its folder."""
    named = [f"{role} = {json.dumps(path, ensure_ascii=False)}" for role, path in inputs.items()]
    if "stats" not in inputs:
        named.append(f'# stats = "stats"           # once there are some: {MADE_BY["stats"]}')
    files = " ".join(shlex.quote(inputs[role]) for role in ("topology", "cluster") if role in inputs)
    question = ALLOCATE_CHECKPOINTS if "stats" in inputs else RECOVERY_SCHEDULE
    return f"""\
# Defaults of every ftplan command that runs in this folder or below. Paths are relative to this file.
#   ftplan check {files}
#   ftplan {question.name}{"" if "stats" in inputs else " --fail SELECTOR"}
[inputs]
{chr(10).join(named)}
"""


_FOLDER = Path(__file__).with_name("project")
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
