"""The files of Spark event logs: which belong to one application, in which order, and their lines, decompressed.

Spark writes one file an application, or (the default since Spark 4) a folder ``eventlog_v2_<application>`` of
``events_<n>_<application>``, of which the history server may replace the first n by ``events_<n>_….compact``. Each may
be compressed, and one that is still written or was cut off ends in the middle of a line or of a block. The importer,
``compute-stats`` and ``calibrate`` find them alike; nothing here needs PySpark.
"""

from __future__ import annotations

import gzip
import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.model.names import natural_key
from ftplan.spark_stats.inputs import cut_last_line, incomplete

#: The events that are read, and how far into a line its name must begin.
EVENTS = ("SparkListenerTaskEnd", "SparkListenerJobStart")
NAME_WITHIN = 60
_REMOTE = "://"


def find(logs: Sequence[str]) -> list[tuple[str, bool]]:
    """Return ``(path, remote)`` of each file, in the order of applications and within them of writing.

    Raises FtplanError as :func:`ftplan.engines.spark.log_files.find_event_logs` does.
    """
    return [(file, remote) for files, remote in applications(logs) for file in files]


def applications(logs: Sequence[str]) -> list[tuple[tuple[str, ...], bool]]:
    """Return ``(files, remote)`` of each application; a remote path stands for itself."""
    logs = [log.removeprefix("file://") for log in logs]
    remote = list(dict.fromkeys(log for log in logs if _REMOTE in log))
    for log in remote:
        if log.endswith((".zstd", ".lz4")):
            raise FtplanError(f"{log}: a compressed event log on a remote store is not read; copy it here first")
    local = find_event_logs([log for log in logs if _REMOTE not in log])
    found = [*((log.files, False) for log in local), *(((log,), True) for log in remote)]
    if not found:
        raise FtplanError("no log file is given")
    return found


def readable(path: str, folder: Path) -> tuple[str, str | None]:
    """Return a plain file behind *path*, in *folder* where it is compressed, and its last line if that was cut off.

    Of a compressed file only the lines of :data:`EVENTS` are written, and a line that was cut off is left out.
    """
    if not is_compressed(path):
        return path, cut_last_line(path)
    names = [name.encode() for name in EVENTS]
    plain = folder / f"{len(os.listdir(folder))}-{os.path.basename(path)}.txt"
    with open_event_log(path) as lines, plain.open("xb") as out:
        for line in lines:
            start = line[: NAME_WITHIN + len(EVENTS[1])]
            if any(name in start for name in names) and (line.endswith(b"\n") or incomplete(line) is None):
                out.write(line)
    return str(plain), None


_ROLLED = re.compile(r"events_(\d+)_.*?(\.compact)?")
_FIRST_LINE = re.compile(rb'\s*\{\s*"Event"\s*:')
_LZ4_BLOCK = b"LZ4Block"
#: What a compressed file begins with: zstd, lz4 as Spark frames it, gzip, lz4 frames, Spark's snappy, lzf.
_MAGIC = {
    b"\x28\xb5\x2f\xfd": "zstd", _LZ4_BLOCK: "lz4", b"\x1f\x8b": "gzip", b"\x04\x22\x4d\x18": "lz4 frames",
    b"\x82SNAPPY": "snappy", b"ZV": "lzf",
}  # fmt: skip


class SparkLog(NamedTuple):
    """The event log of one application: its files, in the order in which they were written."""

    name: str
    files: tuple[str, ...]


def find_event_logs(paths: Sequence[str]) -> list[SparkLog]:
    """Return the applications behind files and folders: rolling folders, or folders that hold any number of logs.

    Files of a folder that are no event logs (``appstatus_…``, checksums, notes) are passed over.

    Raises FtplanError if a path does not exist, or a folder or file holds no event log.
    """
    logs: dict[tuple[str, ...], SparkLog] = {}
    for path in paths:
        if os.path.isdir(path):
            inside = _in_folder(Path(path))
            if not inside:
                raise FtplanError(f"{path}: the folder holds no Spark event log")
        elif not os.path.exists(path):
            raise FtplanError(f"{path}: no such file")
        elif not is_event_log(path):
            raise FtplanError(f'{path}: no Spark event log: its first line is not {{"Event": …}}')
        else:
            inside = [SparkLog(os.path.basename(path), (path,))]
        logs.update((log.files, log) for log in inside)
    return list(logs.values())


