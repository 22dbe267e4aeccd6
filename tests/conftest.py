"""Settings of all tests. None of them looks at a clock: slow machines get the same answers."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

#: Checks of health that hold for every test; the one for slowness is a clock.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("here", **UNHURRIED)
# Where nobody looks at a failing example the same examples run every time; by hand, new ones do.
settings.register_profile("ci", derandomize=True, **UNHURRIED)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Whatever runs in the background of a script has interrupts ignored, and so have the commands that it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Most of a short Spark run is compiling: the first compiler alone halves it.
for name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(name, "-XX:TieredStopAtLevel=1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of an engine in one of the processes that share the tests: they share its session.

    What starts an engine goes first, so that the long tests do not run alone at the end.
    """
    for item in items:
        if "session" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("sail" if "[sail" in item.name else "spark"))
    items.sort(key=lambda item: "spark_stats" not in item.path.parts and not item.get_closest_marker("spark"))
