"""Range queries to Prometheus: what the answers measure, and which of their labels say of whom.

A collected folder states the queries that it was asked for; nothing here needs PySpark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ftplan.errors import FtplanError, suggestion


class Collected(NamedTuple):
    """What was asked: the queries, and microseconds from one value of a series to the next."""

    name: str
    queries: tuple[RangeQuery, ...]
    step_us: int


def find(logs: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the files with answers of collected folders, in order of time.

    Raises FtplanError if a path is none, or holds no answers.
    """
    files: list[tuple[str, bool]] = []
    for log in logs:
        folder = Path(log)
        if not (folder / "collection.json").is_file():
            what = "no collection.json in it" if folder.is_dir() else "it is no folder"
            raise FtplanError(f"{log}: is no folder that 'ftplan collect --from prometheus' wrote ({what})")
        here = sorted((folder / "answers").glob("*.jsonl*"))
        if not here:
            raise FtplanError(f"{log}: the folder holds no answers yet")
        files += [(str(file), False) for file in here]
    collected(logs)  # what is wrong with it is said before an engine starts
    return files


def collected(logs: Sequence[str]) -> Collected:
    """Return what all folders say of their queries.

    Raises FtplanError if they were not collected from Prometheus, or do not agree.
    """
    whole: Collected | None = None
    for log in logs:
        one = _collected(log)
        if whole is not None and (one.queries, one.step_us) != (whole.queries, whole.step_us):
            raise FtplanError(f"{log}: was collected with other queries or another --every than {whole.name}")
        whole = whole or one
    if whole is None:
        raise FtplanError("no collected folder is given")
    return whole


def _collected(log: str) -> Collected:
    place = f"{log}/collection.json"
    try:
        head = json.loads((Path(log) / "collection.json").read_text("utf-8"))
        source, every_s, options = head["from"], float(head["every_s"]), head.get("options", {})
        queries = options.get("queries") if source == "prometheus" else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FtplanError(f"{place}: is no head of a collection ({error})") from None
    if source != "prometheus":
        raise FtplanError(f"{place}: the answers are of {source}, not of prometheus; choose its --input-format")
    if not isinstance(queries, list) or not 0.001 <= every_s <= 1e9:
        raise FtplanError(f"{place}: says neither which queries were asked nor how often")
    read = tuple(query_of(value, f"{place}: options.queries[{i}]") for i, value in enumerate(queries))
    if len({query.name for query in read}) < len(read):
        raise FtplanError(f"{place}: options.queries: a name stands twice")
    return Collected(log, read, round(every_s * 1e6))


SeriesKind = Literal["counter", "rate", "gauge"]
SERIES_KINDS: tuple[str, ...] = get_args(SeriesKind)
#: Measures that statistics add up over a window, and those of which the largest counts. Others are only collected.
SUMMED = ("records_in", "records_out", "bytes", "cpu_ms", "busy_ms")
LEVELS = ("state_bytes", "memory_bytes", "queue_length")
#: What a label can say.
ROLES = ("job", "operator", "task", "host")


class LabelRule(NamedTuple):
    """A label whose value, or the first group of *pattern* in it, with *prefix* before it, says something."""

    label: str
    pattern: str | None = None
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class RangeQuery:
    """A query of a mapping file."""

    name: str  # ``section.query``; a section is about one engine
    promql: str  # what is asked; ``$match`` in it stands for the label matchers of ``--match``
    measure: str  # one of :data:`SUMMED` or :data:`LEVELS`, in records, bytes or milliseconds, or any other name
    #: ``counter``: a running total, which begins again at 0 when its task restarts; ``rate``: so much a second;
    #: ``gauge``: so much at that time
    kind: SeriesKind
    factor: float = 1.0  # what values are multiplied by
    combine: Literal["sum", "max"] = "sum"  # how the gauges of the parts of one task become one value
    #: By role (:data:`ROLES`). Series that agree in operator, task and *parts* follow each other: the one that began
    #: last counts.
    labels: Mapping[str, LabelRule] | None = None
    parts: tuple[str, ...] = ()  # labels that tell the parts of a task apart, such as its state stores

    @property
    def section(self) -> str:
        """The section that the query stands in."""
        return self.name.partition(".")[0]

    def matched(self, matchers: str) -> str:
        """Return the query with label matchers in the place of ``$match``.

        Raises FtplanError if there are some, and no place for them.
        """
        if matchers and "$match" not in self.promql:
            raise FtplanError(
                f"--match: the query {self.name} has no $match in its promql; add it, or choose --section"
            )
        return self.promql.replace("$match", matchers)

    def to_dict(self) -> dict[str, Any]:
        """Return the query as plain data, from which :func:`query_of` makes it again."""
        labels = {role: rule._asdict() for role, rule in (self.labels or {}).items()}
        return {**asdict(self), "labels": labels, "parts": list(self.parts)}


class QueryMapping(NamedTuple):
    """The queries of a mapping file, by section."""

    sections: Mapping[str, Sequence[RangeQuery]]

    def chosen(self, names: Sequence[str]) -> list[RangeQuery]:
        """Return the queries of the named sections, of all where none is named.

        Raises FtplanError for a name that the mapping does not have.
        """
        for name in names:
            if name not in self.sections:
                near = suggestion(name, self.sections)
                raise FtplanError(f"--section: unknown section {name!r}{near}: one of {', '.join(self.sections)}")
        return [query for name, queries in self.sections.items() if not names or name in names for query in queries]


def query_of(value: Any, place: str) -> RangeQuery:
    """Return the query that plain data describe.

    Raises FtplanError if they do not; *place* says where they stand.
    """
    try:
        labels = {role: LabelRule(**rule) for role, rule in value["labels"].items() if role in ROLES}
        query = RangeQuery(**{**value, "labels": labels, "parts": tuple(value["parts"])})
        texts = [query.name, query.promql, query.measure, *query.parts]
        texts += [text for rule in labels.values() for text in (rule.label, rule.prefix, rule.pattern or "")]
        good = all(isinstance(text, str) for text in texts) and query.combine in ("sum", "max")
        good = good and isinstance(query.factor, (int, float)) and 0 < query.factor < 1e30
        for rule in labels.values():
            re.compile(rule.pattern or "")
    except (TypeError, KeyError, AttributeError, ValueError, re.error, RecursionError, OverflowError):
        good = False
    if not good:
        raise FtplanError(f"{place}: is no query of a mapping file")
    if problem := misuse(query.measure, query.kind):
        raise FtplanError(f"{place}: {problem}")
    return query


def misuse(measure: str, kind: str) -> str | None:
    """Return why a measure cannot be of a kind, None where it can."""
    if kind not in SERIES_KINDS:
        return f"unknown kind {kind!r}{suggestion(str(kind), SERIES_KINDS)}: one of {', '.join(SERIES_KINDS)}"
    if measure in SUMMED and kind == "gauge":
        return f"{measure} is added up over time, which takes a counter or a rate, not a gauge"
    if measure in LEVELS and kind != "gauge":
        return f"{measure} stands at a time, which takes a gauge, not a {kind}"
    return None
