"""Find the files of a log, and learn from their bytes what the reader must know."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Literal
from urllib.parse import quote

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import InputFormat

Format = Literal["parquet", "csv", "jsonl"]

_SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
}  # fmt: skip
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_CHUNK = 1 << 20
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: Longest first line that is looked for; a longer one is no header.
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of the log.

    ``rows`` counts lines (or Parquet rows), None for a remote file, of which nothing but the path is known.
    ``header`` is the first line without its line end and byte order mark; ``parquet`` the Arrow schema.
    """

    path: str
    format: Format
    remote: bool = False
    bytes: int | None = None
    sha256: str | None = None
    rows: int | None = None
    header: str | None = None
    quoted: bool = True
    utf8: bool = True
    parquet: Any = None

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


def find_files(paths: Sequence[str], input_format: InputFormat = "auto") -> list[tuple[str, bool]]:
    """Return ``(path, remote)`` of each file behind files, globs and folders, sorted within each, none twice.

    Raises
    ------
    FtplanError
        If a path does not exist, a glob matches nothing, or a folder holds no log file.
    """
    found: dict[str, bool] = {}
    for path in paths:
        if path.startswith("file://"):
            path = path.removeprefix("file://")
        if _REMOTE.match(path):
            found[path] = True
        elif os.path.isdir(path):
            inside = _in_folder(Path(path), input_format)
            if not inside:
                raise FtplanError(f"{path}: the folder holds no log file ({', '.join(_SUFFIXES)}, text also with .gz)")
            found.update(dict.fromkeys(inside, False))
        elif os.path.exists(path):
            found[path] = False
        elif glob.has_magic(path):
            matches = sorted(m for m in glob.glob(path, recursive=True) if os.path.isfile(m))
            if not matches:
                raise FtplanError(f"{path}: no file matches")
            found.update(dict.fromkeys(matches, False))
        else:
            raise FtplanError(f"{path}: no such file")
    if not found:
        raise FtplanError("no log file is given")
    return list(found.items())


def _in_folder(folder: Path, input_format: InputFormat) -> list[str]:
    inside = []
    for path in folder.rglob("*"):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        if hidden or not path.is_file():
            continue
        suffix = _suffix(path.name)
        if suffix in _SUFFIXES and input_format in ("auto", _SUFFIXES[suffix]):
            inside.append(str(path))
    return sorted(inside)


def _suffix(name: str) -> str:
    return Path(name.lower().removesuffix(".gz")).suffix


def inspect_files(
    found: Sequence[tuple[str, bool]], input_format: InputFormat = "auto", stop: Event | None = None
) -> list[LogFile]:
    """Read every local file once, several at a time: size, SHA-256, rows, first line, quotes.

    Setting *stop* from another thread ends the reading.

    Raises
    ------
    FtplanError
        If a file cannot be read, is damaged, is not of its format, or all of them are empty or of mixed formats.
    """
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        files = list(pool.map(lambda f: _inspect(f[0], f[1], input_format, stop), found))
    formats = sorted({f.format for f in files})
    if len(formats) > 1:
        raise FtplanError(f"the log mixes {' and '.join(formats)} files; give one --input-format, or one kind of file")
    if all(f.bytes == 0 for f in files):
        raise FtplanError(f"{files[0].path}: the file is empty")
    return [f for f in files if f.bytes != 0]


def _inspect(path: str, remote: bool, input_format: InputFormat, stop: Event | None) -> LogFile:
    named = _SUFFIXES.get(_suffix(path.rstrip("/").rsplit("/", 1)[-1]))
    if remote:
        if input_format == "auto" and named is None:
            raise FtplanError(f"{path}: the name does not tell the format; give --input-format")
        return LogFile(path, named or "parquet" if input_format == "auto" else input_format, remote=True)
    try:
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror})") from error
    if input_format != "auto":
        kind: Format = input_format
    elif start == b"PAR1":
        kind = "parquet"
    else:
        kind = named or ("jsonl" if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "csv")
    chunks = _chunks(path, stop)
    return _inspect_parquet(path, chunks) if kind == "parquet" else _inspect_text(path, kind, start, chunks)


