"""What fails, when, and which nodes arrive in its place."""

from __future__ import annotations

from dataclasses import dataclass

from ftplan.model.cluster import Node
from ftplan.model.names import Selector
from ftplan.model.topology import IntArray


@dataclass(frozen=True, slots=True)
class Fail:
    """Something fails ``at_s`` seconds after the failure that starts the clock."""

    select: Selector
    at_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """A replacement node can host tasks from a time drawn uniformly from ``[at_s[0], at_s[1]]`` (equal: fixed)."""

    at_s: tuple[float, float]
    node: Node


@dataclass(frozen=True, slots=True)
class Scenario:
    """One of several weighted alternatives."""

    id: str
    probability: float
    fail: tuple[Fail, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure file: what fails, what arrives, and alternatives."""

    fail: tuple[Fail, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    scenarios: tuple[Scenario, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FailureEvent:
    """Something fails while the recovery is under way.

    ``nodes`` takes down whatever lives there by then; ``tasks`` are those that the selector names itself.
    """

    at_s: float
    selector: str
    nodes: frozenset[str]
    tasks: IntArray
