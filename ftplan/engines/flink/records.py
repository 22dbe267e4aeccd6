"""What became of each job in the answers: the newest complete set of them, and what its tasks counted over time.

A set is what one poll brought, from one answer of ``/jobs/:id`` to the next; it is complete with the page of every
vertex. Flink adds ``-complete: false`` to figures of task managers that were out of reach, and reports zeros for them:
these are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ftplan.engines.flink.pages import Page, entries, number, numbered, part, text, whole


class Reading(NamedTuple):
    """The counters of one attempt of a subtask at a moment: they began at 0 when the attempt did.

    Times are in milliseconds; ``at`` since 1970, ``running`` what the attempt has been running for. None is not known:
    Flink does not say how busy an old kind of source is.
    """

    at: float | None
    running: float
    attempt: tuple[Any, ...]
    records_in: float
    records_out: float
    busy: float | None


def reading_of(entry: Mapping[str, Any], now: float | None, metrics: Mapping[str, Any]) -> Reading | None:
    """Return what an entry of a vertex's page says; its *metrics* by name fill in what was out of reach there.

    None where a figure is missing, or marked as incomplete.
    """
    figures = part(entry, "metrics")
    running = number(part(entry, "status-duration", "RUNNING"))
    if running is None:
        running = number(entry.get("duration"))
    if running is None or running == 0:
        return None
    counted = []
    for name, metric in (("read-records", "numRecordsIn"), ("write-records", "numRecordsOut")):
        value = number(part(figures, name)) if part(figures, f"{name}-complete") is not False else None
        counted.append(number(metrics.get(metric)) if value is None else value)
    records_in, records_out = counted
    if records_in is None or records_out is None:
        return None
    busy = number(metrics.get("accumulateBusyTimeMs"))
    if busy is None:
        busy = number(part(figures, "accumulated-busy-time"))
    attempt = (whole(entry.get("attempt")), whole(entry.get("start-time")))
    return Reading(now, running, attempt, records_in, records_out, busy)


@dataclass(slots=True)
class Counters:
    """The increase of a subtask's counters, from the first reading to the last; of a single one, since it began.

    What was counted between the last reading of an attempt and its end is not known, and neither is the time.
    """

    last: Reading | None = None
    first: Reading | None = None
    over_ms: float = 0.0
    records_in: float = 0.0
    records_out: float = 0.0
    busy_ms: float = 0.0
    busy_over_ms: float = 0.0

    def add(self, reading: Reading) -> None:
        """Add a later reading."""
        last, self.last = self.last, reading
        if last is None:
            self.first = reading
            return
        same = reading.attempt == last.attempt and reading.records_out >= last.records_out
        same = same and reading.records_in >= last.records_in
        if not same:
            self._increase(reading, reading.running, None)
        elif reading.at is not None and last.at is not None and reading.at > last.at:
            self._increase(reading, reading.at - last.at, last)

    def _increase(self, reading: Reading, over_ms: float, last: Reading | None) -> None:
        self.over_ms += over_ms
        self.records_in += reading.records_in - (last.records_in if last else 0.0)
        self.records_out += reading.records_out - (last.records_out if last else 0.0)
        before = last.busy if last else 0.0
        if reading.busy is not None and before is not None and reading.busy >= before:
            self.busy_ms += reading.busy - before
            self.busy_over_ms += over_ms

    @property
    def seconds(self) -> float:
        """Over which time the increase is."""
        return self._total().over_ms / 1000

    def _total(self) -> Counters:
        if self.over_ms or self.first is None:
            return self
        total = Counters()
        total._increase(self.first, self.first.running, None)
        return total

    def rates(self) -> Rates:
        """Return records per second in and out, and the share of time in which the subtask was busy."""
        total = self._total()
        seconds = total.over_ms / 1000
        if not seconds:
            return Rates(0.0, 0.0, None)
        busy = total.busy_ms / total.busy_over_ms if total.busy_over_ms else None
        return Rates(total.records_in / seconds, total.records_out / seconds, busy)


class Rates(NamedTuple):
    """Of a subtask: records per second in and out, and busy seconds per second (None: not known)."""

    records_in: float
    records_out: float
    busy: float | None


_Key = tuple[str, str | None, int | None]


@dataclass(slots=True)
class JobRecord:
    """What the answers say of one job."""

    id: str | None
    latest: dict[_Key, Any] = field(default_factory=dict)  # pages by (kind, vertex, subtask); metrics are by name
    counters: dict[tuple[str, int], Counters] = field(default_factory=dict)  # by (vertex, subtask)
    left_out: int = 0  # figures of subtasks or vertices that were marked incomplete
    partial: int = 0  # sets that were left out because a vertex was missing
    rescaled: int = 0  # how often the parallelism of a vertex changed between two sets
    sets: int = 0  # sets since then that count
    complete: bool = False  # whether any set had all vertices
    _set: dict[_Key, Page] = field(default_factory=dict)
    _tasks: dict[str, int] = field(default_factory=dict)
    _rescale: int | None = None

    def add(self, page: Page) -> None:
        """Take a page into the set that is open; a new page of the job opens another."""
        if page.kind == "job" and ("job", None, None) in self._set:
            self.close()
        assert page.kind is not None
        key = (page.kind, page.vertex, page.subtask)
        if page.kind == "metrics":
            before = self._set[key].value if key in self._set else {}
            named = {item["id"]: item.get("value") for item in entries(page.value) if isinstance(item.get("id"), str)}
            page = page._replace(value=before | named)
        self._set[key] = page

    def close(self, last: bool = False) -> None:
        """Take over the open set if it is complete, or if it is the *last* and there is none that is."""
        whole_set = self._is_complete()
        if whole_set or (last and not self.complete):
            self.complete = whole_set
            self.sets += 1
            self._count()
            self.latest.update({key: page.value for key, page in self._set.items()})
        elif self._set:
            # What is asked only when it changes must not be lost with the rest.
            self.partial += any(key[0] == "vertex" for key in self._set)
            self.latest.update({k: p.value for k, p in self._set.items() if k[0] not in ("job", "vertex", "metrics")})
        self._set = {}

    def page(self, kind: str, vertex: str | None = None, subtask: int | None = None) -> Any:
        """Return the newest page of a kind, None where there is none."""
        return self.latest.get((kind, vertex, subtask))

    def _is_complete(self) -> bool:
        job = self._set.get(("job", None, None))
        vertices = entries(part(job.value, "vertices")) if job is not None else []
        return bool(vertices) and all(("vertex", text(v.get("id")), None) in self._set for v in vertices)

    def _last_rescale(self) -> int | None:
        """Return when the adaptive scheduler last changed the parallelism; None where it did not, or does not say."""
        page = self._set.get(("rescales", None, None))
        done = [entry for entry in entries(page.value if page else None) if entry.get("terminalState") == "COMPLETED"]
        return max((whole(entry.get("endTimestampInMillis")) or 0 for entry in done), default=None)

    def _count(self) -> None:
        """Add what the open set's vertices and their subtasks counted."""
        found = {key[1]: page for key, page in self._set.items() if key[0] == "vertex" and key[1] is not None}
        tasks = {key: len(entries(part(page.value, "subtasks"))) for key, page in found.items()}
        rescale = self._last_rescale()
        changed = any(self._tasks.get(key, count) != count for key, count in tasks.items())
        if changed or (self._tasks and rescale != self._rescale):
            self.rescaled += 1
            self.sets = 1
            self.counters.clear()
        self._tasks.update(tasks)
        self._rescale = rescale
        for key, page in found.items():
            now = whole(part(page.value, "now"))
            if now is None and page.at is not None:
                now = int(page.at.timestamp() * 1000)
            for position, entry in enumerate(entries(part(page.value, "subtasks"))):
                index = whole(entry.get("subtask"))
                index = position if index is None else index
                metrics = self._set.get(("metrics", key, index))
                reading = reading_of(entry, now, metrics.value if metrics is not None else {})
                if reading is None:
                    self.left_out += 1
                else:
                    self.counters.setdefault((key, index), Counters()).add(reading)


