"""The places that pages name, such as http://jobmanager:8081, and what stands in for them here.

A server starts when a page first names it. Whoever collects from it has a clock of its own, which nobody waits for.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

from ftplan.engines.collecting.polling import Pace
from tests.docs.flink_rest import BEGUN, FlinkRest
from tests.docs.prometheus_api import MEASURED, PrometheusApi
from tests.docs.storm_ui import StormUi
from tests.engines.collecting.server import FakeEndpoint, FakeTime

#: What pages name, and what answers in its place.
ENDPOINTS: dict[str, Callable[[FakeTime], FakeEndpoint]] = {
    "http://jobmanager:8081": FlinkRest,
    "http://prometheus:9090": lambda _: PrometheusApi(),
    "http://storm-ui:8080": lambda _: StormUi(),
}
#: What is typed, and what runs in its place: shorter, or on the engine that begins sooner.
SHORTER: dict[str, str] = {
    r"(collect http://(?:jobmanager|storm-ui):.*)--every \d+s --for \d+[hd]": r"\1--every 5s --for 50s",
    r"(--from prometheus.*)--for \d+[hd]": r"\1--for 10m",
    r"ftplan compute-stats(?!.*--(?:engine|master))": "ftplan compute-stats --engine sail",
    r"ftplan what-if(?!.*--jobs)": "ftplan what-if --jobs 1",
}
#: What lines ask of a machine; where it is not there, they are skipped.
NEEDED: dict[str, Callable[[], bool]] = {
    r"\bjq\b": lambda: shutil.which("jq") is not None,
}


@dataclass
class Places:
    """What stands in a page, and where it is in a test."""

    known: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._clock = FakeTime(BEGUN)
        self._servers = ExitStack()

    def __enter__(self) -> Places:
        return self

    def __exit__(self, *_: object) -> None:
        self._servers.close()

    def lacking(self, command: str) -> bool:
        """Return whether this machine has not what a command asks for."""
        return any(re.search(pattern, command) and not there() for pattern, there in NEEDED.items())

    def reachable(self, command: str) -> str:
        """Return a command that asks what stands in for the places in it, and does not take long."""
        for typed, runs in SHORTER.items():
            command = re.sub(typed, runs, command)
        for written, server in ENDPOINTS.items():
            if written in command and written not in self.known:
                endpoint = server(self._clock)
                self._servers.callback(endpoint.close)
                self.known[written] = endpoint.url
        for written, here in self.known.items():
            command = command.replace(written, here)
        return command

    def as_written(self, text: str) -> str:
        """Return what was printed with the names that the page has."""
        for written, here in self.known.items():
            text = text.replace(here, written)
        return text

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Let a command of this process collect without waiting, from the time at which the records begin."""
        self._clock.passed = 0.0
        time = self._clock
        pace: Any = partial(Pace, seconds=time.seconds, now=time.now, sleep=time.sleep)
        from ftplan.api import collecting

        request: Any = partial(collecting.RangeRequest, now=lambda: MEASURED)
        with (
            patch("ftplan.engines.collecting.polling.Pace", pace),
            patch("ftplan.api.collecting.RangeRequest", request),
        ):
            yield
