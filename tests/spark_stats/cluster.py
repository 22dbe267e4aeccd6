"""Clusters of processes on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path


@contextlib.contextmanager
def free_port() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    yield port


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the process listens, for as long as it lives."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.2)
    raise AssertionError(f"it ended before it listened on {port}:\n{log.read_text(errors='replace')[-4000:]}")


@contextlib.contextmanager
def daemon(arguments: list[str], log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            arguments, stdout=out, stderr=out, env={**os.environ, **variables}, start_new_session=True
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


@contextlib.contextmanager
def standalone(folder: Path, cores: Sequence[int]) -> Iterator[str]:
    """Start a master and a worker of so many *cores* each; yield the master's URL. Their logs go to *folder*."""
    run = str(spark_home() / "bin" / "spark-class")
    home = {"SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with free_port() as port:
        url = f"spark://127.0.0.1:{port}"
    master = [run, "org.apache.spark.deploy.master.Master", "-h", "127.0.0.1", "-p", str(port), "--webui-port", "0"]
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(daemon(master, folder / "master.log", **home))
        wait_for(port, process, folder / "master.log")
        for number, count in enumerate(cores):
            place = str(folder / f"work-{number}")
            worker = [run, "org.apache.spark.deploy.worker.Worker", url, "-c", str(count), "-m", "2g"]
            worker += ["-h", "127.0.0.1", "--webui-port", "0", "-d", place]
            stack.enter_context(daemon(worker, folder / f"worker-{number}.log", **home))
        yield url
