"""Signals while engines start and stop, without any engine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ftplan.spark_stats import signals

MANAGERS = [
    signals.orderly_signals,
    signals.keep_interrupt,
    signals.deferred,
    lambda: signals.stopping(lambda: None),
    signals.between_calls,
    signals.undisturbed,
]
BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Python's own handler of SIGINT, also where the tests were started with the signal ignored."""
    before = {number: signal.getsignal(number) for number in BOTH}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("manager", MANAGERS)
def test_handlers_are_put_back(manager) -> None:
    before = [signal.getsignal(number) for number in BOTH]
    with manager():
        pass
    assert [signal.getsignal(number) for number in BOTH] == before


@pytest.mark.parametrize("manager", MANAGERS)
def test_other_threads_are_left_alone(manager) -> None:
    seen = []

    def work() -> None:
        with manager():
            seen.append([signal.getsignal(number) for number in BOTH])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [[signal.getsignal(number) for number in BOTH]]


def test_sigterm_unwinds() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with pytest.raises(SystemExit) as caught, signals.orderly_signals():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 143


def test_the_first_signal_waits_and_the_second_does_not() -> None:
    done = []

    def twice(times: int) -> None:
        with signals.deferred():
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            done.append(times)

    with pytest.raises(KeyboardInterrupt):
        twice(1)
    with pytest.raises(KeyboardInterrupt):
        twice(2)
    assert done == [1]


def test_the_signal_wins_over_the_failure_that_it_causes() -> None:
    def launch() -> None:
        with signals.deferred():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("the engine ended")

    with pytest.raises(KeyboardInterrupt):
        launch()
    with pytest.raises(ValueError, match="no signal"), signals.deferred():
        raise ValueError("no signal")


@pytest.mark.parametrize("swallowed", [False, True])
def test_stopping(swallowed: bool) -> None:
    """What PySpark makes of an interrupt does not matter: the interrupt leaves the block."""
    stopped = []

    def work() -> None:
        with signals.stopping(lambda: stopped.append(True)):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                if not swallowed:
                    raise ValueError("the job was cancelled") from None

    with pytest.raises(KeyboardInterrupt):
        work()
    assert stopped == [True]


def test_stopping_leaves_other_errors_and_default_handlers() -> None:
    with pytest.raises(ValueError, match="other"), signals.stopping(lambda: None):
        raise ValueError("other")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with pytest.raises(KeyboardInterrupt), signals.stopping(lambda: None):
        signal.raise_signal(signal.SIGTERM)


#: A stand-in for gRPC: a signal comes, and work goes on.
CALL = """
def call(done):
    signal.raise_signal(signal.SIGINT)
    done.append("locked")
    while len(done) < 3:
        done.append("released")
"""


@pytest.mark.parametrize(("file", "reached"), [("_channel.py", 3), ("_common.py", 0)])
def test_a_call_of_grpc_ends_before_the_signal_is_let_through(file: str, reached: int) -> None:
    """But where it waits for a message the signal comes at once."""
    names: dict[str, Any] = {"signal": signal}
    exec(compile(CALL, f"/somewhere/grpc/{file}", "exec"), names)
    done: list[str] = []

    def work() -> None:
        with signals.between_calls():
            names["call"](done)
            threading.Event().wait()  # until the signal comes again

    with pytest.raises(KeyboardInterrupt):
        work()
    assert len(done) == reached


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "PATIENCE_S", 0.0)
    names: dict[str, Any] = {"signal": signal}
    exec(compile(CALL, "/somewhere/grpc/_channel.py", "exec"), names)
    with pytest.raises(KeyboardInterrupt), signals.between_calls():
        names["call"]([])


def test_undisturbed() -> None:
    with signals.undisturbed():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
