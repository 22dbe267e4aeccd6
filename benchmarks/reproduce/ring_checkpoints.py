"""Kumbhare et al.'s figure 7: how large incremental checkpoints are by interval, on two real logs.

State is a count for each key seen so far, so that a checkpoint of what changed holds one entry for each key of the
interval. Engines that send whole key groups send more, which stands beside it.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ftplan.model.topology import FloatArray, IntArray
from reproduce.checks import at_most, mean, number, rising
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GROUPS = 128
#: Words a second at which the words are replayed, and of which each log has intervals, in seconds.
RATES = (1_000, 5_000, 15_000)
INTERVALS = {
    "Wikipedia": (2.0, 10.0, 60.0, 300.0, 900.0, 3600.0),
    "Houston": (300.0, 900.0, 3600.0, 21_600.0, 86_400.0),
    "words": (0.25, 0.5, 1.0, 2.0),
}


class Stream(NamedTuple):
    """Records of a log in order: when, (R,) seconds from 0, and which key, (R,) in the order in which keys come."""

    name: str
    time: FloatArray
    key: IntArray
    group: IntArray  # (K,) key group of each key


def stream(name: str, time: ArrayLike, keys: Sequence[Hashable]) -> Stream:
    """Return records in the order of their times as a stream; keys are hashed into key groups."""
    order = np.argsort(np.asarray(time, dtype=np.float64), kind="stable")
    code, known = pd.factorize(np.array([str(key) for key in keys], dtype=object)[order])
    group = np.array([zlib.crc32(key.encode()) % GROUPS for key in known], dtype=np.int64)
    at = np.asarray(time, dtype=np.float64)[order]
    return Stream(name, at - at[0], code.astype(np.int64), group)


class Shares(NamedTuple):
    """Per interval, each (I,): records, and what changes of all keys, of all key groups, and of their bytes."""

    records: FloatArray
    keys: FloatArray
    key_groups: FloatArray
    bytes: FloatArray


def changed(log: Stream, interval_s: float) -> Shares:
    """Return what changes in each whole interval of a log, as shares of what there is at its end; O(records).

    A key group has as many bytes as keys that came so far: all keys have state of one size.
    """
    ends = np.arange(1, int(log.time[-1] // interval_s) + 1) * interval_s
    cuts = np.searchsorted(log.time, ends, side="left")
    sizes = np.zeros(GROUPS)
    known, begin = 0, 0
    rows = []
    for end in cuts.tolist():
        now = np.unique(log.key[begin:end])
        new = now[now >= known]  # keys are numbered in the order in which they come
        sizes += np.bincount(log.group[new], minlength=GROUPS)
        known += len(new)
        groups = np.unique(log.group[now])
        rows.append((end - begin, len(now) / max(known, 1), len(groups) / GROUPS, sizes[groups].sum() / max(known, 1)))
        begin = end
    return Shares(*np.array(rows, dtype=np.float64).reshape(-1, 4).T)


@cache
def wikipedia() -> tuple[dict[str, Stream], Stream]:
    """Return a day of edits by channel, user and page, and the words of their comments, one a record."""
    with gzip.open(EXAMPLES / "wikiticker" / "wikiticker-2015-09-12-sampled.json.gz", "rt", encoding="utf-8") as file:
        edits = sorted((json.loads(line) for line in file), key=lambda edit: str(edit["time"]))
    time = pd.to_datetime([edit["time"] for edit in edits]).as_unit("ms").astype("int64").to_numpy() / 1000.0
    by = {
        f"Wikipedia by {key}": stream(f"Wikipedia by {key}", time, [edit[key] for edit in edits])
        for key in ("channel", "user", "page")
    }
    words = [word for edit in edits for word in re.findall(r"\w+", (edit["comment"] or "").lower())]
    return by, stream("words of comments", range(len(words)), words)


@cache
def houston() -> dict[str, Stream]:
    """Return a year of departures by destination and by plane, to the minute."""
    log = pd.read_csv(
        EXAMPLES / "flights" / "hflights.csv.gz", usecols=["Month", "DayofMonth", "DepTime", "Dest", "TailNum"]
    ).dropna()
    day = pd.to_datetime({"year": 2011, "month": log.Month, "day": log.DayofMonth}).dt.day_of_year - 1
    time = (day * 86_400 + (log.DepTime // 100 % 24) * 3600 + log.DepTime % 100 * 60).to_numpy(dtype=np.float64)
    return {
        f"Houston by {name}": stream(f"Houston by {name}", time, list(log[key]))
        for name, key in (("destination", "Dest"), ("plane", "TailNum"))
    }


def _streams(quick: bool) -> Iterator[tuple[Stream, Sequence[float]]]:
    by, words = wikipedia()
    for rate in RATES:
        log = Stream(f"words at {rate:,}/s", words.time / rate, words.key, words.group)
        yield log, INTERVALS["words"][2:] if quick else INTERVALS["words"]
    for log in (*by.values(), *houston().values()):
        yield log, INTERVALS[log.name.split()[0]][-2 if quick else 0 :]


def make(quick: bool) -> Outcome:
    """Return the shares in the second half of each log by interval, and how they go on changing within it."""
    rows = []
    for log, intervals in _streams(quick):
        for interval in intervals:
            found = changed(log, interval)
            half = len(found.keys) // 2
            three = half + (len(found.keys) - half) // 2
            early, late = (found.keys[half:three], found.keys[three:])
            ratio = float(late.mean() / early.mean()) if early.size and early.mean() > 0.0 else None
            shares = [float(values[half:].mean()) for values in found]
            rows.append((log.name, interval, *shares, ratio))
    columns = ("log", "interval_s", "records", "keys", "key_groups", "bytes_of_key_groups", "last_quarter_over_third")
    table = Table(columns, tuple(rows))
    drawn = Table(columns, tuple(row for row in rows if str(row[0]).startswith("words")))
    return Outcome(table, lines(drawn, "interval_s", ["keys"], "log", label="share of the state that changed"))


def _smaller(table: Table) -> Iterator[Check]:
    for log in table.keys("log"):
        shares = table.column("keys", log=log)
        yield rising(f"{log}, by interval", shares)


def _settles(table: Table) -> Iterator[Check]:
    for log in table.keys("log"):
        if log.startswith("words"):
            ratios = [value for value in table.column("last_quarter_over_third", log=log) if value is not None]
            yield at_most(f"{log}: largest change, times", max(max(r, 1.0 / r) for r in ratios), 1.5)


def _seven_percent(table: Table) -> Iterator[Check]:
    shares = [table.value("keys", log=f"words at {rate:,}/s", interval_s=2.0) for rate in RATES]
    text = ", ".join(f"{rate:,}/s {number(share)}" for rate, share in zip(RATES, shares, strict=True))
    yield Check(min(shares) <= 0.07 <= max(shares), f"after 2 s of words at {text}")


def _whole_groups(table: Table) -> Iterator[Check]:
    for log in table.keys("log"):
        by_key, by_group = (mean(table.column(name, log=log)) for name in ("keys", "bytes_of_key_groups"))
        yield Check(by_key < by_group, f"{log}: {number(by_key)} by key, {number(by_group)} by key group")


ROWS = (
    Row(
        "ring-figure-7",
        "Kumbhare2015",
        "figure 7",
        "size of incremental checkpoints by their interval, relative to the state",
        make,
        (
            Claim(
                "incremental checkpoints are the smaller the shorter the interval is",
                "section VIII-A",
                "the share of keys that changed rises with the interval, in each log",
                _smaller,
            ),
            Claim(
                "the size of a checkpoint after 2 s settles around 7 % of the state",
                "section VIII-A",
                "7 % lies between the shares at the lowest and the highest rate of words, at 2 s",
                _seven_percent,
            ),
            Claim(
                "it settles",
                "section VIII-A",
                "in the last quarter of the words the mean share is within 1.5 times that of the quarter before",
                _settles,
            ),
            Claim(
                "checkpoints by key are smaller than those of whole key groups that changed (not a claim of the paper)",
                "section V-C",
                "the mean share of keys is below the share of bytes of the key groups that changed, in each log",
                _whole_groups,
            ),
        ),
        "the rate, which the paper does not give for this figure (15,000 words/s in figure 8b); the corpus (words of "
        "the comments of a day of Wikipedia instead of books; beside them edits and departures as they were logged); "
        "state of one size for each key; 128 key groups; means over the second half of each log",
    ),
)
