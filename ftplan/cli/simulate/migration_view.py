"""Simulated migrations as tables, by level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.cli.render import Table
from ftplan.cli.simulate import adaptation_view

Document = Mapping[str, Any]


def tables(document: Document) -> list[Table]:
    """Return the tables of a simulation's document."""
    return {"messages": _messages, "trace": adaptation_view.tables}[document["level"]](document[document["level"]])


def _messages(body: Document) -> list[Table]:
    return []
