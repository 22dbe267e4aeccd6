"""What all parts of a simulated ring see: clock, nodes, mappers, who holds what, and the record of what happened.

Mappers send batches of records to all who hold a position, as they know the ring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from simpy import Environment

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import Event
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.engine.clock import CONTROL, after
from ftplan.simulation.ring.copies import Copies
from ftplan.simulation.ring.peer import Batch, Marker, Part, Peer, PeerPace
from ftplan.simulation.ring.setting import RingSetting, Surge

#: Least time between two messages of a link: rounding must not let one overtake the other.
APART_S = 1e-9


class View:
    """Who gets which positions by one version of the ring."""

    def __init__(self, version: int, holds: BoolArray) -> None:
        self.version = version
        self._at = [(node, np.flatnonzero(row)) for node, row in enumerate(holds) if row.any()]
        self._parts: list[tuple[int, Part]] = []
        self._records: FloatArray | None = None

    def parts(self, records: FloatArray, work: FloatArray) -> list[tuple[int, Part]]:
        """Return what each node gets of a batch with these records of each position, (M,)."""
        if self._records is not records:
            self._records = records
            self._parts = [(node, Part(at, records[at], records[at] * work[at])) for node, at in self._at]
        return self._parts


@dataclass(frozen=True)
class Network:
    """Who gets messages, and for each message in turn the share of the longest delay that it takes."""

    peers: Sequence[Peer]
    shares: Iterator[float]


class Mapper:
    """Sends a batch every tick, stamped by a clock of its own.

    ``records`` tells how many of each position, (M,), a batch has that is sent now.
    """

    def __init__(
        self, env: Environment, setting: RingSetting, number: int, skew_s: float, network: Network,
        records: Callable[[int], FloatArray],
    ) -> None:  # fmt: skip
        self.env, self.setting, self.number, self.skew_s = env, setting, number, skew_s
        self.view: View | None = None
        self._records, self._network = records, network
        self._free_s = [-np.inf] * len(network.peers)
        self._tick = 0
        tick_s = setting.tick_s
        after(env, tick_s * (number + 1) / setting.mappers, self._emit)

    def learn(self, view: View) -> None:
        """Send by another view of the ring from now on, and tell every node that what was sent before is all."""
        if self.view is not None and view.version <= self.view.version:
            return
        self.view = view
        for node in range(len(self._network.peers)):
            self._deliver(node, Marker(self.number, view.version))

    def _emit(self) -> None:
        assert self.view is not None
        batch = self._tick * self.setting.mappers + self.number
        now = float(self.env.now)
        for node, part in self.view.parts(self._records(batch), self.setting.work):
            self._deliver(node, Batch(batch, now + self.skew_s, part, now))
        self._tick += 1
        if self._tick < self.setting.ticks:
            after(self.env, self.setting.tick_s, self._emit)

    def _deliver(self, node: int, what: Batch | Marker) -> None:
        now = float(self.env.now)
        there = max(now + next(self._network.shares) * self.setting.timing.delay_s, self._free_s[node] + APART_S)
        self._free_s[node] = there
        peer = self._network.peers[node]
        if isinstance(what, Batch):
            after(self.env, there - now, lambda: peer.arrive(what))
        else:
            after(self.env, there - now, lambda: peer.mark(what))


#: Ticks that a batch may have waited for a node that has caught up.
FRESH_TICKS = 2.0


@dataclass(eq=False)
class Change:
    """A change of the ring, and what came of it; None for what did not happen."""

    event: Event
    node: int
    others: tuple[int, ...]
    begun_s: float  # when nodes failed, or a node asked or was told to leave
    decided_s: float | None = None  # when the ring was another
    ready_s: float | None = None  # when the node has processed again what it had kept
    caught_up_s: float | None = None  # when it processes records as they come
    restored_s: float | None = None  # when every copy is there again
    given_up: bool = False
    at: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (P,) positions that it took over
    #: ``rate``, ``own_rate``: records per second of these, and of those that it owned before
    rate: float = 0.0
    own_rate: float = 0.0
    replayed: float = 0.0  # records that it processed again
    #: (L,) positions that nobody was left to take over from
    lost: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


class World:
    """The state that parts share."""

    def __init__(self, setting: RingSetting) -> None:
        self.env = Environment()
        self.setting = setting
        positions = len(setting.position)
        copies = setting.replication + 1
        self.copies = Copies(copies * positions, setting.batches)
        self.random = uniform(np.random.default_rng([setting.seed, setting.run]))
        fresh_s = FRESH_TICKS * setting.tick_s + setting.timing.delay_s
        paces = (
            PeerPace(float(setting.capacity[n]), float(setting.replay_rate[n]), fresh_s)
            for n in range(len(setting.nodes))
        )
        self.peers = [Peer(self.env, positions, setting.mappers, self.copies, pace) for pace in paces]
        self.ring = setting.ring
        #: ``owner``: (M,) node that processes each position
        #: ``holds``, ``extra``: (N, M) nodes that hold a position by the ring, the owner too; and nodes that will, for
        #: whom copies are made
        self.owner, self.holds = self.placed(self.ring)
        self.extra: BoolArray = np.zeros_like(self.holds)
        self.version = 0
        self.told: BoolArray = self.holds.copy()
        #: ``fails_s``, ``again_s``: (M,) when the last sound copy failed first, infinite where one was always left; and
        #: from when on records count again, -inf where they do not, or always did
        self.fails_s: FloatArray = np.full(positions, np.inf)
        self.again_s: FloatArray = np.full(positions, -np.inf)
        self.changes: list[Change] = []
        #: (batches,) when each batch was sent, infinite for those that were not
        self.emitted_s: FloatArray = np.full(setting.batches, np.inf)
        self._levels = [self._of_a_batch(np.ones(positions))]
        self._level_of: IntArray = np.zeros(setting.batches, dtype=np.int64)
        for surge in setting.surges:
            after(self.env, surge.at_s, self._surges(surge), CONTROL)
        network = Network(self.peers, self.random)
        self.mappers = [
            Mapper(self.env, setting, m, skew_s, network, self._send) for m, skew_s in enumerate(self._skews())
        ]
        self._begin()

    @property
    def now(self) -> float:
        """Seconds since the begin."""
        return float(self.env.now)

    @property
    def alive(self) -> BoolArray:
        """(N,) nodes that have not failed."""
        return np.array([peer.alive for peer in self.peers])

    @property
    def sound(self) -> BoolArray:
        """(N, M) whether a node has all that it needs to take a position over, or owns it."""
        return np.array([peer.holdings.sound for peer in self.peers])

    def placed(self, ring: Ring) -> tuple[IntArray, BoolArray]:
        """Return the owner of each position, (M,), and who holds it, (N, M), with fewer copies where nodes are few."""
        copies = min(self.setting.replication, len(ring.nodes) - 1)
        at = ring.owner(self.setting.position)
        holders = ring.holders(copies)[at]
        holds = np.zeros((len(self.setting.nodes), len(at)), dtype=np.bool_)
        holds[holders, np.arange(len(at))[:, None]] = True
        return holders[:, 0].copy(), holds

    def view(self) -> View:
        """Return who gets records of which positions now."""
        return View(self.version, self.holds | self.extra)

    def _begin(self) -> None:
        """Let everybody hold what the ring says, with nothing in it."""
        view = self.view()
        for mapper in self.mappers:
            mapper.view = view
        for node, peer in enumerate(self.peers):
            at = np.flatnonzero(self.holds[node])
            peer.owns = self.owner == node
            peer.backs = self.holds[node] & ~peer.owns
            peer.holdings.row[at] = self.copies.take(len(at))
            peer.holdings.sound[at] = True
            peer.heard[:] = 0

    def _skews(self) -> Sequence[float]:
        """Return what the clocks of mappers are ahead: the first nothing, the last most, others in between."""
        many, most = self.setting.mappers, self.setting.timing.skew_s
        between = [next(self.random) * most for _ in range(many - 2)]
        return [0.0, *between, most][:many]

    @property
    def rate(self) -> FloatArray:
        """Records per second of each position now, (M,)."""
        return np.asarray(self._levels[-1] * (self.setting.mappers / self.setting.tick_s))

    def records(self) -> FloatArray:
        """Return the records of each position in each batch, (M, batches); none in batches that were not sent."""
        sent = np.array(self._levels)[self._level_of].T
        return np.asarray(np.where(np.isfinite(self.emitted_s), sent, 0.0))

    def _send(self, batch: int) -> FloatArray:
        self.emitted_s[batch] = self.now
        self._level_of[batch] = len(self._levels) - 1
        return self._levels[-1]

    def _of_a_batch(self, factor: FloatArray) -> FloatArray:
        return np.asarray(self.setting.rate * factor * (self.setting.tick_s / self.setting.mappers))

    def _surges(self, surge: Surge) -> Callable[[], None]:
        return lambda: self._levels.append(self._of_a_batch(surge.factor))


def uniform(generator: np.random.Generator) -> Iterator[float]:
    """Yield numbers in [0, 1) for ever."""
    while True:
        yield from generator.random(4096).tolist()
