"""Every protocol counts each record once and in order, whatever the timing; broken ones are found out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import after
from ftplan.simulation.migration import parts
from ftplan.simulation.migration.group import GroupRecord, GroupState
from ftplan.simulation.migration.parts import GroupMessage, Upstream
from ftplan.simulation.migration.protocol import Links, MigrationProtocol
from ftplan.simulation.migration.protocols import PROTOCOLS, CpalMigration, DirectMigration
from ftplan.simulation.migration.run import MigrationFault, faults, figures, run_moves, usual_s
from ftplan.simulation.migration.setting import MoveSetting
from tests.simulation.migration.message_cases import random_setting, simulated

SEEDS = st.integers(0, 2**32 - 1)


def carried_out(
    make: Callable[[Environment, MoveSetting, Links], MigrationProtocol], setting: MoveSetting
) -> MigrationProtocol:
    env = Environment(initial_time=-setting.age_s - setting.warm_up_s)
    move = make(env, setting, Links(env))
    env.run()
    return move


@given(st.sampled_from(sorted(PROTOCOLS)), SEEDS)
@settings(max_examples=100)
def test_each_record_counts_once_and_in_order(protocol: str, seed: int) -> None:
    move = carried_out(PROTOCOLS[protocol], random_setting(protocol, seed))
    assert faults(move) == []
    made = figures(move)
    assert made.pause_s is not None
    assert made.completion_s is not None
    assert 0.0 <= made.pause_s <= made.completion_s
    if protocol == "cpal":
        assert made.duplicates == move.new.duplicates


@given(st.lists(st.sampled_from(sorted(PROTOCOLS)), min_size=2, max_size=5), SEEDS)
@settings(max_examples=20)
def test_moves_of_a_phase_share_links(protocols: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [rng.choice(4, 2, replace=False).tolist() for _ in protocols]
    phase = [
        random_setting(protocol, seed + k, source=source, target=target, bytes_s=500.0)
        for k, (protocol, (source, target)) in enumerate(zip(protocols, nodes, strict=True))
    ]
    assert [move.faults for move in run_moves(phase)] == [()] * len(phase)


class LosesTheOldNode(MigrationProtocol):
    """Algorithm 1, whose old node fails at some moment after the order."""

    complete_checkpoint = False

    def begin(self) -> None:
        super().begin()
        after(self.env, self.setting.detection_s, self.old.fail)


@given(SEEDS, st.floats(0.0, 10.0))
@settings(max_examples=20)
def test_cpa_needs_the_old_node_no_more_once_it_is_ordered(seed: int, failed_s: float) -> None:
    """What it had not put out is replayed from the buffers."""
    assert faults(carried_out(LosesTheOldNode, random_setting("cpa", seed, detection_s=failed_s))) == []


class Stay(MigrationProtocol):
    """No migration."""

    def begin(self) -> None:
        for upstream in self.upstreams:
            upstream.most = 100


@given(SEEDS)
@settings(max_examples=20)
def test_what_is_usual_is_what_happens_without_a_migration(seed: int) -> None:
    move = carried_out(Stay, random_setting("cpa", seed))
    usual = usual_s([upstream.sent for upstream in move.upstreams], move.setting.record_time_s)
    for output in move.outputs:
        assert output.at_s == pytest.approx(usual[output.record.upstream][output.record.number], abs=1e-9)
    assert sum(map(len, usual)) == len(move.outputs)
    assert figures(move).longest_delay_s == 0.0


class NoReplay(MigrationProtocol):
    """The new node forgets the buffers."""

    def at_new(self, message: GroupMessage) -> ProcessGenerator:
        yield from super().at_new(message._replace(records=()) if message.kind == "toState" else message)


class NoRedirect(MigrationProtocol):
    """New records go on to the old node."""

    def order(self, upstream: Upstream) -> None:
        super().order(upstream)
        upstream.targets = (self.old,)


class LateRedirect(MigrationProtocol):
    """toCheckpoint is sent, and only then the last records to the old node."""

    def order(self, upstream: Upstream) -> None:
        super().order(upstream)
        upstream.targets = (self.old,)
        after(self.env, 1.0, lambda: setattr(upstream, "targets", (self.new,)))


class EarlyToCheckpoint(CpalMigration):
    """The old node is told that there is no more data, and is sent some."""

    def synchronise(self, upstream: Upstream) -> None:
        upstream.send("toCheckpoint", self.old, self.setting.waiting())
        after(self.env, 1.0, lambda: self._later(upstream))

    def _later(self, upstream: Upstream) -> None:
        upstream.send("syncGroup", self.new, self.setting.waiting())
        upstream.targets = (self.new,)


class FastSync(CpalMigration):
    """syncGroup overtakes the records before it."""

    def synchronise(self, upstream: Upstream) -> None:
        upstream.send("syncGroup", self.new, self.setting.waiting(), fast=True)
        upstream.targets = (self.new,)
        upstream.send("toCheckpoint", self.old, self.setting.waiting())


def _converts_at_the_first(self: MigrationProtocol, message: GroupMessage) -> ProcessGenerator:
    if message.kind == "toCheckpoint":
        self.convert()
    yield from self.old.work_off(message)


class CpaConvertsEarly(MigrationProtocol):
    """The old node does not wait for all upstream instances."""

    at_old = _converts_at_the_first


class CpalConvertsEarly(CpalMigration):
    """The same, where the old node's output is needed."""

    at_old = _converts_at_the_first


