"""What fails for lack of memory or address space is one line that says what to do, and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ftplan.cli import main
from ftplan.errors import FtplanError
from ftplan.spark_stats import choice

LOG = "time,key\n2026-01-01T00:00:00Z,a\n"
COMPUTE = (
    "compute-stats",
    "log.csv",
    "-o",
    "out",
    "--time-column",
    "time",
    "--operator",
    "o",
    "--key-column",
    "key",
    "--key-groups",
    "4",
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not limit the address space")
@pytest.mark.parametrize(
    ("kib", "args", "said"),
    [
        (100_000, ("schema", "topology"), "limited to 0.095 GiB; lift the limit (ulimit -v unlimited)"),
        (2_000_000, (*COMPUTE, "--engine", "sail"), "Sail needs 3."),
        (2_000_000, (*COMPUTE, "--engine", "spark"), "Spark needs 6 here: lift the limit (ulimit -v unlimited)"),
    ],
)
def test_a_limit_of_address_space(tmp_path: Path, kib: int, args: tuple[str, ...], said: str) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    limited = f'ulimit -v {kib}; exec "$@"'
    command = ("bash", "-c", limited, "bash", sys.executable, "-m", "ftplan", *args)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert said in line
    assert not (tmp_path / "out").exists()


def test_an_engine_that_fits_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "cores", lambda: 2)
    monkeypatch.setattr(choice, "address_space_bytes", lambda: 5 * 2**30)
    with pytest.raises(FtplanError, match=r"limited to 5 GiB, and Spark needs 6 here.*--engine sail fits"):
        choice.choose("spark", None)
    assert choice.choose("auto", None).kind == "sail"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("libortools.so.9: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
)
def test_memory_that_ran_out_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def fail(_: object) -> None:
        try:
            raise error
        except type(error):
            raise ValueError("the package that met it says something else") from None

    monkeypatch.setattr(main, "_invoke", fail)
    assert main.run(["check"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ftplan: memory ran out (")
