"""Logs that compute_stats.py reads: the Houston flights repeated as CSV, JSON lines, access log; packed; many keys.

Some of the rows are damaged, so that every reason to reject one occurs; sizes are cut at the end of a line.
"""

from __future__ import annotations

import gzip
import json
from calendar import month_abbr
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "data" / "plain-logs"
HOUSTON = ROOT / "examples" / "flights" / "hflights.csv.gz"
TIME = ("Year", "Month", "DayofMonth", "DepTime")
JSON_COLUMNS = (*TIME, "UniqueCarrier", "TailNum", "Dest", "Distance")
NUMBERS = {*TIME, "Distance"}
#: RE2, which DuckDB and both engines have, and Python read it alike.
PATTERN = r'^(?P<host>\S*) \S+ \S+ \[(?P<time>[^\]]*)\] "\S+ /(?P<path>\S+) [^"]*" \d{3} \d+$'
FORMAT = "%d/%b/%Y:%H:%M:%S %z"
SMALL_FILES, SMALL_BYTES = 200, 500_000
KEYS = 10_000_000

_BY_PLANE_AND_DESTINATION = ("--key-groups", "64", "--window", "1h", "--max-rejects", "0.05")
_TIME_OF_DAY = tuple(part for column in TIME for part in ("--time-column", column))
_FLIGHTS = (*_TIME_OF_DAY, "--key", "by-plane=TailNum", "--key", "by-destination=Dest", *_BY_PLANE_AND_DESTINATION)
_ACCESS = (
    "--input-format", "regex", "--pattern", PATTERN, "--time-column", "time", "--time-format", FORMAT,
    "--key", "by-plane=host", "--key", "by-destination=path", *_BY_PLANE_AND_DESTINATION,
)  # fmt: skip
_USERS = (
    "--time-column", "time", "--operator", "users", "--key-column", "key", "--bytes-column", "bytes",
    "--key-groups", "64", "--window", "1h",
)  # fmt: skip
OPTIONS = {"flights": _FLIGHTS, "jsonl": _FLIGHTS, "access": _ACCESS, "users": _USERS}


@dataclass(frozen=True, slots=True)
class Log:
    """A log: its name, what its rows are (a key of ``OPTIONS``), a file or glob, and its size in bytes, unpacked."""

    name: str
    rows: str
    path: str
    size: int

    def files(self) -> list[str]:
        """Return the paths of its files, in order."""
        return sorted(map(str, Path(self.path).parent.glob(Path(self.path).name)))


@cache
def houston() -> tuple[bytes, list[list[str]]]:
    """Return the header and the rows of the Houston log, three of every thousand damaged."""
    header, *lines = gzip.decompress(HOUSTON.read_bytes()).decode().splitlines()
    names, rows = header.split(","), [line.split(",") for line in lines]
    damage = ((100, {"DepTime": "2575"}), (300, {"Month": "2", "DayofMonth": "30"}), (500, {"TailNum": ""}))
    for first, fields in damage:
        for row in rows[first::1000]:
            for name, value in fields.items():
                row[names.index(name)] = value
    return header.encode() + b"\n", rows


def _columns(names: tuple[str, ...]) -> Iterator[list[str]]:
    header, rows = houston()
    places = [header.decode().strip().split(",").index(name) for name in names]
    return ([row[place] for place in places] for row in rows)


def _csv() -> str:
    return "\n".join(",".join(row) for row in houston()[1]) + "\n"


def _jsonl() -> str:
    lines = []
    for row in _columns(JSON_COLUMNS):
        fields = zip(JSON_COLUMNS, row, strict=True)
        record = {name: (int(value) if name in NUMBERS else value) if value else None for name, value in fields}
        lines.append(json.dumps(record, separators=(",", ":")))
    return "\n".join(lines) + "\n"


def _access() -> str:
    """Lines in the common log format; every thousandth ends in the middle."""
    lines = []
    for i, (*date, clock, plane, destination, distance) in enumerate(_columns((*TIME, "TailNum", "Dest", "Distance"))):
        year, month, day = map(int, date)
        time = f"{day:02}/{month_abbr[month]}/{year}:{clock[:-2]:>02}:{clock[-2:]:>02}:00 +0000" if clock else "-"
        line = f'{plane} - - [{time}] "GET /{destination} HTTP/1.1" 200 {distance}'
        lines.append(line[:30] if i % 1000 == 700 else line)
    return "\n".join(lines) + "\n"