class PutsOutTooEarly(CpalMigration):
    """The new node's output is not withheld."""

    def kept_back(self, output: parts.GroupOutput) -> bool:
        return False


class NoHolding(CpalMigration):
    """The new node does not put the records aside that come after a syncGroup while others are missing."""

    def at_new(self, message: GroupMessage) -> ProcessGenerator:
        yield from self.new.work_off(message) if message.kind == "data" else super().at_new(message)


class TrimsTooEarly(DirectMigration):
    """Buffers are trimmed by what the old node has read when the checkpoint arrives, not by the checkpoint."""

    def order(self, upstream: Upstream) -> None:
        upstream.trim([len(upstream.sent) - 1] * self.setting.upstreams)
        super().order(upstream)


BROKEN = [
    (NoReplay, "cpa", {"not in the state", "state differs", "out of order"}),
    (NoRedirect, "cpa", {"not in the state"}),
    (LateRedirect, "cpa", {"not in the state", "state differs", "out of order"}),
    (EarlyToCheckpoint, "cpal", {"never put out"}),
    (FastSync, "cpal", {"put out again"}),
    (CpaConvertsEarly, "cpa", {"not in the old checkpoint"}),
    (CpalConvertsEarly, "cpal", {"never put out"}),
    (PutsOutTooEarly, "cpal", {"put out again"}),
    (NoHolding, "cpal", {"never put out"}),
    (TrimsTooEarly, "direct", {"not in the state", "state differs", "out of order"}),
]


def found_in(make: type[MigrationProtocol], name: str, seeds: int = 30) -> list[MigrationFault]:
    """Return what is wrong with a protocol under some timings."""
    return [fault for seed in range(seeds) for fault in faults(carried_out(make, random_setting(name, seed)))]


@pytest.mark.parametrize(("make", "name", "what"), BROKEN, ids=lambda value: getattr(value, "__name__", None))
def test_a_broken_protocol_is_found_out(make: type[MigrationProtocol], name: str, what: set[str]) -> None:
    assert what & {fault.what for fault in found_in(make, name)}


def test_forgotten_duplicates_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buffers may hold what the checkpoint has: its storing is told to upstream instances by a message."""
    monkeypatch.setattr(GroupState, "covers", lambda self, record: False)
    for name in ("cpa", "cpal"):
        assert "other output" in {fault.what for fault in found_in(PROTOCOLS[name], name)}


def test_the_state_shows_order_and_number() -> None:
    records = [GroupRecord(0, number, 0.0, 0.0, 0.0) for number in range(3)]

    def state(numbers: list[int]) -> GroupState:
        made = GroupState(1)
        for number in numbers:
            made.apply(records[number])
        return made

    right = state([0, 1, 2])
    assert right.same_as(state([0, 1, 2]))
    for wrong in ([0, 1], [0, 2], [1, 0, 2], [0, 1, 1, 2], [0, 0, 1, 2]):
        assert not right.same_as(state(wrong))
    kept = right.copy()
    right.apply(GroupRecord(0, 3, 0.0, 0.0, 0.0))
    assert kept.same_as(state([0, 1, 2]))


def test_a_move_that_does_not_end_has_no_pause() -> None:
    """The new node is given more than it can work off."""
    move = simulated(random_setting("cpa", 3, record_time_s=10.0, most_records=40, interval_s=np.inf))
    assert move.faults == ()
