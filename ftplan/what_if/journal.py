"""The journal of what-if cases: each row that is done is a line of its own beside the output, until that is there.

A run that was killed goes on from its journal. A line is there whole or not at all: what a killed process left half
written at the end is cut off when the journal is opened again.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from ftplan.errors import FtplanError, OutputError
from ftplan.io.documents import display_name
from ftplan.version import __version__
from ftplan.what_if.outcome import CaseOutcome

FORMAT = "ftplan/what-if-journal"


def journal_path(output: str | os.PathLike[str]) -> Path:
    """Return where the journal of an output lies: ``OUTPUT.partial.jsonl``."""
    return Path(f"{os.fspath(output)}.partial.jsonl")


class Journal:
    """The rows that are done, open for more; one process at a time has it open.

    Attributes
    ----------
    done
        The cases that are done, by their number, without their plans.
    """

    def __init__(self, path: Path, fingerprint: str, cases: int, *, restart: bool = False) -> None:
        """Open the journal of a run, or begin one; *restart* forgets what is done.

        Raises FtplanError if the journal is of other cases or another version of ftplan, is damaged, or is in use; or
        its folder cannot be written to.
        """
        self.path, self.name = path, display_name(path)
        self.done: dict[int, CaseOutcome] = {}
        header = {"format": FORMAT, "tool_version": __version__, "fingerprint": fingerprint, "cases": cases}
        try:
            self._file: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise FtplanError(f"{self.name}: cannot be written: {error.strerror}") from None
        try:
            self._lock()
            if restart:
                self._file.truncate(0)
            self._take(header)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FtplanError(f"{self.name}: another process is at work on it; wait for its end") from None
        except OSError:  # a file system without locks
            return

    def _take(self, header: dict[str, Any]) -> None:
        """Read what is done, cut off a torn line, and begin with *header* where nothing is there."""
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._file.truncate(whole)
        lines = data[:whole].splitlines()
        if not lines:
            self._write(json.dumps(header).encode() + b"\n")
            os.fsync(self._file.fileno())
            return
        self._compare(self._parsed(lines[0], 1), header)
        for place, line in enumerate(lines[1:], 2):
            entry = self._parsed(line, place)
            number = entry.get("case")
            if not isinstance(number, int) or not 0 <= number < header["cases"] or "row" not in entry:
                raise self._damaged(place)
            row = json.dumps(entry["row"], ensure_ascii=False)
            annotations = json.dumps(entry.get("annotations", {}), ensure_ascii=False)
            self.done.setdefault(number, CaseOutcome(number, row, annotations))

    def _parsed(self, line: bytes, place: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except ValueError:
            raise self._damaged(place) from None
        if not isinstance(entry, dict):
            raise self._damaged(place)
        return entry

    def _damaged(self, place: int) -> FtplanError:
        return FtplanError(f"{self.name}: line {place} is no row of a sweep; begin anew with --restart")

    def _compare(self, found: dict[str, Any], header: dict[str, Any]) -> None:
        if found.get("format") != FORMAT:
            raise FtplanError(f"{self.name}: is not the journal of a sweep; remove it, or give another output")
        if found.get("tool_version") != header["tool_version"]:
            what = f"was begun with ftplan {found.get('tool_version')}, this is {header['tool_version']}"
        elif found.get("fingerprint") != header["fingerprint"]:
            what = "was begun with another what-if file or other inputs"
        else:
            return
        raise FtplanError(f"{self.name}: {what}: begin anew with --restart, or give another output")

    def add(self, outcomes: Iterable[CaseOutcome]) -> None:
        """Write rows that are done; they survive the end of this process.

        Raises OutputError if the disk fails.
        """
        outcomes = list(outcomes)
        self._write("".join(map(_line, outcomes)).encode())
        self.done.update((outcome.number, outcome._replace(plan=None)) for outcome in outcomes)

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            text = f"{self.name}: could not be written: {error.strerror}; the rows before are kept"
            raise OutputError(text) from None

    def close(self) -> None:
        """Keep the journal for a run that goes on from it, unless nothing is done."""
        if not self.done and not self._file.closed:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def remove(self) -> None:
        """Forget the journal: the output is there."""
        self.path.unlink(missing_ok=True)
        self._file.close()


def _line(outcome: CaseOutcome) -> str:
    annotations = "" if outcome.annotations == "{}" else f', "annotations": {outcome.annotations}'
    return f'{{"case": {outcome.number}{annotations}, "row": {outcome.row}}}\n'
