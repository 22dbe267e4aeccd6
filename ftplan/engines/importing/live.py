"""Ask a live endpoint once for what ``ftplan collect`` asks again and again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import Any

from ftplan.engines.collecting.answers import Answer, answers
from ftplan.engines.collecting.asking import Asking, OutOfReachError
from ftplan.engines.collecting.collection import CollectionHead
from ftplan.engines.collecting.endpoint import Connection, Endpoint
from ftplan.engines.collecting.journal import AnswerJournal
from ftplan.engines.registry import polls
from ftplan.errors import FtplanError


def poll_once(url: str, engine: str, options: Mapping[str, Any], connection: Connection | None = None) -> list[Answer]:
    """Return the answers of one poll, in the order in which they came.

    Raises FtplanError if the endpoint is out of reach, or is none of this engine.
    """
    endpoint = Endpoint(url, connection or Connection(retries=1))

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
