"""Where an engine's answers come from: files, a folder of files, a collected folder, a URL or standard input.

A live endpoint is asked once for what ``ftplan collect`` asks again and again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import Any

from ftplan.engines.collecting.asking import Asking, OutOfReachError
from ftplan.engines.collecting.collection import Answer, CollectionHead, answers, is_collection
from ftplan.engines.collecting.endpoint import Connection, Endpoint
from ftplan.engines.collecting.journal import AnswerJournal
from ftplan.engines.registry import polls
from ftplan.errors import FtplanError
from ftplan.io.documents import STANDARD_INPUT, decoded, display_name, parse_text, read_bytes
from ftplan.model.names import natural_key


def poll_once(url: str, engine: str, options: Mapping[str, Any]) -> list[Answer]:
    """Return the answers of one poll, in the order in which they came.

    Raises FtplanError if the endpoint is out of reach, or is none of this engine.
    """
    endpoint = Endpoint(url, Connection(retries=1))

    def now() -> datetime:
        return datetime.now(UTC)

    with TemporaryDirectory(prefix="ftplan-") as folder:
        head = CollectionHead(engine, endpoint.url, 1.0, now(), dict(options))
        journal = AnswerJournal(Path(folder) / "poll", head, "")
        try:
            resolve_name(polls()[engine])(options)(Asking(endpoint, journal, now))
        except OutOfReachError as error:
            raise FtplanError(f"{endpoint.url}: {error}") from None
        finally:
            journal.close()
        return list(answers(journal.folder))


_SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class EngineSource:
    """What was given to import, opened but not read."""

    name: str  # what messages call it
    #: ``url``, ``engine``, ``job``: of a live endpoint, which is polled once as ``ftplan collect`` does; else None
    url: str | None = None
    engine: str | None = None
    job: str | None = None
    collection: Path | None = None  # the folder that ``ftplan collect`` wrote, else None
    given: tuple[str, ...] = ()  # the paths as they were given
    #: The files, and those of plain folders, in natural order; ``-`` is standard input. Empty for the other two.
    paths: tuple[str, ...] = ()
    #: What was wrong with each of several documents that could not be read, once they were asked for.
    unread: list[str] = field(default_factory=list, compare=False)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each file; what lies in a folder and is no text is passed over.

        Raises FtplanError where a file that was given is missing or no UTF-8 text.
        """
        for path in self.paths:
            name = display_name(path)
            try:
                text = decoded(read_bytes(path, "saved answer"), name)
            except FtplanError:
                if path in self.given:
                    raise
                continue
            yield name, text

    def documents(self, needless: Callable[[str], object] = lambda text: False) -> Iterator[tuple[str, Any]]:
        """Yield the name and the data of each file that is JSON or YAML by its extension, or the only one.

        Texts that are *needless* are not parsed. What else of several files cannot be read is left out, and noted in
        ``unread``: ``api.importing`` warns of it, or names it where an importer then lacks something.

        Raises FtplanError where a file is missing, or the only one cannot be read.
        """
        for path in self.paths:
            if len(self.paths) > 1 and not path.lower().endswith((".json", ".yaml", ".yml")):
                continue
            name = display_name(path)
            data = read_bytes(path, "saved answer")
            try:
                text = decoded(data, name)
                if needless(text):
                    continue
                value = parse_text(text, name, path)
            except FtplanError as error:
                if len(self.paths) == 1:
                    raise
                self.unread.append(str(error))
                continue
            yield name, value

    def answers(self) -> Iterator[Answer]:
        """Yield the answers of an endpoint or a collected folder as they came, or documents of files by their names.

        Raises FtplanError if an endpoint cannot be reached or is another one, or what was saved is damaged.
        """
        if self.collection is not None:
            yield from answers(self.collection)
        if self.url is not None:
            yield from self._polled
        for name, value in self.documents():
            yield Answer(None, name, value)

    @cached_property
    def latest(self) -> dict[str, Any]:
        """The last answer to each path of an endpoint or a collected folder; of files, the documents by name."""
        return {answer.path: answer.value for answer in self.answers()}

    @cached_property
    def _polled(self) -> list[Answer]:
        from ftplan.engines.registry import polls

        assert self.url is not None
        if self.engine is None or self.engine not in polls():
            raise FtplanError(f"{self.name}: {self.engine} answers at no URL; give what its tools print as files")
        return poll_once(self.url, self.engine, {"jobs": [self.job]} if self.job else {})


def open_source(
    given: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    engine: str | None = None,
    job: str | None = None,
) -> EngineSource:
    """Return what was given to import: one URL, one collected folder, or any number of files and folders of files.

    Raises FtplanError if a file is missing, a folder holds nothing, or a URL or a collected folder has company.
    """
    listed = [os.fspath(item) for item in ([given] if isinstance(given, (str, os.PathLike)) else given)]
    if not listed:
        raise FtplanError("import-topology: give a file, a folder or a URL")
    name = display_name(listed[0]) if len(listed) == 1 else f"{display_name(listed[0])} and {len(listed) - 1} more"
    if any(item.lower().startswith(_SCHEMES) for item in listed):
        if len(listed) > 1:
            raise FtplanError("import-topology: a URL stands for a whole cluster; give it alone")
        return EngineSource(listed[0], url=listed[0], engine=engine, job=job)
    paths: list[str] = []
    for item in listed:
        if item == STANDARD_INPUT or not Path(item).is_dir():
            paths.append(item)
            continue
        if is_collection(Path(item)):
            if len(listed) > 1:
                raise FtplanError(f"{display_name(item)}: is a collected folder; give it alone")
            return EngineSource(name, collection=Path(item))
        paths += _files(Path(item))
    return EngineSource(name, given=tuple(listed), paths=tuple(paths))


def _files(folder: Path) -> list[str]:
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
        files = [str(entry) for entry in entries if entry.is_file()]
    except OSError as error:
        raise FtplanError(f"{display_name(folder)}: cannot be read: {error.strerror}") from None
    if not entries:
        raise FtplanError(f"{display_name(folder)}: holds no files")
    return sorted(files, key=natural_key)
