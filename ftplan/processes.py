"""Work on all cores: processes that have the work and carry out one batch of its numbered parts after another."""

from __future__ import annotations

import math
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from ftplan.errors import FtplanError
from ftplan.model import machine_limits

Outcome = TypeVar("Outcome")

#: Seconds that a batch shall take: long beside sending it, short beside the whole.
BATCH_S = 0.25
#: Most parts of a batch, and the share of what is left that a process takes at most, as one over so many.
MOST, PART = 256, 4
#: Libraries that would start threads on every core in every process.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: What the new interpreter runs: the path of modules comes first, everything else can be imported then. An interrupt
#: from the terminal reaches all processes of a group; who began this one ends it.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[1]))
sys.path[:] = connection.recv()
from ftplan.processes import work
work(connection)
"""


def cores() -> int:
    """Return how many cores this process may use: by its affinity, and by the quota of its container, rounded up."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = machine_limits.cores()
    return found if quota is None else max(1, min(found, math.ceil(quota)))


@dataclass
class _Process:
    """A process at work: what it was sent last, and when; *work* and *part* are what messages call these."""

    process: subprocess.Popen[bytes]
    connection: Connection
    work: str
    part: str
    numbers: Sequence[int] = ()
    sent: float = 0.0


def in_processes(
    carry_out: Callable[[int], Outcome],
    numbers: Sequence[int],
    jobs: int,
    *,
    ends: float | None = None,
    named: tuple[str, str],
) -> Iterator[list[Outcome]]:
    """Yield the outcomes of numbered parts of some work, batch by batch as they are done by *jobs* processes.

    The processes are new interpreters, not forks: numeric libraries and solvers of this process may have threads, and
    the caller's main module is not run again. They end with this generator, however it ends, and with this process.

    Raises FtplanError as a part raises it; if a process ends by itself, for instance because memory ran out;
    RuntimeError if a part meets a fault of ftplan, with its trace.

    Parameters
    ----------
    carry_out
        Carries out the part of a number. It is pickled.
    ends
        A time of ``time.monotonic``: what is not done by then is left out, parts under way too.
    named
        What messages call the work and a part of it.
    """
    left = list(reversed(numbers))
    part_s: float | None = None
    jobs = min(jobs, len(left))
    message = pickle.dumps(carry_out, protocol=pickle.HIGHEST_PROTOCOL)
    with _started(message, jobs, named) as processes:
        for process in processes:
            _send(process, left, part_s, jobs)
        while any(process.numbers for process in processes):
            ready = _wait(processes, ends)
            if not ready:
                return
            for process in ready:
                outcomes: list[Outcome] = _received(process)
                took = (time.monotonic() - process.sent) / len(process.numbers)
                part_s = took if part_s is None else 0.5 * (part_s + took)
                _send(process, left, part_s, jobs)
                yield outcomes


@contextmanager
def _started(message: bytes, jobs: int, named: tuple[str, str]) -> Iterator[list[_Process]]:
    """Start processes and give them the work, pickled in *message*; end them on every way out."""
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
            processes.append(_Process(process, here, *named))
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


def _send(process: _Process, left: list[int], part_s: float | None, jobs: int) -> None:
    """Send the next batch: one part as long as nobody knows how long one takes."""
    many = 1 if part_s is None else int(BATCH_S / max(part_s, 1e-9))
    count = max(1, min(many, MOST, len(left) // (PART * jobs)))
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


def _received(process: _Process) -> list[Any]:
    try:
        answer = process.connection.recv()
    except (EOFError, OSError):
        raise _ended(process) from None
    if isinstance(answer, FtplanError):
        raise answer
    if isinstance(answer, str):
        raise RuntimeError(answer)
    outcomes: list[Any] = answer
    return outcomes


def _ended(process: _Process) -> FtplanError:
    code = process.process.wait()
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    at = f" at {process.part} {process.numbers[0]}" if process.numbers else ""
    why = "memory may have run out: use fewer --jobs" if code == -9 else "see the lines above"
    return FtplanError(f"a process of {process.work} ended{at} {how}; {why}, and run the command again to go on")


def work(connection: Connection) -> None:
    """Carry out parts of some work for another process, until that one has no more or is gone.

    Receive a function, then numbers again and again; send back what it returns for them, its error, or the trace of a
    fault. A thread listens meanwhile: the end of the other process is the end of this one, in the midst of a part.
    """
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                messages.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=listen, name="ftplan-listener", daemon=True).start()
    try:
        carry_out = pickle.loads(messages.get())
        while True:
            numbers = pickle.loads(messages.get())
            try:
                outcomes = [carry_out(number) for number in numbers]
            except FtplanError as error:
                connection.send(FtplanError(str(error)))  # others need more than a text to be made again
            except MemoryError as error:
                shortage = f" ({error})" if str(error) else ""
                connection.send(FtplanError(f"memory ran out in one of the processes{shortage}: use fewer --jobs"))
            else:
                connection.send(outcomes)
    except BrokenPipeError:
        os._exit(0)
    except BaseException:
        connection.send(traceback.format_exc())
        raise
