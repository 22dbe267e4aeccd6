"""Save a REST endpoint's answers over time: the collection behind the command line and Python."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ftplan.engines.collecting.endpoint import Connection
from ftplan.engines.registry import polls
from ftplan.errors import FtplanError, suggestion
from ftplan.version import __version__

if TYPE_CHECKING:
    from ftplan.engines.collecting.polling import CollectionSummary, Pace


def collect(
    url: str,
    output: str | os.PathLike[str],
    source: str,
    pace: Pace,
    connection: Connection | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> CollectionSummary:
    """Poll *url* and keep all answers in the folder *output*, until *pace* is over or an interrupt ends it.

    Parameters
    ----------
    url
        Of the endpoint. Credentials come from ``FTPLAN_COLLECT_TOKEN``, or ``FTPLAN_COLLECT_USER`` and
        ``FTPLAN_COLLECT_PASSWORD``, of the environment alone.
    output
        A new folder, or a collected one of the same endpoint, in which it goes on. For its layout see
        :mod:`ftplan.engines.collecting`.
    source
        What answers: a key of :func:`ftplan.engines.registry.polls`.
    pace
        How often, and for how long.
    connection
        Timeouts, retries, certificates, the largest answer.
    options
        What else the source takes, such as ``jobs``.
    say
        Hears of outages, of their end, and of polls that were skipped.

    Raises
    ------
    FtplanError
        If an argument is wrong, the folder holds something else, or a new folder's first answer is of another server.
    OutputError
        If the disk fails.
    """
    from ftplan.engines.collecting.asking import Asking
    from ftplan.engines.collecting.collection import CollectionHead
    from ftplan.engines.collecting.endpoint import Endpoint
    from ftplan.engines.collecting.journal import AnswerJournal
    from ftplan.engines.collecting.polling import keep_polling

    if source not in polls():
        raise FtplanError(
            f"--from: unknown source {source!r}{suggestion(source, polls())}: one of {', '.join(polls())}"
        )
    asked = {name: value for name, value in (options or {}).items() if value}
    poll = _poll_of(source, asked)
    endpoint = Endpoint(url, connection or Connection(), sleep=pace.sleep)
    if endpoint.in_clear:
        say("warning: credentials go over the network unencrypted: use https [CREDENTIALS_IN_CLEAR]")
    head = CollectionHead(source, endpoint.url, pace.every_s, pace.now(), asked)
    with AnswerJournal(output, head, __version__) as journal:
        return keep_polling(poll, lambda: Asking(endpoint, journal, pace.now), pace, say)


def source_at(url: str, output: str | os.PathLike[str], connection: Connection) -> str:
    """Return what answers at *url*, or what the collected folder *output* was begun with.

    Raises
    ------
    FtplanError
        If nothing answers, or something else does.
    """
    from ftplan.engines.collecting.endpoint import Endpoint
    from ftplan.engines.collecting.recognition import recognised

    return recognised(Endpoint(url, connection), Path(output))


def _poll_of(source: str, options: Mapping[str, Any]) -> Any:
    """Make what asks."""
    try:
        return resolve_name(polls()[source])(options)
    except re.error as error:
        raise FtplanError(f"--metrics: is no regular expression: {error}") from None