def _in_folder(folder: Path) -> list[SparkLog]:
    try:
        entries = sorted(
            (e for e in folder.iterdir() if not e.name.startswith((".", "_"))), key=lambda e: natural_key(e.name)
        )
    except OSError as error:
        raise FtplanError(f"{folder}: cannot be read ({error.strerror})") from error
    rolled = {e: match for e in entries if (match := _ROLLED.fullmatch(e.name)) and e.is_file()}
    if rolled:
        compact = max((int(m[1]) for m in rolled.values() if m[2]), default=0)
        kept = [e for e, m in rolled.items() if int(m[1]) > compact or (int(m[1]) == compact and m[2])]
        kept.sort(key=lambda e: int(rolled[e][1]))
        return [SparkLog(folder.name, tuple(str(e) for e in kept))]
    logs = []
    for entry in entries:
        if entry.is_dir():
            logs += _in_folder(entry)
        elif is_event_log(str(entry)):
            logs.append(SparkLog(entry.name, (str(entry),)))
    return logs


def is_event_log(path: str) -> bool:
    """Return whether the first line of a file is an event; FtplanError as for :func:`open_event_log`."""
    with open_event_log(path) as file:
        return _FIRST_LINE.match(file.read(1024)) is not None


def holds_events(path: str) -> bool:
    """Return whether a local path is an event log, or a folder of them."""
    try:
        return bool(find_event_logs([path]))
    except FtplanError:
        return False


def is_compressed(path: str) -> bool:
    """Return whether a file must be decompressed to be read; FtplanError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return _codec(file.read(8)) is not None
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror})") from error


def _codec(start: bytes) -> str | None:
    return next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)


@contextmanager
def open_event_log(path: str) -> Iterator[Any]:
    """Open a file for reading its bytes, decompressed; what was cut off at its end is missing without notice.

    Raises FtplanError if it cannot be read, is damaged, or is compressed in a way that is not known (snappy, lzf);
    MissingExtraError if the package that decompresses it is not installed.
    """
    try:
        with open(path, "rb") as file:
            codec = _codec(file.read(8))
            file.seek(0)
            if codec in ("snappy", "lzf", "lz4 frames"):
                raise FtplanError(f"{path}: compressed with {codec}; of Spark's codecs zstd and lz4 are read")
            yield file if codec is None else io.BufferedReader(_Decompressed(path, file, codec), 1 << 18)
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror or error})") from error


def event_lines(log: SparkLog) -> Iterator[bytes]:
    """Yield the lines of an application's log, each with its line end but for one that was cut off."""
    for path in log.files:
        with open_event_log(path) as file:
            yield from file


class _Decompressed(io.RawIOBase):
    """The bytes behind a compressed file; a cut file ends where it was cut."""

    def __init__(self, path: str, file: Any, codec: str) -> None:
        self.path = path
        self.pieces = {"zstd": _zstd, "lz4": _lz4_blocks, "gzip": _gzip}[codec](file)
        self.left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.left:
            try:
                self.left = next(self.pieces)
            except StopIteration:
                return 0
            except (FtplanError, OSError):
                raise
            except Exception as error:  # each package has errors of its own
                raise FtplanError(f"{self.path}: damaged ({error})") from error
        size = min(len(buffer), len(self.left))
        buffer[:size] = self.left[:size]
        self.left = self.left[size:]
        return size


def _gzip(file: Any) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as text:
        try:
            while piece := text.read1(1 << 20):
                yield piece
        except EOFError:
            return


def _zstd(file: Any) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtraError("zstandard", "spark", "a compressed event log") from error
    reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    while piece := reader.read(1 << 20):
        yield piece


def _lz4_blocks(file: Any) -> Iterator[bytes]:
    """Blocks as ``LZ4BlockOutputStream`` writes them: magic, token, sizes, checksum, data; an empty one ends a part."""
    try:
        from lz4.block import decompress
    except ImportError as error:
        raise MissingExtraError("lz4", "spark", "a compressed event log") from error
    while len(head := file.read(21)) == 21:
        if head[:8] != _LZ4_BLOCK:
            raise ValueError(f"no block begins at byte {file.tell() - 21:,}")
        stored, size = int.from_bytes(head[9:13], "little"), int.from_bytes(head[13:17], "little")
        if size > 1 << 25 or stored > 1 << 26:
            raise ValueError(f"a block of {size:,} bytes at byte {file.tell() - 21:,}")
        data = file.read(stored)
        if len(data) < stored:
            return
        if size:
            yield data if head[8] & 0xF0 == 0x10 else decompress(data, uncompressed_size=size)
