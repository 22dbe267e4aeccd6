"""The counts of compute_stats.py by DuckDB, Polars and plain PySpark, each in a process of its own.

    python benchmarks/compute_stats_peers.py duckdb flights LOG

Rows by operator, hour and key group, with the same checks of times and keys as ``compute-stats``; rejected rows by
reason. Prints JSON: ``counts`` by operator and hour (start in epoch seconds, records, bytes), ``rejects`` by reason.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from compute_stats_logs import FORMAT, JSON_COLUMNS, PATTERN, TIME, Log

THREADS, KEY_GROUPS = 2, 64
KEYS = {
    "flights": {"by-plane": "TailNum", "by-destination": "Dest"},
    "access": {"by-plane": "host", "by-destination": "path"},
    "users": {"users": "key"},
}
KEYS["jsonl"] = KEYS["flights"]


def _blank(column: str) -> str:
    return f"coalesce(trim({column}), '') = ''"


def sql(rows: str, source: str, dialect: str) -> str:
    """Return the first part of a query: ``judged`` with ``reason``, ``w`` (hours since the epoch), keys and bytes."""
    spark = dialect == "spark"
    keys = list(KEYS[rows].values())
    broken = "false"
    if rows == "access":
        named = f"SELECT regexp_extract(line, '{PATTERN}', ['host', 'time', 'path']) AS m FROM {source}"
        source = f"(SELECT m.host AS host, m.time AS time, m.path AS path FROM ({named}))"
        broken, times = "path = ''", ("time",)
        hour = f"CAST(epoch(try_strptime(time, '{FORMAT}')) AS BIGINT) // 3600"
    elif rows == "users":
        times, hour = ("time",), "TRY_CAST(time AS BIGINT) // 3600"
    else:
        times = TIME
        division, origin = ("div", "DATE'1970-01-01'") if spark else ("//", "DATE '1970-01-01'")
        year, month, day, clock = (f"TRY_CAST({name} AS INTEGER)" for name in TIME)
        if spark:
            days = f"datediff(make_date({year}, {month}, {day}), {origin})"
        else:  # TRY(make_date(…)) takes four times as long
            days = f"(TRY_CAST(Year || '-' || Month || '-' || DayofMonth AS DATE) - {origin})"
        hour = (
            f"CASE WHEN {clock} BETWEEN 0 AND 2400 AND {clock} % 100 < 60 THEN {days} * 24 + {clock} {division} 100 END"
        )
    noun = "time columns" if len(times) > 1 else f"time column {times[0]}"
    # Blanks are looked for only where there is no hour, which saves time.
    empty = f"w IS NULL AND ({' OR '.join(map(_blank, times))})"
    checks = [(broken, "not as --pattern says"), (empty, f"{noun} empty")]
    checks += [("w IS NULL", f"{noun} unreadable"), *((_blank(key), f"key column {key} empty") for key in keys)]
    size = "0"
    if rows == "users":
        size = "TRY_CAST(bytes AS BIGINT)"
        checks.append((f"{_blank('bytes')} IS FALSE AND coalesce({size}, -1) < 0", "bytes no number from 0 up"))
    groups = (f"CASE WHEN reason IS NULL THEN hash({key}) % {KEY_GROUPS} END AS g{i}" for i, key in enumerate(keys))
    cases = " ".join(f"WHEN {condition} THEN '{reason}'" for condition, reason in checks)
    return f"""WITH timed AS (SELECT *, {hour} AS w FROM {source}),
        reasoned AS (SELECT *, CASE {cases} END AS reason FROM timed),
        judged AS (SELECT reason, CASE WHEN reason IS NULL THEN w END AS w,
            {", ".join(groups)},
            {size} AS size FROM reasoned)"""


def summed(log: Log, tuples: Iterable[tuple[int, str | None, int | None, int, int]]) -> dict[str, Any]:
    """Add up tuples of (entry, reason, hour, records, bytes) over key groups; reasons count in the first entry."""
    operators = list(KEYS[log.rows])
    counts: dict[str, dict[int, list[int]]] = {name: defaultdict(lambda: [0, 0]) for name in operators}
    rejects: dict[str, int] = defaultdict(int)
    for entry, reason, hour, records, size in tuples:
        if reason is None:
            cell = counts[operators[entry]][int(hour or 0) * 3600]
            cell[0] += records
            cell[1] += int(size or 0)
        elif entry == 0:
            rejects[reason] += records
    return {"counts": counts, "rejects": rejects}


def duckdb(log: Log) -> dict[str, Any]:
    """One scan with grouping sets, which beat UNNEST of two keys."""
    import duckdb as db

    names = f"'{log.path}'"
    if log.rows == "access":
        text = "header=false, auto_detect=false, delim='\\x01', quote='', escape='', columns={'line': 'VARCHAR'}"
        source = f"read_csv({names}, {text})"
    elif log.rows == "jsonl":
        source = f"read_ndjson({names}, columns={dict.fromkeys(JSON_COLUMNS, 'VARCHAR')})"
    else:
        source = f"read_csv({names}, header=true, all_varchar=true, delim=',')"
    sets = [f"(reason, w, g{i})" for i in range(len(KEYS[log.rows]))]
    entry = "GROUPING(g0)" if len(sets) > 1 else "0"
    query = f"""{sql(log.rows, source, "duckdb")},
        grouped AS (SELECT {entry} AS entry, reason, w, count(*) AS n, sum(size) AS size FROM judged
            GROUP BY GROUPING SETS ({", ".join(sets)}))
        SELECT entry, reason, w, sum(n)::BIGINT, sum(size)::BIGINT FROM grouped GROUP BY ALL"""
    with db.connect() as connection:
        connection.execute(f"SET threads = {THREADS}")
        return summed(log, connection.sql(query).fetchall())


def polars(log: Log) -> dict[str, Any]:
    """Flights only: two groupings of one lazy frame, which Polars scans once."""
    import polars as pl

    def blank(name: str) -> pl.Expr:
        return pl.col(name).str.strip_chars().fill_null("") == ""

    year, month, day, clock = (pl.col(name) for name in TIME)
    date = pl.concat_str([year, month, day], separator="-").str.to_date("%Y-%-m-%-d", strict=False)
    hhmm = clock.cast(pl.Int64, strict=False)
    good = hhmm.is_between(0, 2400) & (hhmm % 100 < 60)
    keys = list(KEYS[log.rows].values())
    reason = (
        pl.when(pl.any_horizontal(blank(name) for name in TIME)).then(pl.lit("time columns empty"))
        .when(pl.col("w").is_null()).then(pl.lit("time columns unreadable"))
    )  # fmt: skip
    for key in keys:
        reason = reason.when(blank(key)).then(pl.lit(f"key column {key} empty"))
    frame = pl.scan_csv(log.path, infer_schema=False).select(*TIME, *keys)
    frame = frame.with_columns(pl.when(good).then(date.cast(pl.Int64) * 24 + hhmm // 100).alias("w"))
    frame = frame.with_columns(reason.otherwise(None).alias("reason"))
    accepted = pl.col("reason").is_null()
    kept = [pl.when(accepted).then(pl.col(k).hash() % KEY_GROUPS).alias(f"g{i}") for i, k in enumerate(keys)]
    judged = frame.select("reason", pl.when(accepted).then(pl.col("w")).alias("w"), *kept)
    queries = [judged.group_by("reason", "w", f"g{i}").agg(pl.len()) for i in range(len(keys))]
    tables = [t.group_by("reason", "w").agg(pl.col("len").sum()) for t in pl.collect_all(queries, engine="streaming")]
    return summed(log, ((i, reason, w, n, 0) for i, table in enumerate(tables) for reason, w, n in table.iter_rows()))


def _by_hour(table: Any) -> Iterable[tuple[Any, ...]]:
    """Yield what :func:`summed` takes from an Arrow table of counts by key group."""
    sums = table.group_by(["entry", "reason", "w"]).aggregate([("count", "sum")])
    columns = (sums[name].to_pylist() for name in ("entry", "reason", "w", "count_sum"))
    return ((*row, 0) for row in zip(*columns, strict=True))


def pyspark(log: Log, explode: bool) -> dict[str, Any]:
    """Flights only, as ftplan's session is: two groupings, or (*explode*) one of rows that stand for both keys."""
    import shutil
    import tempfile

    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    from ftplan.spark_stats.session import _driver_memory_mb

    folder = tempfile.mkdtemp(prefix="ftplan-bench-")
    builder = SparkSession.builder.master(f"local[{THREADS}]").config("spark.local.dir", folder)
    builder = builder.config("spark.driver.memory", f"{_driver_memory_mb()}m").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", 2 * THREADS).config("spark.log.level", "ERROR")
    spark = builder.config("spark.sql.ansi.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        spark.read.csv(log.files(), header=True).createOrReplaceTempView("log")
        judged = spark.sql(sql(log.rows, "log", "spark") + " SELECT * FROM judged")
        entries = range(len(KEYS[log.rows]))
        if explode:
            keyed = F.array(*(F.struct(F.lit(i).alias("entry"), F.col(f"g{i}").alias("g")) for i in entries))
            keyed = F.when(F.col("reason").isNotNull(), F.slice(keyed, 1, 1)).otherwise(keyed)
            rows = judged.select("reason", "w", F.inline(keyed)).groupBy("entry", "reason", "w", "g")
            return summed(log, _by_hour(rows.count().toArrow()))
        tables = [judged.groupBy(F.lit(i).alias("entry"), "reason", "w", f"g{i}").count().toArrow() for i in entries]
        return summed(log, (row for table in tables for row in _by_hour(table)))
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


PEERS = {
    "duckdb": duckdb,
    "polars": polars,
    "pyspark": lambda log: pyspark(log, explode=False),
    "pyspark-exploded": lambda log: pyspark(log, explode=True),
}


def main() -> None:
    peer, rows, path = sys.argv[1:]
    print(json.dumps(PEERS[peer](Log(peer, rows, path, 0))))


if __name__ == "__main__":
    main()
