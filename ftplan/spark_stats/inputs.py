"""Find the files of a log, and learn from their bytes what the reader must know."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import zlib
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO
from urllib.parse import quote

import numpy as np

from ftplan.errors import FtplanError
from ftplan.spark_stats import packed
from ftplan.spark_stats.log_formats import beginning

_SUFFIXES: dict[str, str] = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
}  # fmt: skip
#: Formats that are told by the ending of a file; of other formats, a folder holds nothing else.
_BY_SUFFIX = ("auto", "parquet", "csv", "jsonl")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_CHUNK = 1 << 20
#: What times that are neither numbers nor ISO have in them, and how much of a text is looked at for them.
_BEGINNING = 1 << 16
_SPELLED = re.compile(
    rb"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|[0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]", re.IGNORECASE
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: Longest first line that is looked for; a longer one is no header.
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of the log.

    ``rows`` counts lines (or Parquet rows), None for a remote file, of which nothing but the path is known.
    ``spelled_times``: its beginning has the name of a month, or a time as Log4j writes it; True where nobody looked.
    ``modified_us`` is when a local file was last written, in microseconds since the epoch.
    ``header`` is the first line without its line end and byte order mark; ``parquet`` the Arrow schema.
    """

    path: str
    format: str
    remote: bool = False
    bytes: int | None = None
    sha256: str | None = None
    rows: int | None = None
    header: str | None = None
    quoted: bool = True
    utf8: bool = True
    parquet: Any = None
    modified_us: int | None = None
    spelled_times: bool = True

    @property
    def name(self) -> str:
        """The last part of the path, for messages."""
        return self.path.rstrip("/").rsplit("/", 1)[-1]

    def uri(self, percent_encoded: bool = False) -> str:
        """The path with its scheme and glob characters escaped: percent-encoded for Sail, by backslash for Spark."""
        if self.remote:
            return self.path
        path = os.path.abspath(self.path)
        return "file://" + (quote(path) if percent_encoded else re.sub(r"([\\*?\[\]{}])", r"\\\1", path))


def find_files(paths: Sequence[str], input_format: str = "auto") -> list[tuple[str, bool]]:
    """Return ``(path, remote)`` of each file behind files, globs and folders, sorted within each, none twice.

    Raises FtplanError if a path does not exist, a glob matches nothing, or a folder holds no log file.
    """
    files: dict[str, bool] = {}
    for path in paths:
        if path.startswith("file://"):
            path = path.removeprefix("file://")
        if _REMOTE.match(path):
            files[path] = True
        elif os.path.isdir(path):
            inside = _in_folder(Path(path), input_format)
            if not inside:
                known = (
                    f" ({', '.join(_SUFFIXES)}, text also with {' or '.join(packed.MAGIC)})"
                    if input_format in _BY_SUFFIX
                    else ""
                )
                raise FtplanError(f"{path}: the folder holds no log file{known}")
            files.update(dict.fromkeys(inside, False))
        elif os.path.exists(path):
            files[path] = False
        elif glob.has_magic(path):
            matches = sorted(m for m in glob.glob(path, recursive=True) if os.path.isfile(m))
            if not matches:
                raise FtplanError(f"{path}: no file matches")
            files.update(dict.fromkeys(matches, False))
        else:
            raise FtplanError(f"{path}: no such file")
    if not files:
        raise FtplanError("no log file is given")
    return list(files.items())


def _in_folder(folder: Path, input_format: str) -> list[str]:
    inside = []
    for path in folder.rglob("*"):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        if hidden or not path.is_file():
            continue
        suffix = _suffix(path.name)
        if input_format not in _BY_SUFFIX or (suffix in _SUFFIXES and input_format in ("auto", _SUFFIXES[suffix])):
            inside.append(str(path))
    return sorted(inside)


def _suffix(name: str) -> str:
    return Path(name.lower().removesuffix(packed.ending(name))).suffix


def inspect_files(
    paths: Sequence[tuple[str, bool]],
    input_format: str = "auto",
    stop: Event | None = None,
    opaque: bool = False,
) -> list[LogFile]:
    """Read every local file once, several at a time: size, SHA-256, rows, first line, quotes.

    Setting *stop* from another thread ends the reading. Of *opaque* files only size and SHA-256 are learnt.

    Raises FtplanError if a file cannot be read, is damaged, is not of its format, or all of them are empty or of mixed
    formats.
    """
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        files = list(pool.map(lambda f: _inspect(f[0], f[1], input_format, stop, opaque), paths))
    formats = sorted({f.format for f in files})
    if len(formats) > 1:
        raise FtplanError(f"the log mixes {' and '.join(formats)} files; give one --input-format, or one kind of file")
    if all(f.bytes == 0 for f in files):
        raise FtplanError(f"{files[0].path}: the file is empty")
    return [f for f in files if f.bytes != 0]


def _inspect(path: str, remote: bool, input_format: str, stop: Event | None, opaque: bool) -> LogFile:
    named = _SUFFIXES.get(_suffix(path.rstrip("/").rsplit("/", 1)[-1]))
    if remote:
        if input_format == "auto" and named is None:
            raise FtplanError(f"{path}: the name does not tell the format; give --input-format")
        return LogFile(path, named or "parquet" if input_format == "auto" else input_format, remote=True)
    try:
        with open(path, "rb") as file:
            start = file.peek(4)[:4]
            kind = input_format if input_format != "auto" else _format(beginning(path, 64), named)
            hashed = _HashedFile(path, file, stop)
            written = os.fstat(file.fileno()).st_mtime_ns // 1000
            if opaque:
                while hashed.read():
                    pass
                return LogFile(path, kind, bytes=hashed.size, sha256=hashed.digest.hexdigest(), modified_us=written)
            learnt = _inspect_parquet(path, hashed) if kind == "parquet" else _inspect_text(path, kind, start, hashed)
            return replace(learnt, modified_us=written)
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror})") from error


