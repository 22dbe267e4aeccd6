"""Migrations under random timing, and in the paper's units."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ftplan.simulation.migration.run import Make, MoveOutcome, run_moves
from ftplan.simulation.migration.setting import MessageTiming, MoveSetting, RecordTiming


def random_setting(protocol: str, seed: int, **changed: Any) -> MoveSetting:
    """Return a move with records in bursts, delays, waiting times and ages that depend on a seed alone."""
    rng = np.random.default_rng(seed)
    upstreams = int(rng.integers(1, 5))
    gap_s, burst = 0.1, float(rng.choice([1.0, 5.0, 20.0]))
    delay_s, queue_s = rng.choice([0.0, 0.001, 0.1, 1.0], 2).tolist()
    messages = np.random.default_rng((seed, 99))

    def records(upstream: int) -> Iterator[RecordTiming]:
        own = np.random.default_rng((seed, upstream))
        while True:
            quiet = own.random() < 1.0 / burst
            # never two at one moment, or their order would be anyone's guess
            yield RecordTiming(own.exponential(gap_s * burst if quiet else 1e-6), *drawn(own))

    def drawn(rng: np.random.Generator) -> tuple[float, float]:
        return rng.exponential(delay_s), rng.exponential(queue_s)

    def waiting() -> MessageTiming:
        return MessageTiming(*drawn(messages))

    settings: dict[str, Any] = {
        "protocol": protocol,
        "source": 0,
        "target": 1,
        "upstreams": upstreams,
        "records": records,
        "waiting": waiting,
        "record_time_s": gap_s / upstreams * float(rng.choice([0.05, 0.4, 0.8])),
        "record_bytes": float(rng.choice([0.0, 1.0, 10.0])),
        "state_bytes": float(rng.choice([0.0, 100.0, 1000.0])),
        "age_s": float(rng.uniform(0.0, 10.0)),
        "interval_s": float(rng.choice([0.5, 3.0, 20.0])),
        "bytes_s": float(rng.choice([200.0, 1000.0, np.inf])),
        "serialisation_s": float(rng.choice([500.0, np.inf])),
        "restart_s": float(rng.choice([0.0, 0.5])),
        "detection_s": 1.0,
        "catch_up_first": bool(rng.random() < 0.5),
        "warm_up_s": float(rng.uniform(0.0, 3.0)),
        "tail": 10,
        "most_records": 3000.0,
    }
    return MoveSetting(**{**settings, **changed})


def in_messages(
    protocol: str, buffers: tuple[int, ...], record_time: float, queue: float, state: int = 0
) -> MoveSetting:
    """Return a move in units of one small message: each buffer holds so many, and nothing comes in meanwhile."""

    def records(upstream: int) -> Iterator[RecordTiming]:
        yield from itertools.repeat(RecordTiming(0.1, 1.0, queue), buffers[upstream])

    return MoveSetting(
        protocol, 0, 1, len(buffers), records, lambda: MessageTiming(1.0, queue), record_time, 1.0, float(state),
        age_s=1000.0, bytes_s=1.0,
    )  # fmt: skip


def simulated(setting: MoveSetting, protocols: Mapping[str, Make] | None = None) -> MoveOutcome:
    """Simulate one move by itself, each transfer on a link of its own."""
    (move,) = run_moves([setting], shared_links=False, **({} if protocols is None else {"protocols": protocols}))
    return move
