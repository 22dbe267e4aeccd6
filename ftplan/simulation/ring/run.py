"""One run of a simulated ring: until the input ends, and on until all of it has been processed."""

from __future__ import annotations

import numpy as np

from ftplan.simulation.ring.balance import Balance
from ftplan.simulation.ring.checkpoints import Checkpoints
from ftplan.simulation.ring.failures import Failures
from ftplan.simulation.ring.membership import Membership
from ftplan.simulation.ring.outcome import RingOutcome, Sampler, audited
from ftplan.simulation.ring.setting import RingSetting
from ftplan.simulation.ring.world import World

#: How many times as long as the input a run takes at most, until all is processed.
LONGEST = 20.0


def run_ring(setting: RingSetting) -> RingOutcome:
    """Simulate a ring, its failures and its moves of load.

    Every batch of every position is followed through each copy. Costs O(ticks mappers nodes) events, and memory of
    positions x (replication + 1) x batches bytes.
    """
    world = World(setting)
    nodes = len(setting.nodes)
    phase_s = np.array([next(world.random) for _ in range(nodes)]) * setting.timing.interval_s
    checkpoints = Checkpoints(world, phase_s)
    members = Membership(world, checkpoints)
    failures = Failures(world, checkpoints, members, phase_s.tolist())
    balance = Balance(world, members)
    sampler = Sampler(world)
    world.env.run(until=setting.until_s * (1.0 + 1e-12) + 1e-9)
    over_time = sampler.over_time()
    _drain(world, failures)
    records = world.records()
    left = sum(batch.part.total for peer in world.peers for batch in peer.waiting())
    return RingOutcome(
        setting=setting,
        changes=tuple(world.changes),
        audit=audited(world, records),
        over_time=over_time,
        ring=world.ring,
        alive=tuple(world.alive.tolist()),
        out_of_room_s=balance.out_of_room_s,
        copied_bytes=checkpoints.sent_bytes,
        replayed=sum(peer.replayed for peer in world.peers),
        unfinished=float(left),
    )


def _drain(world: World, failures: Failures) -> None:
    """Go on until all is processed and every failure is answered."""
    setting, timing = world.setting, world.setting.timing
    step_s = max(setting.tick_s, 2.0 * timing.delay_s, timing.latency_bound_s)
    noticed_s = timing.missed * (timing.heartbeat_s or timing.interval_s) + timing.grace_s + (timing.detection_s or 0.0)
    last_s = LONGEST * (setting.until_s + noticed_s + timing.fixed_s)
    world.env.run(until=world.now + step_s)
    while world.now < last_s and not (failures.expected == 0 and all(p.idle or not p.alive for p in world.peers)):
        world.env.run(until=world.now + step_s)
