"""What a ring costs while nothing fails, and what it takes when a node does, as plans state it.

Memory of nodes, and the traffic of copies on the network, follow [Kumbhare2015], V-C and V-D; times are those of
:mod:`ftplan.planners.peer_ring.takeover.recovery`. Shapes: N nodes, r backups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.plan import finite
from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.takeover.recovery import Losses, balance, losses, worst_runs


@dataclass(frozen=True, eq=False)
class RingMemory:
    """Bytes of each node, (N,), NaN where the size of its records is unknown."""

    state: FloatArray  # of its own arcs
    copies: FloatArray  # state that it holds for others
    records: FloatArray  # records that it keeps for others, just before a checkpoint lets it drop them
    #: ``peak``, ``mean``: copies and kept records together
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


#: Figures of nodes of which the worst is named.
WORST = ("ready_s", "ready_at_most_s", "caught_up_s", "window_s", "memory_bytes")
#: Those that are null where they never end, not where they are unknown.
ENDLESS = ("ready_s", "ready_at_most_s", "caught_up_s")


def estimates(problem: RingProblem, ring: Ring) -> dict[str, Any]:
    """Return the document of the estimates; null where something is not known, or would never come to an end.

    ``interval_s``, ``checkpoint_s``, ``detection_s``, ``latency_bound_s``
        What the others follow from, see :class:`RingSetting`.
    ``touched_share``
        Share of the state that a checkpoint holds on average, at most; 1 where nothing was measured.
    ``eviction_s``
        2 L_n: backups drop what is older than the last checkpoint by more, and so much may be applied twice.
    ``records_s``, ``input_bytes_s``, ``sent_bytes_s``, ``checkpoint_bytes_s``
        Input in records and bytes, what it takes to send it to r + 1 nodes, and what checkpoints add.
    ``worst``
        The node with the highest of some figures of nodes, as ``{node, value}``; a value of null is never.
    ``runs``
        For m neighbours that fail together, the run that is served again last: ``{nodes, taker, ready_s,
        caught_up_s}``; with one token a node only.
    ``nodes``
        By node: ``state_bytes`` of its arcs; as a backup ``copies_bytes``, ``kept_records`` at the peak, and together
        ``memory_bytes`` at the peak and ``mean_memory_bytes``. If it fails: how many ``takers`` there are, the
        ``taker`` that is ready last, ``ready_s`` and ``caught_up_s`` at the mean age of checkpoints,
        ``ready_at_most_s``, ``restore_bytes`` until all copies are there again and ``window_s`` until they are, in
        which another failure counts as simultaneous. ``balance_s`` until the next node clockwise has half of its arc,
        with one token a node.
    """
    setting, lost, traffic = problem.setting, losses(problem, ring), ring_traffic(problem)
    rows = _rows(problem, ring, lost, ring_memory(problem, ring))
    return {
        "interval_s": setting.interval_s,
        "checkpoint_s": finite(setting.checkpoint_s),
        "detection_s": setting.detection_s,
        "latency_bound_s": setting.latency_bound_s,
        "touched_share": setting.touched,
        "eviction_s": 2.0 * setting.latency_bound_s,
        "records_s": float(problem.rate.sum()),
        "input_bytes_s": finite(traffic.input),
        "sent_bytes_s": finite(traffic.sent),
        "checkpoint_bytes_s": finite(traffic.checkpoints) if problem.state_known else None,
        "worst": {name: _worst(rows, name) for name in WORST},
        "runs": [
            {
                "nodes": run.length,
                "taker": problem.nodes[run.taker],
                "ready_s": finite(run.ready_s),
                "caught_up_s": finite(run.caught_up_s),
            }
            for run in worst_runs(problem, ring)
        ],
        "nodes": rows,
    }


def _rows(problem: RingProblem, ring: Ring, lost: Losses, memory: RingMemory) -> list[dict[str, Any]]:
    halves = _halves(problem, ring)
    rows = []
    for place, node in enumerate(lost.nodes.tolist()):
        taker = int(lost.taker[place])
        row: dict[str, Any] = {
            "node": problem.nodes[node],
            "kept_records": finite(float(memory.records[node])),
            "takers": int(lost.takers[place]),
            "taker": None if taker < 0 else problem.nodes[taker],
            "ready_s": finite(float(lost.ready_s[place])),
            "ready_at_most_s": finite(float(lost.ready_at_most_s[place])),
            "caught_up_s": finite(float(lost.caught_up_s[place])),
            "balance_s": halves.get(node),
        }
        in_bytes = {
            "state_bytes": memory.state[node],
            "copies_bytes": memory.copies[node],
            "memory_bytes": memory.peak[node],
            "mean_memory_bytes": memory.mean[node],
            "restore_bytes": lost.restore_bytes[place],
            "window_s": lost.window_s[place],
        }
        known = problem.state_known
        rows.append({**row, **{name: finite(float(value)) if known else None for name, value in in_bytes.items()}})
    return rows


def _halves(problem: RingProblem, ring: Ring) -> dict[int, float | None]:
    """Return how long each node takes to give half of its arc to the next, by node; empty with many tokens a node."""
    if not ring.simple or len(ring.token) < 2:
        return {}
    rate, heir = problem.arcs(ring, problem.rate), np.roll(ring.node, -1)
    taken = balance(problem.setting, rate / 2.0, np.roll(rate, -1), problem.setting.replay_rate[heir])
    return {node: finite(value) for node, value in zip(ring.node.tolist(), taken.ready_s.tolist(), strict=True)}


def _worst(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Return the node with the highest figure, the first of equals; null is the highest, a time that never ends.

    Where no other figure is known of any node, it is unknown: None.
    """
    if not rows or (name not in ENDLESS and all(row[name] is None for row in rows)):
        return None
    highest = max(rows, key=lambda row: float("inf") if row[name] is None else row[name])
    return {"node": highest["node"], "value": highest[name]}
