"""Every command that README.md shows runs and succeeds, in order, in a copy of the example it is shown for.

The tour begins in examples/flights; ``cd`` to another example goes there.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.cli.in_process import run_here
from tests.logs import thin

ROOT = Path(__file__).resolve().parent.parent
#: Shown for other machines: they install from an index, or need a cluster, a shell or a notebook.
ELSEWHERE = ("make ", "pip install", "spark-submit", "cd ", "python demo.py", "ftplan collect http")
CLUSTER = "--master"  # a real one is started in tests/spark_stats
#: Limits that a search takes in full, and ones that are enough to see that it works.
SHORTER = {"--time-limit 20s": "--time-limit 2s", "time_limit_s=10.0": "time_limit_s=2.0"}


def commands() -> list[str]:
    """Return the lines behind ``$`` in the console blocks of README.md, continued lines joined."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    joined = "\n".join(blocks).replace("\\\n", " ")
    return [line[2:].split("  #")[0].strip() for line in joined.splitlines() if line.startswith("$ ")]


def snippets() -> list[str]:
    """Return the Python blocks of README.md."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def shortened(text: str) -> str:
    """Return what is run of a command or of Python: with less time, and without the JVM that tests/spark_stats has."""
    for limit, shorter in SHORTER.items():
        text = text.replace(limit, shorter)
    if text.startswith("ftplan compute-stats") and "--engine" not in text:
        text += " --engine sail"
    return text


def _written(_: str, names: list[str]) -> set[str]:
    """Return what somebody's own runs of the examples wrote."""
    kept = ("collection.json", "manifest.json")
    return {n for n in names if n in ("out", "stats") or (n.endswith(".json") and n not in kept)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("readme") / "examples"
    shutil.copytree(ROOT / "examples", target, ignore=_written)
    log = target / "flights" / "hflights.csv.gz"
    thin(log, log, 8)  # tests/spark_stats reads all of it
    return target / "flights"


def run_line(line: str, here: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of README as a shell would; a plain ftplan command within this process, unless an engine starts."""
    if line.startswith("ftplan ") and "|" not in line and "compute-stats" not in line:
        return run_here(shlex.split(line)[1:], cwd=here, env=environment())
    command = line.replace("ftplan ", f"{shlex.quote(sys.executable)} -m ftplan ", 1) if "ftplan" in line else line
    shell = ["bash", "-o", "pipefail", "-c", command]
    return subprocess.run(shell, cwd=here, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.spark
def test_readme_commands(folder: Path) -> None:
    """The tour works from its first command to its last, and so does its Python."""
    run, here = 0, folder
    for line in commands():
        if line.startswith("cd "):
            here = folder.parent / Path(line[3:]).name
            assert here.is_dir(), line
        if line.startswith(ELSEWHERE) or CLUSTER in line or ("| jq" in line and shutil.which("jq") is None):
            continue
        done = run_line(shortened(line), here)
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        run += 1
    assert run >= 8
    for code in snippets():
        done = subprocess.run(
            [sys.executable, "-c", shortened(code)], cwd=folder, env=environment(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{code}\n{done.stderr}"


def test_make_targets_of_the_readme_exist() -> None:
    """README names ``make demo`` and ``make test``, and the Makefile has what README names."""
    named = set(re.findall(r"make ([a-z]+)", (ROOT / "README.md").read_text()))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"demo", "test"} <= named <= targets
