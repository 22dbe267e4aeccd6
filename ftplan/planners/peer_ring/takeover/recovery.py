"""How long a take-over on a ring lasts (detection, replay, until the new owner has caught up), and what one loss means.

Arguments of formulas broadcast against each other; rates are records per second. Of the loss of one node: who takes
over, how long that takes, what is to be restored. Shapes: T tokens, N nodes, L nodes that hold something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem, RingSetting
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class Losses:
    """What the loss of each node alone means, all of shape (L,); times in seconds, infinite for never."""

    nodes: IntArray  # nodes of the ring and of its tier, ascending
    #: ``takers``, ``taker``: how many nodes take over arcs of it, and which of them is ready last (-1: none)
    takers: IntArray
    taker: IntArray
    #: ``ready_s``, ``caught_up_s``, ``ready_at_most_s``: until all arcs are served again and nothing is behind, at the
    #: mean age of checkpoints; and at the worst age. The arcs of a node without backups are lost: never.
    ready_s: FloatArray
    caught_up_s: FloatArray
    ready_at_most_s: FloatArray
    #: ``restore_bytes``, ``window_s``: what has to travel until each arc has r + 1 copies again, and until when it has:
    #: detection and transfers, those to different nodes at a time. Another failure until then counts as simultaneous.
    #: Infinite where no other node is there to hold a copy.
    restore_bytes: FloatArray
    window_s: FloatArray


def losses(problem: RingProblem, ring: Ring) -> Losses:
    """Return what the loss of each node alone means. Cost O(T r log(T r)), also with many tokens a node.

    The ranges of a node go to the next other node clockwise, which is what taking its tokens means, and each arc that
    had a copy there gets one on the next node clockwise that has none.
    """
    around = Ring(ring.token, ring.node)
    walked = problem.replication + (ring.tier is None)
    clockwise = around.holders(min(walked, len(around.nodes) - 1))
    held = np.unique(ring.node if ring.tier is None else np.concatenate([ring.node, ring.tier]))
    place = np.full(len(problem.nodes), -1, dtype=np.int64)
    place[held] = np.arange(len(held))
    taken = _taken(problem, ring, clockwise, place)
    restored, window = _restored(problem, ring, clockwise, walked, place)
    return Losses(held, *taken, restored, window)


class _Pairs(NamedTuple):
    """Sums over pairs of a lost node (by its place) and another node."""

    place: IntArray
    other: IntArray
    sums: tuple[FloatArray, ...]


def _paired(place: IntArray, other: IntArray, nodes: int, *worth: FloatArray) -> _Pairs:
    keys, number = np.unique(place * nodes + other, return_inverse=True)
    sums = tuple(_sums(number, one, len(keys)) for one in worth)
    return _Pairs(keys // nodes, keys % nodes, sums)


def _sums(number: IntArray, worth: FloatArray, size: int) -> FloatArray:
    return np.asarray(np.bincount(number, worth, minlength=size), dtype=np.float64)


def _taken(
    problem: RingProblem, ring: Ring, clockwise: IntArray, place: IntArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
    """Return takers, the last of them, ready, caught up, and ready at most, of the loss of each node, (L,)."""
    size = int(place.max()) + 1
    takers, taker = np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    owns = np.isin(np.flatnonzero(place >= 0), ring.node)
    times = [np.where(owns, np.inf, 0.0) for _ in range(3)]
    if problem.replication == 0 or clockwise.shape[1] < 2:
        return takers, taker, times[0], times[1], times[2]
    rate, state = problem.arcs(ring, problem.rate), problem.arcs(ring, problem.state)
    travels = np.zeros(len(state)) if problem.replication > 1 or ring.tier is None else state
    pairs = _paired(place[ring.node], clockwise[:, 1], len(problem.nodes), rate, travels)
    own = _sums(ring.node, rate, len(problem.nodes))[pairs.other]
    power = problem.setting.replay_rate[pairs.other]
    fetched_s = pairs.sums[1] / problem.setting.bandwidth

    def at_age(age_s: float | None) -> tuple[FloatArray, FloatArray]:
        parts = recovery(problem.setting, pairs.sums[0], own, power, age_s, fetched_s)
        return parts.ready_s, parts.caught_up_s

    ready, level = at_age(None)
    most = np.maximum(at_age(0.0)[0], at_age(problem.setting.interval_s)[0])
    takers += np.bincount(pairs.place, minlength=size)
    for time, values in zip(times, (ready, level, most), strict=True):
        time[pairs.place] = 0.0
        np.maximum.at(time, pairs.place, values)
    order = np.lexsort((-pairs.other, ready))  # of equals the first by name is written last
    taker[pairs.place[order]] = pairs.other[order]
    return takers, taker, times[0], times[1], times[2]


def _restored(
    problem: RingProblem, ring: Ring, clockwise: IntArray, walked: int, place: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the bytes that restore all copies after the loss of each node, and until when they do, (L,)."""
    size, nodes = int(place.max()) + 1, len(problem.nodes)
    state, columns = problem.arcs(ring, problem.state), min(walked, clockwise.shape[1])
    total = _sums(place[clockwise[:, :columns]].ravel(), np.repeat(state, columns), size)
    detected = problem.setting.detection_s
    window = np.full(size, detected)
    if clockwise.shape[1] > walked:
        lost, heir = clockwise[:, :walked].ravel(), np.repeat(clockwise[:, walked], walked)
        pairs = _paired(place[lost], heir, nodes, np.repeat(state, walked))
        np.maximum.at(window, pairs.place, detected + pairs.sums[0] / problem.setting.bandwidth)
    else:
        window[place[ring.nodes]] = np.inf
    if ring.tier is None:
        return total, window
    tiered = _sums(place[ring.tier], state, size)
    others = len(np.unique(ring.tier)) > 1 or int(problem.tier.sum()) > 1
    alone = detected + tiered / problem.setting.bandwidth if others else np.full(size, np.inf)
    return total + tiered, np.where(tiered > 0.0, np.maximum(window, alone), window)