def _inspect_parquet(path: str, chunks: Iterator[bytes]) -> LogFile:
    import pyarrow
    import pyarrow.parquet as pq

    digest, size = hashlib.sha256(), 0
    for chunk in chunks:
        digest.update(chunk)
        size += len(chunk)
    if size == 0:
        return LogFile(path, "parquet", bytes=0, sha256=digest.hexdigest(), rows=0)
    try:
        with pq.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise FtplanError(f"{path}: no readable Parquet file ({str(error).splitlines()[0]})") from error
    return LogFile(path, "parquet", bytes=size, sha256=digest.hexdigest(), rows=rows, parquet=schema)


def _inspect_text(path: str, kind: Format, start: bytes, chunks: Iterator[bytes]) -> LogFile:
    named = path.lower().endswith(".gz")
    if start and start.startswith(b"\x1f\x8b") != named:
        problem = "is no gzip" if named else "is compressed, but its name does not end in .gz"
        raise FtplanError(f"{path}: the file {problem}; rename it, since Spark goes by the name")
    scan = _TextScan(path)
    for chunk in scan.text(chunks):
        scan.take(chunk)
    header = scan.finish()
    return LogFile(
        path,
        kind,
        bytes=scan.size,
        sha256=scan.digest.hexdigest(),
        rows=scan.lines,
        header=header,
        quoted=scan.quoted,
        utf8=scan.utf8,
    )


class _TextScan:
    """What one pass over a text file's bytes finds out."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.digest = hashlib.sha256()
        self.size = 0
        self.lines = 0
        self.quoted = False
        self.utf8 = True
        self._first = b""
        self._rest = b""
        self._last = b"\n"

    def text(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Hash the file's bytes and yield its text, inflated where the file is gzip (of one or more members)."""
        inflate = None
        for chunk in chunks:
            self.digest.update(chunk)
            self.size += len(chunk)
            if not self.path.lower().endswith(".gz"):
                yield chunk
                continue
            while chunk:
                inflate = inflate or zlib.decompressobj(wbits=31)
                try:
                    yield inflate.decompress(chunk)
                except zlib.error as error:
                    raise FtplanError(f"{self.path}: damaged gzip ({error})") from error
                chunk = inflate.unused_data.lstrip(b"\0")
                inflate = None if inflate.eof else inflate
        if inflate is not None:
            raise FtplanError(f"{self.path}: the gzip file is cut off after {self.size:,} bytes")

    def take(self, chunk: bytes) -> None:
        """Look at the next piece of text."""
        if not chunk:
            return
        if b"\0" in chunk:
            utf16 = self._first.startswith(_UTF16_MARKS) or (not self._first and chunk.startswith(_UTF16_MARKS))
            raise FtplanError(
                f"{self.path}: the text is UTF-16; convert it to UTF-8" if utf16 else f"{self.path}: not a text file"
            )
        self.lines += chunk.count(b"\n")
        self.quoted = self.quoted or b'"' in chunk
        self._last = chunk[-1:]
        if b"\n" not in self._first and len(self._first) < _LONGEST_HEADER:
            self._first += chunk[: _LONGEST_HEADER + 1]
        if self.utf8:
            self._check_utf8(chunk)

    def _check_utf8(self, chunk: bytes) -> None:
        """Decode up to the last line end; the rest waits for the next chunk."""
        whole, end, rest = (self._rest + chunk).rpartition(b"\n")
        self._rest = rest if len(rest) < 16 * _CHUNK else b""
        if chunk.isascii() and self._rest.isascii() and whole.isascii():
            return
        try:
            (whole + end).decode("utf-8")
        except UnicodeDecodeError:
            self.utf8 = False

    def finish(self) -> str | None:
        """Close the count of lines and the check of the encoding, and return the first line."""
        if self._last != b"\n":
            self.lines += 1
        try:
            self._rest.decode("utf-8")
        except UnicodeDecodeError:
            self.utf8 = False
        line, _, _ = self._first.partition(b"\n")
        if not self._first or len(line) > _LONGEST_HEADER:
            return None
        return line.decode("utf-8-sig", errors="replace").rstrip("\r")


def _chunks(path: str, stop: Event | None) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                if stop is not None and stop.is_set():
                    raise FtplanError(f"{path}: interrupted")
                yield chunk
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror})") from error
