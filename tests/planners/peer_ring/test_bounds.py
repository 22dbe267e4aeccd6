"""A bound of a ring that the ring beats is a fault of the planner, on each level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ftplan.planners import registry
from ftplan.planners.peer_ring.algorithms.bounds import load_bound
from tests.planners.peer_ring.cases import EVEN, job, planned

#: What each level's bound is changed by; the ring of the cases is optimal on all of them.
PLANTED: dict[str, Callable[[Any], Any]] = {
    "zone violations": lambda found: replace(found, answer=replace(found.answer, violations_bound=1)),
    "largest load": lambda found: replace(found, bound=found.bound * 1.001),
    "bytes": lambda found: replace(found, answer=replace(found.answer, bytes_bound=found.answer.bytes_bound + 1e9)),
}


@pytest.mark.parametrize("level", PLANTED)
def test_a_false_bound_is_a_fault(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = registry.load(registry.row("peer-ring", "exact"))
    monkeypatch.setattr(registry, "load", lambda row: lambda problem, search: PLANTED[level](exact(problem, search)))
    with pytest.raises(RuntimeError, match="reported as proven"):
        planned(job(), current=EVEN, remove=[])


def test_a_false_bound_of_the_load_is_a_fault_where_it_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ftplan.planners.peer_ring.algorithms.bounds.load_bound", lambda problem: 2.0 * load_bound(problem)
    )
    with pytest.raises(RuntimeError, match="reported as proven"):
        planned(job())
