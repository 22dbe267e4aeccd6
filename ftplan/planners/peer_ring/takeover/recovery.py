"""How long a take-over on a ring lasts: detection, replay, and until the new owner has caught up.

Arguments broadcast against each other; rates are records per second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.problem import RingSetting


class TakeoverTimes(NamedTuple):
    """A take-over by its parts, in seconds from the failure.

    Attributes
    ----------
    detection_s
        Until the failure is noticed.
    replayed_records
        What came in since the last checkpoint, until it is noticed, and within the eviction bound of 2 L_n.
    ready_s
        Until these are processed again, with all of the node's power: then results are up to date.
    caught_up_s
        Until what comes in meanwhile is processed too; infinite where the node never catches up.
    """

    detection_s: FloatArray
    replayed_records: FloatArray
    ready_s: FloatArray
    caught_up_s: FloatArray


def recovery(
    setting: RingSetting,
    rate: ArrayLike,
    own_rate: ArrayLike,
    replay_rate: ArrayLike,
    age_s: ArrayLike | None = None,
    transfer_s: ArrayLike = 0.0,
) -> TakeoverTimes:
    """Return what a take-over after a failure takes ([Kumbhare2015], VII).

    Parameters
    ----------
    rate
        Of the arcs that are taken over.
    own_rate
        Of the arcs that the node has already.
    replay_rate
        What the node can process.
    age_s
        Age of the last checkpoint at the failure, from 0 to the interval; None for its mean.
    transfer_s
        For state to travel to a node that holds no copy of it.
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
    age_s: ArrayLike | None = None,
) -> TakeoverTimes:
    """Return what it takes until a neighbour owns a part of an arc, *rate*: as :func:`recovery`, without detection."""
    age = np.asarray(setting.age_s if age_s is None else age_s, dtype=np.float64)
    since = age + 2.0 * setting.latency_bound_s
    return _replayed(setting, (np.zeros(age.shape), np.zeros(())), since, rate, own_rate, replay_rate)


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
