"""From options to a scene: which query, on what, with which tasks; and as a topology, with the rates that it had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.options.fields import flag
from ftplan.io.topology_file import load_topology
from ftplan.model.plan import FORMAT_VERSION, canonical_number
from ftplan.model.task_graph import TaskGraph
from ftplan.simulation.tentative_output.options import OWN, PARALLELISM, QUERIES, WINDOWS, TentativeOutputOptions
from ftplan.simulation.tentative_output.outcome import QueryShape
from ftplan.spark_stats.log_formats import NAMED_COLUMNS
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.tentative.settings import MOST_WINDOWS, Flows, IncidentSetting, TopKSetting, Traffic

#: Most lanes, so that the tasks of lanes stay few.
LANES = 1_024
#: Most slides of a window.
SLIDES = 10_000


class TentativeScene(NamedTuple):
    """A query by name, what the engine is asked, the way of its records, and which operators join by key."""

    query: str
    setting: TopKSetting | IncidentSetting
    shape: QueryShape
    edges: tuple[tuple[str, str], ...]
    joins: tuple[str, ...] = ()


def scene_of(options: TentativeOutputOptions, logs: Sequence[str], reading: Mapping[str, Any]) -> TentativeScene:
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
    values = {**OWN[query], **options.given(query)}
    if query == "top-k":
        return _top_k(options, parallelism, values, reading)
    return _incidents(options, parallelism, values)


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
    options: TentativeOutputOptions, parallelism: tuple[int, ...], values: Mapping[str, Any], reading: Mapping[str, Any]
) -> TentativeScene:
    if not values["key_columns"]:
        raise FtplanError("--key-column is missing: name the column whose commonest values are asked for")
    if any(first < second for first, second in pairwise(parallelism)):
        raise FtplanError("--parallelism: the operators of top-k merge: none has more tasks than the one before it")
    _, slide_s, slides = _slides(options, "top-k")
    keys = [("top", values["key_columns"])]
    keys += [("count", values["partition_columns"])] if values["partition_columns"] else []
    try:
        mapping = LogMapping(**reading, keys=tuple(keys), key_groups=parallelism[0], window_s=slide_s)
    except FtplanError as error:
        raise FtplanError(str(error).replace("--window", "--slide")) from None
    if mapping.from_engine:
        known = ", ".join(NAMED_COLUMNS)
        raise FtplanError(f"--input-format {mapping.input_format}: top-k reads logs with columns: one of {known}")
    names = ("count", "merge", "top")
    shape = QueryShape(dict(zip(names, parallelism, strict=True)), {"log": names}, parallelism[0])
    setting = TopKSetting(mapping, values["k"], slides, parallelism)
    return TentativeScene("top-k", setting, shape, (("count", "merge"), ("merge", "top")))


def _incidents(
    options: TentativeOutputOptions, parallelism: tuple[int, ...], values: Mapping[str, Any]
) -> TentativeScene:
    window_s, slide_s, _ = _slides(options, "incidents")
    seconds = {"window": window_s, "slide": slide_s, "duration": values["duration_s"]}
    seconds["incident-every"] = values["incident_every_s"]
    for name, value in seconds.items():
        if value != int(value):
            raise FtplanError(f"--{name}: {value:g} s is no whole number of seconds, in which incidents count")
    if values["duration_s"] < window_s:
        raise FtplanError(f"--duration: {values['duration_s']:g} s hold no window of {window_s:g} s")
    if (windows := int((values["duration_s"] - window_s) // slide_s) + 1) > MOST_WINDOWS:
        text = f"{values['duration_s']:g} s have {windows:,} windows, more than {MOST_WINDOWS:,}"
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
        seconds=int(values["duration_s"]),
        users=values["users"],
        segments=values["segments"],
        rate=values["rate"],
        zipf=values["zipf"],
        incident_every_s=int(values["incident_every_s"]),
        jam_share=values["jam_share"],
        jam_s=int(window_s),
        lanes=lanes,
        seed=options.seed,
    )
    edges = (("speeds", "jams"), ("incidents", "jams"), ("jams", "report"))
    setting = IncidentSetting(traffic, int(window_s), int(slide_s), parallelism)
    return TentativeScene("incidents", setting, shape, edges, ("jams",))


def task_graph(scene: TentativeScene) -> TaskGraph:
    """Return the tasks of a query that has not run yet."""
    nothing = {edge: np.zeros((0, 3), dtype=np.int64) for edge in scene.edges}
    document = job_document(scene, Flows(1.0, nothing, np.zeros(1, dtype=np.int64)))
    return TaskGraph(load_topology(document).value)


def job_document(scene: TentativeScene, flows: Flows) -> dict[str, Any]:
    """Return a topology file of the query, with measured rates: of each task's output, and of substreams.

    Where each task has one receiver its output says what the substream carries, and the edge has a partitioning.
    """
    shape = scene.shape
    # a join has all but the output by the same key; a log is not parted by the key that is counted
    *others, last = shape.operators
    keyed = others if scene.joins else []
    operators: dict[str, dict[str, Any]] = {}
    for name, parallelism in shape.operators.items():
        operators[name] = {"id": name, "parallelism": parallelism}
        operators[name] |= {"inputs": "correlated"} if name in scene.joins else {}
        operators[name] |= {"key_groups": shape.lanes} if name in keyed else {}
    edges = []
    for source, target in scene.edges:
        edge, sent = _edge(shape, source, target, flows)
        edges.append(edge)
        operators[source]["rate_out"] = sent
    operators[last] |= {"output": True, "rate_out": _rate(int(flows.outputs.sum()), flows)}
    return {
        "format": "ftplan/topology",
        "format_version": FORMAT_VERSION,
        "name": scene.query,
        "operators": list(operators.values()),
        "edges": edges,
    }


def _edge(shape: QueryShape, source: str, target: str, flows: Flows) -> tuple[dict[str, Any], list[float]]:
    """Return an edge between the tasks that have lanes in common, and what each sender puts on it."""
    pairs = np.unique(np.column_stack([shape.tasks_of(source), shape.tasks_of(target)]), axis=0).tolist()
    records = {(sender, receiver): count for sender, receiver, count in flows.edges[source, target].tolist()}
    senders, receivers = shape.operators[source], shape.operators[target]
    counts = [records.get((i, j), 0) for i, j in pairs]
    edge: dict[str, Any] = {"from": source, "to": target}
    if len(pairs) == senders:
        edge["partitioning"] = "merge" if senders > receivers else "one-to-one"
    else:
        edge["substreams"] = [[i, j, _rate(count, flows)] for (i, j), count in zip(pairs, counts, strict=True)]
    sent = np.bincount([i for i, _ in pairs], counts, minlength=senders)
    return edge, [_rate(int(count), flows) for count in sent]


def _rate(records: int, flows: Flows) -> float:
    return canonical_number(records / flows.seconds)
