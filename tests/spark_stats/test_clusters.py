"""Sessions start, stop and leave nothing; clusters give the same statistics. Each case in a process of its own."""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ftplan.spark_stats.choice import LEAST_JAVA, java_version
from tests.places import ROOT
from tests.spark_stats.cluster import daemon, free_port, spark_home, standalone, wait_for
from tests.spark_stats.conftest import HOUSTON
from tests.what_if.on_engines import rows, write_sweep

SUBMITTED = ROOT / "examples" / "spark-submit" / "ftplan_job.py"

pytestmark = [pytest.mark.slow, pytest.mark.spark]
needs_java = pytest.mark.skipif((java_version() or 0) < LEAST_JAVA, reason="no Java")

#: What engines compute, as a program.
STATISTICS = """
import shutil, sys
from contextlib import contextmanager
from pathlib import Path
from ftplan.spark_stats import passes
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.pipeline import compute
from ftplan.spark_stats.session import open_session

passes.TEXT_BYTES = 1  # rejected rows share buckets, as those of a large log

def statistics(log, out, say=None):
    folder = Path(out)
    folder.mkdir()
    try:
        compute(LogMapping(
            time_columns=("Year", "Month", "DayofMonth", "DepTime"), window_s=3600.0, max_rejects=0.02,
            keys=(("by-plane", ("TailNum",)), ("by-destination", ("Dest",))), key_groups=64, key_hash="flink",
        ), [log], folder=folder, progress=say)
    except BaseException:
        shutil.rmtree(folder)
        raise
"""
#: On an engine of its own.
PROGRAM = f"""{STATISTICS}
engine, master, log, out = sys.argv[1:]
with open_session(engine, master or None):
    statistics(log, out, say=lambda stage, share: print(stage, share, flush=True))
"""
#: On the session of a sweep, before its cases: an application for each would start its JVMs again.
BEFORE_A_SWEEP = f"""{STATISTICS}
import os
from ftplan.what_if import executors
from ftplan.cli.main import main
real = executors.open_session

@contextmanager
def opened(*options):
    with real(*options) as session:
        statistics(os.environ["FLIGHTS"], os.environ["OUT"])
        yield session

executors.open_session = opened
main()
"""
#: The driver has those of tests/conftest.py.
EXECUTOR = f'--conf "spark.executor.extraJavaOptions={os.environ["SPARK_SUBMIT_OPTS"]}" pyspark-shell'
#: The same as options.
OPTIONS = (
    "--time-column", "Year", "--time-column", "Month", "--time-column", "DayofMonth", "--time-column", "DepTime",
    "--window", "1h", "--max-rejects", "0.02", "--key", "by-plane=TailNum", "--key", "by-destination=Dest",
    "--key-groups", "64", "--key-hash", "flink",
)  # fmt: skip


def command(engine: str, log: Path, out: Path, master: str = "") -> list[str]:
    return [sys.executable, "-c", PROGRAM, engine, master, str(log), str(out)]


def files(folder: Path) -> dict[str, bytes]:
    """Every file but the manifest, which names the engine."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    return {name: data for name, data in found.items() if not name.endswith("manifest.json")}


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All flights, not packed: the engines read them in parts."""
    log = tmp_path_factory.mktemp("log") / "flights.csv"
    log.write_bytes(gzip.decompress(HOUSTON.read_bytes()))
    return log


