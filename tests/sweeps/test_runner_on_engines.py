"""Executors of Spark and Sail give the rows that processes give. Each run in a process of its own: one engine each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ftplan.spark_stats.choice import LEAST_JAVA, java_version
from tests.cli.conftest import environment
from tests.spark_stats.cluster import standalone

ROOT = Path(__file__).resolve().parents[2]
STORM = ROOT / "examples" / "storm-recovery"

spark = pytest.mark.spark
needs_java = pytest.mark.skipif((java_version() or 0) < LEAST_JAVA, reason="no Java")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a what-if file: recoveries, one of which cannot be."""
    made = tmp_path_factory.mktemp("sweep")
    cases = [{"id": f"seed-{seed}", "options": {"seed": seed}} for seed in range(1, 10)]
    document = {
        "format": "ftplan/what-if",
        "format_version": "1.0",
        "name": "seeds",
        "inputs": {name: str(STORM / f"{name}.yaml") for name in ("topology", "cluster", "failure")},
        "run": {"command": "recovery-schedule"},
        "measures": ["objective", "bound"],
        "cases": [*cases, {"id": "wrong", "options": {"max_cpu": 7}}],
    }
    (made / "what-if.yaml").write_text(yaml.safe_dump(document))
    return made


def rows(folder: Path, *options: str, code: str = "import ftplan.cli.main as main; main.main()") -> str:
    """Carry the sweep out in a process; return the file."""
    output = folder / "out.json"
    output.unlink(missing_ok=True)
    line = ["what-if", "what-if.yaml", "-o", output.name, "-q", *options]
    done = subprocess.run(
        [sys.executable, "-c", code, *line], cwd=folder, env=environment(PYTHONPATH=str(ROOT)), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in folder.glob("*.jsonl")] == []
    return output.read_text()


@pytest.fixture(scope="module")
def by_process(folder: Path) -> str:
    text = rows(folder, "--jobs", "1")
    statuses = [row["status"] for row in json.loads(text)["rows"]]
    assert statuses == ["optimal"] * 10 + ["error"]
    return text


@spark
def test_sail(folder: Path, by_process: str) -> None:
    pytest.importorskip("pysail")
    assert rows(folder, "--engine", "sail") == by_process


@spark
@needs_java
def test_a_standalone_cluster_of_two_workers(folder: Path, by_process: str, tmp_path: Path) -> None:
    """Both workers take part, and run the code of this ftplan, whatever is installed where they are."""
    with standalone(tmp_path, cores=(1, 1)) as url:
        assert rows(folder, "--master", url) == by_process
    for number in (0, 1):
        work = tmp_path / f"work-{number}"
        assert list(work.glob("app-*/*/ftplan.zip")), [str(path) for path in work.rglob("*")][:20]
    assert "PYTHONPATH" not in os.environ or str(ROOT) in os.environ["PYTHONPATH"]
