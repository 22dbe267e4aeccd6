"""Save what an endpoint says: an engine's answers over time, or what a Prometheus knows of a range of time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ftplan.engines.collecting.endpoint import Connection
from ftplan.engines.registry import polls
from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import Source
from ftplan.version import __version__

if TYPE_CHECKING:
    from ftplan.engines.collecting.polling import CollectionSummary, Pace
    from ftplan.engines.prometheus.collector import RangeSummary
    from ftplan.engines.prometheus.queries import RangeQuery


_MATCHER = re.compile(r'[A-Za-z_][A-Za-z0-9_]*(=|!=|=~|!~)"(?:[^"\\\n]|\\.)*"')


@dataclass(frozen=True)
class RangeRequest:
    """What to ask a Prometheus.

    Attributes
    ----------
    since, until
        The range of time; None: *last_s* before *until*, and now.
    last_s
        Seconds before *until* at which the range begins.
    every_s
        Seconds from one value of a series to the next.
    mapping
        A mapping file; None: the one that comes with ftplan.
    sections
        Sections of it; none: all.
    match
        Label matchers, such as ``job_name="orders"``, that every series has to satisfy.
    """

    since: datetime | None = None
    until: datetime | None = None
    last_s: float | None = None
    every_s: float = 60.0
    mapping: Source | None = None
    sections: Sequence[str] = ()
    match: Sequence[str] = ()
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC), repr=False)

    def range(self) -> tuple[datetime, datetime]:
        """Return the first and the last moment, the last not in the future.

        Raises FtplanError if nothing says where the range begins, or two options do.
        """
        until = self.now() if self.until is None else min(self.until, self.now())
        if (self.since is None) == (self.last_s is None):
            raise FtplanError("which time? give --for TIME (before --to-time, or now), or --from-time")
        if self.since is not None:
            return self.since, until
        try:
            return until - timedelta(seconds=self.last_s or 0.0), until
        except OverflowError:
            raise FtplanError(f"--for: {self.last_s:g} s before {until:%Y-%m-%d} there was no calendar") from None


def collect_ranges(
    url: str,
    output: str | os.PathLike[str],
    request: RangeRequest,
    connection: Connection | None = None,
    *,
    say: Callable[[str], object] = lambda text: None,
    tell: Callable[[str, float | None], object] = lambda stage, share: None,
) -> RangeSummary:
    """Ask the Prometheus at *url* for a range of time, and keep all answers in the folder *output*.

    Raises FtplanError if an argument is wrong, the folder holds something else, or the server does not understand;
    OutputError if the disk fails.

    Parameters
    ----------
    url
        Of the server, without ``/api``. Credentials come from ``FTPLAN_COLLECT_TOKEN``, or ``FTPLAN_COLLECT_USER``
        and ``FTPLAN_COLLECT_PASSWORD``, of the environment alone.
    output
        A new folder, or one of the same server and queries: what it holds is not asked for again. For its layout see
        :mod:`ftplan.engines.collecting`.
    say
        Hears of outages, warnings, and queries without an answer.
    tell
        Hears how far it is: what is being done, and the share.
    """
    from ftplan.engines.collecting.collection import NAME, CollectionHead, head_of
    from ftplan.engines.collecting.endpoint import Endpoint
    from ftplan.engines.collecting.journal import AnswerJournal
    from ftplan.engines.prometheus.collector import RangeAsking
    from ftplan.engines.prometheus.grid import Grid
    from ftplan.engines.prometheus.mapping import options_of

    queries, matchers = _queries(request, say)
    grid = Grid.of(*request.range(), request.every_s)
    endpoint = Endpoint(url, connection or Connection())
    if endpoint.in_clear:
        say("warning: credentials go over the network unencrypted: use https [CREDENTIALS_IN_CLEAR]")
    old = head_of(Path(output)) if (Path(output) / NAME).is_file() else None
    if old is not None and old.source != "prometheus":
        old = None  # the journal says what is wrong
    options = options_of(queries, request.match, request.every_s, old)
    head = CollectionHead("prometheus", endpoint.url, request.every_s, request.now(), options)
    with AnswerJournal(output, head, __version__) as journal:
        return RangeAsking(endpoint, journal, queries, matchers, grid, request.now, say, tell).run()


def _queries(request: RangeRequest, say: Callable[[str], object]) -> tuple[Sequence[RangeQuery], str]:
    """Return the queries of a request, and the matchers that each series has to satisfy.

    Raises FtplanError if the mapping file or a matcher is wrong.
    """
    from ftplan.engines.prometheus.mapping import load_mapping, shipped_mapping

    mapping = shipped_mapping()
    if request.mapping is not None:
        loaded = load_mapping(request.mapping)
        mapping = loaded.value
        for warning in (*loaded.warnings, *loaded.ignored):
            say(f"warning: {warning.message} [{warning.code}]")
    queries = mapping.chosen(request.sections)
    for text in request.match:
        if not _MATCHER.fullmatch(text):
            raise FtplanError(f'--match: {text!r} is no label matcher, such as job_name="orders" or pod=~"flink-.*"')
    matchers = ",".join(request.match)
    for query in queries:
        query.matched(matchers)
    return queries, matchers


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

    Raises FtplanError if an argument is wrong, the folder holds something else, or a new folder's first answer is of
    another server; OutputError if the disk fails.

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

    Raises FtplanError if nothing answers, or something else does.
    """
    from ftplan.engines.collecting.asking import recognised
    from ftplan.engines.collecting.endpoint import Endpoint

    return recognised(Endpoint(url, connection), Path(output))


def _poll_of(source: str, options: Mapping[str, Any]) -> Any:
    """Make what asks."""
    try:
        return resolve_name(polls()[source])(options)
    except re.error as error:
        raise FtplanError(f"--metrics: is no regular expression: {error}") from None