@pytest.fixture(scope="module")
def by_sail(flights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pysail")
    out = tmp_path_factory.mktemp("sail") / "out"
    subprocess.run(command("sail", flights, out), check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return out


@needs_java
def test_a_standalone_cluster_of_two_workers(
    by_sail: Path, flights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One application computes statistics, then carries a sweep out, and is quiet.

    Both workers take part, and run the code of this ftplan, whatever is installed where they are.
    """
    out = tmp_path / "out"
    monkeypatch.setenv("FLIGHTS", str(flights))
    monkeypatch.setenv("OUT", str(out))
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", EXECUTOR)
    write_sweep(tmp_path)
    with standalone(tmp_path, cores=(1, 1)) as url:
        swept = rows(tmp_path, "--master", url, code=BEFORE_A_SWEEP)
    assert swept == rows(tmp_path, "--jobs", "1")
    assert files(out) == files(by_sail)
    assert len(files(out)) == 3
    for number in (0, 1):
        work = tmp_path / f"work-{number}"
        assert list(work.glob("app-*/*/ftplan.zip")), [str(path) for path in work.rglob("*")][:20]


@needs_java
def test_spark_connect_server(by_sail: Path, flights: Path, tmp_path: Path) -> None:
    with free_port() as port:
        pass
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    settings = ["--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.ui.enabled=false"]
    submit = [str(spark_home() / "bin" / "spark-submit"), "--class", server, *settings, "spark-internal"]
    home = {"SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    os.makedirs(tmp_path / "server")
    with daemon(["env", "-C", str(tmp_path / "server"), *submit], tmp_path / "server.log", **home) as process:
        wait_for(port, process, tmp_path / "server.log")
        url = f"sc://127.0.0.1:{port}"
        subprocess.run(command("auto", flights, tmp_path / "out", master=url), check=True, cwd=ROOT)
    assert files(tmp_path / "out") == files(by_sail)


@needs_java
def test_under_spark_submit(by_sail: Path, flights: Path, tmp_path: Path) -> None:
    """The job of the README, whose master is the one that spark-submit was given."""
    submit = [str(spark_home() / "bin" / "spark-submit"), "--master", "local[1]", str(SUBMITTED)]
    arguments = ["compute-stats", str(flights), "-o", str(tmp_path / "out"), *OPTIONS]
    variables = {**os.environ, "SPARK_HOME": str(spark_home()), "PYSPARK_PYTHON": sys.executable}
    variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(ROOT)}
    subprocess.run([*submit, *arguments], check=True, cwd=tmp_path, env=variables, capture_output=True)
    assert files(tmp_path / "out") == files(by_sail)


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(stat[1]) == pid:
                    found |= {int(entry.name), *descendants(int(entry.name))}
    return found


def alive(pids: set[int]) -> list[int]:
    return [pid for pid in sorted(pids) if Path(f"/proc/{pid}").exists()]


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A million rows, so that there is time to interrupt."""
    log = tmp_path_factory.mktemp("long") / "log.csv"
    header = "Year,Month,DayofMonth,DepTime,TailNum,Dest\n"
    log.write_text(header + "".join(f"2011,{i % 12 + 1},{i % 28 + 1},1200,N{i},D{i % 99}\n" for i in range(1_000_000)))
    return log


def begun(process: subprocess.Popen[bytes], engine: str) -> bool:
    """Whether the engine is about to start: its library is loaded, or its JVM is launched."""
    if engine == "sail":
        return "pysail" in Path(f"/proc/{process.pid}/maps").read_text()
    return bool(descendants(process.pid))


INTERRUPTS = [
    ("sail", "starting the engine", signal.SIGINT),
    ("sail", "starting the engine", signal.SIGTERM),
    ("sail", "aggregating", signal.SIGINT),
    ("sail", "aggregating", signal.SIGTERM),
    # A JVM each; the other two differ in nothing but the number of the signal. The first look: the job runs.
    pytest.param("spark", "starting the engine", signal.SIGTERM, marks=needs_java),
    pytest.param("spark", "aggregating, ", signal.SIGINT, marks=needs_java),
]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize(("engine", "moment", "number"), INTERRUPTS)
def test_interrupting_leaves_nothing(
    engine: str, moment: str, number: signal.Signals, long_log: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        command(engine, long_log, tmp_path / "out"), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if moment.encode() in line:
            break
    else:
        pytest.fail(f"it never said {moment!r}")
    while moment == "starting the engine" and process.poll() is None and not begun(process, engine):
        time.sleep(0.01)
    children = descendants(process.pid)
    assert process.poll() is None
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode in (-number, 128 + number), said.decode(errors="replace")[-4000:]
    for _ in range(3000):  # what was told to leave may take its time; what was forgotten stays for ever
        if not alive(children):
            break
        time.sleep(0.1)
    assert alive(children) == []
    assert [p for p in temporary.iterdir() if not p.name.startswith("hsperfdata")] == []
    assert not (tmp_path / "out").exists()


STARTING = """
import os, signal, time
from contextlib import contextmanager
from ftplan.spark_stats import session
real = session._connect_client

@contextmanager
def connect(url):
    os.kill(os.getpid(), signal.SIGTERM)
    with real(url) as spark:
        yield spark

session._connect_client = connect
with session.open_session("sail"):
    print("open")
"""


def test_a_signal_while_sail_starts() -> None:
    """Whatever thread gets it, and whether Sail's own handlers stand by then or not."""
    done = subprocess.run([sys.executable, "-c", STARTING], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")
