"""From options to a question: which query, on what, with which tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

from ftplan.errors import FtplanError
from ftplan.io.options.fields import flag
from ftplan.simulation.tentative_output.options import OWN, PARALLELISM, QUERIES, WINDOWS, TentativeOutputOptions
from ftplan.simulation.tentative_output.outcome import QueryShape
from ftplan.spark_stats.log_formats import NAMED_COLUMNS
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.tentative.settings import MOST_WINDOWS, IncidentSetting, TopKSetting, Traffic

#: Most lanes, so that the tasks of lanes stay few.
LANES = 1_024
#: Most slides of a window.
SLIDES = 10_000


class TentativeQuestion(NamedTuple):
    """A query by name, what the engine is asked, the way of its records, and which operators join by key."""

    query: str
    setting: TopKSetting | IncidentSetting
    shape: QueryShape
    edges: tuple[tuple[str, str], ...]
    joins: tuple[str, ...] = ()


def question_of(options: TentativeOutputOptions, logs: Sequence[str], reading: Mapping[str, Any]) -> TentativeQuestion:
    """Return what is asked; *reading* are fields of :class:`ftplan.spark_stats.mapping.LogMapping`.

    Raises
    ------
    FtplanError
        If options contradict each other, or one is missing.
    """
    if options.replicas is not None and options.ratios is not None:
        raise FtplanError("--replicas and --ratios exclude each other: judge a plan, or plan for shares of the tasks")
    query = options.query or ("top-k" if logs else "incidents")
    if query == "top-k" and not logs:
        raise FtplanError("--query top-k: LOG is missing: name files, globs or folders")
    if query == "incidents" and logs:
        raise FtplanError("--query incidents makes its own streams: leave out LOG")
    for other in QUERIES:
        for name in options.given(other) if other != query else ():
            spelled = TentativeOutputOptions.options()[name].flag or flag(name)
            raise FtplanError(f"{spelled} belongs to --query {other}, and this is {query}")
    parallelism = options.parallelism or PARALLELISM[query]
    if len(parallelism) != len(PARALLELISM[query]):
        raise FtplanError(f"--parallelism: {query} has {len(PARALLELISM[query])} operators, not {len(parallelism)}")
    if parallelism[-1] != 1:
        raise FtplanError(f"--parallelism: the last operator gathers the output: 1 task, not {parallelism[-1]}")
    asked = {**OWN[query], **options.given(query)}
    if query == "top-k":
        return _top_k(options, parallelism, asked, reading)
    return _incidents(options, parallelism, asked)


def _slides(options: TentativeOutputOptions, query: str) -> tuple[float, float, int]:
    """Return seconds of a window and a slide, and how many slides a window has."""
    window_s, slide_s = (
        given or default for given, default in zip((options.window_s, options.slide_s), WINDOWS[query], strict=True)
    )
    slides = round(window_s / slide_s)
    if slides < 1 or abs(slides * slide_s - window_s) > 1e-6 * slide_s:
        raise FtplanError(f"--window: {window_s:g} s are no whole number of slides of {slide_s:g} s (--slide)")
    if slides > SLIDES:
        text = f"a window of {window_s:g} s has {slides:,} slides of {slide_s:g} s"
        raise FtplanError(f"--slide: {text}, more than {SLIDES:,}")
    return window_s, slide_s, slides


def _top_k(
    options: TentativeOutputOptions, parallelism: tuple[int, ...], asked: Mapping[str, Any], reading: Mapping[str, Any]
) -> TentativeQuestion:
    if not asked["key_columns"]:
        raise FtplanError("--key-column is missing: name the column whose commonest values are asked for")
    if any(first < second for first, second in pairwise(parallelism)):
        raise FtplanError("--parallelism: the operators of top-k merge: none has more tasks than the one before it")
    _, slide_s, slides = _slides(options, "top-k")
    keys = [("top", asked["key_columns"])]
    keys += [("count", asked["partition_columns"])] if asked["partition_columns"] else []
    try:
        mapping = LogMapping(**reading, keys=tuple(keys), key_groups=parallelism[0], window_s=slide_s)
    except FtplanError as error:
        raise FtplanError(str(error).replace("--window", "--slide")) from None
    if mapping.from_engine:
        known = ", ".join(NAMED_COLUMNS)
        raise FtplanError(f"--input-format {mapping.input_format}: top-k reads logs with columns: one of {known}")
    names = ("count", "merge", "top")
    shape = QueryShape(dict(zip(names, parallelism, strict=True)), {"log": names}, parallelism[0])
    setting = TopKSetting(mapping, asked["k"], slides, parallelism)
    return TentativeQuestion("top-k", setting, shape, (("count", "merge"), ("merge", "top")))


def _incidents(
    options: TentativeOutputOptions, parallelism: tuple[int, ...], asked: Mapping[str, Any]
) -> TentativeQuestion:
    window_s, slide_s, _ = _slides(options, "incidents")
    seconds = {"window": window_s, "slide": slide_s, "duration": asked["duration_s"]}
    seconds["incident-every"] = asked["incident_every_s"]
    for name, value in seconds.items():
        if value != int(value):
            raise FtplanError(f"--{name}: {value:g} s is no whole number of seconds, in which incidents count")
    if asked["duration_s"] < window_s:
        raise FtplanError(f"--duration: {asked['duration_s']:g} s hold no window of {window_s:g} s")
    if (windows := int((asked["duration_s"] - window_s) // slide_s) + 1) > MOST_WINDOWS:
        text = f"{asked['duration_s']:g} s have {windows:,} windows, more than {MOST_WINDOWS:,}"
        raise FtplanError(f"--duration: {text}: give less, or a longer --slide")
    lanes = lcm(*parallelism)
    if lanes > LANES:
        text = ",".join(map(str, parallelism))
        raise FtplanError(f"--parallelism: {text} divide the segments into {lanes:,} parts, more than {LANES:,}")
    names = ("speeds", "incidents", "jams", "report")
    shape = QueryShape(
        dict(zip(names, parallelism, strict=True)),
        {"locations": ("speeds", "jams", "report"), "reports": ("incidents", "jams", "report")},
        lanes,
    )
    traffic = Traffic(
        seconds=int(asked["duration_s"]),
        users=asked["users"],
        segments=asked["segments"],
        rate=asked["rate"],
        zipf=asked["zipf"],
        incident_every_s=int(asked["incident_every_s"]),
        jam_share=asked["jam_share"],
        jam_s=int(window_s),
        lanes=lanes,
        seed=options.seed,
    )
    edges = (("speeds", "jams"), ("incidents", "jams"), ("jams", "report"))
    setting = IncidentSetting(traffic, int(window_s), int(slide_s), parallelism)
    return TentativeQuestion("incidents", setting, shape, edges, ("jams",))
