"""Names in logs of Flink's reporters: ``<host>.taskmanager.<tm_id>.<job>.<task or operator>.<subtask>.<metric>``.

Ids of task managers and names of jobs and operators hold dots, spaces and colons, so that only the metric and the
subtask can be read off, from the right. What stands before is told apart by what several names have in common.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from os.path import commonprefix
from typing import NamedTuple

_ARROW = " -> "
_MANAGER = re.compile(r"(?:.*?)\.taskmanager\.(?:\S*?:\d+-[0-9a-f]+|[^. ]+)(?=\.)")


class Scope(NamedTuple):
    """Whose metrics a name is about; ``name`` is that of a task (a chain of operators) or of an operator."""

    host: str
    manager: str
    job: str
    name: str


def scopes(names: Collection[str], managers: Collection[str], tasks: Collection[str]) -> dict[str, Scope]:
    """Return what each name says; those of another shape are left out.

    *names*: everything before the subtask's number. *managers*: everything before ``.Status.`` in names of a task
    manager's own metrics. *tasks*: those of the names that are of tasks, not of operators.
    """
    known = sorted((manager for manager in managers if ".taskmanager." in manager), key=len, reverse=True)
    rest: dict[str, tuple[str, str]] = {}
    for name in names:
        manager = next((m for m in known if name.startswith(m + ".")), None)
        if manager is None and (match := _MANAGER.match(name)) is not None:
            manager = match[0]
        if manager is not None:
            rest[name] = manager, name[len(manager) + 1 :]
    jobs = _jobs({text for _, text in rest.values()}, {rest[name][1] for name in tasks if name in rest})
    result = {}
    for name, (manager, text) in rest.items():
        job = next((job for job in jobs if text.startswith(job + ".")), None)
        host, _, key = manager.partition(".taskmanager.")
        if job is not None and len(text) > len(job) + 1:
            result[name] = Scope(host, key, job, text[len(job) + 1 :])
    return result


def _jobs(texts: Collection[str], tasks: Iterable[str]) -> list[str]:
    """Return the names of the jobs in texts ``<job>.<name>``, longest first.

    An operator of a chain has metrics of its own: where a task is called ``J.A -> B`` and an operator ``J.B``, J is the
    job. Else it is what all texts have in common up to a dot, at the least what stands before the first one.
    """
    jobs: set[str] = set()
    left = []
    for task in tasks:
        members = [member for member in task.split(_ARROW)[1:] if not member.startswith("(")]
        candidates = {text[: -len(m) - 1] for m in members for text in texts if text.endswith("." + m)}
        fitting = [job for job in candidates if task.startswith(job + ".")]
        jobs.update(fitting)
        if not fitting:
            left.append(task)
    open_ = [task for task in left if not any(task.startswith(job + ".") for job in jobs)]
    if open_:
        # Names are no paths: characters in common are what is meant.
        common = commonprefix([text for text in texts if not any(text.startswith(job + ".") for job in jobs)])  # noqa: RUF071
        job = common.split(": ")[0].split(_ARROW)[0].rpartition(".")[0]
        jobs.add(job or open_[0].partition(".")[0])
    return sorted(jobs, key=len, reverse=True)


def vertex_of(operator: str, tasks: Iterable[str]) -> str | None:
    """Return the task whose chain an operator is part of, by name; None where there is none, or several."""
    named = [task for task in tasks if task == operator or operator in chain_members(task)]
    return named[0] if len(named) == 1 else None


def chain_members(task: str) -> Mapping[str, None]:
    """Return the operators in the name of a task: of ``A -> (B, C)`` A, B and C."""
    members: dict[str, None] = {}
    for part in task.split(_ARROW):
        bare = part.strip()
        if bare.startswith("("):
            bare = bare[1:]
        members[bare] = None
        for piece in bare.rstrip(")").split(", "):
            members[piece] = None
    return members