def _format(start: bytes, named: str | None) -> str:
    """Return the format of a local file by its first bytes, which tell Parquet and JSON objects, else by its name."""
    if start.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else named or "csv"


class _HashedFile:
    """A file that is measured and hashed as it is read; setting *stop* from another thread ends the reading."""

    closed = False  # pyarrow asks

    def __init__(self, path: str, file: BinaryIO, stop: Event | None) -> None:
        self.path = path
        self.file = file
        self.stop = stop
        self.digest = hashlib.sha256()
        self.size = 0

    def read(self, size: int = _CHUNK) -> bytes:
        """Return the next bytes, none at the end."""
        if self.stop is not None and self.stop.is_set():
            raise FtplanError(f"{self.path}: interrupted")
        data = self.file.read(size)
        self.digest.update(data)
        self.size += len(data)
        return data

    def close(self) -> None:
        """Leave the file to whoever opened it; pyarrow calls this."""


def _inspect_parquet(path: str, hashed: _HashedFile) -> LogFile:
    import pyarrow
    import pyarrow.parquet as pq

    while hashed.read():
        pass
    learnt: dict[str, Any] = {"bytes": hashed.size, "sha256": hashed.digest.hexdigest()}
    if hashed.size == 0:
        return LogFile(path, "parquet", rows=0, **learnt)
    try:
        with pq.ParquetFile(path) as file:
            return LogFile(path, "parquet", rows=file.metadata.num_rows, parquet=file.schema_arrow, **learnt)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise FtplanError(f"{path}: no readable Parquet file ({str(error).splitlines()[0]})") from error


def categorical(path: str, columns: Collection[str]) -> str | None:
    """Return the first of some columns of a local Parquet file that is a dictionary; None where none is, or it is no
    Parquet.
    """
    with open(path, "rb") as file:
        if file.read(4) != b"PAR1":
            return None
    import pyarrow
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (pyarrow.ArrowException, OSError, ValueError):
        return None
    return next((f.name for f in schema if f.name in columns and pyarrow.types.is_dictionary(f.type)), None)


def _inspect_text(path: str, kind: str, start: bytes, hashed: _HashedFile) -> LogFile:
    named = packed.ending(path)
    found = next((ending for ending, magic in packed.MAGIC.items() if start.startswith(magic)), "")
    if start and found != named:
        problem = f"is no {named[1:]} file" if named else f"is compressed, but its name does not end in {found}"
        raise FtplanError(f"{path}: the file {problem}; rename it, since Spark goes by the name")
    try:
        text = packed.unpacked(hashed, named)
        learnt = _scan(path, iter(lambda: text.read(_CHUNK), b""))
    except EOFError as error:
        raise FtplanError(f"{path}: the {named[1:]} file is cut off after {hashed.size:,} bytes") from error
    except (OSError, zlib.error) as error:
        if getattr(error, "errno", None) is not None:  # of the disk
            raise
        raise FtplanError(f"{path}: damaged {named[1:]} file ({error})") from error
    return LogFile(path, kind, bytes=hashed.size, sha256=hashed.digest.hexdigest(), **learnt)


def _scan(path: str, pieces: Iterable[bytes]) -> dict[str, Any]:
    """Return what one pass over a text finds out: ``rows``, ``header``, ``quoted`` and ``utf8``."""
    lines, quoted, utf8 = 0, False, True
    first, last = b"", b"\n"
    spelled: bool | None = None
    decoder = getincrementaldecoder("utf-8")()
    for piece in pieces:
        if b"\0" in piece:
            utf16 = (first or piece).startswith(_UTF16_MARKS)
            problem = "the text is UTF-16; convert it to UTF-8" if utf16 else "not a text file"
            raise FtplanError(f"{path}: {problem}")
        spelled = _SPELLED.search(piece[:_BEGINNING]) is not None if spelled is None else spelled
        lines += int(np.count_nonzero(np.frombuffer(piece, np.uint8) == 10))  # bytes.count takes three times as long
        quoted = quoted or b'"' in piece
        last = piece[-1:]
        if b"\n" not in first and len(first) <= _LONGEST_HEADER:
            first += piece[: _LONGEST_HEADER + 1]
        utf8 = utf8 and _decodes(decoder, piece)
    line = first.partition(b"\n")[0]
    return {
        "rows": lines + (last != b"\n"),
        "header": line.decode("utf-8-sig", "replace").rstrip("\r") if first and len(line) <= _LONGEST_HEADER else None,
        "quoted": quoted,
        "spelled_times": bool(spelled),
        "utf8": utf8 and _decodes(decoder, b"", final=True),
    }


def _decodes(decoder: IncrementalDecoder, piece: bytes, final: bool = False) -> bool:
    """Return whether text goes on to be UTF-8; a character may be cut at the end of a piece."""
    try:
        if final or not piece.isascii() or decoder.getstate()[0]:
            decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


def cut_last_line(path: str) -> str | None:
    """Return what follows the last line end of a file of JSON lines if it is no JSON: whoever wrote it was cut off."""
    line = b""
    with open(path, "rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at > 0 and b"\n" not in line:
            size = min(at, 1 << 16)
            at = file.seek(at - size)
            line = file.read(size) + line
    return incomplete(line.rpartition(b"\n")[2])


def incomplete(line: bytes) -> str | None:
    """Return a line without line end if it is no JSON."""
    try:
        json.loads(line)
    except ValueError:
        return line.decode("utf-8", "replace") or None
    return None
