"""What fits into the free cores, chosen one after the other: where the integer program starts."""

from __future__ import annotations

from ftplan.planners.scale_out.algorithms.choices import Choices, Level, Sizes
from ftplan.planners.scale_out.algorithms.model import Chosen
from ftplan.planners.scale_out.algorithms.room import Room


def filled(choices: Choices, levels: list[list[Level]], room: Room) -> Chosen:
    """Return a choice that fits: scale-ins, the level of each job by what it gains for its cores, then room for state.

    The highest level of a job that fits is searched by bisection. Cost O(jobs x log levels) placements.
    """
    smaller: Sizes = {}
    for i in sorted(choices.smaller, key=lambda i: (-room.freed({i: choices.smaller[i]}), i)):
        more = smaller | {i: choices.smaller[i]}
        smaller = more if room.placed(more, {}) is not None else smaller
    others: Sizes = {}

    def gain(job: int) -> tuple[float, int]:
        highest, lowest = levels[job][-1], levels[job][0]
        cores = sum(tasks * float(room.cpu[i]) for i, tasks in highest.sizes.items())
        gained = float(choices.problem.weight[job]) * (highest.share - lowest.share)
        return -gained / max(cores, room.total * 1e-12, 1e-300), job

    for job in sorted(range(len(levels)), key=gain):
        low, high = 0, len(levels[job]) - 1
        while low < high:
            middle = (low + high + 1) // 2
            fits = room.placed(smaller, others | levels[job][middle].sizes) is not None
            low, high = (middle, high) if fits else (low, middle - 1)
        others |= levels[job][low].sizes
    for i, tasks in choices.roomier.items():
        others = others | {i: tasks} if room.placed(smaller, others | {i: tasks}) is not None else others
    placed = room.placed(smaller, others)
    assert placed is not None  # each step was tried
    return Chosen(smaller, others, placed, 1.0, False)
