"""Simulated migrations as tables, by level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.reports.answer import Table
from ftplan.simulation.migration import adaptation_view, move_view

Document = Mapping[str, Any]


def tables(document: Document) -> list[Table]:
    """Return the tables of a simulation's document."""
    if document["level"] == "trace":
        return adaptation_view.tables(document["trace"])
    return move_view.tables(document["messages"])
