"""Plans in the words of engines: see :mod:`ftplan.engines.registry`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ftplan.engines.registry import targets
from ftplan.errors import FtplanError, suggestion
from ftplan.io.options.fields import (
    FLAG,
    Check,
    Options,
    PlanSource,
    checked,
    number,
    option,
    optional,
    quoted,
    speed,
    texts,
)
from ftplan.model.plan import Plan, Warn

if TYPE_CHECKING:
    from ftplan.engines.exporting import Export
    from ftplan.io.loading import Source
    from ftplan.model.problem import Problem


def _pairs(value: Any) -> dict[str, str]:
    """Return a mapping that is given as one, as ``NAME=VALUE`` or as the path of a file; the last of a name counts."""
    from ftplan.io.documents import read_document

    pairs: dict[str, str] = {}
    items = [value] if isinstance(value, Mapping) else texts(value)
    for item in items:
        if isinstance(item, str) and "=" in item:
            name, _, text = item.partition("=")
            pairs[name] = text
            continue
        document = read_document(item, "mapping")
        if not isinstance(document.value, dict):
            raise FtplanError(f"{document.name}: expected a mapping, such as n1: 1")
        for name, text in document.value.items():
            if isinstance(text, bool) or not isinstance(text, (str, int)):
                raise FtplanError(f"{document.name}: {name}: {quoted(text)} is no name or number")
            pairs[str(name)] = str(text)
    if not all(name and text for name, text in pairs.items()):
        raise ValueError
    return pairs


def _text(value: Any) -> str:
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value
    raise ValueError


def _map(help: str, metavar: str) -> Any:
    right = f"{metavar}, a list of these, a mapping, or the path of one"
    item: Any = option((), Check(right, _pairs, "texts"), help, metavar=f"{metavar}|FILE")
    return item


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Options):
    """What can be asked of exports; each target takes some (:attr:`ftplan.engines.registry.Target.options`)."""

    broker_map: Mapping[str, str] = _map(
        "Broker id of a node; repeatable.  [default: its label broker, its id]", "NODE=ID"
    )
    application_id: str | None = option(
        None, optional(Check("an application id", _text)), "Topics are ID-STORE-changelog.", metavar="ID"
    )
    topic: Mapping[str, str] = _map("Changelog topic of an operator; repeatable.", "OPERATOR=TOPIC")
    log_dir: str | None = option(
        None, optional(Check("a path, or any", _text)), "Log directory of every replica, or any.", metavar="PATH"
    )
    bandwidth: float | None = speed(
        None,
        optional(number(0.0, 1e9, above=True)),
        "Throttle of a reassignment, a broker, such as 50MB/s.",
    )
    allow_fewer_replicas: bool = option(
        False, FLAG, "Let a reassignment leave partitions with fewer replicas than they have."
    )
    host_map: Mapping[str, str] = _map("Host name of a node; repeatable.  [default: its label, its id]", "NODE=HOST")
    workload: Mapping[str, str] = _map(
        "Workload of an operator's standbys; repeatable.  [default: StatefulSet/OPERATOR-standby]", "OPERATOR=KIND/NAME"
    )
    host_label: str = option(
        "kubernetes.io/hostname", Check("a label", _text), "Label of hosts in Kubernetes.", metavar="LABEL"
    )
    zone_label: str = option(
        "topology.kubernetes.io/zone", Check("a label", _text), "Label of zones in Kubernetes.", metavar="LABEL"
    )


_NO_MAPS: Mapping[str, Any] = dict.fromkeys(("broker_map", "topic", "host_map", "workload"), ())


def export_plan(
    plan: Plan | PlanSource,
    to: str,
    *,
    topology: Source | None = None,
    cluster: Source | None = None,
    **options: Any,
) -> Export:
    """Write a plan in the words of an engine; ``text`` of what is returned is the file.

    Parameters
    ----------
    plan
        A plan, the path of one, or its document.
    to
        A target: ``kafka-reassignment``, ``kafka-streams``, ``kubernetes``, ``storm``,
        ``flink``, ``csv``.
    topology, cluster
        Instead of those that the plan names, which are read where they are still there.
    options
        Those of ``ftplan export-plan`` that the target takes, with underscores.

    Returns
    -------
    Export
        The file as ``text``, and what the engine cannot be told.

    Raises
    ------
    FtplanError
        If the plan holds no answer, is of a kind that the target does not take, an option is wrong or for another
        target, or the engine needs a name that nothing tells.
    """
    from ftplan.io.options.parameters import SOURCE
    from ftplan.planners.plan_inputs import a_plan

    known = targets()
    if not isinstance(to, str) or to not in known:
        near = suggestion(to, known) if isinstance(to, str) else ""
        raise FtplanError(f"--to: {quoted(to)} is not one of {', '.join(known)}{near}")
    checked("export-plan", {"topology": SOURCE, "cluster": SOURCE}, {"topology": topology, "cluster": cluster})
    plan, target = a_plan(plan), known[to]
    defaults = ExportOptions.of("export-plan", _NO_MAPS)
    asked = ExportOptions.of("export-plan", {**_NO_MAPS, **options})
    given = [name for name in options if getattr(asked, name) != getattr(defaults, name)]
    target.check(plan.kind, given)
    if plan.plan is None:
        raise FtplanError(f"there is nothing to export: the plan's status is {plan.status} ({plan.reason})")
    problem, said = _inputs(plan, {"topology": topology, "cluster": cluster})
    made: Export = resolve_name(target.writer)(plan, problem, **{name: getattr(asked, name) for name in target.options})
    return replace(made, warnings=(*said, *made.warnings))


def _inputs(plan: Plan, given: Mapping[str, Source | None]) -> tuple[Problem, list[Warn]]:
    """Return what is given, else what the plan names where it is unchanged, and what is to be said of it."""
    from ftplan.io.documents import read_document
    from ftplan.io.loading import load
    from ftplan.model.problem import Problem

    sources: dict[str, Any] = {role: source for role, source in given.items() if source is not None}
    roles = ("topology", "cluster", "failure")
    named = {item.role: item for item in plan.inputs if item.role in roles and item.role not in sources}
    warnings: list[Warn] = []
    for role, item in named.items():
        if item.path is None or item.path == "-":
            continue
        if not os.path.exists(item.path):
            text = f"the plan's {role} {item.path} is not at hand{_remedy(role, 'where it is')}"
            warnings.append(Warn("INPUT_MISSING", text))
            continue
        try:
            unchanged = read_document(item.path, role).sha256 == item.sha256
        except FtplanError:
            unchanged = False
        if unchanged:
            sources[role] = item.path
        else:
            text = f"the plan's {role} {item.path} has changed since, and is not used{_remedy(role, 'which to use')}"
            warnings.append(Warn("STALE_INPUT", text))
    if not sources:
        return Problem(), warnings
    problem = load(**sources, spread=bool(plan.options.get("spread")) and sources.keys() >= {"topology", "cluster"})
    for item in problem.inputs:
        then = next((other for other in plan.inputs if other.role == item.role), None)
        if then is not None and then.sha256 != item.sha256:
            text = f"the {item.role} {item.path or 'given'} is not what the plan was made from"
            warnings.append(Warn("STALE_INPUT", text))
    return problem, warnings


def _remedy(role: str, what: str) -> str:
    return "" if role == "failure" else f": --{role} says {what}"