class NodeRun(NamedTuple):
    """A run of neighbours that fail together: how many, the node that takes over, and when it is ready."""

    length: int
    taker: int
    ready_s: float
    caught_up_s: float


def worst_runs(problem: RingProblem, ring: Ring) -> list[NodeRun]:
    """Return for 1, 2, ... r neighbours that fail together the run that is ready last; one token a node only.

    One node takes over all arcs of a run, so that, unlike failures here and there, these add up. Cost O(N r).
    """
    count = len(ring.token)
    longest = min(problem.replication - (ring.tier is not None), count - 1)
    if not ring.simple or longest < 1:
        return []
    rate = problem.arcs(ring, problem.rate)
    before = np.concatenate([[0.0], np.cumsum(np.concatenate([rate, rate]))])
    first, runs = np.arange(count), []
    for length in range(1, longest + 1):
        heir = (first + length) % count
        taker = ring.node[heir]
        parts = recovery(
            problem.setting, before[first + length] - before[first], rate[heir], problem.setting.replay_rate[taker]
        )
        last = int(np.lexsort((taker, -parts.ready_s))[0])
        runs.append(NodeRun(length, int(taker[last]), float(parts.ready_s[last]), float(parts.caught_up_s.max())))
    return runs


class TakeoverTimes(NamedTuple):
    """A take-over by its parts, in seconds from the failure."""

    detection_s: FloatArray  # until the failure is noticed
    #: What came in since the last checkpoint, until it is noticed, and within the eviction bound of 2 L_n
    replayed_records: FloatArray
    ready_s: FloatArray  # until these are processed again, with all of the node's power: then results are up to date
    caught_up_s: FloatArray  # until what comes in meanwhile is processed too; infinite where the node never catches up


def recovery(
    setting: RingSetting,
    rate: ArrayLike,
    own_rate: ArrayLike,
    replay_rate: ArrayLike,
    age_s: ArrayLike | None = None,
    transfer_s: ArrayLike = 0.0,
) -> TakeoverTimes:
    """Return what a take-over after a failure takes ([Kumbhare2015], VII).

    *rate*: of the arcs that are taken over. *own_rate*: of the arcs that the node has already. *replay_rate*: what the
    node can process. *age_s*: age of the last checkpoint at the failure, from 0 to the interval; None for its mean.
    *transfer_s*: for state to travel to a node that holds no copy of it.
    """
    age = np.asarray(setting.age_s if age_s is None else age_s, dtype=np.float64)
    detection = np.full(age.shape, setting.detection_s)
    if setting.heartbeat_is_checkpoint:
        detection = np.maximum(setting.detection_s - age, 0.0)
    since = age + detection + 2.0 * setting.latency_bound_s
    return _replayed(setting, (detection, np.asarray(transfer_s)), since, rate, own_rate, replay_rate)


def balance(
    setting: RingSetting,
    rate: ArrayLike,
    own_rate: ArrayLike,
    replay_rate: ArrayLike,
) -> TakeoverTimes:
    """Return what it takes until a neighbour owns a part of an arc, *rate*: as :func:`recovery`, without detection."""
    since = np.asarray(setting.age_s + 2.0 * setting.latency_bound_s)
    return _replayed(setting, (np.zeros(()), np.zeros(())), since, rate, own_rate, replay_rate)


def _replayed(
    setting: RingSetting,
    before: tuple[FloatArray, FloatArray],
    since: FloatArray,
    rate: ArrayLike,
    own_rate: ArrayLike,
    replay_rate: ArrayLike,
) -> TakeoverTimes:
    """Return the times where detection and transfer take *before*, and the input of *since* is replayed."""
    given = (np.asarray(item, dtype=np.float64) for item in (*before, since, rate, own_rate, replay_rate))
    noticed, transfer, span, arriving, own, power = np.broadcast_arrays(*given)
    records = arriving * span
    begun = noticed + transfer + setting.fixed_s
    ready, level = begun + _time(records, power), begun + _time(records, power - own - arriving)
    return TakeoverTimes(noticed + 0.0, records, ready, level)


def _time(records: FloatArray, power: FloatArray) -> FloatArray:
    """Return how long it takes to process records; nothing for none, for ever without power."""
    taken = np.divide(records, power, out=np.full(records.shape, np.inf), where=power > 0.0)
    return np.where(records > 0.0, taken, 0.0)
