"""What it costs to move a key group from one node to another, by the protocol that moves it.

The protocols are those of [Madsen2015], section 4. With a checkpoint of the group on the target, ``cpa`` (Algorithm 1)
turns it into state there and replays what came in since; ``cpal`` (Algorithm 2) does so while the old node goes on, and
pauses only to synchronise the two. ``direct`` makes a fresh checkpoint and sends it; ``lazy`` lets the next full
checkpoint be stored on the target and moves by ``cpa`` then. ``recover`` and ``fetch`` are no moves: the node is gone,
and the group comes back as after a failure, where a checkpoint of it lies or on another node, to which it is sent.

[Madsen2015], section 4, counts messages (table 2): a fast one takes 1, a normal one 1 + C with C the queueing, data
adds its size. With buffers of b_j records at upstream instances j and t per record that gives (table 3): ``cpa``
takes max_j b_j + sum_j t b_j; ``cpal`` is done after max_j (b_j + C) + sum_j t b_j + 2 + C and the work on what it
buffered, and pauses for that work and for the spread of the marks at which its inputs change over, at most C;
``direct`` takes what serialising and sending the state takes. In seconds, with n = rate x age the records that
upstream buffers hold, all of them sent over the link into the target, and rho the share of a thread that the group
takes:

- replay = n record_bytes / bandwidth + age rho, nothing for a group without input
- ``cpa``: latency = completion = delay + (restart + replay) / (1 - rho)
- ``cpal``: latency = queue / (1 - rho), completion = that of ``cpa`` + 2 delay + 2 queue, at least the latency; the
  work on what was buffered, queue rho / (1 - rho), counts in the latency only
- ``direct``: latency = completion = delay + (restart + S) / (1 - rho), S = state (1 / serialisation + 1 / bandwidth
  + 1 / serialisation)
- ``lazy``, full checkpoints only: the next one is stored on the target within ``interval`` + S, and then the group
  moves by ``cpa`` with an age of S; completion = interval + S + latency
- ``recover``: latency = completion = that of ``cpa`` + detection / (1 - rho)
- ``fetch``: that of ``recover`` + F / (1 - rho), F = state (1 / bandwidth + 1 / serialisation): what is fetched is
  serialised already

The paper leaves out what comes in during a pause, and with it that ``direct`` has anything to replay; here a second
of pause takes 1 / (1 - rho) with what comes in meanwhile. So but for the delay ``cpa``, ``recover`` and ``fetch``
take what :func:`ftplan.model.measures.recovery_time.recovery_time` says of a recovery. Where rho is 1 or more a
group never catches up, and all is infinite. ``cpa`` is faster than ``direct`` exactly where replay < S; the pause
of ``cpal`` does not depend on the replay.

As in the paper, the work of the old node (state into checkpoint, beside the replay) takes no time that counts, and
turning a checkpoint that lies on the node into state is part of ``restart``. Its order of the controller to the
upstream instances is left out for all protocols. Where state is remote, each node fetches it from the store, which
takes state / bandwidth before the replay; no node sends anything to another, and only ``cpa``, ``cpal`` and
``recover`` are there.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.model.topology import FloatArray
from ftplan.model.units import MB

CPA, CPAL, LAZY, DIRECT, RECOVER, FETCH = "cpa", "cpal", "lazy", "direct", "recover", "fetch"
#: In the order of the rows of :class:`ProtocolCosts`; the first of equals is taken.
PROTOCOLS: Final = (CPA, CPAL, LAZY, DIRECT, RECOVER, FETCH)
#: Protocols that need a checkpoint of the group on the target.
ASSISTED: Final = frozenset({CPA, CPAL, RECOVER})
#: What becomes of groups that did not leave a node before it was gone.
AFTER_LOSS: Final = frozenset({RECOVER, FETCH})


class MigrationSetting(NamedTuple):
    """What the cost of a move depends on: numbers, or arrays of shape (K,), one value for each key group."""

    rate: ArrayLike  # records per second into the group
    #: Time per record; rho = rate x record_time_s is the share of a thread that the group takes.
    record_time_s: ArrayLike
    state_bytes: ArrayLike  # of the group
    record_bytes: ArrayLike = 0.0  # of a record in an upstream buffer
    age_s: ArrayLike = 0.0  # of the newest checkpoint when the group moves, at most ``interval_s``
    interval_s: ArrayLike = 0.0  # between checkpoints
    full: ArrayLike = False  # whether checkpoints are full, so that the next one may be stored on any node
    #: Between two nodes, each way, in units of 2^20 bytes per second; so is the rate at which state is serialised, and
    #: read again.
    bandwidth_mb_s: ArrayLike = np.inf
    serialisation_mb_s: ArrayLike = np.inf
    delay_s: ArrayLike = 0.0  # of a message
    queue_s: ArrayLike = 0.0  # time that a message waits in an input queue: C of the paper
    #: ``restart_s``, ``detection_s``: from the start of a task until it runs, and until a failure is noticed, as
    #: recoveries were measured.
    restart_s: ArrayLike = 0.0
    detection_s: ArrayLike = 0.0
    #: Utilisation while catching up, where it is more than that of the group alone: a second of its input then takes so
    #: long to replay.
    rho: ArrayLike | None = None
    #: State is fetched from a store as near to all nodes: no node sends any to another.
    remote: bool = False


class ProtocolCosts(NamedTuple):
    """Costs of moving each of K key groups by each of P protocols (:data:`PROTOCOLS`), infinite where impossible.

    They do not depend on the nodes, but that ``cpa``, ``cpal`` and ``recover`` need a checkpoint on the target.
    """

    #: How long the group is paused, (P, K): from when nothing of it is processed until its records are as late as
    #: before.
    latency_s: FloatArray
    completion_s: FloatArray  # from the order until the move is done, (P, K)
    bytes: FloatArray  # what goes over the network for it, (P, K)
    #: How long it keeps the link into its target busy, and with ``direct`` that out of its old node, with ``fetch``
    #: that out of a host of its checkpoint, (P, K).
    link_s: FloatArray
    catch_up: FloatArray  # seconds of pause for each second of waiting, 1 / (1 - rho), (K,)


def migration_costs(setting: MigrationSetting) -> ProtocolCosts:
    """Return what each group costs to move by each protocol, in seconds and bytes, by the formulas above. Cost O(K)."""
    s = _columns(setting)
    rho = np.maximum(s.rate * s.record_time_s, s.rho)
    keeps_up = rho < 1.0
    catch_up = np.divide(1.0, 1.0 - rho, out=np.full(rho.shape, np.inf), where=keeps_up)
    speed, serialising = s.bandwidth_mb_s * MB, s.state_bytes / (s.serialisation_mb_s * MB)
    none = np.zeros(rho.shape)
    fetched = s.state_bytes / speed + serialising
    sent = fetched + serialising
    replayed = none if setting.remote else s.rate * s.age_s * s.record_bytes
    replayed_lazily = s.rate * sent * s.record_bytes
    loading = s.state_bytes / speed if setting.remote else none

    def resumed(*parts: FloatArray) -> FloatArray:
        """Return how long a group is paused that a message starts again and that has *parts* to do, (K,)."""
        work = s.restart_s + sum(parts, start=none)
        return np.asarray(s.delay_s + np.multiply(work, catch_up, out=np.full(rho.shape, np.inf), where=keeps_up))

    replay = replayed / speed + np.where(s.rate > 0.0, s.age_s * rho, 0.0)
    cpa, direct = resumed(loading, replay), resumed(sent)
    cpal = np.multiply(s.queue_s, catch_up, out=np.full(rho.shape, np.inf), where=keeps_up)
    lazy = np.where(s.full > 0.0, resumed(replayed_lazily / speed, np.where(s.rate > 0.0, sent * rho, 0.0)), np.inf)
    recover = resumed(loading, replay, s.detection_s)
    fetch = resumed(fetched, replay, s.detection_s)
    if setting.remote:
        direct, lazy, fetch = (np.full(rho.shape, np.inf) for _ in range(3))
    link, lazy_link = replayed / speed, replayed_lazily / speed
    cpal_done = np.maximum(cpa + 2.0 * (s.delay_s + s.queue_s), cpal)
    return ProtocolCosts(
        np.stack([cpa, cpal, lazy, direct, recover, fetch]),
        np.stack([cpa, cpal_done, lazy + s.interval_s + sent, direct, recover, fetch]),
        np.stack([replayed, replayed, replayed_lazily, s.state_bytes, replayed, replayed + s.state_bytes]),
        np.stack([link, link, lazy_link, sent, link, link + fetched]),
        catch_up,
    )


def _columns(setting: MigrationSetting) -> Any:
    """Return the fields of a setting as arrays of one shape (K,)."""
    known = setting._replace(rho=0.0 if setting.rho is None else setting.rho)._asdict()
    given = [np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in known.values()]
    return SimpleNamespace(**dict(zip(known, np.broadcast_arrays(*given), strict=True)))
