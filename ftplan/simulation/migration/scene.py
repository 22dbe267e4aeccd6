"""From a rebalance to what its simulation is given, message by message: rates, delays, ages, and what is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import Topology
from ftplan.model.units import MB
from ftplan.planners.rebalance.migration_costs import LAZY, MigrationSetting
from ftplan.planners.rebalance.migration_phases import phase_figures
from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.planners.rebalance.problem import Migration, Rebalance
from ftplan.simulation.migration.setting import MessageTiming, MoveSetting, RecordTiming

#: Most upstream instances that are simulated of a key group, and the messages that one is worth.
UPSTREAMS, WORTH = 16, 100
#: Records of an upstream instance before the last checkpoint and after the move.
BEFORE, AFTER = 5, 10
#: So many times as many messages as were expected are simulated of a move at most.
LONGEST = 20


class PlannedMove(NamedTuple):
    """A move of a plan, what formulas predict of it in its phase, and how it is simulated.

    ``bundle`` records go as one message.
    """

    phase: int
    move: Migration
    source: int
    pause_s: float
    completion_s: float
    upstreams: int
    bundle: int


@dataclass(frozen=True, eq=False)
class PlannedMoves:
    """The moves of a plan by phase, and what they depend on: see :class:`PreparedRebalance`.

    ``fixed_age``: the age of the newest checkpoint is the same in all runs.
    """

    phases: tuple[tuple[PlannedMove, ...], ...]
    duration_s: tuple[float, ...]
    overhead_s: float
    setting: MigrationSetting
    fixed_age: bool
    messages: int
    seed: int


def planned_moves(
    prepared: PreparedRebalance, rebalance: Rebalance, messages: int, seed: int, fixed_age: bool
) -> PlannedMoves:
    """Return what is simulated.

    Raises FtplanError if a move cannot be made by its protocol.
    """
    problem, setting = prepared.problem, _columns(prepared.setting, len(prepared.problem.home))
    for move in rebalance.moves:
        _check(prepared, move)
    predicted = phase_figures(problem, rebalance.phases)
    phases = []
    for number, (moves, figures) in enumerate(zip(rebalance.phases, predicted, strict=True)):
        ends = (figures.end_s - figures.begin_s).tolist()
        planned = []
        for move, pause_s, end_s in zip(moves, figures.pause_s.tolist(), ends, strict=True):
            most = min(UPSTREAMS, max(2, messages // WORTH))
            upstreams = min(upstream_tasks(prepared.topology, problem.operators[move.group]), most)
            bundle = _bundle(setting, move, end_s, messages, upstreams)
            source = int(problem.home[move.group])
            planned.append(PlannedMove(number, move, source, pause_s, end_s, upstreams, bundle))
        phases.append(tuple(planned))
    durations = tuple(figures.duration_s for figures in predicted)
    return PlannedMoves(tuple(phases), durations, problem.limits.phase_overhead_s, setting, fixed_age, messages, seed)


def upstream_tasks(topology: Topology, operator: str) -> int:
    """Return how many tasks feed an operator, at least 1: its log."""
    own = topology.position[operator]
    feeding = {edge.source for edge in topology.edges if edge.target == own}
    tasks = sum(topology.operators[number].parallelism for number in feeding)
    return max(tasks, 1)


def move_settings(moves: PlannedMoves, phase: Sequence[PlannedMove], run: int | None) -> list[MoveSetting]:
    """Return the moves of a phase as the simulation takes them.

    *run*: whose random numbers are drawn; None: all takes what is predicted, where the next checkpoint is one that only
    lazy moves wait for, a whole interval.
    """
    return [_setting(moves, item, run) for item in phase]


def _setting(moves: PlannedMoves, item: PlannedMove, run: int | None) -> MoveSetting:
    group, of = item.move.group, moves.setting

    def value(name: str) -> float:
        return float(getattr(of, name)[group])

    rate, delay_s, queue_s = value("rate"), value("delay_s"), value("queue_s")
    gap_s = item.upstreams * item.bundle / rate if rate > 0.0 else np.inf
    state_s = value("state_bytes") / (value("bandwidth_mb_s") * MB) if of.remote else 0.0
    interval_s = value("interval_s")
    messages = _rng(moves.seed, run, group)

    def drawn(rng: np.random.Generator | None) -> tuple[float, float]:
        return (delay_s, queue_s) if rng is None else (delay_s * rng.uniform(0.5, 1.5), queue_s * rng.uniform())

    def records(upstream: int) -> Iterator[RecordTiming]:
        if not np.isfinite(gap_s):
            return
        rng = _rng(moves.seed, run, group, upstream)
        first = 1.0 + upstream / item.upstreams  # not all at one moment
        while True:
            yield RecordTiming(gap_s * (first if rng is None else rng.exponential()), *drawn(rng))
            first = 1.0

    age_s, next_s = value("age_s"), np.inf
    if messages is not None:
        if not moves.fixed_age:
            age_s = messages.uniform(0.0, min(2.0 * age_s, interval_s))
        next_s = interval_s
    elif item.move.protocol == LAZY:
        next_s = age_s + interval_s
    return MoveSetting(
        item.move.protocol,
        item.source,
        item.move.target,
        item.upstreams,
        records,
        lambda: MessageTiming(*drawn(messages)),
        record_time_s=record_time_s(of, group) * item.bundle,
        record_bytes=0.0 if of.remote else value("record_bytes") * item.bundle,
        state_bytes=value("state_bytes"),
        age_s=max(age_s, 4.0 * delay_s),  # the newest checkpoint has been stored, and buffers have been trimmed
        interval_s=next_s if interval_s > 0.0 else np.inf,
        bytes_s=value("bandwidth_mb_s") * MB,
        serialisation_s=value("serialisation_mb_s") * MB,
        restart_s=value("restart_s") + state_s,
        detection_s=value("detection_s"),
        warm_up_s=BEFORE * gap_s if np.isfinite(gap_s) else 0.0,
        tail=AFTER,
        most_records=LONGEST * max(moves.messages, item.upstreams * (BEFORE + AFTER)),
    )


def record_time_s(setting: MigrationSetting, group: int) -> float:
    """Return what a record of a group takes, while it catches up, of a thread that works for nothing else."""
    rate, alone = float(np.asarray(setting.rate)[group]), float(np.asarray(setting.record_time_s)[group])
    rho = 0.0 if setting.rho is None else float(np.asarray(setting.rho)[group])
    return max(alone, rho / rate) if rate > 0.0 else alone


def _bundle(setting: MigrationSetting, move: Migration, end_s: float, messages: int, upstreams: int) -> int:
    """Return how many records go as one message, so that a move takes about so many messages."""
    rate, age_s = (float(np.asarray(values)[move.group]) for values in (setting.rate, setting.age_s))
    waiting_s = float(np.asarray(setting.interval_s)[move.group]) if move.protocol == LAZY else 0.0
    usual = max(messages - upstreams * (BEFORE + AFTER), messages / 2.0)
    return max(1, int(np.ceil(rate * (age_s + end_s + waiting_s) / usual)))


def _check(prepared: PreparedRebalance, move: Migration) -> None:
    problem = prepared.problem
    if move.protocol in problem.possible(move.group, move.target):
        return
    row = f"key-group:{problem.operators[move.group]}/{problem.key_group[move.group]}"
    raise FtplanError(
        f"plan: {row} cannot move to {problem.nodes[move.target]} by {move.protocol}: verify names everything that is "
        "wrong"
    )


def _columns(setting: MigrationSetting, groups: int) -> MigrationSetting:
    """Return the same with arrays of shape (K,)."""
    columns: dict[str, Any] = {
        name: np.broadcast_to(np.asarray(value), (groups,))
        for name, value in setting._asdict().items()
        if name != "remote" and value is not None
    }
    return setting._replace(**columns)


def _rng(seed: int, run: int | None, *of: int) -> np.random.Generator | None:
    """Return random numbers that belong to a run and a key group, and an upstream instance of it."""
    return None if run is None else np.random.default_rng((seed, run, *of))
