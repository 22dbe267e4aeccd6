"""How far an engine has come with a log: bytes read by its process, or tasks done."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ftplan.spark_stats.session import Session

#: Called with what is being done and the share done (None where unknown), from any thread.
Progress = Callable[[str, float | None], None]
_EVERY_S = 0.5
_STAGE = "aggregating"


@contextmanager
def watch(session: Session, tell: Progress, total: int = 0) -> Iterator[None]:
    """Report the share done while the block runs: of the *total* bytes of local files where this machine reads them and
    Linux counts what a process reads, else of the tasks.
    """
    tell(_STAGE, None)
    counts = _counts(session)
    if session.kind == "connect":
        yield from _handler(session.spark, tell)
    elif total and counts is not None:
        yield from _regularly(_of_bytes(counts, tell, total))
    elif session.kind == "spark":
        yield from _regularly(_of_tasks(session.spark, tell))
    else:
        yield


def _counts(session: Session) -> Path | None:
    """Return where the kernel counts the bytes that the reading process reads; None where it is not of this machine."""
    pid: int | None = None
    if session.kind == "sail":
        pid = os.getpid()
    elif session.kind == "spark" and session.spark.sparkContext.master.startswith("local"):
        pid = getattr(getattr(session.spark.sparkContext._gateway, "proc", None), "pid", None)
    counts = Path(f"/proc/{pid}/io")
    return counts if counts.exists() else None


def _of_bytes(counts: Path, tell: Progress, total: int) -> Callable[[], None]:
    began, start = time.monotonic(), _read_so_far(counts)

    def look() -> None:
        read = _read_so_far(counts) - start
        rate = read / (time.monotonic() - began) / 1e6
        # How long it takes when all is read is unknown.
        tell(f"{_STAGE}, {rate:.0f} MB/s", read / total) if read < total else tell(_STAGE, None)

    return look


def _read_so_far(counts: Path) -> int:
    return int(counts.read_text().split(maxsplit=2)[1])  # rchar: N


def _of_tasks(spark: Any, tell: Progress) -> Callable[[], None]:
    tracker = spark.sparkContext.statusTracker()

    def look() -> None:
        stages = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
        if total := sum(s.numTasks for s in stages if s):
            tell(_STAGE, sum(s.numCompletedTasks for s in stages if s) / total)

    return look


def _regularly(look: Callable[[], None]) -> Iterator[None]:
    """Look twice a second, from a thread of its own, as long as it can be looked at."""
    done = threading.Event()

    def looks() -> None:
        while not done.wait(_EVERY_S):
            try:
                look()
            except Exception:
                return

    thread = threading.Thread(target=looks, name="ftplan-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(timeout=2)


def _handler(spark: Any, tell: Progress) -> Iterator[None]:
    """Spark Connect sends the state of the stages along with the answer."""

    def handle(stages: Any = (), **_: Any) -> None:
        total = sum(s.num_tasks for s in stages or ())
        if total:
            tell(_STAGE, sum(s.num_completed_tasks for s in stages) / total)

    spark.registerProgressHandler(handle)
    try:
        yield
    finally:
        spark.removeProgressHandler(handle)
