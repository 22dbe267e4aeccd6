"""How far the engine is: a share for Spark, unknown for Sail, which only tells the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ftplan.spark_stats.session import Session

_EVERY_S = 0.5
_STAGE = "aggregating"


@contextmanager
def watch(session: Session, tell: Callable[[str, float | None], None]) -> Iterator[None]:
    """Report the share of tasks done while the block runs."""
    tell(_STAGE, None)
    if session.kind == "sail":
        yield
    elif session.kind == "connect":
        yield from _handler(session.spark, tell)
    else:
        yield from _poll(session.spark, tell)


def _handler(spark: Any, tell: Callable[[str, float | None], None]) -> Iterator[None]:
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


def _poll(spark: Any, tell: Callable[[str, float | None], None]) -> Iterator[None]:
    """Classic Spark is asked twice a second, from a thread of its own."""
    done = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def ask() -> None:
        while not done.wait(_EVERY_S):
            try:
                stages = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
            except Exception:
                return
            total = sum(s.numTasks for s in stages if s)
            if total:
                tell(_STAGE, sum(s.numCompletedTasks for s in stages if s) / total)

    thread = threading.Thread(target=ask, name="ftplan-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(timeout=2)
