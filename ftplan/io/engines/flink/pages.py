"""Which page of Flink's REST interface an answer is: by its path where it has one, else by what it holds.

Saved answers are told apart by content, whatever their files are called. Only a subtask's metrics and a vertex's part
of a checkpoint do not say whose they are: their files begin with ``v<N>_s<M>`` and ``v<N>``, N counting the job's
vertices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

from ftplan.io.collected.answers import Answer
from ftplan.io.engines.flink.values import entries, text


class Page(NamedTuple):
    """An answer and what it is about. ``vertex`` is an id, or a position as in ``v3`` where only a file's name tells.

    ``kind`` is None of what no importer needs, ``?`` of what is no page of Flink at all.
    """

    kind: str | None
    value: Any
    at: datetime | None
    path: str
    job: str | None = None
    vertex: str | None = None
    subtask: int | None = None


_PATHS: tuple[tuple[str, str], ...] = (
    ("/jobs/overview", "overview"),
    ("/taskmanagers", "task managers"),
    ("/jobs/(?P<job>[^/]+)", "job"),
    ("/jobs/(?P<job>[^/]+)/plan", "plan"),
    ("/jobs/(?P<job>[^/]+)/checkpoints", "checkpoints"),
    ("/jobs/(?P<job>[^/]+)/checkpoints/config", "checkpoint config"),
    ("/jobs/(?P<job>[^/]+)/checkpoints/details/[^/]+", "checkpoint"),
    ("/jobs/(?P<job>[^/]+)/checkpoints/details/[^/]+/subtasks/(?P<vertex>[^/]+)", "checkpoint subtasks"),
    ("/jobs/(?P<job>[^/]+)/rescales/history", "rescales"),
    ("/jobs/(?P<job>[^/]+)/vertices/(?P<vertex>[^/]+)", "vertex"),
    ("/jobs/(?P<job>[^/]+)/vertices/(?P<vertex>[^/]+)/subtasks/(?P<subtask>[0-9]+)/metrics", "metrics"),
    ("/jobs/(?P<job>[^/]+)/.*", ""),
)
_RULES = tuple((re.compile(pattern), kind) for pattern, kind in _PATHS)
_FILE = re.compile(r"v(?P<vertex>[0-9]{1,6})(?:_s(?P<subtask>[0-9]{1,6}))?_")


def pages(answers: Iterable[Answer], of_files: bool) -> Iterator[Page]:
    """Yield the answers as pages, in their order; those *of_files* have the files' names as paths."""
    for answer in answers:
        yield _by_content(answer) if of_files else _by_path(answer)


def _by_path(answer: Answer) -> Page:
    path = answer.path.partition("?")[0]
    for rule, kind in _RULES:
        if match := rule.fullmatch(path):
            given = match.groupdict()
            subtask = given.get("subtask")
            return Page(
                kind or None,
                answer.value,
                answer.at,
                answer.path,
                given.get("job"),
                unquote(given["vertex"]) if given.get("vertex") else None,
                None if subtask is None else int(subtask),
            )
    return Page(None, answer.value, answer.at, answer.path)


def _by_content(answer: Answer) -> Page:
    value = answer.value
    kind = _list_kind(value) if isinstance(value, list) else _kind(value) if isinstance(value, dict) else "?"
    page = Page(kind, value, answer.at, answer.path)
    if kind == "job":
        return page._replace(job=text(value.get("jid")))
    if kind == "vertex":
        return page._replace(vertex=text(value.get("id")))
    if kind in ("metrics", "checkpoint subtasks"):
        match = _numbers(answer.path)
        subtask = None if match is None else match["subtask"]
        if match is None or (kind == "metrics" and subtask is None):
            return page._replace(kind="?")
        return page._replace(vertex=f"v{int(match['vertex'])}", subtask=None if subtask is None else int(subtask))
    return page


def file_number(path: str) -> int | None:
    """Return the number of the vertex in a file's name, None without one."""
    match = _numbers(path)
    return None if match is None else int(match["vertex"])


def _numbers(path: str) -> re.Match[str] | None:
    return _FILE.match(re.split(r"[\\/]", path)[-1])


#: A page is of the first kind whose keys it has.
_KEYS: tuple[tuple[str | None, frozenset[str]], ...] = tuple(
    (kind, frozenset(keys.split()))
    for kind, keys in (
        ("job", "jid vertices"),
        ("plan", "plan"),
        ("plan", "nodes"),
        (None, "execution-config"),
        ("checkpoints", "counts history"),
        ("checkpoint config", "mode interval"),
        ("checkpoint subtasks", "num_subtasks subtasks"),
        ("checkpoint", "num_subtasks tasks"),
        ("vertex", "id parallelism subtasks"),
        (None, "id name taskmanagers"),
        ("task managers", "taskmanagers"),
        ("task manager", "id hardware"),
        (None, "backpressureLevel"),
        (None, "backpressure-level"),
        ("overview", "jobs"),
        (None, "flink-version"),
        (None, "root-exception"),
        (None, "rescalesCounts"),
    )
)


def _kind(value: dict[str, Any]) -> str | None:
    for kind, keys in _KEYS:
        if keys <= value.keys():
            return kind
    return "?"


def _list_kind(value: list[Any]) -> str | None:
    items = entries(value)
    if not value:
        return None
    if items and "rescaleUuid" in items[0]:
        return "rescales"
    if items and "key_group_bytes" in items[0]:
        return None
    if items and "id" in items[0]:
        return "metrics" if all("value" in item or len(item) == 1 for item in items) else None
    return "?"
