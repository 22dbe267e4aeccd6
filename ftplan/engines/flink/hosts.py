"""Hosts: where task managers run, their cores and memory, and which subtask runs where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ftplan.engines.flink.pages import entries, number, part, text, whole
from ftplan.engines.importing.draft import DraftNode

#: ``pekko.tcp://flink@HOST:PORT/user/rpc/taskmanager_0``
_ADDRESS = re.compile(r"@(\[[^\]]+\]|[^:/\[\]]+):\d+/")
_ENDPOINT = re.compile(r"(\[[^\]]+\]|[^:\[\]]+)(?::\d+)?")
_Number = TypeVar("_Number", int, float)
_IP = re.compile(r"[0-9.]+|\[?[0-9a-fA-F]*:[0-9a-fA-F:.]*\]?")


@dataclass(slots=True)
class TaskManager:
    """A process that runs tasks; its id changes at every restart, the host's name does not.

    ``cpu`` are the cores that its tasks may use, ``machine_cpu`` those that its machine has.
    """

    id: str
    host: str
    cpu: float | None = None
    machine_cpu: float | None = None
    slots: int | None = None
    memory_mb: float | None = None


def task_managers(pages: Sequence[Mapping[str, Any]], vertices: Iterable[Any]) -> dict[str, TaskManager]:
    """Return the task managers by id, from their own pages and from those of vertices, which name their hosts."""
    seen: dict[str, str] = {}
    for page in vertices:
        for entry in entries(part(page, "subtasks")):
            key, host = text(entry.get("taskmanager-id")), _endpoint_host(entry)
            if key is not None and host is not None and _deployed(key):
                seen.setdefault(key, host)
    managers: dict[str, TaskManager] = {}
    for page in pages:
        key = text(page.get("id"))
        if key is None:
            continue
        address = _ADDRESS.search(text(page.get("path")) or "")
        # A name outlives the address of a machine: the first that is one counts.
        known = [host for host in (seen.get(key), address[1] if address else None) if host is not None]
        host = next((host for host in known if not _IP.fullmatch(host)), known[0] if known else key)
        memory = number(part(page, "memoryConfiguration", "totalProcessMemory"))
        managers[key] = TaskManager(
            key,
            host.strip("[]"),
            number(part(page, "totalResource", "cpuCores")) or None,
            number(part(page, "hardware", "cpuCores")) or None,
            whole(page.get("slotsNumber")) or None,
            memory / 2**20 if memory else None,
        )
    for key, host in seen.items():
        managers.setdefault(key, TaskManager(key, host.strip("[]")))
    return managers


def _endpoint_host(entry: Mapping[str, Any]) -> str | None:
    match = _ENDPOINT.fullmatch(text(entry.get("endpoint", entry.get("host"))) or "")
    return match[1] if match and _deployed(match[1]) else None


def _deployed(name: str) -> bool:
    return not name.startswith("(")  # (unassigned)


def subtask_hosts(
    page: Any, parallelism: int, managers: Mapping[str, TaskManager], by: Literal["host", "process"]
) -> list[str | None]:
    """Return the node that runs each subtask, None where the page of the vertex does not say."""
    hosts: list[str | None] = [None] * parallelism
    for position, entry in enumerate(entries(part(page, "subtasks"))):
        index = whole(entry.get("subtask"))
        index = position if index is None else index
        manager = managers.get(text(entry.get("taskmanager-id")) or "")
        if index < parallelism:
            host = _endpoint_host(entry)
            hosts[index] = node_name(manager, by) if manager is not None else host.strip("[]") if host else None
    return hosts


def node_name(manager: TaskManager, by: Literal["host", "process"]) -> str:
    """Return what a topology calls the node that a task manager is on."""
    return manager.host if by == "host" else manager.id


def nodes(managers: Mapping[str, TaskManager], by: Literal["host", "process"]) -> list[DraftNode]:
    """Return hosts with the cores, the memory and the slots of their task managers together.

    No host has more cores than its machine: two task managers on a machine of two cores may say that each uses two.
    """
    together: dict[str, list[TaskManager]] = {}
    for manager in managers.values():
        together.setdefault(node_name(manager, by), []).append(manager)
    return [
        DraftNode(host, _cores(group), _sum([m.memory_mb for m in group]), slots=_sum([m.slots for m in group]))
        for host, group in together.items()
    ]


def _cores(group: Sequence[TaskManager]) -> float | None:
    machine = max((m.machine_cpu for m in group if m.machine_cpu is not None), default=None)
    together = _sum([m.cpu if m.cpu is not None else m.machine_cpu for m in group])
    if together is None or machine is None:
        return together if together is not None else machine
    return min(together, machine)


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
