"""The REST pages of Storm's UI: a topology's, its components', its visualization's and the supervisors'.

Pages are known by what they hold, so that they may have been saved under any name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ftplan.engines.importing.draft import Draft, DraftNode, DraftOperator, ImportOptions
from ftplan.engines.importing.edges import spread
from ftplan.engines.importing.parts import Part
from ftplan.engines.storm.components import component, connect, grouping, is_coordination, is_system
from ftplan.errors import FtplanError

_UPTIME = re.compile(r"(\d+)([dhms])")
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_EXECUTOR = re.compile(r"\[(\d+)-(\d+)\]")


def _kind(value: Any) -> str | None:
    """Return what a page is, None where it is none that is needed here."""
    if not isinstance(value, dict):
        return None
    if "executorStats" in value and "id" in value:
        return "component"
    if isinstance(value.get("spouts"), list) and isinstance(value.get("bolts"), list):
        return "topology" if any(key in value for key in ("topologyStats", "executorsTotal", "status")) else None
    if isinstance(value.get("supervisors"), list):
        return "supervisors"
    if value and all(isinstance(item, dict) and ":inputs" in item for item in value.values()):
        return "visualization"
    return None


def is_page(value: Any) -> bool:
    """Return whether a document is a page of the UI."""
    return _kind(value) is not None


def read(answers: Mapping[str, Any], name: str, options: ImportOptions) -> Draft:
    """Return the topology that pages tell of, the pages by path or by the name of their file.

    Raises FtplanError if there is no page of a topology, or several and none is named.
    """
    pages = [Part(value, f"{path}") for path, value in answers.items() if is_page(value)]
    by_kind = {kind: [page for page in pages if _kind(page.value) == kind] for kind in _KINDS}
    topology = _topology(by_kind["topology"], name, options)
    identity = topology.at("id").text()
    draft = Draft(topology.at("name").text() if "name" in topology else identity)
    components = {
        page.at("id").text(): page for page in by_kind["component"] if page.at("topologyId").value in (None, identity)
    }
    window = _window(topology)
    for key in ("spout", "bolt"):
        for part in topology.at(f"{key}s").each():
            operator = _operator(part, key)
            if is_system(operator.key):
                continue
            draft.operators.append(operator)
            if operator.key in components:
                _measure(operator, components[operator.key], draft, options, window)
    if not all(operator.key in components for operator in draft.operators):
        draft.assume("PLACEMENT_UNKNOWN", "not all component pages are here: what runs where is not known for all")
    _connect(draft, components, _visualization(by_kind["visualization"], draft), options, window)
    _nodes(draft, topology, by_kind["supervisors"], options)
    return draft


_KINDS = ("topology", "component", "supervisors", "visualization")


def _topology(pages: list[Part], name: str, options: ImportOptions) -> Part:
    """Return the last page of the topology that is asked for, or of the only one."""
    if not pages:
        raise FtplanError(f"{name}: holds no page of a topology of Storm (/api/v1/topology/ID)")
    by_id = {page.at("id").text(): page for page in pages}
    names = {key: page.at("name").text() if "name" in page else key for key, page in by_id.items()}
    asked = [key for key in by_id if options.job in (None, key, names[key])]
    known = ", ".join(sorted({*names.values()}))
    if not asked:
        raise FtplanError(f"--job: {name} holds no topology {options.job!r}: one of {known}")
    if len(asked) > 1:
        raise FtplanError(f"{name}: holds several topologies: choose one with --job: {known}")
    return by_id[asked[0]]


def _operator(part: Part, kind: str) -> DraftOperator:
    executors, tasks = part.at("executors").count(), part.at("tasks").count()
    percent = part.at("requestedCpu").number()
    operator = component(part.at(f"{kind}Id").text(), executors, tasks, percent or None)
    if part.at("capacity").value is not None:
        operator.cpu = part.at("capacity").number()
    latency = part.at("executeLatency").number()
    operator.record_time_s = latency / 1000 if latency else None
    return operator


def _uptime(part: Part) -> float | None:
    """Return the seconds for which an executor is up; older versions write ``43m 4s`` only."""
    seconds = part.at("uptimeSeconds").number()
    if seconds is None and isinstance(part.at("uptime").value, str):
        shown = _UPTIME.findall(part.at("uptime").text())
        seconds = float(sum(int(count[:9]) * _SECONDS[unit] for count, unit in shown)) if shown else None
    return seconds or None


def _window(page: Part) -> float | None:
    """Return the seconds over which a page counts; None is since each executor began."""
    window = str(page.value.get("window", ""))
    return float(window) if window.isascii() and window.isdigit() and int(window) else None


def _executors(page: Part) -> Iterator[tuple[Part, int]]:
    """Yield the executors of a component in the order of their tasks, with the number of these."""
    rows = []
    for part in page.at("executorStats").each():
        match = _EXECUTOR.fullmatch(part.at("id").text())
        if match is None:
            raise FtplanError(f"{part.where}: id: expected the tasks of an executor such as [4-5]")
        first, last = int(match[1]), int(match[2])
        if not 0 <= last - first < 10_000_000:
            raise FtplanError(f"{part.where}: id: the tasks {match[0]} are none")
        rows.append((first, last - first + 1, part))
    for _, tasks, part in sorted(rows, key=lambda row: row[:2]):
        yield part, tasks


def _measure(operator: DraftOperator, page: Part, draft: Draft, options: ImportOptions, window: float | None) -> None:
    """Take from a component's page what each of its executors does, and where it runs."""
    executors = list(_executors(page))
    if len(executors) != operator.parallelism:
        draft.assume(
            "EXECUTORS_DIFFER",
            f"{operator.key}: {len(executors)} executors report of {operator.parallelism}: their figures are left out",
        )
        return
    window = _window(page) or window
    rates: list[float] = []
    executed: list[float] = []
    busy: list[float] = []
    hosts: list[str] = []
    groups: list[str] = []
    timed = True
    for part, tasks in executors:
        seconds = min(filter(None, (window, _uptime(part))), default=0.0)
        timed = timed and seconds > 0
        rates.append((part.at("emitted").number() or 0.0) / (seconds or 1.0))
        executed.append((part.at("executed").number() or 0.0) / (seconds or 1.0))
        busy.append(part.at("capacity").number() or 0.0)
        host = part.at("host").text()
        hosts.append(host if options.node_by == "host" else f"{host}:{part.at('port').text()}")
        groups += [hosts[-1]] * tasks
    if timed:
        operator.rate_out = rates
    else:
        text = "the page does not say over which time it counts: rates are left out"
        draft.assume("WINDOW_UNKNOWN", f"{operator.key}: {text}")
    if any("capacity" in part for part, _ in executors):
        operator.cpu = busy
    if any(executed):
        operator.input_share = executed
        operator.selectivity = sum(rates) / sum(executed)
    draft.tasks[operator.key] = hosts
    if len(groups) == operator.key_groups:
        draft.key_groups[operator.key] = groups


