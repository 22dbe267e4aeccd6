"""Ask an endpoint for one poll after the other, and keep what comes; recognise which engine's endpoint it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from ftplan.engines.collecting.collection import head_of, is_collection
from ftplan.engines.collecting.endpoint import Endpoint
from ftplan.engines.collecting.journal import AnswerJournal
from ftplan.engines.registry import collectors
from ftplan.errors import FtplanError, suggestion


def recognised(endpoint: Endpoint, folder: Path) -> str:
    """Return what answers at an endpoint: as the folder says that is gone on in, else by asking.

    Raises FtplanError if nothing answers, or something else does.
    """
    if is_collection(folder):
        return head_of(folder).source
    said = "it answers as none of them"
    for source, sign in collectors().items():
        reply = endpoint.get(sign.page)
        if isinstance(reply.value, dict) and sign.key in reply.value:
            return source
        if not reply.reached or reply.status in (401, 403):
            said = reply.error or said
            break
    raise FtplanError(f"{endpoint.url}: {said}; --from says what should answer: {', '.join(collectors())}")


#: Requests in a row that nothing answers, after which a poll ends.
_GIVEN_UP_AFTER = 2


class OutOfReachError(Exception):
    """The endpoint does not answer: the rest of the poll would only wait."""


class TimeOverError(Exception):
    """The time is over in which a poll has to end."""


def listed(answer: Any, key: str) -> list[dict[str, Any]]:
    """Return the mappings that an answer lists below a key, none where it is something else."""
    found = answer.get(key) if isinstance(answer, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


class Chosen:
    """The jobs that are asked for by id or name, all where none is; *what* messages call a job."""

    def __init__(self, jobs: Sequence[str], what: str) -> None:
        self.jobs, self.what = jobs, what
        self._checked = False

    def of(self, entries: Sequence[Mapping[str, Any]], key: str) -> list[Mapping[str, Any]]:
        """Return those of the entries, with ids under *key*, that are asked for.

        Raises FtplanError if one is unknown when the first answer names others; later ones come and go.
        """
        known = [str(entry.get("name")) for entry in entries]
        checked, self._checked = self._checked, True
        for asked in self.jobs if entries and not checked else ():
            if asked not in known and all(entry[key] != asked for entry in entries):
                text = f"--job {asked}: there is no such {self.what}{suggestion(asked, known)}"
                raise FtplanError(f"{text}: {', '.join(known)}")
        return [entry for entry in entries if not self.jobs or {entry[key], entry.get("name")} & {*self.jobs}]


class Poll(Protocol):
    """Asks an engine for all that is worth knowing now; made once for a collection, with its options.

    It asks by calling *ask*, which keeps each answer and returns it; what it has to remember from one poll to the next,
    it keeps itself.
    """

    def __call__(self, ask: Asking) -> None:
        """Ask for everything once."""


@dataclass
class Asking:
    """The requests of one poll: ``ask("/jobs/overview")`` returns the answer, None where none came, and keeps both."""

    endpoint: Endpoint
    journal: AnswerJournal
    now: Callable[[], datetime]
    left_s: Callable[[], float] = lambda: math.inf  # seconds in which the poll has to end
    #: ``answers``, ``refused``, ``unanswered``: how many requests had an answer, had a refusal (any status but 200, an
    #: answer that is too large or no JSON), or had nothing
    answers: int = 0
    refused: int = 0
    unanswered: int = 0
    bytes: int = 0  # bytes of the lines that were written
    error: str | None = None  # what the first request without an answer failed of
    status: int | None = field(default=None)
    _in_a_row: int = 0

    @property
    def folder(self) -> Path:
        """The collected folder, for what goes on from earlier answers."""
        return self.journal.folder

    def __call__(self, path: str, *, optional: bool = False, **content: Any) -> Any:
        """Ask for *path*, keep what comes, and return the JSON value; None where there is none.

        *optional* is what not every version or job has: 404 is no refusal then. *content* goes onto the line too.

        Raises OutOfReachError if nothing answers the first request, or two in a row; TimeOverError if no time is left.
        """
        left_s = self.left_s()
        if left_s <= 0.0:
            self.unanswered += 1
            raise TimeOverError
        reply = self.endpoint.get(path, left_s)
        value = {"answer": reply.value} if reply.error is None else {"error": reply.error}
        self.bytes += self.journal.add(self.now(), path, reply.status, {**content, **value})
        self.status = reply.status
        if reply.error is None:
            self.answers += 1
            self._in_a_row = 0
            return reply.value
        if optional and reply.status == 404:
            self._in_a_row = 0
            return None
        self.error = self.error or reply.error
        if reply.reached:
            self.refused += 1
            self._in_a_row = 0
            return None
        self.unanswered += 1
        self._in_a_row += 1
        if not self.answers or self._in_a_row == _GIVEN_UP_AFTER:
            raise OutOfReachError(reply.error)
        return None

    def first(self, source: str) -> Any:
        """Ask for what every poll begins with, a mapping that has the key which tells the engine.

        Raises FtplanError if the endpoint answers that it does not know it, or not to us, and the folder has no answers
        yet: it is another server then, or another user; OutOfReachError if there is no answer otherwise.
        """
        sign = collectors()[source]
        value = self(sign.page)
        if isinstance(value, dict) and sign.key in value:
            return value
        if not self.journal.continued and (self.error is None or (self.status is not None and self.status < 500)):
            said = self.error or f"it names no {sign.key}"
            raise FtplanError(
                f"{self.endpoint.url}{sign.page}: is no {source.capitalize()} endpoint that answers us: {said}"
            )
        raise OutOfReachError(self.error)
