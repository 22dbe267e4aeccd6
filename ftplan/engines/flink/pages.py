"""Which page of Flink's REST interface an answer is: by its path where it has one, else by what it holds.

Saved answers are told apart by content, whatever their files are called. Only a subtask's metrics and a vertex's part
of a checkpoint do not say whose they are: their files begin with ``v<N>_s<M>`` and ``v<N>``, N counting the job's
vertices. Figures on pages come as numbers or as text, and "NaN" or -1 stand for what is not known.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

#: Larger figures are none: Flink writes the largest long for "never".
_MOST = 1e17


def number(value: Any) -> float | None:
    """Return a figure as a number, None where it is none: NaN, infinite, negative, or no figure at all."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) and 0 <= result <= _MOST else None


def whole(value: Any) -> int | None:
    """Return a figure that is a whole number from 0, else None."""
    result = number(value)
    return int(result) if result is not None and result.is_integer() else None


def text(value: Any) -> str | None:
    """Return a text with its HTML unescaped, None where there is none; a whole number counts as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return None
    return html.unescape(value).strip() or None


def entries(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; whatever else is there is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def part(value: Any, *keys: str) -> Any:
    """Return what lies in objects within objects under *keys*, None where one of them is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


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


def page_at(path: str, value: Any, at: datetime | None = None) -> Page:
    """Return what an endpoint answered to a path."""
    bare = path.partition("?")[0]
    for rule, kind in _RULES:
        if match := rule.fullmatch(bare):
            given = match.groupdict()
            vertex, subtask = given.get("vertex"), given.get("subtask")
            return Page(
                kind or None,
                value,
                at,
                path,
                given.get("job"),
                None if vertex is None else unquote(vertex),
                None if subtask is None else int(subtask),
            )
    return Page(None, value, at, path)


#: A flame graph, as deep as the stacks that it draws; its first key tells it.
_FLAME_GRAPH = re.compile(r'\s*\{\s*"(?:endTimestamp"\s*:\s*-?[0-9]+\s*,\s*"data|data"\s*:\s*\{\s*"name)"')


def needless(content: str) -> bool:
    """Return whether a saved answer is one that nobody needs and that may be too deep to be parsed."""
    return _FLAME_GRAPH.match(content) is not None


def saved_page(path: str, value: Any) -> Page:
    """Return what a saved answer is; *path* is the file's."""
    kind = _list_kind(value) if isinstance(value, list) else _kind(value) if isinstance(value, dict) else "?"
    page = Page(kind, value, None, path)
    if kind == "job":
        return page._replace(job=text(value.get("jid")))
    if kind == "vertex":
        return page._replace(vertex=text(value.get("id")))
    if kind in ("metrics", "checkpoint subtasks"):
        match = _numbers(path)
        subtask = None if match is None else match["subtask"]
        if match is None or (kind == "metrics" and subtask is None):
            return page._replace(kind="?")
        return page._replace(vertex=f"v{int(match['vertex'])}", subtask=None if subtask is None else int(subtask))
    return page


def numbered(pages: Iterable[Page]) -> dict[str, str]:
    """Return the ids of vertices by the numbers in files' names: the job's order, or that of vertices' own files."""
    ids: dict[str, str] = {}
    named: dict[str, str] = {}
    for page in pages:
        if page.kind == "job":
            listed = entries(part(page.value, "vertices"))
            ids |= {f"v{i}": key for i, key in enumerate(text(v.get("id")) for v in listed) if key is not None}
        elif page.kind == "vertex" and page.vertex is not None and (match := _numbers(page.path)) is not None:
            named[f"v{int(match['vertex'])}"] = page.vertex
    return ids | named


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
