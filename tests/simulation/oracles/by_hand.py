"""Incremental recovery ([SuZhouTR], section 4) in its barest form, on a plane: what goes back, what is kept, when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.simulation.reference_plane.reference import ReferencePlane


class Outage(NamedTuple):
    """Tasks fail at a time; those that are still down so long after start again, on a node."""

    at_s: float
    tasks: tuple[int, ...]
    down_s: float
    node: int


def recover(
    plane: ReferencePlane, outages: Sequence[Outage], until_s: float, *, back_again: bool = False, forget: bool = True
) -> None:
    """Let outages happen, and recover from them.

    At the first failure since nothing was kept, live tasks go back to the last complete checkpoint and begin to keep
    their output; failed tasks start from it when their time has come; when nothing is down and a newer checkpoint is
    complete, nothing is kept any more.

    Parameters
    ----------
    back_again
        Whether live tasks go back at every failure: what an operator that is not deterministic needs.
    forget
        Whether buffers are ever turned off.
    """
    due_s: dict[int, tuple[float, int]] = {}
    base = 0
    failures = sorted(outages)
    while True:
        next_s = min([until_s, *(item.at_s for item in failures[:1]), *(at_s for at_s, _ in due_s.values())])
        while plane.now_s < next_s:
            plane.advance(min(next_s, plane.now_s + 0.05))
            if forget and plane.buffering and not due_s and plane.complete() > base:
                plane.buffer(False)
        if next_s >= until_s:
            return
        if failures and failures[0].at_s <= next_s:
            outage = failures.pop(0)
            plane.stop(outage.tasks)
            due_s |= dict.fromkeys(outage.tasks, (outage.at_s + outage.down_s, outage.node))
            if not plane.buffering or back_again:
                base = plane.complete()
                plane.buffer(True)
                plane.batch_mode(True)
                plane.roll_back([task for task in range(plane.job.tasks) if task not in due_s], base)
            continue
        for task in [task for task, (at_s, _) in due_s.items() if at_s <= next_s]:
            plane.start(task, due_s.pop(task)[1], plane.complete())
