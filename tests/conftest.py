"""Settings of all tests. None of them looks at a clock: slow machines get the same answers."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from xdist.scheduler import LoadScopeScheduling

from tests import spark_classes
from tests.cli.in_process import DATA, Run, environment, run_here
from tests.effort import examples

#: Checks of health that hold for every test; the one for slowness is a clock.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("here", **UNHURRIED)
# Where nobody looks at a failing example the same examples run every time; by hand, new ones do.
settings.register_profile("ci", derandomize=True, **UNHURRIED)
settings.load_profile("ci" if os.environ.get("CI") else "here")

for name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(name, spark_classes.options())


# A job in the background of a shell begins with the signal ignored, and so would every command that the tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: Files whose tests start engines, one after the other: a cluster takes all cores.
STARTING = ("spark_stats/test_clusters.py", "what_if/test_runner_on_engines.py")
#: Files whose tests share little: they would take one process for minutes.
SINGLY = ("tests/docs/test_pages.py", "tests/test_reproduce.py")


class ByEngine(LoadScopeScheduling):
    """Tests that share an engine's session in one process, those that start engines in another, the rest by file.

    Those of installations share a wheel and environments.

    Tests of a file share plans, problems and examples, which each process would make anew. Groups of
    ``--dist loadgroup`` need an attribute of tests that pytest 9 no longer has.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file in SINGLY:
            return nodeid
        if file.endswith(STARTING):
            return "engines"
        if file.startswith("tests/install/"):
            return "install"
        return "session" if file.startswith("tests/spark_stats/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByEngine:
    config.option.loadscopereorder = False  # the order below, not that of the number of tests
    return ByEngine(config, log)


#: Other files that take long, the longest first; begun last they would leave the other processes idle.
LONG = (
    "test_pages.py", "test_clusters.py", "test_reproduce.py", "test_exact.py", "test_planner_contracts.py",
    "test_golden.py", "test_joint_replication.py", "test_fidelity_search.py", "test_order_search.py",
    "test_mutated_plans.py", "test_fuzz.py", "test_what_if_command.py", "test_priority_time.py", "test_interrupts.py",
    "test_resume.py", "test_browser.py", "test_site.py", "test_what_if_examples.py", "test_schemas.py",
    "test_exactly_once.py", "test_objectives.py", "test_never_worse.py", "test_schedules_with_costs.py",
    "test_maintenance.py", "test_then_recover.py", "test_whole_repairs.py", "test_interrupted_recovery.py",
    "test_pre_commit.py", "test_action.py", "test_page.py", "test_equal_to_single_runs.py", "test_runner.py",
    "test_repair_bound.py", "test_key_aligned.py", "test_failover.py", "test_trace.py",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_disks() -> Iterator[None]:
    """What commands of this process write need not outlive a loss of power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="module")
def few_random_orders() -> Iterator[None]:
    """Compare recovery schedules with two random orders: twenty take most of the time of a small plan."""
    from ftplan.planners.recovery_schedule.algorithms.schedule import baselines

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baselines, "ORDERS", baselines.LEAST_ORDERS)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import the files from the end in every other process: compiled with their assertions, they are kept for all."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    if int(worker.removeprefix("gw")) % 2 == 0 or session.config.args != session.config.getini("testpaths"):
        return
    for file in sorted(Path(__file__).parent.rglob("test_*.py"), reverse=True):
        with suppress(Exception, pytest.skip.Exception):  # collection says it
            importlib.import_module(".".join(file.relative_to(session.config.rootpath).with_suffix("").parts))


def try_a_share(items: list[pytest.Item]) -> None:
    """Let each test by Hypothesis try the share of its examples that ``tests/effort.py`` says.

    Hypothesis has no public way to change settings that a test has; its own plugin for pytest does it like this.
    """
    for function in {item.obj for item in items if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)}:
        given = function._hypothesis_internal_use_settings
        function._hypothesis_internal_use_settings = settings(given, max_examples=examples(given.max_examples))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that share engines, one engine after the other; go on with what takes long."""
    try_a_share(items)

    def order(item: pytest.Item) -> tuple[int, str]:
        file = item.path.as_posix()
        engine = item.callspec.params.get("session") if hasattr(item, "callspec") else None
        if engine in ("sail", "spark"):
            return -3, engine
        if file.endswith(STARTING):
            return -2, file
        if "/spark_stats/" in file:
            return -1, ""
        return (LONG.index(item.path.name) if item.path.name in LONG else len(LONG)), ""

    items.sort(key=order)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with topology.yaml, cluster.yaml and stats/."""
    shutil.copytree(DATA, tmp_path / "project", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return tmp_path / "project"


@pytest.fixture
def ftplan(project: Path) -> Run:
    """Run ftplan in the project folder: ``ftplan("check", "topology.yaml")``."""

    def run(
        *args: str, stdin: str | None = None, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return run_here(args, cwd=cwd or project, env=environment(**env), stdin=stdin)

    return run


@pytest.fixture
def ftplan_process(project: Path) -> Run:
    """Run ftplan like ``ftplan``, but as a process of its own."""

    def run(
        *args: str, stdin: str | None = None, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ftplan", *args],
            cwd=cwd or project,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            env=environment(**env),
            check=False,
        )

    return run
