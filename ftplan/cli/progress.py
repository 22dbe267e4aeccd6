"""A bar on standard error for anything that takes more than two seconds, on terminals only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DELAY_S = 2.0

Report = Callable[[str, float | None], None]


@contextmanager
def progress(label: str, *, limit_s: float | None = None, hidden: bool = False) -> Iterator[Report]:
    """Show progress while the body runs; yields a function ``report(what, share)``.

    The share is in [0, 1], or None where it is unknown: then the bar shows the time against *limit_s*, or just moves.
    Nothing is shown in the first two seconds, when *hidden*, or where standard error is no terminal.
    """
    state: dict[str, float | str | None] = {"what": label, "share": None}

    def report(what: str, share: float | None = None) -> None:
        state["what"], state["share"] = what, share

    if hidden or not sys.stderr.isatty():
        yield report
        return
    stop = threading.Event()
    thread = threading.Thread(target=_draw, args=(state, stop, limit_s), daemon=True)
    thread.start()
    try:
        yield report
    finally:
        stop.set()
        thread.join(timeout=1.0)


def _draw(state: dict[str, float | str | None], stop: threading.Event, limit_s: float | None) -> None:
    started = time.monotonic()
    if stop.wait(DELAY_S):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(str(state["what"]), total=None)
        while not stop.wait(0.2):
            share = state["share"]
            if share is None and limit_s:
                share = min((time.monotonic() - started) / limit_s, 1.0)
            bar.update(
                task,
                description=str(state["what"]),
                total=None if share is None else 1.0,
                completed=0.0 if share is None else float(share),
            )
