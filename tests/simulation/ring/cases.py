"""Small rings to simulate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.ring.setting import RingSetting, RingTiming

#: L_n of all cases; clocks differ by nearly as much, and messages take up to it.
BOUND_S = 0.05
TIMING = RingTiming(
    interval_s=1.0, delay_s=BOUND_S, latency_bound_s=BOUND_S, skew_s=0.99 * BOUND_S, keep_s=2.0 * BOUND_S,
    bandwidth=1e6, provision_s=0.5,
)  # fmt: skip


def ring(nodes: int = 4, positions: int = 12, spares: int = 0, **asked: Any) -> RingSetting:
    """Return nodes at even places under 100 records a second each, of which a node can take 400."""
    timing = replace(TIMING, **{name: asked.pop(name) for name in list(asked) if name in TIMING.__slots__})
    position, many = np.arange(positions) / positions, nodes + spares
    given: dict[str, Any] = {
        "nodes": tuple(f"n{k}" for k in range(1, many + 1)),
        "ring": Ring(position[np.arange(nodes) * positions // nodes], np.arange(nodes)),
        "replication": 1,
        "position": position,
        "rate": np.full(positions, 100.0 * nodes / positions),
        "work": np.ones(positions),
        "state_bytes": np.full(positions, 1000.0),
        "capacity": np.full(many, 400.0),
        "replay_rate": np.full(many, 400.0),
        "spares": tuple(range(nodes, many)),
        "window_s": 0.5,
        "tick_s": 0.025,
        "until_s": 6.0,
        "every_s": 0.5,
    }
    return RingSetting(timing=timing, **(given | asked))
