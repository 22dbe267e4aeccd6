"""Settings of all tests. None of them looks at a clock: slow machines get the same answers."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

#: Checks of health that hold for every test; the one for slowness is a clock.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("here", **UNHURRIED)
# Where nobody looks at a failing example the same examples run every time; by hand, new ones do.
settings.register_profile("ci", derandomize=True, **UNHURRIED)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Most of a short Spark run is compiling: the first compiler alone halves it.
for name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(name, "-XX:TieredStopAtLevel=1")


# A job in the background of a shell begins with the signal ignored, and so would every command that the tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class ByEngine(LoadScopeScheduling):
    """Tests that share an engine's session in one process, those that start engines in another, the rest as it comes.

    Groups of ``--dist loadgroup`` need an attribute of tests that pytest 9 no longer has.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if not file.startswith("tests/spark_stats/"):
            return nodeid
        return file if file.endswith("/test_session.py") else "session"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByEngine:
    return ByEngine(config, log)


#: Files of few tests that each take long; begun last they would leave the other processes idle.
LONG = ("test_readme.py", "test_fuzz.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that share engines, one engine after the other, and with others that take long."""

    def order(item: pytest.Item) -> tuple[bool, str, bool, bool]:
        parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
        engine = parameters.get("session")
        late = item.get_closest_marker("spark") is None, item.path.name not in LONG
        return (False, engine, False, False) if engine in ("sail", "spark") else (True, "", *late)

    items.sort(key=order)
