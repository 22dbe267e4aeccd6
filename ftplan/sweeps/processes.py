"""Cases on all cores: processes that have the sweep and carry out one batch of cases after another."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from ftplan.errors import FtplanError
from ftplan.sweeps.outcome import Outcome
from ftplan.sweeps.worker import PROGRAM

if TYPE_CHECKING:
    from ftplan.sweeps.sweep import Sweep

#: Seconds that a batch of cases shall take: long beside sending it, short beside the whole.
BATCH_S = 0.25
#: Most cases of a batch, and the part of what is left that a process takes at most.
MOST_CASES, PART = 256, 4
#: Libraries that would start threads on every core in every process.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class _Process:
    """A process at work: what it was sent last, when, and how many cases that were."""

    process: subprocess.Popen[bytes]
    connection: Connection
    numbers: Sequence[int] = ()
    sent: float = 0.0


def in_processes(
    sweep: Sweep, numbers: Sequence[int], jobs: int, *, with_plans: bool = False, ends: float | None = None
) -> Iterator[list[Outcome]]:
    """Yield the outcomes of cases, batch by batch as they are done, carried out by *jobs* processes.

    The processes are new interpreters, not forks: numeric libraries and solvers of this process may have threads, and
    the caller's main module is not run again. They end with this generator, however it ends, and with this process.

    Parameters
    ----------
    ends
        A time of ``time.monotonic``: what is not done by then is left out, cases under way too.

    Raises
    ------
    FtplanError
        If a process ends by itself, for instance because memory ran out.
    RuntimeError
        If a case meets a fault of ftplan, with its trace.
    """
    left = list(reversed(numbers))
    case_s: float | None = None
    with _started(sweep, min(jobs, len(left)), with_plans) as processes:
        for process in processes:
            _send(process, left, case_s, jobs)
        while any(process.numbers for process in processes):
            ready = _wait(processes, ends)
            if not ready:
                return
            for process in ready:
                outcomes = _received(process)
                took = (time.monotonic() - process.sent) / len(process.numbers)
                case_s = took if case_s is None else 0.5 * (case_s + took)
                _send(process, left, case_s, jobs)
                yield outcomes


@contextmanager
def _started(sweep: Sweep, jobs: int, with_plans: bool) -> Iterator[list[_Process]]:
    """Start processes and give them the sweep; end them on every way out."""
    processes: list[_Process] = []
    environment = {**dict.fromkeys(ONE_THREAD, "1"), **os.environ} if jobs > 1 else None
    try:
        for _ in range(jobs):
            here, there = Pipe()
            with there:
                process = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, str(there.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=2,  # what a solver prints is no part of any answer
                    pass_fds=[there.fileno()],
                    env=environment,
                )
            processes.append(_Process(process, here))
        message = pickle.dumps((sweep, with_plans), protocol=pickle.HIGHEST_PROTOCOL)
        for started in processes:
            try:
                started.connection.send(sys.path)
                started.connection.send_bytes(message)
            except OSError:
                raise _ended(started) from None
        yield processes
    finally:
        for started in processes:
            started.process.kill()
        for started in processes:
            started.connection.close()
            started.process.wait()


def _send(process: _Process, left: list[int], case_s: float | None, jobs: int) -> None:
    """Send the next batch: one case as long as nobody knows how long one takes."""
    many = 1 if case_s is None else int(BATCH_S / max(case_s, 1e-9))
    count = max(1, min(many, MOST_CASES, len(left) // (PART * jobs)))
    process.numbers = [left.pop() for _ in range(min(count, len(left)))]
    process.sent = time.monotonic()
    if process.numbers:
        try:
            process.connection.send(process.numbers)
        except OSError:
            raise _ended(process) from None


def _wait(processes: Sequence[_Process], ends: float | None) -> list[_Process]:
    """Return the processes that have answered, none where the time is over."""
    at_work = {process.connection: process for process in processes if process.numbers}
    seconds = None if ends is None else max(0.0, ends - time.monotonic())
    return [at_work[connection] for connection in wait(list(at_work), seconds)]  # type: ignore[index]


def _received(process: _Process) -> list[Outcome]:
    try:
        answer = process.connection.recv()
    except (EOFError, OSError):
        raise _ended(process) from None
    if isinstance(answer, str):
        raise RuntimeError(answer)
    outcomes: list[Outcome] = answer
    return outcomes


def _ended(process: _Process) -> FtplanError:
    code = process.process.wait()
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    at = f" at case {process.numbers[0]}" if process.numbers else ""
    why = "memory may have run out: use fewer --jobs" if code == -9 else "see the lines above"
    return FtplanError(f"a process of the sweep ended{at} {how}; {why}, and run the command again to go on")
