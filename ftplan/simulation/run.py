"""What the runs of several simulations share: the processes among which they are divided, and their time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ftplan.errors import FtplanError
from ftplan.processes import cores, in_processes

Outcome = TypeVar("Outcome")

#: Simulations from which on more than one process pays.
FEW = 4


def outcomes(
    run: Callable[[int], Outcome], numbers: Sequence[int], ends: float | None, jobs: int | None = None
) -> Iterator[list[Outcome]]:
    """Yield the outcomes of numbered runs as they are done, until a time (:func:`deadline`).

    In processes where these pay, or where a time limit may have to end one.

    *run*: simulates the run of a number. It is pickled. *jobs*: processes; None: one a core, if there are enough runs.
    """
    jobs = min(jobs or (cores() if len(numbers) >= FEW else 1), len(numbers))
    if jobs > 1 or ends is not None:
        yield from in_processes(run, numbers, jobs, ends=ends, named=("the simulation", "run"))
        return
    for number in numbers:
        yield [run(number)]


def deadline(time_limit_s: float | None) -> float | None:
    """Return when the time limit ends, by ``time.monotonic``; None without one."""
    return None if time_limit_s is None else time.monotonic() + time_limit_s


def too_short(time_limit_s: float | None) -> FtplanError:
    """Return what is said where no run is done within the time limit."""
    return FtplanError(f"--time-limit: {time_limit_s:g} s do not last for one run")
