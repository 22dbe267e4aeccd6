"""What a page is made of: the documents that it is about, and the sections that say what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.model.topology import Topology
from ftplan.model.trace import TraceLine
from ftplan.reports.drawing import Figure
from ftplan.reports.numbers import Unit, quantity
from ftplan.reports.plan_figures import Highlight
from ftplan.reports.proof import Badge
from ftplan.reports.tables import PageTable


@dataclass(frozen=True)
class PlanDocument:
    """A plan, and what of its inputs is at hand.

    Attributes
    ----------
    notes
        What is missing or has changed since.
    defaults, meanings
        The default and the help of each option of its kind.
    trace
        What the search knew over time.
    """

    plan: Plan
    name: str
    topology: Topology | None = None
    cluster: Cluster | None = None
    notes: tuple[Warn, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    trace: tuple[TraceLine, ...] = ()


@dataclass(frozen=True)
class OtherDocument:
    """An evaluation or the result of a what-if, as its file holds it."""

    format: str
    document: Mapping[str, Any]
    name: str


@dataclass(frozen=True)
class PagePart:
    """A part of a section: a heading, sentences, lists of words, drawings and tables."""

    title: str
    texts: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[PageTable, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """All that a page says of one document; what matters most first."""

    title: str
    name: str
    badge: Badge | None
    lead: tuple[str, ...]
    proof: tuple[str, ...]
    highlights: tuple[Highlight, ...]
    warnings: tuple[Warn, ...]
    parts: tuple[PagePart, ...]
    #: Kind, algorithm, value, bound and gap, for the comparison of several documents.
    glance: tuple[str, ...]


def fingerprints(inputs: Sequence[InputFile]) -> PageTable:
    """Return the inputs of a document with their fingerprints."""
    rows = tuple((item.role, item.path or "(in memory)", item.sha256) for item in inputs)
    columns = (("input", False), ("file", False), ("fingerprint (SHA-256)", False))
    return PageTable("Inputs and their fingerprints", columns, rows)


_UNITS: Mapping[str, Unit] = {"share": "share", "probability": "share", "s": "seconds", "bytes": "bytes"}
#: Measures in priority or fidelity times seconds.
WEIGHTED = ("priority-time", "fidelity-time", "priority_time", "fidelity_time")


def measured(name: str, value: Any, unit: str | None) -> str:
    """Return the value of a metric or measure of a unit."""
    if value is None:
        return "undefined"
    if isinstance(value, (bool, str)):
        return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else value
    weighted = name.removeprefix("delta_") in WEIGHTED
    return quantity(value, "plain" if weighted else _UNITS.get(unit or "", "plain"))
