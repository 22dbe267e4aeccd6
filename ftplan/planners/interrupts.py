"""Calls of solvers that can be interrupted, and that end when their time is over even if the solver does not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

#: Seconds between two looks at a running solver: a signal that reached another thread is seen then.
LOOK_S = 0.05
#: Seconds that a solver may run on after its time limit, and after it was told to stop, before it is left behind.
LATE_S, STOPPING_S = 0.5, 0.5

_left: list[threading.Event] = []


class SolverStuck(Exception):
    """A solver neither ended by its time limit nor when it was told to; it runs on, and its answer is lost."""


class _Call(Generic[T]):
    """A call in a thread of its own, and what it returned or raised."""

    def __init__(self, call: Callable[[], T]) -> None:
        self.call = call
        self.returned: list[T] = []
        self.raised: BaseException | None = None
        self.done = threading.Event()  # a thread whose join was interrupted is taken for ended in Python 3.11
        # A daemon: a solver that does not stop must not keep the process alive.
        self.thread = threading.Thread(target=self._run, name="ftplan-solver", daemon=True)

    def _run(self) -> None:
        try:
            self.returned.append(self.call())
        except BaseException as error:  # raised again where the call was made
            self.raised = error
        finally:
            self.done.set()

    def ended(self, seconds: float) -> bool:
        """Wait at most so long, open to signals; return whether the call has ended."""
        until = time.monotonic() + seconds
        while not self.done.is_set() and (left := until - time.monotonic()) > 0.0:
            self.done.wait(min(LOOK_S, left))
        return self.done.is_set()

    def stopped(self, stop: Callable[[], object] | None) -> bool:
        """Tell the solver to stop, again and again since it may not have begun; return whether it did."""
        until = time.monotonic() + STOPPING_S
        while not self.done.is_set() and time.monotonic() < until:
            if stop is not None:
                stop()
            self.done.wait(LOOK_S)
        return self.done.is_set()


def interruptible(call: Callable[[], T], stop: Callable[[], object] | None = None, time_limit_s: float = 1e9) -> T:
    """Return what a solver's call returns, open to interrupts while it runs and not much longer than its limit.

    Solvers are C++: while one runs in the main thread no signal handler of Python does, and some catch signals
    themselves, so that Ctrl-C is lost or only ends the solver. Here the call runs in a thread of its own, and the
    caller waits; no handler is installed, so that this works in any thread. Solvers must be told not to catch signals,
    and must release Python's lock, as those of OR-Tools do except for its flows.

    Parameters
    ----------
    call
        Runs the solver with a time limit of its own, and returns.
    stop
        Asks the solver to end; called from the waiting thread, maybe several times and before the solver began.
    time_limit_s
        Seconds after which the solver ought to have ended by itself. It is told to stop soon after that.

    Raises
    ------
    SolverStuck
        If the solver runs on all the same; its thread is left behind, see :func:`left_running`.
    KeyboardInterrupt
        As it comes, and any other exception of a signal handler: after the solver was told to stop.
    """
    running = _Call(call)
    try:
        running.thread.start()
        late = not running.ended(time_limit_s + LATE_S) and not running.stopped(stop)
    except BaseException:
        _left.append(running.done)
        running.stopped(stop)
        raise
    if late:
        _left.append(running.done)
        raise SolverStuck(f"a solver did not end {LATE_S + STOPPING_S:g} s after its limit of {time_limit_s:g} s")
    if running.raised is not None:
        raise running.raised
    return running.returned[0]


def left_running() -> bool:
    """Return whether a solver that did not stop still runs: a process must then leave without tidying up after it."""
    return not all(done.is_set() for done in _left)
