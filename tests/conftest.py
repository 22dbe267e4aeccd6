"""Settings of all tests. None of them looks at a clock: slow machines get the same answers."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

#: Checks of health that hold for every test; the one for slowness is a clock.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("here", **UNHURRIED)
# Where nobody looks at a failing example the same examples run every time; by hand, new ones do.
settings.register_profile("ci", derandomize=True, **UNHURRIED)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Most of a short Spark run is compiling: the first compiler alone halves it.
for name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(name, "-XX:TieredStopAtLevel=1")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with engines, which take long: tests that share a session in one process, others by their files."""
    for item in items:
        if "session" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("session"))
        elif item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
