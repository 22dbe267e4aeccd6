"""What fails, when, and which nodes arrive in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ftplan.model.cluster import Node
from ftplan.model.names import Selector, natural_key
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
    """A failure file: what fails, what arrives, and alternatives; ``nobody_arrives`` where it lists no arrival."""

    fail: tuple[Fail, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    nobody_arrives: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class FailureEvent:
    """Something fails while the recovery is under way.

    ``nodes`` takes down whatever lives there by then; ``tasks`` are those that the selector names itself.
    """

    at_s: float
    selector: str
    nodes: frozenset[str]
    tasks: IntArray


def planned_times(arrivals: Sequence[Arrival]) -> list[float]:
    """Return the time at which each arrival is planned for.

    A fixed time is itself. Of n arrivals with the same range ``[low, high]`` the k-th in natural order of ids is
    expected at ``low + (high - low) * k / (n + 1)``, the mean of the k-th of n uniform times.
    """
    same: dict[tuple[float, float], list[int]] = {}
    for i in sorted(range(len(arrivals)), key=lambda i: natural_key(arrivals[i].node.id)):
        same.setdefault(arrivals[i].at_s, []).append(i)
    times = [0.0] * len(arrivals)
    for (low, high), members in same.items():
        for k, i in enumerate(members, start=1):
            times[i] = low + (high - low) * k / (len(members) + 1) if high > low else low
    return times
