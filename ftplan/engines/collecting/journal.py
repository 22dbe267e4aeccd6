"""Write a folder of collected answers: line by line, so that whatever ends the process leaves what is there."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

from ftplan.engines.collecting.collection import NAME, CollectionHead, head_of, written_time
from ftplan.errors import FtplanError, OutputError
from ftplan.io.documents import display_name
from ftplan.io.inputs_read import remember_input
from ftplan.io.output import write_text

#: Bytes of a file that are in memory at a time.
_CHUNK = 2**20


class AnswerJournal:
    """A collected folder, open for more answers; one process at a time has it open.

    ``head`` is what ``collection.json`` says, with the time of the first process; ``continued`` tells whether the
    folder was there before, or holds a poll of the endpoint by now.
    """

    def __init__(self, folder: str | os.PathLike[str], head: CollectionHead, tool_version: str) -> None:
        """Make a folder for what *head* says, or go on in one of the same endpoint.

        Raises FtplanError if something else stands there, or another process is at work on it.
        """
        self.folder, self.name = Path(folder), display_name(folder)
        self._file: IO[bytes] | None = None
        self._hour = ""
        old = self._there()
        if old is not None and (old.url, old.source) != (head.url, head.source):
            was, now = (f"{item.source} at {item.url}" for item in (old, head))
            raise FtplanError(f"{self.name}: holds answers of {was}, not of {now}: give another folder")
        self.head = head if old is None else head._replace(begun=old.begun)
        self.continued = old is not None
        try:
            (self.folder / "answers").mkdir(parents=True, exist_ok=True)
            self._folder = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise FtplanError(f"{self.name}: cannot be written: {error.strerror}") from None
        try:
            self._lock()
            self._cut_torn_line()
            text = json.dumps(self.head.document(tool_version), indent=2)
            write_text(self.folder / NAME, f"{text}\n", force=True)
        except BaseException:
            self.close()
            raise

    def _there(self) -> CollectionHead | None:
        """Return the head of what stands there, None where nothing does."""
        if (self.folder / NAME).is_file():
            head = head_of(self.folder)
            remember_input(self.folder / NAME, False)  # it is written anew, as the output that it is
            return head
        if os.path.lexists(self.folder) and (not self.folder.is_dir() or any(self.folder.iterdir())):
            what = "holds something else" if self.folder.is_dir() else "is a file"
            raise FtplanError(f"{self.name}: {what}; give a new folder, or one of collected answers to go on in")
        return None

    def _lock(self) -> None:
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FtplanError(f"{self.name}: another process is collecting into it; wait for its end") from None
        except OSError:  # a file system without locks
            return

    def _files(self) -> list[Path]:
        return sorted((self.folder / "answers").glob("*.jsonl"))

    def _cut_torn_line(self) -> None:
        """Cut off what a process that was killed left half written."""
        for file in self._files()[-1:]:
            with file.open("rb+") as lines:
                lines.truncate(_whole(lines))

    def add(self, at: datetime, path: str, status: int | None, content: Mapping[str, Any]) -> int:
        """Write one line, and return its bytes; it survives the end of this process.

        *content* is ``answer`` or ``error``, and what else belongs to the line.

        Raises OutputError if the disk fails.
        """
        entry = {"at": written_time(at), "path": path, "status": status, **content}
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"
        try:
            file = self._file_of(at)
            file.write(line)
            file.flush()
        except OSError as error:
            text = f"{self.name}: could not be written: {error.strerror}; the answers before are kept"
            raise OutputError(text) from None
        return len(line)

    def _file_of(self, at: datetime) -> IO[bytes]:
        """Return the file of an hour; those of earlier hours are packed when the next begins."""
        hour = f"{at.astimezone(UTC):%Y-%m-%dT%H}"
        if self._file is None or hour > self._hour:  # a clock that is set back does not reopen what is packed
            if self._file is not None:
                self._file.close()
            self._file = (self.folder / "answers" / f"{hour}.jsonl").open("ab")
            self._hour = hour
            for file in self._files():
                if file.stem < hour:
                    _pack(file)
        return self._file

    def __enter__(self) -> AnswerJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Let go of the folder, and remove one that was begun for nothing: its first answer was of something else."""
        refused = kind is not None and issubclass(kind, FtplanError) and not issubclass(kind, OutputError)
        if refused and not self.continued:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        if self._file is not None:
            self._file.close()
        with suppress(OSError):
            os.close(self._folder)


def _whole(lines: IO[bytes]) -> int:
    """Return where the last whole line of a file ends; a part of the file is in memory at a time."""
    end = lines.seek(0, os.SEEK_END)
    while end:
        begin = max(0, end - _CHUNK)
        lines.seek(begin)
        found = lines.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def _pack(file: Path) -> None:
    """Replace a file by the same with gzip; a process that is killed meanwhile leaves nothing half done.

    Where the hour is packed already (the clock was set back), the lines go behind those. A year of Prometheus may
    stand in one file: a part of it is in memory at a time.
    """
    packed = file.with_name(f"{file.name}.gz")
    beside = file.with_name(f".{file.name}.gz.partial")
    if not _holds(packed, file):
        with beside.open("wb") as out:
            if packed.exists():
                with packed.open("rb") as before:
                    shutil.copyfileobj(before, out, _CHUNK)
            with gzip.GzipFile("", "wb", 6, out) as behind, file.open("rb") as lines:
                shutil.copyfileobj(lines, behind, _CHUNK)
        beside.replace(packed)
    file.unlink()


def _holds(packed: Path, file: Path) -> bool:
    """Whether the end of a packed file is a file already."""
    size = file.stat().st_size
    if not packed.exists():
        return size == 0
    with gzip.open(packed) as there, file.open("rb") as lines:
        skipped = there.seek(0, os.SEEK_END) - size
        if skipped < 0:
            return False
        there.seek(skipped)
        return all(there.read(len(part)) == part for part in iter(partial(lines.read, _CHUNK), b""))
