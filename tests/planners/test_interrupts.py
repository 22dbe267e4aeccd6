"""Calls of solvers end on signals and at their time limits, whatever the solver does; no test waits for a clock."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from ftplan.compiled import compiled, remembered
from ftplan.planners import interrupts
from ftplan.planners.interrupts import SolverStuck, interruptible, left_running


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only as long as something may happen, and start without solvers that others left behind."""
    monkeypatch.setattr(interrupts, "LATE_S", 0.0)
    monkeypatch.setattr(interrupts, "STOPPING_S", 0.0)
    monkeypatch.setattr(interrupts, "_left", [])


class _Solver:
    """Runs until it is told to stop; ``deaf`` until the test ends it."""

    def __init__(self, deaf: bool = False) -> None:
        self.deaf, self.began, self.told, self.end = deaf, threading.Event(), threading.Event(), threading.Event()

    def solve(self) -> str:
        self.began.set()
        self.end.wait()
        return "stopped" if self.told.is_set() else "ended"

    def stop(self) -> None:
        self.told.set()
        if not self.deaf:
            self.end.set()


def half(x: float) -> float:
    return x / 2.0


@pytest.fixture(autouse=True)
def own_handler() -> Iterator[None]:
    """Take interrupts here, whatever an engine that other tests keep open would do with them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_returns_what_the_call_returns() -> None:
    assert interruptible(lambda: 7) == 7


def test_raises_what_the_call_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


def test_a_signal_ends_the_wait_and_stops_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "STOPPING_S", 60.0)
    solver = _Solver()

    def interrupt() -> None:
        solver.began.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(solver.solve, solver.stop)
    assert solver.told.is_set()
    assert not left_running()


def test_a_signal_leaves_a_deaf_solver_behind() -> None:
    solver = _Solver(deaf=True)

    def interrupt() -> None:
        solver.began.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(solver.solve)
    assert left_running()
    solver.end.set()
    interrupts._left[0].wait()
    assert not left_running()


def test_a_solver_past_its_limit_is_told_to_stop_and_its_answer_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "STOPPING_S", 60.0)
    solver = _Solver()
    assert interruptible(solver.solve, solver.stop, time_limit_s=0.0) == "stopped"


def test_a_deaf_solver_past_its_limit_is_left_behind() -> None:
    solver = _Solver(deaf=True)
    with pytest.raises(SolverStuck):
        interruptible(solver.solve, solver.stop, time_limit_s=0.0)
    assert left_running()
    solver.end.set()


def test_an_interrupt_while_a_kernel_is_compiled_is_not_lost() -> None:
    """What a handler raises in a callback of LLVM is printed and forgotten."""
    kernel = compiled(half)
    real = kernel.fast

    class Compiling:
        stats, overloads, told = real.stats, real.overloads, 0

        def __call__(self, x: float) -> float:
            with contextlib.suppress(KeyboardInterrupt):
                self.told += 1
                signal.raise_signal(signal.SIGINT)
            return float(real(x))

    kernel._fast = Compiling()
    with pytest.raises(KeyboardInterrupt):
        kernel(7.0)
    assert kernel._fast.told == 1
    kernel._fast = real
    assert kernel(7.0) == 3.5


def test_an_interrupt_wins_over_the_failure_that_it_causes() -> None:
    """LLVM fails where a callback did not do what it was to do."""

    def compile_it() -> None:
        with remembered():
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            raise RuntimeError("no compiled object yet")

    with pytest.raises(KeyboardInterrupt):
        compile_it()
    with pytest.raises(RuntimeError, match="no signal"), remembered():
        raise RuntimeError("no signal")


def test_works_in_another_thread_than_the_main_one() -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(interruptible(lambda: 7)))
    thread.start()
    thread.join()
    assert found == [7]