@dataclass(slots=True)
class Records:
    """What the answers say of all jobs and of the task managers; ``unknown`` are names of files that tell nothing."""

    jobs: dict[str | None, JobRecord] = field(default_factory=dict)
    overview: Any = None
    task_managers: list[dict[str, Any]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def read_records(pages: Iterable[Page]) -> Records:
    """Return what pages say, in their order; pages that name no job are of the only one there is."""
    records = Records()
    single: list[dict[str, Any]] = []
    for page in pages:
        if page.kind == "?":
            records.unknown.append(page.path)
        elif page.kind == "overview":
            records.overview = page.value
        elif page.kind == "task managers":
            records.task_managers = entries(part(page.value, "taskmanagers"))
        elif page.kind == "task manager":
            single.append(page.value)
        elif page.kind is not None:
            records.jobs.setdefault(page.job, JobRecord(page.job)).add(page)
    records.task_managers = records.task_managers or single
    _share_nameless(records)
    for record in records.jobs.values():
        record.close(last=True)
    return records


def _share_nameless(records: Records) -> None:
    """Give the pages that name no job to the only job, and vertices that only files' names number their ids."""
    nameless = records.jobs.pop(None, None)
    if nameless is not None and len(records.jobs) == 1:
        (record,) = records.jobs.values()
        record._set.update(nameless._set)
    elif nameless is not None:
        records.jobs[None] = nameless
    for record in records.jobs.values():
        ids = numbered(record._set.values())
        for key in [key for key in record._set if key[1] in ids]:
            record._set[key[0], ids[key[1] or ""], key[2]] = record._set.pop(key)
