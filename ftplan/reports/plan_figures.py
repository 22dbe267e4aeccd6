"""What a page shows of one kind of plan beyond its tables: ``figure.py`` of each question; one may have none.

A module has any of:

``BEFORE``
    What the figures of ``before`` in the summary are of, in a few words.
``lead(plan) -> Sequence[str]``
    What is planned, in sentences.
``highlights(plan) -> Sequence[Highlight]``
    The few figures that matter most.
``figures(plan) -> Sequence[Figure]``
    Drawings; the first is what ``--plot`` draws.
``states(plan, topology, cluster) -> States``
    What happens to each task.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from ftplan.model.cluster import Cluster
from ftplan.model.kinds import row
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.reports.drawing import Figure
from ftplan.reports.states import States


class Highlight(NamedTuple):
    """A figure that matters: what it is, its value, and what to hold it against."""

    what: str
    value: str
    beside: str = ""


def _part(kind: str, name: str) -> Any:
    module = f"{row(kind).folder}.figure"
    return getattr(importlib.import_module(module), name, None) if find_spec(module) is not None else None


def before(plan: Plan) -> str:
    """Return what the figures of ``before`` in the summary are of."""
    return _part(plan.kind, "BEFORE") or "before"


def lead(plan: Plan) -> Sequence[str]:
    """Return what is planned, in sentences; nothing for a kind without a module."""
    part = _part(plan.kind, "lead")
    return part(plan) if part is not None and plan.plan is not None else ()


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return the few figures of a plan that matter most."""
    part = _part(plan.kind, "highlights")
    return part(plan) if part is not None and plan.plan is not None else ()


def figures(plan: Plan) -> Sequence[Figure]:
    """Return the drawings of a plan."""
    part = _part(plan.kind, "figures")
    return part(plan) if part is not None and plan.plan is not None else ()


def states(plan: Plan, topology: Topology, cluster: Cluster | None) -> States:
    """Return what the plan does to each task."""
    part = _part(plan.kind, "states")
    return part(plan, topology, cluster) if part is not None and plan.plan is not None else {}
