"""Moves that are ordered at one moment, and share the links of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from simpy import Environment

from ftplan.simulation.migration.outcome import MigrationFault, MoveFigures, faults, figures
from ftplan.simulation.migration.protocol import Links, MigrationProtocol
from ftplan.simulation.migration.protocols import PROTOCOLS
from ftplan.simulation.migration.setting import MoveSetting

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

    Parameters
    ----------
    shared_links
        Whether each node has one link in and one out; else every transfer has its own, as the paper counts.
    protocols
        By name, what carries a move out.
    """
    start_s = -max((setting.age_s + setting.warm_up_s for setting in settings), default=0.0)
    env = Environment(initial_time=start_s)
    links = Links(env, shared_links)
    moves = [protocols[setting.protocol](env, setting, links) for setting in settings]
    env.run()
    return [MoveOutcome(figures(move), tuple(faults(move))) for move in moves]
