"""The setting with which the paper's figures of recovery and balance are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.planners.peer_ring.problem import RingSetting

#: What the figures of recovery and balance latency have in common: 20,000 records a second are replayed.
POWER = 20_000.0


def setting(**changed: Any) -> RingSetting:
    values: dict[str, Any] = {
        "interval_s": 10.0,
        "checkpoint_s": 0.0,
        "detection_s": 0.0,
        "heartbeat_is_checkpoint": False,
        "fixed_s": 0.7,
        "latency_bound_s": 0.015,
        "replay_rate": np.full(2, POWER),
        "bandwidth": 1e8,
        "record_bytes": np.ones(1),
    }
    return RingSetting(**{**values, **changed})
