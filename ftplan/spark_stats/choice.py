"""Which engine runs, and why: what the options say, what this machine has, and what the input asks for."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.model.machine_limits import GB, address_space_bytes
from ftplan.processes import cores

Engine = Literal["auto", "spark", "sail"]
Kind = Literal["spark", "connect", "sail"]

ENGINES: tuple[Engine, ...] = ("auto", "spark", "sail")
LEAST_JAVA = 17
#: GiB of address space without which an engine fails, or ends the process, while it starts. Spark: with its smallest
#: heap. Sail: with one core; each further one takes a quarter.
LEAST_ADDRESS_SPACE_GB: dict[Kind, float] = {"spark": 6.0, "sail": 3.25, "connect": 2.0}
_MASTER = re.compile(r"local(-cluster)?(\[.+\])?|spark://.+|yarn|k8s://.+|sc://.+")


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What to start: classic Spark, a Spark Connect client or Sail; the master (None: as configured); and why."""

    kind: Kind
    master: str | None
    why: str = field(default="", compare=False)


def choose(engine: Engine, master: str | None, beyond: str | None = None) -> EngineChoice:
    """Return what to start; see :func:`ftplan.spark_stats.session.open_session`.

    *beyond* says what is too much for an engine within this process; None where the input fits this machine.

    Raises FtplanError if the options contradict each other, Java or the server is not there, or the address space is
    limited to less than the engine maps, and MissingExtraError if pyspark or pysail is not installed.
    """
    choice = _choose(engine, master, beyond)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # of spark-submit, whose JVM runs already
        _refuse_small_address_space(choice.kind)
    return choice


def _refuse_small_address_space(kind: Kind) -> None:
    limit = address_space_bytes()
    needs = LEAST_ADDRESS_SPACE_GB | {"sail": LEAST_ADDRESS_SPACE_GB["sail"] + 0.25 * (cores() - 1)}
    if limit is None or limit >= needs[kind] * GB:
        return
    name = {"spark": "Spark", "sail": "Sail", "connect": "a client of Spark Connect"}[kind]
    other = "; --engine sail fits" if kind == "spark" and limit >= needs["sail"] * GB else ""
    raise FtplanError(
        f"the address space is limited to {limit / GB:.2g} GiB, and {name} needs {needs[kind]:.3g} here: lift the "
        f"limit (ulimit -v unlimited){other}"
    )


def _choose(engine: Engine, master: str | None, beyond: str | None) -> EngineChoice:
    if engine not in ENGINES:
        raise FtplanError(f"--engine: unknown engine {engine!r}; use one of {', '.join(ENGINES)}")
    if master is not None and not _MASTER.fullmatch(master):
        raise FtplanError(f"--master: {master!r} is none of local[*], spark://HOST:PORT, yarn, k8s://…, sc://HOST:PORT")
    if engine == "sail":
        if master is not None and not master.startswith("local"):
            raise FtplanError(f"--engine sail runs in this process: leave out --master {master}")
        _need("pysail", "sail")
        return EngineChoice("sail", None, "as --engine says")
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    why = "as --master says" if master is not None else "as --engine says"
    if master is None and not submitted and (master := os.environ.get("SPARK_REMOTE") or None) is not None:
        why = "as SPARK_REMOTE says"
    if master is not None and master.startswith("sc://"):
        _need("pyspark", "spark")
        _reach(master, 15002)
        return EngineChoice("connect", master, why)
    if submitted:
        _need("pyspark", "spark")
        return EngineChoice("spark", None, "as spark-submit started it")
    if engine == "auto" and (master is None or master.startswith("local")):
        return _here(master, beyond)
    java = java_version()
    _need("pyspark", "spark")
    if (java or 0) < LEAST_JAVA:
        raise FtplanError(f"{_no_java(java)}; --engine sail does without")
    if master is not None and master.startswith("spark://"):
        _reach(master, 7077)
    return EngineChoice("spark", master, why)


def _here(master: str | None, beyond: str | None) -> EngineChoice:
    """Return what runs on this machine: Sail, unless *master* or what is *beyond* it asks for Spark, and that runs."""
    sail = all(importlib.util.find_spec(name) for name in ("pyspark", "pysail"))
    if sail and master is None and beyond is None:
        return EngineChoice("sail", None, "the input fits this machine")
    asked = "--master asks for Spark" if master is not None else beyond
    java = java_version()
    if (java or 0) >= LEAST_JAVA and importlib.util.find_spec("pyspark"):
        return EngineChoice("spark", master, asked or "Sail is not installed")
    if sail:
        return EngineChoice("sail", None, f"there is no Java {LEAST_JAVA}, though {asked}")
    other = "install Java, or Sail by" if importlib.util.find_spec("pyspark") else "Sail does without:"
    raise FtplanError(f"{_no_java(java)}: {other} pip install 'ftplan[sail]'")


def java_version() -> int | None:
    """Return the major version of the Java in JAVA_HOME or on PATH that really runs, or None."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return None
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(rb'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match else None


def _no_java(java: int | None) -> str:
    _refuse_small_address_space("spark")  # in which no Java runs
    have = "no Java that runs was found (JAVA_HOME, PATH)" if java is None else f"found is Java {java}"
    return f"Spark needs Java {LEAST_JAVA} or newer, {have}"


def _need(module: str, extra: str) -> None:
    for name in dict.fromkeys(("pyspark", module)):
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError(name, extra, "Spark" if module == "pyspark" else "Sail")


def _reach(master: str, default_port: int) -> None:
    """Check that something listens: the clients themselves try for minutes."""
    authorities = master.split("://", 1)[1].split("/", 1)[0].split(",")
    for authority in authorities:
        address = urlsplit(f"//{authority}")
        try:
            socket.create_connection((address.hostname or "", address.port or default_port), timeout=10).close()
        except (OSError, ValueError):
            continue
        return
    raise FtplanError(f"--master {master}: nothing answers at {', '.join(authorities)}")
