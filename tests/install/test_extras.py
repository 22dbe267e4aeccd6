"""Each extra alone: what it adds works, and what the others add says in one line what to install."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ftplan.spark_stats.choice import LEAST_JAVA, java_version
from tests import spark_classes
from tests.install.places import OWN, Installed, uv

pytestmark = pytest.mark.slow

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


#: Runs command lines, of which it is given a list, in one process: packages are loaded once.
COMMANDS = """
import json, sys
from ftplan.cli.main import run
for words in json.loads(sys.argv[1]):
    print(f"code {run(words)}", file=sys.stderr, flush=True)
"""


def test_extras_work_alone_and_name_the_others(environment: WithExtra, job: Path, tmp_path: Path) -> None:
    """Sail brings PySpark, so that Apache Spark is there with it; Sail itself runs in the test below."""
    asked = [(words, extra) for words, extra in NEEDS if environment.extra != "sail" or extra not in ("spark", "sail")]
    first = ("allocate-checkpoints", *FILES, "--algorithm", "even", "-o", "plan.json")
    path = java_path(tmp_path) if environment.extra == "spark" else ()
    lines = json.dumps([first, *(words for words, _ in asked)])
    done = environment.here.run("python", "-c", COMMANDS, lines, cwd=job, path=path, SPARK_SUBMIT_OPTS=CLASSES)
    planned, *answers = re.split(r"^code (\d+)\n", done.stderr, flags=re.MULTILINE)[:-1]
    assert answers.pop(0) == "0", planned
    assert len(answers) == 2 * len(asked), done.stderr
    for (words, extra), said, code in zip(asked, answers[::2], answers[1::2], strict=True):
        if extra != environment.extra:
            assert code == "2", (words, said)
            assert [f"pip install 'ftplan[{extra}]'" in line for line in said.splitlines()][-1:] == [True], words
        elif extra == "spark" and not JAVA:
            assert "--engine sail does without" in said
        else:
            assert code == "0", (words, said)


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
