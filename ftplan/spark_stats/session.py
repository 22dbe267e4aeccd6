"""Open a session of Spark, Spark Connect or Sail, and leave nothing behind on any way out."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.leftovers import mark, remove_left
from ftplan.model import machine_limits
from ftplan.spark_stats.choice import LEAST_ADDRESS_SPACE_GB, Engine, Kind, choose
from ftplan.spark_stats.signals import between_calls, deferred, keep_interrupt, orderly_signals, stopping, undisturbed

#: The session that is open now, if any: a process runs one engine at a time.
_OPEN: list[Session] = []
#: Seconds that closing a connection to Spark Connect or Sail may take.
STOPPING_S = 3.0
#: The same after an interrupt, where the process is about to leave.
INTERRUPTED_S = 0.2
#: Of each JVM: a stack for expressions that recur on long texts, whose end is that of the JVM; machine code for methods
#: of any length, since what Spark writes for the checks of a row is beyond what Java compiles by itself; and a heap
#: that grows where collecting it takes a fifth of the time, which holds the memory at what is in use.
_JAVA = "-Xss16m -XX:-DontCompileHugeMethods -XX:GCTimeRatio=4 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20"
#: The quick compiler alone, and the collector that is there at once: others begin when a small log is done.
_BRIEF = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Engines within this process that did not stop.
_LEFT: list[Kind] = []
#: Variables by which PySpark remembers that a process once spoke Spark Connect.
_CONNECT_VARIABLES = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE")


@dataclass(frozen=True, slots=True)
class Session:
    """A live session: the Spark session and what runs behind it.

    ``engine`` is the name in the manifest, such as ``spark 4.2.1``, ``why`` why it was taken. Connect and Sail have no
    ``sparkContext``.
    """

    spark: Any
    kind: Kind
    engine: str
    why: str = "this process runs it already"


@contextmanager
def open_session(
    engine: Engine = "auto", master: str | None = None, beyond: str | None = None, *, brief: bool = False
) -> Iterator[Session]:
    """Yield a session; stop what was started on every way out (return, exception, Ctrl-C, SIGTERM).

    Parameters
    ----------
    engine
        ``spark``, ``sail``, or ``auto``: Sail, within this process, unless *master*, ``SPARK_REMOTE``, spark-submit or
        *beyond* ask for Spark; Spark too where Sail is not installed.
    master
        ``local[...]``, ``spark://…``, ``yarn``, ``k8s://…``, or ``sc://…`` (Spark Connect). None uses the session
        that is open already (opened here or by the calling program) or what ``spark-submit`` configured; where there
        is neither, ``SPARK_REMOTE`` or ``local[*]``.
    beyond
        What of the input is too much for this process; None where it fits this machine.
    brief
        Whether a JVM that is started here has little to do: it then compiles quickly rather than well.

    Raises
    ------
    FtplanError
        If engine and master contradict each other, Java or the server cannot be found, or the start fails.
    MissingExtraError
        If pyspark or pysail is not installed.
    """
    with ExitStack() as stack:
        stack.enter_context(orderly_signals())
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        existing = _active_session(engine, master)
        if existing is not None:
            stack.enter_context(_time_zone(existing.spark))
            yield existing
            return
        choice = choose(engine, master, beyond)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        start: Any = {"spark": partial(_classic, brief=brief), "connect": _connect, "sail": _sail}[choice.kind]
        session = replace(stack.enter_context(start(choice.master)), why=choice.why)
        session.spark.conf.set("spark.sql.session.timeZone", "UTC")
        if session.kind != "spark":
            stack.enter_context(between_calls())
        _OPEN.append(session)
        stack.callback(_OPEN.remove, session)
        yield session


def left_running() -> bool:
    """Return whether an engine still runs in this process: it must then leave without tidying up after it."""
    return bool(_LEFT)


def _active_session(engine: Engine, master: str | None) -> Session | None:
    """Return the session that this process already runs, its own or that of the calling program, if it fits."""
    if "pyspark" not in sys.modules:
        return None
    if _OPEN:
        if master is None and engine in ("auto", "sail" if _OPEN[-1].kind == "sail" else "spark"):
            return _OPEN[-1]
        raise FtplanError(f"this process already runs {_OPEN[-1].engine}; close that session first")
    from pyspark.sql import SparkSession

    spark: Any = SparkSession.getActiveSession()
    connect = False
    if spark is None and "pyspark.sql.connect.session" in sys.modules:
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        spark, connect = ConnectSession.getActiveSession(), True
    if spark is None:
        return None
    running = "a Spark Connect session" if connect else str(spark.conf.get("spark.master"))
    if engine == "sail" or (master is not None and master != running):
        wanted = "--engine sail" if engine == "sail" else f"--master {master}"
        raise FtplanError(f"{wanted}: this process already runs {running}; stop it first")
    return Session(spark, "connect" if connect else "spark", f"spark {spark.version}")


@contextmanager
def _time_zone(spark: Any) -> Iterator[None]:
    """Set the session's time zone to UTC for a while."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        yield
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@contextmanager
def _classic(master: str | None, brief: bool = False) -> Iterator[Session]:
    """Spark with its driver in a JVM beside this process, or (master None) in the one of spark-submit."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    remove_left(Path(tempfile.gettempdir()), "ftplan-spark.*")
    folder = Path(tempfile.gettempdir()) / f"ftplan-spark{mark()}"
    folder.mkdir(mode=0o700)
    hidden = {name: os.environ.pop(name) for name in _CONNECT_VARIABLES if name in os.environ}
    log = folder / "jvm.log"
    gateway: Any = None
    spark: Any = None
    try:
        with log.open("wb") as stderr, keep_interrupt():
            conf = _settings(SparkConf(loadDefaults=False), master, folder, submitted, brief)
            try:
                with deferred():
                    gateway = launch_gateway(conf, popen_kwargs={"stderr": stderr, "stdout": stderr})
                SparkContext._ensure_initialized(gateway=gateway)
                conf = _settings(SparkConf(), master, folder, submitted, brief)
                spark = SparkSession.builder.config(conf=conf).getOrCreate()
                # It complains of a JVM that ends in the midst of a Python function, as one does that is interrupted.
                spark.sparkContext._accumulatorServer.handle_error = lambda *_: None
            except Exception as error:
                raise FtplanError(f"Spark did not start: {_last_line(log) or error}") from error
        with stopping(lambda: _abandon(spark, gateway)):
            yield Session(spark, "spark", f"spark {spark.version}")
        spark.stop()
        spark = None
    except Exception:
        if spark is not None:
            _quietly(spark.stop)
        raise
    finally:
        with undisturbed():
            if not submitted:
                _end_jvm(gateway)
                SparkContext._gateway = SparkContext._jvm = None
                SparkContext._active_spark_context = None
                SparkSession._instantiatedSession = None
            os.environ.update(hidden)
            shutil.rmtree(folder, ignore_errors=True)


def _settings(conf: Any, master: str | None, folder: Path, submitted: bool, brief: bool) -> Any:
    """Fill in the configuration of a driver; what spark-submit or the site has set stays."""
    values = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if not submitted:
        values |= {
            "spark.app.name": "ftplan",
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} {_JAVA}{_BRIEF if brief else ''}",
            "spark.executor.defaultJavaOptions": _JAVA,
            "spark.driver.maxResultSize": "0",
        }
        if master is not None:
            values["spark.master"] = master
        if master is None or master.startswith("local"):
            values |= {
                "spark.local.dir": str(folder),
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.memory": f"{_driver_memory_mb()}m",
                "spark.sql.files.maxPartitionBytes": "64m",
                "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
            }
    for name, value in values.items():
        conf.set(name, value)
    return conf


def _driver_memory_mb() -> int:
    """A quarter of the memory of machine and container, within 1 to 8 GiB and what a ``ulimit -v`` leaves."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        total = 2**32
    total = min(total, machine_limits.memory_bytes() or total)
    mapped = machine_limits.address_space_bytes() or 2**63
    left = mapped - int((LEAST_ADDRESS_SPACE_GB["spark"] - 1) * machine_limits.GB)
    return max(1024, min(8192, total // 2**22, left // 2**20))


def _abandon(spark: Any, gateway: Any) -> None:
    """End the jobs that run: with their JVM, or where spark-submit owns that one, by cancelling them."""
    if gateway.proc is not None:
        _quietly(gateway.proc.stdin.close)
        return
    # A thread of its own has a connection of its own: the one of this thread waits for the job's answer.
    threading.Thread(target=_quietly, args=(spark.sparkContext.cancelAllJobs,), daemon=True).start()


def _end_jvm(gateway: Any) -> None:
    """End the JVM by closing its standard input: it leaves by itself, also in the middle of a job."""
    if gateway is None or gateway.proc is None:
        return
    _quietly(gateway.proc.stdin.close)
    try:
        gateway.proc.wait(timeout=10)
    except Exception:
        gateway.proc.kill()
        gateway.proc.wait()
    _quietly(gateway.shutdown)


@contextmanager
def _connect(master: str | None) -> Iterator[Session]:
    """A client of a Spark Connect server."""
    with _connect_client(str(master)) as spark:
        yield Session(spark, "connect", f"spark {spark.version}")


@contextmanager
def _sail(master: str | None) -> Iterator[Session]:
    """Sail, a Spark Connect server inside this process."""
    os.environ.setdefault("RUST_LOG", "error")
    import pysail
    from pysail.spark import SparkConnectServer

    server, before = SparkConnectServer(ip="127.0.0.1", port=0), set(sys._current_frames())
    try:
        with ExitStack() as stack:
            with deferred():
                server.start(background=True)
                _, port = server.listening_address
                spark = stack.enter_context(_connect_client(f"sc://127.0.0.1:{port}"))
            yield Session(spark, "sail", f"sail {pysail.__version__}")
    finally:
        with undisturbed():
            # It was not started yet where a second signal came; it waits for a case of a sweep that is under way.
            limit_s = _patience_s()
            if not (_in_time(server.stop, limit_s) and _functions_ended(before, limit_s)):
                _LEFT.append("sail")


def _functions_ended(before: set[int], limit_s: float) -> bool:
    """Wait until no thread of Sail runs Python any more, of those not there *before*; return whether none does.

    After an interrupt a function may still be at work on its batch; if the interpreter ended meanwhile, the thread
    could not get back in and would abort the process.
    """
    end = time.monotonic() + limit_s
    calm = 0
    while calm < 5 and time.monotonic() < end:
        own = {t.ident for t in threading.enumerate() if not isinstance(t, threading._DummyThread)}
        calm = calm + 1 if set(sys._current_frames()) <= own | before else 0
        time.sleep(0.01)
    return calm >= 5


@contextmanager
def _connect_client(url: str) -> Iterator[Any]:
    """A Spark Connect session; the process can go on with classic Spark afterwards."""
    from pyspark.sql import SparkSession

    before = {name: os.environ.pop(name) for name in _CONNECT_VARIABLES if name in os.environ}
    spark: Any = None
    try:
        try:
            spark = SparkSession.builder.remote(url).create()
        except Exception as error:
            raise FtplanError(f"--master {url}: {str(error).splitlines()[0]}") from error
        yield spark
    finally:
        with undisturbed():
            if spark is not None:
                _in_time(spark.stop, _patience_s())
                # Where it did not end, PySpark would clean up at exit, and try again for minutes.
                _quietly(lambda: atexit.unregister(spark.client._on_exit))
            for name in _CONNECT_VARIABLES:
                os.environ.pop(name, None)
            os.environ.update(before)


def _patience_s() -> float:
    """Return how long stopping may take: little while an interrupt unwinds the stack."""
    return STOPPING_S if isinstance(sys.exc_info()[1], Exception | None) else INTERRUPTED_S


def _in_time(action: Any, limit_s: float | None) -> bool:
    """Do something in a thread that is left behind where it does not end; return whether it ended.

    A call of gRPC that a signal interrupted in the wrong moment is never over, and closing its channel waits for it.
    """
    thread = threading.Thread(target=_quietly, args=(action,), daemon=True)
    thread.start()
    thread.join(limit_s)
    return not thread.is_alive()


def _quietly(action: Any) -> None:
    try:
        action()
    except Exception:
        return


def _last_line(log: Path) -> str:
    """The line of the JVM's output that tells most: the last exception, else the last line."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    causes = [line for line in lines if "Exception" in line and not line.startswith("at ")]
    return (causes or lines or [""])[-1][:400]
