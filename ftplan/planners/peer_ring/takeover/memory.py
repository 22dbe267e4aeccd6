"""What nodes of a ring keep in memory, and what the copies cost on the network.

Shapes: N nodes, r backups; [Kumbhare2015], V-C and V-D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class RingMemory:
    """Bytes of each node, (N,), NaN where the size of its records is unknown.

    Attributes
    ----------
    state
        Of its own arcs.
    copies
        State that it holds for others.
    records
        Records that it keeps for others, just before a checkpoint lets it drop them.
    peak, mean
        Copies and kept records together.
    """

    state: FloatArray
    copies: FloatArray
    records: FloatArray
    peak: FloatArray
    mean: FloatArray


def ring_memory(problem: RingProblem, ring: Ring) -> RingMemory:
    """Return what nodes keep: for each arc that they back up, its state, and the records since its last checkpoint.

    A checkpoint drops records once it is there, those of the last 2 L_n excepted: just before, a backup keeps those of
    T + d + 2 L_n seconds, in the mean of T/2 + d + 2 L_n.
    """
    setting, count = problem.setting, len(problem.nodes)
    held = ring.holders(problem.replication)
    backups = held[:, 1:].ravel()

    def on_backups(worth: FloatArray) -> FloatArray:
        by_arc = np.repeat(problem.arcs(ring, worth), held.shape[1] - 1)
        return np.asarray(np.bincount(backups, by_arc, minlength=count), dtype=np.float64)

    beyond = setting.checkpoint_s + 2.0 * setting.latency_bound_s
    peak_s, mean_s = setting.interval_s + beyond, setting.interval_s / 2.0 + beyond
    state = np.asarray(np.bincount(ring.node, problem.arcs(ring, problem.state), minlength=count), dtype=np.float64)
    copies, kept = on_backups(problem.state), on_backups(_data_rate(problem))
    return RingMemory(state, copies, on_backups(problem.rate) * peak_s, copies + kept * peak_s, copies + kept * mean_s)


class RingTraffic(NamedTuple):
    """Bytes per second: what comes in, what sending it to all r + 1 holders takes, and what checkpoints add."""

    input: float
    sent: float
    checkpoints: float


def ring_traffic(problem: RingProblem) -> RingTraffic:
    """Return what the copies cost on the network; NaN where the size of records is unknown."""
    once = float(_data_rate(problem).sum())
    copied = problem.replication * problem.setting.touched * float(problem.state.sum())
    return RingTraffic(once, once * (problem.replication + 1), copied / problem.setting.interval_s)


def _data_rate(problem: RingProblem) -> FloatArray:
    """Return the bytes per second that come in at each position, (M,)."""
    return np.where(problem.rate > 0.0, problem.setting.record_bytes * problem.rate, 0.0)
