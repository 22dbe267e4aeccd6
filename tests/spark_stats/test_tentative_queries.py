"""The two queries for many plans at once, against DuckDB over records that were dropped one by one."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from pyspark.sql import functions as F

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.tentative.incidents import THRESHOLD, TrafficStreams, users_of
from ftplan.spark_stats.tentative.run import Started, started
from ftplan.spark_stats.tentative.settings import IncidentSetting, TopKSetting, Traffic
from tests.spark_stats.conftest import write_csv

PAGES, SERVERS, K, SLIDE, SLIDES = 25, 9, 4, 10, 3
LIVE = np.random.default_rng(3).random((7, 6)) < 0.6


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 400 records over 90 s, one of which has no page."""
    random = np.random.default_rng(1)
    page = np.minimum(random.geometric(0.15, 400), PAGES)
    rows = [[1_000 + i * 90 // 400, f"p{p}", f"s{random.integers(SERVERS)}"] for i, p in enumerate(page)]
    rows[7][1] = ""
    return write_csv(tmp_path_factory.mktemp("log") / "log.csv", [["time", "page", "server"], *rows])


def setting(**changed: Any) -> TopKSetting:
    keys = (("top", ("page",)), ("count", ("server",)))
    mapping = {"time_columns": ("time",), "time_format": "epoch-s", "keys": keys, "key_groups": 6, "window_s": SLIDE}
    return TopKSetting(LogMapping(**{**mapping, **changed}), K, SLIDES, (6, 3, 1))


@pytest.fixture(scope="module")
def ranked(session: Session, log: Path) -> Iterator[Started]:
    with started(setting(), [str(log)]) as run:
        yield run


def records(session: Session, log: Path) -> duckdb.DuckDBPyConnection:
    """Return DuckDB with the records: second, page, and the lane that the server's hash says."""
    servers = session.spark.createDataFrame([(f"s{i}",) for i in range(SERVERS)], "server string")
    lanes = servers.select("server", F.pmod(F.xxhash64("server"), F.lit(6)).alias("lane")).toArrow()
    db = duckdb.connect()
    db.register("lanes", lanes)
    db.create_function("crc32", lambda text: zlib.crc32(text.encode()), ["VARCHAR"], "BIGINT")
    db.execute(f"""create table records as
        select time // {SLIDE} as pane, page, lane from read_csv('{log}') join lanes using (server)
        where page is not null""")
    return db


def top(db: duckdb.DuckDBPyConnection, live: list[int]) -> set[tuple[int, str]]:
    """Return (window, page) of the commonest pages, of the records on these lanes only, window by window."""
    first, last = db.execute("select min(pane), max(pane) from records").fetchone() or (0, -1)
    found: set[tuple[int, str]] = set()
    for window in range(first, last + 2 - SLIDES):
        rows = db.execute(
            f"""select page from records
            where pane between {window} and {window + SLIDES - 1} and list_contains({live}::bigint[], lane)
            group by page order by count(*) desc, crc32(page), page limit {K}"""
        ).fetchall()
        found.update((window, page) for (page,) in rows)
    return found


def test_top_k_keeps_what_duckdb_keeps(ranked: Started, session: Session, log: Path) -> None:
    db = records(session, log)
    whole = top(db, [*range(6)])
    windows = sorted({window for window, _ in whole})
    expected = []
    for live in LIVE:
        left = top(db, np.flatnonzero(live).tolist()) & whole
        expected.append([sum(entry[0] == window for entry in left) for window in windows])
    assert ranked.query.kept({"log": LIVE}).tolist() == expected
    assert ranked.query.flows().outputs.tolist() == [K] * len(windows)


def test_top_k_measures_what_its_tasks_send(sail: Session, ranked: Started, log: Path) -> None:
    db = records(sail, log)
    flows = ranked.query.flows()
    first = db.execute("select lane, lane // 2, count(distinct (pane, page)) from records group by lane order by lane")
    assert flows.edges["count", "merge"].tolist() == [list(row) for row in first.fetchall()]
    second = db.execute("select lane // 2 as t, 0, count(distinct (pane, page)) from records group by t order by t")
    assert flows.edges["merge", "top"].tolist() == [list(row) for row in second.fetchall()]
    assert flows.seconds == 90.0
    assert ranked.files[0].path == str(log)


def test_a_log_shorter_than_a_window_or_full_of_rejects_is_refused(sail: Session, log: Path) -> None:
    long = TopKSetting(setting().mapping, K, 60, (6, 3, 1))
    with (
        pytest.raises(FtplanError, match=r"--window: 600 s are longer than the log, which spans 90 s"),
        started(long, [str(log)]),
    ):
        pass
    outlier = write_csv(log.parent / "outlier.csv", [["time", "page", "server"], [0, "p", "s"], [10**8, "p", "s"]])
    with (
        pytest.raises(FtplanError, match=r"--slide: the log, which spans 100,000,010 s, has 9,999,999 windows, more"),
        started(setting(), [str(outlier)]),
    ):
        pass
    strict = setting(max_rejects=0.0)
    with (
        pytest.raises(FtplanError, match=r"log\.csv: 1 of 400 rows .* rejected.* key column page empty"),
        started(strict, [str(log)]),
    ):
        pass
    with (
        pytest.raises(FtplanError, match=r"no column 'server2'"),
        started(setting(keys=(("top", ("server2",)),)), [str(log)]),
    ):
        pass


TRAFFIC = Traffic(
    seconds=60,
    users=90,
    segments=12,
    rate=30,
    zipf=0.5,
    incident_every_s=3,
    jam_share=0.5,
    jam_s=20,
    lanes=6,
    seed=4,
)
WINDOW, STEP = 20, 5


@pytest.fixture(scope="module")
def joined(session: Session) -> Iterator[Started]:
    with started(IncidentSetting(TRAFFIC, WINDOW, STEP, (6, 3, 2, 1))) as run:
        yield run


@pytest.fixture(scope="module")
def streams(session: Session) -> duckdb.DuckDBPyConnection:
    """Return DuckDB with both streams, record by record."""
    made = TrafficStreams(session.spark, TRAFFIC)
    db = duckdb.connect()
    for name, frame in (("locations", made.locations()), ("reports", made.reports()), ("incidents", made.incidents())):
        db.register(name, frame.toArrow())
    return db


def jams(db: duckdb.DuckDBPyConnection, locations: list[int], reports: list[int]) -> set[tuple[int, int, int]]:
    """Return (window, segment, second) of incidents that caused jams, of the records on these lanes, by windows."""
    found = set()
    for window in range((TRAFFIC.seconds - WINDOW) // STEP + 1):
        inside = f"second >= {window * STEP} and second < {window * STEP + WINDOW}"
        rows = db.execute(f"""
            with place as (select * from locations where {inside} and list_contains({locations}::bigint[], lane)),
            incident as (select distinct segment, second from reports
                         where {inside} and list_contains({reports}::bigint[], lane))
            select incident.segment, incident.second from incident join place
            on incident.segment = place.segment and place.second >= incident.second
            group by all having avg(speed) < {THRESHOLD}""").fetchall()
        found.update((window, *row) for row in rows)
    return found


def test_the_join_keeps_what_duckdb_keeps(joined: Started, streams: duckdb.DuckDBPyConnection) -> None:
    everything = [*range(TRAFFIC.lanes)]
    whole = jams(streams, everything, everything)
    assert len(whole) > 20
    other = np.roll(LIVE, 1, axis=0)
    kept = joined.query.kept({"locations": LIVE, "reports": other})
    for plan in range(len(LIVE)):
        left = jams(streams, np.flatnonzero(LIVE[plan]).tolist(), np.flatnonzero(other[plan]).tolist())
        expected = [sum(entry[0] == window for entry in left & whole) for window in range(kept.shape[1])]
        assert kept[plan].tolist() == expected


def test_the_join_measures_what_its_tasks_send(
    sail: Session, joined: Started, streams: duckdb.DuckDBPyConnection
) -> None:
    flows = joined.query.flows()
    everything = [*range(TRAFFIC.lanes)]
    whole = jams(streams, everything, everything)
    assert flows.outputs.tolist() == [sum(entry[0] == w for entry in whole) for w in range(len(flows.outputs))]
    speeds = streams.execute("""select lane, lane * 2 // 6, count(distinct (second, segment)) from locations
        group by lane order by lane""").fetchall()
    assert flows.edges["speeds", "jams"].tolist() == [list(row) for row in speeds]
    # tasks of 3 and of 2: lanes 2 and 3 are of one and of different ones
    sent = streams.execute("""select lane * 3 // 6 as a, lane * 2 // 6 as b, count(distinct (second, segment))
        from reports group by a, b order by a, b""").fetchall()
    assert flows.edges["incidents", "jams"].tolist() == [list(row) for row in sent]


def test_traffic_is_as_asked(sail: Session, streams: duckdb.DuckDBPyConnection) -> None:
    count, turns, last = streams.execute("select count(*), count(distinct user), max(second) from locations").fetchone()  # type: ignore[misc]
    assert (count, turns, last) == (TRAFFIC.rate * TRAFFIC.seconds, TRAFFIC.users, TRAFFIC.seconds - 1)
    assert streams.execute("select distinct count(*) from locations group by user").fetchall() == [(20,)]
    by_segment = streams.execute("select segment, count(distinct user) from locations group by all order by all")
    users = users_of(TRAFFIC)
    assert dict(by_segment.fetchall()) == dict(enumerate(users.tolist()))
    assert users.sum() == TRAFFIC.users
    share = np.arange(1, 13) ** -0.5
    assert np.abs(users - TRAFFIC.users * share / share.sum()).max() <= 1.0
    # an incident each third second, reported by all who are there
    times = streams.execute("select second from incidents order by second").fetchall()
    assert [t for (t,) in times] == [*range(0, TRAFFIC.seconds, TRAFFIC.incident_every_s)]
    reported = streams.execute("select segment, second, count(*) from reports group by all").fetchall()
    assert all(number == users[segment] for segment, _, number in reported)
    # slow for 20 s after an incident with a jam, and at no other time
    slow = """select speed < 2000, exists (from incidents i where jam and i.segment = l.segment
        and l.second between i.second and i.second + 19) from locations l"""
    assert all(a == b for a, b in streams.execute(slow).fetchall())
    jam = streams.execute("select count(*) filter (jam) / count(*) from incidents").fetchone()
    assert jam is not None
    assert 0.2 < jam[0] < 0.8
