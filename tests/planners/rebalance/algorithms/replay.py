"""Phases of moves carried out event by event, with a queue for each link. Shares no code with the package."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Move = tuple[int, int, str]


@dataclass
class Replayed:
    """What a replay has seen of one phase."""

    begin_s: float
    end_s: float = 0.0
    bytes: float = 0.0
    pause_s: dict[int, float] = field(default_factory=dict)
    ends_s: dict[int, float] = field(default_factory=dict)
    highest: dict[int, float] = field(default_factory=dict)  # load of each node, at its highest


def replay(problem: Any, phases: Sequence[Sequence[Any]]) -> tuple[list[Replayed], list[int]]:
    """Carry out phases; return what was seen of each, and where each key group is afterwards.

    Within a phase all redirects happen at one time, so that of the loads only the outcome of them all counts.
    """
    names = ("cpa", "cpal", "lazy", "direct", "recover", "fetch")
    costs, place, clock, seen = problem.costs, problem.home.tolist(), 0.0, []
    for phase in phases:
        moves: list[Move] = [(m.group, m.target, m.protocol) for m in phase]
        phase_seen = Replayed(clock)
        table = {m[0]: [float(rows[names.index(m[2]), m[0]]) for rows in costs[:4]] for m in moves}
        on: dict[int, set[int]] = {node: set() for node in range(len(problem.nodes))}
        for group, node in enumerate(place):
            on[node].add(group)
        for group, target, protocol in moves:
            on[target].add(group)
            if protocol != "cpal":
                on[place[group]].discard(group)
        for node, groups in on.items():
            phase_seen.highest[node] = float(problem.foreign[node]) + sum(float(problem.load[g]) for g in groups)

        def links(move: Move, place: list[int] = place) -> list[tuple[str, int]]:
            outward = {"direct": [("out", place[move[0]])]}.get(move[2], [])
            if move[2] == "fetch":
                (host,) = [n for n in problem.copies[move[0]] if not problem.removed[n]]
                outward = [("out", host)]
            return [("in", move[1]), *outward]

        def started(move: Move, waited: float, seen: Replayed = phase_seen, table: Any = table) -> None:
            latency, completion, size, _ = table[move[0]]
            late = waited * float(costs.catch_up[move[0]]) if waited else 0.0
            seen.pause_s[move[0]] = latency if move[2] == "cpal" else latency + late
            seen.ends_s[move[0]] = seen.begin_s + completion + late
            seen.bytes += size

        _transfers(moves, {m[0]: table[m[0]][3] for m in moves}, links, started)
        clock = max(phase_seen.ends_s.values()) + problem.limits.phase_overhead_s
        phase_seen.end_s = clock
        for group, target, _ in moves:
            place[group] = target
        seen.append(phase_seen)
    return seen, place


def _transfers(
    moves: list[Move],
    lasts: dict[int, float],
    links: Callable[[Move], list[tuple[str, int]]],
    started: Callable[[Move, float], None],
) -> None:
    """Let transfers queue at their links; one begins when it is at the head of all of them."""
    queues: dict[tuple[str, int], deque[Move]] = {}
    for move in moves:
        if lasts[move[0]] <= 0.0:
            started(move, 0.0)
            continue
        for link in links(move):
            queues.setdefault(link, deque()).append(move)
    events: list[tuple[float, int, Move]] = []
    busy: set[int] = set()

    def begin(now: float) -> None:
        for queue in list(queues.values()):
            if queue and queue[0][0] not in busy and all(queues[link][0] == queue[0] for link in links(queue[0])):
                move = queue[0]
                busy.add(move[0])
                started(move, now)
                heapq.heappush(events, (now + lasts[move[0]], move[0], move))

    begin(0.0)
    while events:
        now, _, move = heapq.heappop(events)
        for link in links(move):
            queues[link].popleft()
        begin(now)
