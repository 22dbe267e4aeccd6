"""Start an engine, make the streams of a query, and have the query ready to run for any plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ftplan.errors import FtplanError
from ftplan.spark_stats.choice import Engine
from ftplan.spark_stats.inputs import LogFile, find_files, inspect_files
from ftplan.spark_stats.operators import known_operators
from ftplan.spark_stats.pipeline import one_sentence
from ftplan.spark_stats.progress import watch
from ftplan.spark_stats.session import Session, open_session
from ftplan.spark_stats.tentative.settings import MOST_WINDOWS, IncidentSetting, TentativeQuery, TopKSetting

Progress = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True)
class Started:
    """A query that is ready to run, the files of its log, and the engine that runs it."""

    query: TentativeQuery
    files: tuple[LogFile, ...]
    engine: str


@contextmanager
def started(
    setting: TopKSetting | IncidentSetting,
    logs: Sequence[str] = (),
    engine: Engine = "auto",
    master: str | None = None,
    progress: Progress = lambda what, share: None,
) -> Iterator[Started]:
    """Yield a query on its streams, on an engine that is stopped afterwards.

    Raises
    ------
    FtplanError
        If the log cannot be read as the mapping says, too much of it is rejected, or it is shorter than a window.
    MissingExtraError
        If pyspark or pysail is not installed.
    """
    files: tuple[LogFile, ...] = ()
    if isinstance(setting, TopKSetting):
        progress("reading the files", None)
        files = tuple(inspect_files(find_files(logs, setting.mapping.input_format), setting.mapping.input_format))
    progress("starting the engine", None)
    with ExitStack() as stack:
        session = stack.enter_context(open_session(engine, master))
        stack.enter_context(one_sentence(session))
        stack.enter_context(watch(session, progress))
        if isinstance(setting, TopKSetting):
            query = stack.enter_context(_of_log(session, files, setting))
        else:
            query = stack.enter_context(_of_traffic(session, setting))
        yield Started(query, files, session.engine)


@contextmanager
def _cached(frame: Any) -> Iterator[Any]:
    """Keep a frame, which several jobs build on, as long as the block runs."""
    kept = frame.cache()
    try:
        yield kept
    finally:
        kept.unpersist()


@contextmanager
def _of_log(session: Session, files: Sequence[LogFile], setting: TopKSetting) -> Iterator[TentativeQuery]:
    from ftplan.spark_stats.tentative.top_k import TopK, counted, survey

    mapping = setting.mapping
    with _cached(counted(session, files, mapping, known_operators(mapping, None))) as slices:
        panes = survey(slices, files, mapping)
        query = TopK(
            session.spark,
            slices.filter("accepted > 0").select("pane", "lane", "key", "records"),
            panes,
            setting.slides,
            setting.k,
            mapping.window_s,
            setting.parallelism,
        )
        spanned = f"the log, which spans {(panes[1] - panes[0] + 1) * mapping.window_s:,.10g} s"
        if query.windows < 1:
            raise FtplanError(f"--window: {setting.slides * mapping.window_s:g} s are longer than {spanned}")
        if query.windows > MOST_WINDOWS:
            text = f"{spanned}, has {query.windows:,} windows, more than {MOST_WINDOWS:,}"
            raise FtplanError(f"--slide: {text}: give a longer slide, or --from and --to")
        yield query


@contextmanager
def _of_traffic(session: Session, setting: IncidentSetting) -> Iterator[TentativeQuery]:
    from ftplan.spark_stats.tentative.incidents import IncidentJoin, TrafficStreams, distinct_incidents, mean_speeds

    traffic = setting.traffic
    streams = TrafficStreams(session.spark, traffic)
    with (
        _cached(mean_speeds(streams.locations())) as speeds,
        _cached(distinct_incidents(streams.reports())) as incidents,
    ):
        yield IncidentJoin(
            session.spark,
            speeds,
            incidents,
            traffic.lanes,
            traffic.seconds,
            setting.window_s,
            setting.slide_s,
            setting.parallelism,
        )
