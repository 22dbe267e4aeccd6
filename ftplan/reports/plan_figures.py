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

:class:`DrawnState` is what a plan does to a task, for the drawing of the topology.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from ftplan.model.cluster import Cluster
from ftplan.model.kinds import row
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.reports.drawing import Figure
from ftplan.reports.numbers import count
from ftplan.reports.palette import step_style
from ftplan.reports.tables import PageTable

#: States that the key of a drawing lists.
LISTED = 14


class DrawnState(NamedTuple):
    """What happens to a task: in words, its style, the mark in its cell, its rank, and in the fewest words."""

    text: str
    style: str
    mark: str
    rank: int = 0
    short: str = ""


#: States by (operator id, index); a task that is not named is none of the plan's business.
States = Mapping[tuple[str, int], DrawnState]

LIVE = DrawnState("not touched", "live", "", 1_000_000)


def in_step(step: int, text: str, short: str) -> DrawnState:
    """Return the state of what happens in a step or round."""
    return DrawnState(text, step_style(step), str(step), step, short)


def counts(states: States, operator_id: str, parallelism: int) -> list[tuple[DrawnState, int]]:
    """Return how many tasks of an operator are in each state, in order."""
    number = Counter(states.get((operator_id, i), LIVE) for i in range(parallelism))
    return sorted(number.items(), key=lambda item: (item[0].rank, item[0].text))


def totals(states: States, topology: Topology) -> list[tuple[DrawnState, int]]:
    """Return how many tasks of the topology are in each state, in order."""
    number: Counter[DrawnState] = Counter()
    for operator in topology.operators:
        number.update(dict(counts(states, operator.id, operator.parallelism)))
    return sorted(number.items(), key=lambda item: (item[0].rank, item[0].text))


def key(states: States, topology: Topology) -> tuple[tuple[str, str, str], ...]:
    """Return style, mark and meaning of each state that occurs, with how many tasks are in it."""
    listed = [
        (state.style, state.mark, f"{state.text} ({count(number, 'task')})")
        for state, number in totals(states, topology)
    ]
    if len(listed) <= LISTED:
        return tuple(listed)
    return (*listed[: LISTED - 1], ("live", "…", f"and {len(listed) - LISTED + 1:,} more, numbered likewise"))


def state_table(states: States, topology: Topology) -> PageTable:
    """Return the tasks of each operator by state, as a table; of many states those of most tasks."""
    known = totals(states, topology)
    common = sorted(known, key=lambda item: -item[1])[:LISTED]
    columns: Sequence[DrawnState] = [state for state, _ in known if any(state == other for other, _ in common)]
    rows = []
    for operator in topology.operators:
        number = dict(counts(states, operator.id, operator.parallelism))
        rows.append((operator.id, operator.parallelism, *(number.get(state, 0) for state in columns)))
    rows.sort(key=lambda row: (row[1] == row[-1] and bool(states), row[0]))
    texts = tuple((str(row[0]), *(f"{value:,}" if value else "–" for value in row[1:])) for row in rows[:200])
    headings = (("operator", False), ("tasks", True), *((state.text, True) for state in columns))
    note = f"The first 200 of {len(rows):,} operators." if len(rows) > 200 else ""
    return PageTable("Tasks of each operator by what happens to them", headings, texts, note, folded=True)


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
