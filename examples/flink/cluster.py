"""A Flink cluster on loopback: a JobManager and task managers as processes, each on an address of its own.

Runs what the Python package apache-flink brings: its jars and scripts. Every process leads a group of its own, and all
groups end with the ``with`` block, whatever happens in it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zipfile import ZipFile

import urllib3

#: How long a process may take to come up.
UP_S = 180.0

CONFIGURATION = """
jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: {rpc}
jobmanager.bind-host: 127.0.0.1
jobmanager.memory.process.size: 1024m
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: {rest}
taskmanager.numberOfTaskSlots: {slots}
taskmanager.memory.process.size: 1280m
heartbeat.interval: 1000
heartbeat.timeout: 10000
metrics.fetcher.update-interval: 500
state.backend.type: rocksdb
execution.checkpointing.incremental: true
execution.checkpointing.storage: filesystem
execution.checkpointing.dir: file://{folder}/checkpoints
execution.checkpointing.timeout: 120000
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 1000000
restart-strategy.fixed-delay.delay: 1s
traces.reporters: slf4j
traces.reporter.slf4j.factory.class: org.apache.flink.traces.slf4j.Slf4jTraceReporterFactory
metrics.reporters: slf4j
metrics.reporter.slf4j.factory.class: org.apache.flink.metrics.slf4j.Slf4jReporterFactory
metrics.reporter.slf4j.interval: 30 SECONDS
io.tmp.dirs: {folder}/tmp
"""


class StuckError(RuntimeError):
    """What was waited for did not come."""


def free_port() -> int:
    """Return a port of loopback that nobody listens at."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _end_with_parent() -> None:
    """Let Linux kill a process when the one that started it is gone, however that ended."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def flink_home(python: str) -> Path:
    """Return where an environment's apache-flink lies; raises SystemExit with what to do if it has none."""
    asked = [python, "-c", "import importlib.util as u; print(u.find_spec('pyflink').submodule_search_locations[0])"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if shutil.which("javac") is None:
        sys.exit(
            "the job has a class in Java: it needs a JDK of 11 or newer (Debian: apt-get install default-jdk-headless)"
        )
    if done.returncode:
        sys.exit(f"{python} has no apache-flink: make test-flink makes an environment that has, or give --python")
    return Path(done.stdout.strip())


class FlinkCluster:
    """A JobManager and *taskmanagers* task managers with *slots* slots each, at 127.0.0.11, 127.0.0.12, ...

    Attributes
    ----------
    url
        Of the REST endpoint.
    processes
        By name: ``jobmanager``, ``taskmanager-1``, ...
    """

    def __init__(self, home: Path, folder: Path, taskmanagers: int = 3, slots: int = 2) -> None:
        self.home, self.folder, self.count, self.slots = home, folder.resolve(), taskmanagers, slots
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.rest = free_port()
        self.url = f"http://127.0.0.1:{self.rest}"
        self._http = urllib3.PoolManager(timeout=10.0, retries=False)

    def __enter__(self) -> Self:
        for name in ("conf", "tmp", "checkpoints"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for file in (self.home / "conf").iterdir():
            (self.folder / "conf" / file.name).write_bytes(file.read_bytes())
        java = (self.home / "conf" / "config.yaml").read_text().split("\njobmanager:")[0]
        values = CONFIGURATION.format(rpc=free_port(), rest=self.rest, slots=self.slots, folder=self.folder)
        (self.folder / "conf" / "config.yaml").write_text(f"{java}\n{values}")
        try:
            self._start("jobmanager", "jobmanager.sh")
            self.wait_for(lambda: self.get("/overview") is not None, "the JobManager's REST endpoint")
            for number in range(1, self.count + 1):
                self.start_taskmanager(number)
            self.wait_for_taskmanagers()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(reversed(self.processes)):
            self.kill(name)

    def compiled(self, source: Path) -> Path:
        """Return a jar of a Java class, compiled against the jars of Flink."""
        classes, jar = self.folder / "classes", self.folder / f"{source.stem}.jar"
        command = ["javac", "-cp", f"{self.home}/lib/*", "-d", str(classes), "--release", "11", str(source)]
        subprocess.run(command, check=True)
        with ZipFile(jar, "w") as archive:
            for file in classes.rglob("*.class"):
                archive.write(file, file.relative_to(classes))
        return jar

    def start_taskmanager(self, number: int) -> None:
        """Start the task manager of a number, at an address of its own."""
        host, name = f"127.0.0.{10 + number}", f"taskmanager-{number}"
        own = {"taskmanager.host": host, "taskmanager.bind-host": host, "taskmanager.resource-id": name}
        self._start(name, "taskmanager.sh", [part for key, value in own.items() for part in ("-D", f"{key}={value}")])

    def _start(self, name: str, script: str, arguments: Sequence[str] = ()) -> None:
        logs = self.folder / "logs" / name
        logs.mkdir(parents=True, exist_ok=True)
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("FLINK_", "PYTHON"))},
            "FLINK_HOME": str(self.home),
            "FLINK_CONF_DIR": str(self.folder / "conf"),
            "FLINK_LOG_DIR": str(logs),
            "FLINK_PID_DIR": str(logs),
        }
        with (logs / "console.out").open("ab") as console:
            self.processes[name] = subprocess.Popen(
                ["bash", str(self.home / "bin" / script), "start-foreground", *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )

    def kill(self, name: str) -> None:
        """Kill a process of this cluster and all its children, at once (SIGKILL)."""
        process = self.processes.get(name)
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.processes.pop(name)

    def get(self, path: str) -> Any:
        """Return what the REST endpoint answers, None where it does not."""
        try:
            answer = self._http.request("GET", self.url + path)
            return answer.json() if answer.status == 200 else None
        except (urllib3.exceptions.HTTPError, OSError, ValueError):
            return None

    def send(self, method: str, path: str, document: Mapping[str, Any] | None = None) -> int:
        """Send a request that changes something, and return its status."""
        status: int = self._http.request(method, self.url + path, json=document).status
        return status

    def wait_for(self, condition: Any, what: str, seconds: float = UP_S) -> None:
        """Wait until a condition holds; raises RuntimeError if a process ends, StuckError after a while."""
        until = time.monotonic() + seconds
        while not condition():
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended with {process.returncode}: see {self.folder / 'logs' / name}")
            if time.monotonic() > until:
                raise StuckError(f"waited {seconds:g} s for {what}")
            time.sleep(0.1)

    def restore(self) -> None:
        """Start the task managers that are not there."""
        for number in range(1, self.count + 1):
            if f"taskmanager-{number}" not in self.processes:
                self.start_taskmanager(number)
        self.wait_for_taskmanagers()

    def wait_for_taskmanagers(self) -> None:
        """Wait until every task manager is there."""
        names = {name for name in self.processes if name != "jobmanager"}

        def registered() -> bool:
            there = (self.get("/taskmanagers") or {}).get("taskmanagers", [])
            return names == {item["id"] for item in there}

        self.wait_for(registered, f"{len(names)} task managers")