def _visualization(pages: list[Part], draft: Draft) -> dict[tuple[str, str, str], str] | None:
    """Return groupings by (from, stream, to) of the page that shows this topology, None where there is none."""
    names = {operator.key for operator in draft.operators}
    for page in pages:
        if names <= set(page.value):
            return {
                (item.at(":component").text(), item.at(":stream").text(), target): grouping(item.at(":grouping").text())
                for target, part in page.items()
                for item in part.at(":inputs").each()
            }
    return None


def _connect(
    draft: Draft,
    components: Mapping[str, Part],
    told: Mapping[tuple[str, str, str], str] | None,
    options: ImportOptions,
    window: float | None,
) -> None:
    """Add the edges: those that the visualization tells, and those over which a component's page counts records."""
    names = {operator.key: operator for operator in draft.operators}
    records: dict[tuple[str, str], float] = {}
    streams: dict[tuple[str, str, str], str] = dict(told or {})
    for target, page in components.items():
        for part in page.at("inputStats").each():
            stream = (part.at("component").text(), part.at("stream").text(), target)
            streams.setdefault(stream, "unknown")
            if not is_coordination(stream[1]):
                pair = stream[0], target
                records[pair] = records.get(pair, 0.0) + (part.at("executed").number() or 0.0)
    kept = [
        (source, target, kind)
        for (source, stream, target), kind in sorted(streams.items())
        if source in names and target in names and not is_coordination(stream)
    ]
    if not kept and len(names) > 1:
        draft.assume("EDGES_UNKNOWN", "no page tells who sends to whom: there are no edges")
    connect(draft, kept, options)
    for key in {key for key in draft.key_groups if names[key].key_groups is None}:
        del draft.key_groups[key]
    rate = {}
    for (source, target), count in records.items():
        page = components[target]
        up = (_uptime(part) for part in page.at("executorStats").each())
        seconds = _window(page) or window or max(filter(None, up), default=0.0)
        if seconds and count and source in names and target in names:
            rate[source, target] = count / seconds
    spread(draft, rate)


def _nodes(draft: Draft, topology: Part, supervisors: list[Part], options: ImportOptions) -> None:
    """Name the hosts: supervisors, also idle ones, and whatever else runs an executor."""
    nodes: dict[str, DraftNode] = {}
    if options.node_by == "host":
        for page in supervisors:
            for part in page.at("supervisors").each():
                host = part.at("host").text()
                node = nodes.setdefault(host, DraftNode(host))
                percent, memory = part.at("totalCpu").number(), part.at("totalMem").number()
                node.cpu = percent / 100 if percent else node.cpu
                node.memory_mb = memory or node.memory_mb
    for part in topology.at("workers").each():
        host = part.at("host").text()
        name = host if options.node_by == "host" else f"{host}:{part.at('port').text()}"
        nodes.setdefault(name, DraftNode(name))
    draft.take_nodes(nodes)
