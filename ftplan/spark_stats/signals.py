"""SIGINT and SIGTERM while engines start and stop; outside of the main thread, all of this does nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

#: Seconds between two looks whether gRPC is done with its call, and after which it is interrupted all the same.
LOOK_S, PATIENCE_S = 0.02, 0.2
#: Seconds between two looks whether what an interrupt left to do is held up by a call.
WATCH_S = 0.2


@contextmanager
def orderly_signals() -> Iterator[None]:
    """Let SIGTERM unwind the stack like Ctrl-C does, and put every handler back afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupt, terminate = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if terminate == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, interrupt)
        signal.signal(signal.SIGTERM, terminate)


@contextmanager
def keep_interrupt() -> Iterator[None]:
    """Put Python's SIGINT handler back: PySpark installs its own, which calls the JVM from within the handler."""
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold the first signal back until the block is done; a second one gets through at once.

    While PySpark launches the JVM nobody holds its process yet, so that it could not be ended. Sail listens to both
    signals itself from the time when it answers: the handlers of Python are put back over its own. Masking signals
    would not do: a thread of another library takes them, and what is raised on its behalf may be lost in Rust.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    pending: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if pending:
            raise KeyboardInterrupt
        pending.append(number)

    for number in before:
        signal.signal(number, note)
    failed: Exception | None = None
    try:
        yield
    except Exception as error:  # maybe because the signal reached the engine too
        failed = error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if pending:
        signal.raise_signal(pending[0])
    if failed is not None:
        raise failed


@contextmanager
def stopping(stop: Callable[[], object]) -> Iterator[None]:
    """Call *stop* on a signal, before the handler that was there; that handler's exception is what leaves the block.

    PySpark waits for the end of a job before it lets an interrupt through, and then raises what became of the job.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    left: list[BaseException] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if not left:
            stop()
        handler = before[signal.Signals(number)]
        try:
            if not callable(handler):
                raise KeyboardInterrupt
            handler(number, frame)
        except BaseException as error:
            left.append(error)
            raise

    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, handle)
    try:
        try:
            yield
        except BaseException as error:
            if left and error is not left[0]:
                raise left[0] from error
            raise
        if left:
            raise left[0]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def between_calls() -> Iterator[None]:
    """Hold a signal back while gRPC begins or ends a call; an exception then leaves its locks taken for ever.

    Long calls are streams, and gRPC expects an exception while it waits for the next message. PySpark then asks the
    server to interrupt the operation, and waits for its answer: if it waits for long, that call is interrupted too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    main = threading.get_ident()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {number: handler for number, handler in before.items() if callable(handler)}
    came: list[float] = []
    through, own, left = threading.Event(), threading.Event(), threading.Event()

    def again(number: int, seconds: float) -> None:
        def send() -> None:
            if not left.wait(seconds) or not through.is_set():
                own.set()
                signal.pthread_kill(main, number)

        threading.Thread(target=send, daemon=True).start()

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(time.monotonic())
        within, sent = _within_a_call(frame), own.is_set()
        own.clear()
        if through.is_set() and sent and not within:  # leaving, and nothing hinders it
            return again(number, WATCH_S)
        if not through.is_set() and within and came[-1] - came[0] < PATIENCE_S:
            return again(number, LOOK_S)
        through.set()
        again(number, WATCH_S)
        handlers[signal.Signals(number)](number, frame)
        return None

    for number in handlers:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        left.set()


def _within_a_call(frame: FrameType | None) -> bool:
    """Return whether a stack is within gRPC, other than where it waits for the next message of a stream."""
    within = False
    while frame is not None:
        folder, file = os.path.split(frame.f_code.co_filename)
        if os.path.basename(folder) == "grpc":
            if file == "_common.py":
                return False
            within = True
        frame = frame.f_back
    return within


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore further signals while things are being stopped; a second Ctrl-C must not leave an orphan."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
