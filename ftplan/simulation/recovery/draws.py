"""What is random in a simulated recovery: drawn by run and name, so that all plans and modes meet the same."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from ftplan.model.cluster import Node
from ftplan.model.failure import Arrival, planned_times
from ftplan.model.names import natural_key


def uniform(seed: int, run: int, name: str) -> float:
    """Return a number in [0, 1) that depends on seed, run and name alone."""
    digest = sha256(f"{seed}/{run}/{name}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2.0**56


def arrival_times(arrivals: Sequence[Arrival], seed: int, run: int | None) -> list[float]:
    """Return when each node arrives: uniform within its range in a run, the expected times where *run* is None.

    Nodes of one range and one make are alike, so that nobody can tell which of them comes first: the times that they
    draw are theirs in natural order of their ids, the order in which plans expect them
    (:func:`ftplan.model.failure.planned_times`).
    """
    if run is None:
        return planned_times(arrivals)
    times = [low + (high - low) * uniform(seed, run, a.node.id) for a in arrivals for low, high in (a.at_s,)]
    alike: dict[tuple[object, ...], list[int]] = {}
    for i in sorted(range(len(arrivals)), key=lambda i: natural_key(arrivals[i].node.id)):
        alike.setdefault((arrivals[i].at_s, *_make(arrivals[i].node)), []).append(i)
    for members in alike.values():
        for i, time in zip(members, sorted(times[i] for i in members), strict=True):
            times[i] = time
    return times


def _make(node: Node) -> tuple[object, ...]:
    return node.cpu, node.used_cpu, node.accepts


def checkpoint_age_s(interval_s: float, batch_s: float, seed: int, run: int | None) -> float:
    """Return how old the last punctuation is at the failure: uniform in the interval, half of it where *run* is None.

    A multiple of a batch.
    """
    age_s = interval_s * (0.5 if run is None else uniform(seed, run, "checkpoint"))
    return float(np.floor(age_s / batch_s + 1e-9) * batch_s)
