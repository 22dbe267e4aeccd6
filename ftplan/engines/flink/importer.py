"""Flink: its REST answers (live, collected or saved), or a plan alone, also that of ``flink info``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ftplan.engines.flink.assemble import label_slots, place, tell, with_cpu, with_joins, with_state, with_streams
from ftplan.engines.flink.hosts import task_managers
from ftplan.engines.flink.measured import vertex_rates
from ftplan.engines.flink.pages import Page, entries, needless, page_at, part, saved_page, text, whole
from ftplan.engines.flink.plan import MOST_KEY_GROUPS, Vertex, chain_name, checked_parallelism, plan_vertices
from ftplan.engines.flink.records import JobRecord, Records, read_records
from ftplan.engines.importing.draft import Draft, DraftOperator, ImportOptions
from ftplan.engines.importing.source import EngineSource
from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import parse_text
from ftplan.model.names import listed


def read(source: EngineSource, options: ImportOptions) -> Draft:
    """Return what Flink says of a job: vertices as operators, with what was measured of their subtasks.

    Raises FtplanError if there is no plan of a job, or several jobs and none of them is asked for.
    """
    records = read_records(_pages(source))
    record = _chosen(records, source.name, options.job)
    vertices = _vertices(record, source.name)
    name = text(part(record.page("job"), "name")) or text(part(record.page("plan"), "plan", "name"))
    draft = Draft(name or record.id or "flink-job")
    if records.unknown:
        draft.note("NO_ANSWER", f"{listed(records.unknown)}: no answer of Flink that tells what it is about; left out")
    rates = vertex_rates(record, vertices, draft)
    managers = task_managers(records.task_managers, [record.page("vertex", vertex.id) for vertex in vertices])
    place(draft, record, vertices, managers, options.node_by)
    draft.operators = [DraftOperator(vertex.id, vertex.name, vertex.parallelism) for vertex in vertices]
    label_slots(draft, vertices)
    with_state(draft, record, vertices)
    with_cpu(draft, vertices, rates, managers)
    with_streams(draft, vertices, rates)
    with_joins(draft, vertices, {*options.correlated, *options.independent})
    tell(draft, record)
    return draft


def _pages(source: EngineSource) -> Iterator[Page]:
    """Yield the answers as pages; ``flink info`` writes its plan between lines of dashes."""
    if source.url is not None or source.collection is not None:
        yield from (page_at(answer.path, answer.value, answer.at) for answer in source.answers())
    elif len(source.paths) == 1:
        for name, content in source.texts():
            if "Execution Plan ---" in content and "{" in content:
                content = content[content.index("{") : content.rindex("}") + 1]
            yield saved_page(name, parse_text(content, name, "plan.json"))
    else:
        yield from (saved_page(name, value) for name, value in source.documents(needless))


def _chosen(records: Records, name: str, job: str | None) -> JobRecord:
    """Return the job that is asked for, or the only one, or the only one that runs."""
    known = {
        key: record
        for key, record in records.jobs.items()
        if record.page("job") is not None or record.page("plan") is not None
    }
    if not known:
        raise FtplanError(
            f"{name}: holds no plan of a Flink job; expected what /jobs/:jobid or /jobs/:jobid/plan answers, or what "
            "flink info writes"
        )
    called = {key: text(part(record.page("job"), "name")) or str(key) for key, record in known.items()}
    if job is not None:
        named = [record for key, record in known.items() if job in (key, called[key])]
        if len(named) == 1:
            return named[0]
        near = suggestion(job, [*called.values(), *map(str, known)]) or f": {', '.join(map(str, called.values()))}"
        what = f"there are {len(named)} jobs {job!r}; give the id of one" if named else f"there is no job {job!r}{near}"
        raise FtplanError(f"{name}: --job: {what}")
    running = [r for r in known.values() if part(r.page("job"), "state") in ("RUNNING", "RESTARTING", "INITIALIZING")]
    candidates = list(known.values()) if len(known) == 1 else running
    if len(candidates) == 1:
        return candidates[0]
    shown = ", ".join(sorted(called.values())[:5])
    raise FtplanError(f"{name}: {len(known)} jobs, {len(running)} of them running ({shown}): choose one with --job")


def _vertices(record: JobRecord, name: str) -> list[Vertex]:
    """Return the vertices of the plan, with what the job's page and their own say of them."""
    job = record.page("job")
    plan = part(job, "plan")
    vertices = plan_vertices(record.page("plan") if plan is None else {"plan": plan}, name)
    listed_ = {text(entry.get("id")): entry for entry in entries(part(job, "vertices"))}
    for vertex in vertices:
        entry: Mapping[str, Any] = listed_.get(vertex.id, {})
        page = record.page("vertex", vertex.id)
        vertex.name = (
            text(entry.get("name"))
            or text(part(page, "name"))
            or vertex.name
            or chain_name(vertex.description)
            or vertex.id
        )
        place = f"{name}: vertex {vertex.id}"
        vertex.parallelism = checked_parallelism(entry.get("parallelism"), place) or vertex.parallelism
        most = whole(entry.get("maxParallelism")) or whole(part(page, "maxParallelism"))
        vertex.max_parallelism = most if most and most <= MOST_KEY_GROUPS else None
        vertex.slot_group = text(entry.get("slotSharingGroupId"))
    return vertices