_TEXTS: dict[str, Callable[[], str]] = {"flights": cache(_csv), "jsonl": cache(_jsonl), "access": cache(_access)}


def repeated(name: str, rows: str, size: int) -> Log:
    """Write (once) a log of *size* bytes, its rows repeated below one header."""
    path = DATA / f"{rows}-{size}.{'csv' if rows == 'flights' else rows}"
    if not path.exists():
        body = _TEXTS[rows]().encode()
        _write(path, houston()[0] if rows == "flights" else b"", body, size)
    return Log(name, rows, str(path), path.stat().st_size)


def _write(path: Path, header: bytes, body: bytes, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished, left = path.with_name(path.name + ".part"), size - len(header)
    with unfinished.open("wb") as out:
        out.write(header)
        while left >= len(body):
            out.write(body)
            left -= len(body)
        out.write(body[: body.rfind(b"\n", 0, left) + 1])
    unfinished.rename(path)


def first_rows(log: Log) -> Log:
    """Return a log of the same rows that has ten of them: what it takes is the start."""
    if log.rows == "users":
        return users(10)
    lines = (_TEXTS[log.rows]()).splitlines(keepends=True)[:10]
    path = DATA / f"{log.rows}-ten.{'csv' if log.rows == 'flights' else log.rows}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((houston()[0] if log.rows == "flights" else b"") + "".join(lines).encode())
    return Log(f"{log.name}, ten rows", log.rows, str(path), path.stat().st_size)


def packed(log: Log, ending: str) -> Log:
    """Return (written once) the *log* packed, ``gz`` or ``zst``; its size remains that of the text."""
    import pyarrow as pa

    path = Path(f"{log.path}.{ending}")
    if not path.exists():
        unfinished = path.with_name(path.name + ".part")
        with (
            Path(log.path).open("rb") as text,
            pa.output_stream(unfinished, {"gz": "gzip", "zst": "zstd"}[ending]) as out,
        ):
            while part := text.read(1 << 22):
                out.write(part)
        unfinished.rename(path)
    return Log(f"csv.{ending}", log.rows, str(path), log.size)


def small_files() -> Log:
    """Return (written once) a folder of many small files, each with its header."""
    paths = [DATA / "small" / f"{i:03}.csv" for i in range(SMALL_FILES)]
    body = _TEXTS["flights"]().encode()
    for i, path in enumerate(paths):
        if not path.exists():
            start = body.find(b"\n", i * SMALL_BYTES % (len(body) // 2)) + 1
            _write(path, houston()[0], body[start:], SMALL_BYTES)
    return Log(f"{SMALL_FILES} files", "flights", str(DATA / "small" / "*.csv"), sum(p.stat().st_size for p in paths))


def users(keys: int = KEYS) -> Log:
    """Return (written once) a CSV of time, key and bytes in which every row has a key of its own."""
    import numpy as np

    path = DATA / f"users-{keys}.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished, rng = path.with_name(path.name + ".part"), np.random.default_rng(0)
        with unfinished.open("wb") as out:
            out.write(b"time,key,bytes\n")
            for first in range(0, keys, 1_000_000):
                n = min(1_000_000, keys - first)
                times = 1_700_006_400 + rng.integers(0, 30 * 86_400, n)
                names = (np.arange(first, first + n) * 7_654_321) % 99_999_989
                columns = zip(times.tolist(), names.tolist(), rng.integers(40, 1500, n).tolist(), strict=True)
                out.write("".join(f"{t},user-{key:08},{size}\n" for t, key, size in columns).encode())
        unfinished.rename(path)
    return Log(f"{keys:,} keys", "users", str(path), path.stat().st_size)


def houston_packed() -> Log:
    """Return the log of the example as it is, packed."""
    return Log("Houston", "flights", str(HOUSTON), len(gzip.decompress(HOUSTON.read_bytes())))
