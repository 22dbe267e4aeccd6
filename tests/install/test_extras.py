"""Each extra alone: what it adds works, and what the others add says in one line what to install."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ftplan.spark_stats.choice import LEAST_JAVA, java_version
from tests import spark_classes
from tests.install.places import OWN, Installed, uv

pytestmark = pytest.mark.install

FILES = ("-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")
STATISTICS = (
    "compute-stats", "log.csv", "--time-column", "time", "--key-column", "user", "--operator", "o", "--key-groups", "4",
)  # fmt: skip
#: What needs an extra, and which.
NEEDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("recovery-schedule", *FILES, "--fail", "node:n1", "--iterations", "5", "-o", "o.json", "--plot", "o.png"),
        "report",
    ),
    (("report", "plan.json", "-o", "page.html"), "report"),
    (("scale-out", *FILES, "--forecast", "smoothing", "--iterations", "5", "-o", "s.json"), "forecast"),
    ((*STATISTICS, "--engine", "spark", "-o", "by-spark"), "spark"),
    ((*STATISTICS, "--engine", "sail", "-o", "by-sail"), "sail"),
)
EXTRAS = ("", "report", "forecast", "spark", "sail")
CLASSES = spark_classes.options()
JAVA = (java_version() or 0) >= LEAST_JAVA


@dataclass(frozen=True)
class WithExtra:
    """The environment in which one extra is installed beside ftplan, for a while."""

    extra: str
    here: Installed
    added: dict[str, str]


@pytest.fixture(scope="module", params=EXTRAS, ids=lambda extra: extra or "alone")
def environment(
    request: pytest.FixtureRequest, installed: Callable[[str], Installed], wheel: Path
) -> Iterator[WithExtra]:
    """An extra is put into the environment of ftplan alone and taken out again: compiled modules of the rest stay."""
    here, extra = installed(OWN), request.param
    before = here.packages()
    if extra:
        # The one package without wheels; its own is pure Python, and is built once for uv's cache.
        uv(
            "pip",
            "install",
            "--quiet",
            "--python",
            here.python,
            *compiled_ones(here, wheel, extra),
            f"{wheel}[{extra}]",
        )
    added = {name: version for name, version in here.packages().items() if name not in before}
    yield WithExtra(extra, here, added)
    if added:
        uv("pip", "uninstall", "--quiet", "--python", here.python, *added)
    assert here.packages() == before


def compiled_ones(here: Installed, wheel: Path, extra: str) -> Iterator[str]:
    """Yield the options of uv by which nothing may be built but pyspark, whatever an extra needs."""
    wanted = uv("pip", "install", "--dry-run", "--python", here.python, f"{wheel}[{extra}]").stderr
    for line in wanted.splitlines():
        name, found, _ = line.removeprefix(" + ").partition("==")
        if found and name != "pyspark":
            yield f"--only-binary={name}"


def java_path(tmp: Path) -> tuple[Path, ...]:
    """Return a folder of the path with Java and what Spark's own scripts call."""
    folder = tmp / "java"
    folder.mkdir()
    for name in ("java", "bash", "sh", "env", "dirname", "ps", "nice", "uname", "cat", "rm", "mkdir", "chmod", "head"):
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(Path(found).resolve() if name == "java" else found)
    return (folder,)


def test_extras_work_alone_and_name_the_others(environment: WithExtra, job: Path, tmp_path: Path) -> None:
    here = environment.here
    planned = here.run("ftplan", "allocate-checkpoints", *FILES, "--algorithm", "even", "-o", "plan.json", cwd=job)
    assert planned.returncode == 0, planned.stderr
    path = java_path(tmp_path)
    for words, extra in NEEDS:
        if environment.extra == "sail" and extra in ("spark", "sail"):
            continue  # it brings PySpark, so that Apache Spark is there too; Sail runs in the test below
        done = here.run("ftplan", *words, cwd=job, path=path if extra == "spark" else (), SPARK_SUBMIT_OPTS=CLASSES)
        if extra != environment.extra:
            assert done.returncode == 2, (words, done.stderr)
            assert [f"pip install 'ftplan[{extra}]'" in line for line in done.stderr.splitlines()][-1:] == [True], words
        elif extra == "spark" and not JAVA:
            assert "--engine sail does without" in done.stderr
        else:
            assert done.returncode == 0, (words, done.stderr)


def test_without_java_statistics_take_sail_or_say_what_to_install(environment: WithExtra, job: Path) -> None:
    done = environment.here.run("ftplan", *STATISTICS, "--engine", "auto", "-o", "new", cwd=job)
    if environment.extra == "sail":
        assert done.returncode == 0, done.stderr
        assert '"engine": "sail' in (job / "new" / "manifest.json").read_text("utf-8")
    else:
        way = "install Java, or Sail by" if environment.extra == "spark" else "Sail does without:"
        assert done.returncode == 2
        assert f"{way} pip install 'ftplan[sail]'" in done.stderr.splitlines()[-1]


def test_only_pyspark_is_built_and_it_is_pure_python(environment: WithExtra) -> None:
    """Without a compiler nothing is missing: all others have wheels, and pyspark's own holds no machine code."""
    if "pyspark" not in environment.added:
        return
    code = "import importlib.metadata as m; print(m.distribution('pyspark').read_text('WHEEL'))"
    tags = subprocess.run([environment.here.python, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Root-Is-Purelib: true" in tags
