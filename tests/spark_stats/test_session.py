"""Which engine a session takes, sessions that are open already, and what is told of those that end."""

from __future__ import annotations

import _thread
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from ftplan.errors import FtplanError
from ftplan.spark_stats import choice, session
from ftplan.spark_stats.choice import choose, java_version
from ftplan.spark_stats.progress import watch
from ftplan.spark_stats.session import open_session
from tests.places import ROOT


def test_a_connection_that_does_not_close_is_left_behind() -> None:
    never, closed = threading.Event(), threading.Event()
    assert not session._in_time(lambda: (never.wait(), closed.set()), limit_s=0.0)
    never.set()
    assert session._in_time(closed.wait, limit_s=None)
    assert closed.is_set()


def test_import_is_light() -> None:
    code = "import sys, ftplan.spark_stats.pipeline; sys.exit(any(m in sys.modules for m in ('pyspark', 'pysail')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_choice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr(choice, "java_version", lambda: 17)
    assert choose("auto", None) == choice.EngineChoice("sail", None)
    assert choose("auto", None).why == "the input fits this machine"
    assert choose("auto", None, "90 GiB of input") == choice.EngineChoice("spark", None)
    assert choose("auto", None, "90 GiB of input").why == "90 GiB of input"
    assert choose("auto", "local[2]") == choice.EngineChoice("spark", "local[2]")
    assert choose("auto", "local[2]").why == "--master asks for Spark"
    assert choose("sail", "local[*]").kind == "sail"
    for engine, master, message in (
        ("flink", None, "unknown engine"),
        ("sail", "yarn", "runs in this process"),
        ("auto", "localhost", "--master"),
        ("auto", "spark://127.0.0.1:1", "nothing answers"),
        ("auto", "sc://127.0.0.1:1", "nothing answers"),
    ):
        with pytest.raises(FtplanError, match=message):
            choose(engine, master)  # type: ignore[arg-type]
    monkeypatch.setattr(choice, "java_version", lambda: None)
    for master, beyond in ((None, None), ("local[2]", None), (None, "90 GiB of input")):
        assert choose("auto", master, beyond) == choice.EngineChoice("sail", None)
    assert choose("auto", None, "90 GiB of input").why == "there is no Java 17, though 90 GiB of input"
    with pytest.raises(FtplanError, match="Java 17 or newer"):
        choose("spark", None)
    with pytest.raises(FtplanError, match="Java 17 or newer"):
        choose("auto", "yarn")
    monkeypatch.setattr(choice.importlib.util, "find_spec", lambda name: name == "pyspark")
    monkeypatch.setattr(choice, "java_version", lambda: 21)
    assert choose("auto", None) == choice.EngineChoice("spark", None)
    assert choose("auto", None).why == "Sail is not installed"
    monkeypatch.setattr(choice, "java_version", lambda: None)
    monkeypatch.setattr(choice.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FtplanError, match=r"pip install 'ftplan\[sail\]'"):
        choose("auto", None)
    with pytest.raises(FtplanError, match=r"pyspark, which is not installed: pip install 'ftplan\[spark\]'"):
        choose("auto", "sc://127.0.0.1:1")


def test_choice_of_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens, the first of several, and the gateway of spark-submit."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert choose("auto", f"sc://{address}") == choice.EngineChoice("connect", f"sc://{address}")
        monkeypatch.setattr(choice, "java_version", lambda: 17)
        assert choose("auto", f"spark://127.0.0.1:1,{address}").kind == "spark"
        monkeypatch.setenv("SPARK_REMOTE", f"sc://{address}")
        assert choose("auto", None).kind == "connect"
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert choose("auto", None) == choice.EngineChoice("spark", None)


class Foreign:
    """A session that the calling program has opened."""

    version = "4.2.0"

    def __init__(self) -> None:
        self.conf = self
        self.zones = {"spark.sql.session.timeZone": "CET", "spark.master": "local[3]"}
        self.get, self.set = self.zones.__getitem__, self.zones.__setitem__


def test_sessions_that_are_open_already(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    foreign = Foreign()
    monkeypatch.setattr(session, "_OPEN", [])
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: foreign)
    with open_session() as opened:
        assert (opened.engine, opened.spark, foreign.zones["spark.sql.session.timeZone"]) == (
            "spark 4.2.0", foreign, "UTC",
        )  # fmt: skip
        session._OPEN.append(opened)
        with open_session("spark") as again:
            assert again is opened
        with pytest.raises(FtplanError, match=r"this process already runs spark 4\.2\.0; close that session first"):
            open_session("auto", "local[2]").__enter__()
        session._OPEN.clear()
    assert foreign.zones["spark.sql.session.timeZone"] == "CET"
    with open_session("spark", "local[3]"):
        pass
    for engine, master, wanted in (("sail", None, "--engine sail"), ("spark", "yarn", "--master yarn")):
        with pytest.raises(FtplanError, match=rf"{wanted}: this process already runs local\[3\]; stop it first"):
            open_session(engine, master).__enter__()  # type: ignore[arg-type]


def test_what_the_jvm_said_last(tmp_path: Path) -> None:
    log = tmp_path / "jvm.log"
    for text, told in (
        ("java.io.IOException: no room\nat a.b(c.java)\nbye\n", "java.io.IOException: no room"),
        ("hello\n\nbye\n\n", "bye"),
        ("", ""),
    ):
        log.write_text(text)
        assert session._last_line(log) == told


class Server:
    """What a Spark Connect session offers of its progress."""

    def __init__(self) -> None:
        self.registerProgressHandler = lambda handler: setattr(self, "handler", handler)
        self.removeProgressHandler = lambda handler: setattr(self, "removed", handler)


def test_progress_of_a_connect_server() -> None:
    spark, told = Server(), []
    with watch(session.Session(spark, "connect", "spark 4"), lambda *said: told.append(said)):
        stage = SimpleNamespace(num_tasks=4, num_completed_tasks=1)
        spark.handler(stages=[stage], inflight_tasks=1, operation_id="x", done=False)
        spark.handler(stages=[], done=True)
    assert told == [("aggregating", None), ("aggregating", 0.25)]
    assert spark.removed is spark.handler


def test_java_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    for text, expected in (('version "1.8.0_392"', 8), ('version "21.0.2" 2024', 21), ("nothing", None)):
        program.write_text(f"#!/bin/sh\necho 'openjdk {text}' >&2\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        assert java_version() == expected
    program.write_text("#!/bin/sh\nexit 1\n")
    assert java_version() is None
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert java_version() is None


def test_only_threads_that_came_with_sail_are_waited_for() -> None:
    """Programs have threads that ``threading`` does not know; they are at work after a log as before it."""
    begun, ends, ended = (_thread.allocate_lock() for _ in range(3))
    for lock in (begun, ends, ended):
        lock.acquire()

    def foreign() -> None:
        begun.release()
        ends.acquire()
        ended.release()

    _thread.start_new_thread(foreign, ())
    begun.acquire()
    try:
        assert session._functions_ended(set(sys._current_frames()), limit_s=60.0)
        assert not session._functions_ended(set(), limit_s=0.1)
    finally:
        ends.release()
        ended.acquire()
