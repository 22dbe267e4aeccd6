"""Orders that arrive at a steady rate as files, and how many of them the job has read."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import deque
from pathlib import Path
from typing import NamedTuple, Self

#: Files appear this often, one for each of the job's readers.
TICK_S, READERS = 0.5, 4
#: Files are removed after this time, when no checkpoint refers to them any more.
KEPT_S = 300.0
_PRINTED = re.compile(rb"[+][IU]\[(\d+)\]")


class Point(NamedTuple):
    """What was there at a time (s, Unix): records written and records read."""

    time: float
    written: int
    read: int


class Feed(threading.Thread):
    """Writes orders at ``rate`` records/s while a ``with`` block runs, and reads what the job prints.

    Attributes
    ----------
    points
        What was there at each tick of a tenth of a second.
    """

    def __init__(self, folder: Path, logs: Path, rate: float, customers: int = 50_000, seed: int = 0) -> None:
        super().__init__(daemon=True)
        self.input, self.logs, self.rate = folder, logs, rate
        self.points: list[Point] = []
        self._lines = _lines(customers, seed)
        self._ended = threading.Event()
        self._written = self._read = self._files = 0
        self._offsets = {console: console.stat().st_size for console in self._consoles()}
        self._old: deque[tuple[float, Path]] = deque()
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """Write and read until the end; a tick that comes late writes what should be there by then."""
        last, due = time.time(), 0.0
        while not self._ended.wait(0.1):
            now = time.time()
            due += (now - last) * self.rate
            last = now
            if due >= self.rate * TICK_S:
                count = int(due)
                due -= count
                self.write(count)
            self.look(now)

    def write(self, count: int) -> None:
        """Write some records at once."""
        for reader in range(READERS):
            size = count // READERS + (reader < count % READERS)
            first = random.randrange(len(self._lines))
            lines = self._lines[first : first + size]
            while len(lines) < size:
                lines += self._lines[: size - len(lines)]
            self._files += 1
            beside = self.input / f".{self._files}.partial"
            beside.write_bytes(b"".join(lines))
            self._old.append((time.time(), beside.rename(self.input / f"{self._files:07}.csv")))
        self._written += count
        while self._old and self._old[0][0] < time.time() - KEPT_S:
            self._old.popleft()[1].unlink(missing_ok=True)

    def look(self, now: float) -> None:
        """Note how much is written and read now."""
        for console in self._consoles():
            with console.open("rb") as file:
                file.seek(self._offsets.get(console, 0))
                text = file.read()
            whole = text.rfind(b"\n") + 1
            self._offsets[console] = self._offsets.get(console, 0) + whole
            printed = _PRINTED.findall(text[:whole])
            if printed:
                self._read = int(printed[-1])
        self.points.append(Point(now, self._written, self._read))

    def _consoles(self) -> list[Path]:
        return list(self.logs.glob("taskmanager-*/console.out"))

    @property
    def lag(self) -> int:
        """Return how many records wait to be read."""
        return self._written - self._read

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()


def _lines(customers: int, seed: int) -> list[bytes]:
    """Return lines of orders; few customers order much, many little."""
    draw = random.Random(seed)
    return [
        b"%d,%d,order %032x\n" % (int(customers * draw.random() ** 2), draw.randrange(1000), draw.getrandbits(128))
        for _ in range(100_000)
    ]
