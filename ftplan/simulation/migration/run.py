"""Moves that are ordered at one moment and share the links of nodes, and what each was like.

That includes whether every record counts exactly once and in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from simpy import Environment

from ftplan.simulation.migration.group import GroupRecord, GroupState
from ftplan.simulation.migration.protocol import Links, MigrationProtocol
from ftplan.simulation.migration.protocols import PROTOCOLS
from ftplan.simulation.migration.setting import MoveSetting

#: What is later than usual by less than this, and this share of the time that a record takes, is so by rounding.
_ROUNDING_S, _ROUNDING = 1e-9, 1e-6


class MoveFigures(NamedTuple):
    """A migration in numbers, in seconds from its order."""

    #: From when the group is not processed where it was until its records are as late as they would have been: the new
    #: node has had nothing of it left to work off, and no record comes out later than without the migration, all else
    #: being the same. With cpal it begins when the first record that only the new node gets could be worked off there,
    #: were there nothing else to do; with direct when the old node stops, else when the first upstream instance sends
    #: new records to the new node, or the old node is lost. None: it had not ended.
    pause_s: float | None
    #: From the order until the end of the pause, and until the old node's state is a checkpoint. None: it had not
    #: ended.
    completion_s: float | None
    longest_delay_s: float  # by how much any record came out later than without the migration
    replayed: int  # records that the upstream buffers held
    #: Records that the new node, and outputs that whoever gets them had to drop since they had come before
    duplicates: int
    withheld: int  # outputs that the new node kept back
    records: int  # all that were sent


class MigrationFault(NamedTuple):
    """What is wrong, how many records are concerned, and an example: upstream instance and number."""

    what: str
    records: int
    upstream: int
    number: int


def usual_s(records: Sequence[Sequence[GroupRecord]], record_time_s: float) -> list[list[float]]:
    """Return when the old node would put out each record of each upstream instance without a migration.

    On the way and in the input queue no record overtakes those of its upstream instance, or those that came before. No
    two may come at one moment.
    """
    arrivals: list[tuple[float, GroupRecord]] = []
    for own in records:
        at_s = -np.inf
        for record in own:
            at_s = max(at_s, record.sent_s + record.delay_s)
            arrivals.append((at_s, record))
    arrivals.sort(key=lambda item: item[0])
    out: list[list[float]] = [[] for _ in records]
    ready_s = free_s = -np.inf
    for at_s, record in arrivals:
        ready_s = max(ready_s, at_s + record.queue_s)
        free_s = max(free_s, ready_s) + record_time_s
        out[record.upstream].append(free_s)
    return out


def figures(move: MigrationProtocol) -> MoveFigures:
    """Return a migration in numbers; nothing of it may be under way."""
    sent = [upstream.sent for upstream in move.upstreams]
    usual = usual_s(sent, move.setting.record_time_s)
    first: dict[tuple[int, int], float] = {}
    for output in move.outputs:
        first.setdefault((output.record.upstream, output.record.number), output.at_s)
    rounding_s = _ROUNDING_S + _ROUNDING * move.setting.record_time_s
    late = {at_s: at_s - usual[j][number] for (j, number), at_s in first.items()}
    level_s = max([move.level_s, *(at_s for at_s, by_s in late.items() if by_s > rounding_s)])
    ended = np.isfinite(level_s) and np.isfinite(move.converted_s)
    pause_s, longest_s = level_s - move.paused_s, max(late.values(), default=0.0)
    return MoveFigures(
        pause_s=(float(pause_s) if pause_s > rounding_s else 0.0) if ended else None,
        completion_s=float(max(level_s, move.converted_s)) if ended else None,
        longest_delay_s=longest_s if longest_s > rounding_s else 0.0,
        replayed=move.replayed,
        duplicates=move.new.duplicates + len(move.outputs) - len(first),
        withheld=move.withheld,
        records=sum(map(len, sent)),
    )


def faults(move: MigrationProtocol) -> list[MigrationFault]:
    """Return what keeps a migration from being exactly-once and in order, nothing if nothing does.

    - The state at the end, on the new node, is that of all records in the order of each upstream instance.
    - Each record has an output, the one that it has without a migration, also where it was put out again; with cpal
      none is put out again.
    - Each node applied the records of an upstream instance in their order, leaving out none.
    - The checkpoint that the old node is left with has every record that it was sent.
    """
    expected = GroupState(move.setting.upstreams)
    digests = [[expected.apply(record) for record in upstream.sent] for upstream in move.upstreams]
    wrong: list[tuple[str, list[GroupRecord]]] = []
    state = move.new.state
    missing = [
        record for upstream in move.upstreams for record in upstream.sent if state is None or not state.covers(record)
    ]
    wrong.append(("not in the state", missing))
    if state is not None and not missing and not state.same_as(expected):
        wrong.append(("state differs", [upstream.sent[-1] for upstream in move.upstreams if upstream.sent]))
    count = Counter((output.record.upstream, output.record.number) for output in move.outputs)
    sent = [record for upstream in move.upstreams for record in upstream.sent]
    wrong.append(("never put out", [record for record in sent if not count[record.upstream, record.number]]))
    if move.single_output:
        wrong.append(("put out again", [record for record in sent if count[record.upstream, record.number] > 1]))
    others = [o.record for o in move.outputs if o.digest != digests[o.record.upstream][o.record.number]]
    wrong.append(("other output", others))
    wrong.append(("out of order", [*move.old.disorder, *move.new.disorder]))
    if move.complete_checkpoint:
        wrong.append(("not in the old checkpoint", _left_out(move)))
    return [MigrationFault(what, len(some), some[0].upstream, some[0].number) for what, some in wrong if some]


def _left_out(move: MigrationProtocol) -> list[GroupRecord]:
    """Return the records that the old node was sent and that its checkpoint does not have."""
    kept = move.left_behind
    return [
        record
        for upstream in move.upstreams
        for record in upstream.sent[: upstream.sent_to.get(move.old, -1) + 1]
        if kept is None or not kept.covers(record)
    ]


Make = Callable[[Environment, MoveSetting, Links], MigrationProtocol]


class MoveOutcome(NamedTuple):
    """What a move was like, and what went wrong; nothing should."""

    figures: MoveFigures
    faults: tuple[MigrationFault, ...]


def run_moves(
    settings: Sequence[MoveSetting], *, shared_links: bool = True, protocols: Mapping[str, Make] = PROTOCOLS
) -> list[MoveOutcome]:
    """Simulate the moves of a phase, all ordered at time 0; transfers of what is asked first come first.

    Costs O(records log records). Key groups share links, not the threads of nodes: ``record_time_s`` says what a
    record takes of what others leave.

    *shared_links*: whether each node has one link in and one out; else every transfer has its own, as the paper counts.
    *protocols*: by name, what carries a move out.
    """
    start_s = -max((setting.age_s + setting.warm_up_s for setting in settings), default=0.0)
    env = Environment(initial_time=start_s)
    links = Links(env, shared_links)
    moves = [protocols[setting.protocol](env, setting, links) for setting in settings]
    env.run()
    return [MoveOutcome(figures(move), tuple(faults(move))) for move in moves]
