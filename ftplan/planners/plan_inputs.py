"""A plan that a call was given, and the inputs that it was made from: where they are, and whether they are the same."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from ftplan.errors import FtplanError
from ftplan.io.documents import sha256_of_bytes, sha256_of_file
from ftplan.io.loading import Source, load
from ftplan.io.options.fields import PlanSource, quoted
from ftplan.io.options.parameters import SOURCE, a_problem
from ftplan.model import kinds
from ftplan.model.plan import InputFile, Plan
from ftplan.model.problem import Problem
from ftplan.model.violation import Violation
from ftplan.planners.kind import kind_of

ROLES = ("topology", "cluster", "stats", "failure")


def a_plan(given: Plan | PlanSource) -> Plan:
    """Return a plan that was given as one, as a path or as a document, with options that can be understood.

    Raises FtplanError if it is anything else, cannot be read, or records an option that is wrong.
    """
    if isinstance(given, (str, os.PathLike, Mapping)):
        from ftplan.io.plan_file import load_plan

        given = load_plan(SOURCE.take(given) if given != "" else _refused(given)).value
    if not isinstance(given, Plan):
        _refused(given)
    if given.kind in kinds.names():
        kind_of(given.kind).options.of_plan(given)
    return given


def _refused(given: object) -> NoReturn:
    raise FtplanError(f"plan: {quoted(given)} is not a plan, the path of one, or its document")


def load_inputs(
    plan: Plan | PlanSource,
    *,
    defaults: Mapping[str, Source | None] | None = None,
    name: str = "plan",
    spread: bool = False,
    max_stats_age_s: float | None = None,
    min_coverage: float | None = None,
    **given: Source | None,
) -> Problem:
    """Load the inputs of a plan: those that are given, else those that it names, else those of *defaults*.

    A failure is only taken where it is given, or where the plan answers it.

    Raises FtplanError if an input cannot be read, or one that is needed is named nowhere.

    Parameters
    ----------
    plan
        A plan, the path of one, or its document.
    given
        ``topology``, ``cluster``, ``stats``, ``failure``: a path or a document instead of what the plan names.
    defaults
        The same, for what the plan does not name.
    name
        What messages call the plan.
    """
    plan = a_plan(plan)
    return load(
        **sources_of(plan, defaults=defaults, name=name, given=given),
        spread=spread or bool(plan.options.get("spread")),
        max_stats_age_s=max_stats_age_s,
        min_coverage=min_coverage,
    )


def with_inputs(plan: Plan | PlanSource, problem: Problem | None) -> tuple[Plan, Problem]:
    """Return a plan and its problem, both checked; without a problem that of the inputs which the plan names."""
    plan = a_plan(plan)
    if problem is None and plan.kind in kinds.names():
        return plan, load_inputs(plan)
    return plan, a_problem(problem)


def sources_of(
    plan: Plan,
    *,
    given: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
    name: str = "plan",
) -> dict[str, Any]:
    """Return where each input of a plan is to be read, None for one that it goes without; see :func:`load_inputs`.

    Raises FtplanError if a file that the plan names is not there, or an input that is needed is named nowhere.
    """
    kind = kind_of(plan.kind) if plan.kind in kinds.names() else None
    named = _paths(plan)
    sources: dict[str, Any] = {}
    for role in ROLES:
        source = given.get(role)
        if source is None and role in named:
            source = named[role]
            if not os.path.exists(named[role]):
                raise FtplanError(f"{name}: its input {source} ({role}) is not there any more: give --{role}")
        elif source is None and not (kind is not None and kind.answers_failure and plan.inputs):
            source = (defaults or {}).get(role)  # a plan that answers a failure was made without what it does not name
        sources[role] = source
    needed = ("topology", "cluster") if kind is None or "cluster" in kind.needs else ("topology",)
    for role in needed:
        if sources[role] is None:
            raise FtplanError(f"{name}: names no {role} file, and --{role} is missing")
    return sources


def seen_from_here(plan: Plan, path: str) -> Plan:
    """Return a plan of a file with the paths of its inputs as they are seen from the working folder.

    A plan names them as seen from the folder in which it was made. That is the working folder, the folder of the file,
    or one between them: the first in which all of them are, and are what the plan was made from if there is any such.
    """
    named = [item for item in plan.inputs if item.path not in (None, "-")]
    own = Path() if path == "-" else Path(os.path.relpath(path)).parent
    between = [] if ".." in own.parts else own.parents
    folders = [f for f in dict.fromkeys((Path(), own, *between)) if all((f / str(i.path)).exists() for i in named)]
    if len(folders) > 1:
        folders.sort(key=lambda folder: not all(_unchanged(_below(folder, item)) for item in named))
    if not folders or folders[0] == Path():
        return plan
    inputs = (_below(folders[0], item) if item in named else item for item in plan.inputs)
    return replace(plan, inputs=tuple(inputs))


def _below(folder: Path, item: InputFile) -> InputFile:
    return replace(item, path=str(folder / str(item.path)))


def _unchanged(item: InputFile) -> bool:
    """Return whether an input is what a plan was made from; a folder's fingerprint is that of its manifest."""
    assert item.path is not None
    path = Path(item.path)
    try:
        return sha256_of_file(path / "manifest.json" if path.is_dir() else path) == item.sha256
    except OSError:
        return False


def load_state(
    plan: Plan, *, asked: Collection[str] = (), given: Mapping[str, Source | None] | None = None
) -> Problem | None:
    """Load topology and statistics where they are given or where the plan's own are still there; None without them.

    Raises FtplanError if a file that was asked for cannot be read.

    Parameters
    ----------
    given
        Where the two are, for a role of *asked* instead of what the plan names, else where that is not there.
    """
    named = _paths(plan)
    sources: dict[str, Any] = {}
    for role in ("topology", "stats"):
        own = named.get(role)
        there = role not in asked and own is not None and os.path.exists(own)
        sources[role] = own if there else (given or {}).get(role)
    if sources["topology"] is None:
        return None
    try:
        return load(**sources)
    except FtplanError:
        if asked:
            raise
        return None  # what lies where the plan's inputs were is of no use any more


def stale_inputs(plan: Plan, problem: Problem) -> list[Violation]:
    """Return ``STALE_INPUT`` for each input that is not what the plan was made from.

    Inputs that are plans or costs are looked up where the plan says that they lie.
    """
    now = _inputs_now(plan, problem)
    return [
        Violation(
            "STALE_INPUT",
            f"{item.role} {now[item.role].path or '(given)'} is not what the plan was made from: its sha256 begins "
            f"{now[item.role].sha256[:12]}, the plan's {item.sha256[:12]}; plan again, or pass --ignore-stale",
            item.role,
        )
        for item in plan.inputs
        if item.role in now and now[item.role].sha256 != item.sha256
    ]


def unread_inputs(plan: Plan, problem: Problem) -> tuple[str, ...]:
    """Return the inputs that a plan names and nobody could hold it to."""
    now = _inputs_now(plan, problem)
    return tuple(f"inputs.{item.role}" for item in plan.inputs if item.role not in now)


def _inputs_now(plan: Plan, problem: Problem) -> dict[str, InputFile]:
    """Return the inputs as they are now, by role."""
    now = {item.role: item for item in problem.inputs}
    for item in plan.inputs:
        if item.role not in ROLES and item.role not in now:
            file = _other_file(item, plan.kind)
            if file is not None:
                now[item.role] = file
    return now


def _paths(plan: Plan) -> dict[str, str]:
    """Return the path of each input that lies in a file, by role."""
    return {item.role: item.path for item in plan.inputs if item.path is not None and item.path != "-"}


def _other_file(item: InputFile, kind: str) -> InputFile | None:
    """Return the fingerprint of a plan, costs or table that a plan of a kind was made from, None where it is gone."""
    from ftplan.io.documents import read_bytes, read_document

    if item.path is None or not os.path.exists(item.path):
        return None
    try:
        if kind in kinds.names() and item.role in kind_of(kind).tables:  # of a table the bytes count
            return replace(item, sha256=sha256_of_bytes(read_bytes(item.path, item.role)))
        return replace(item, sha256=read_document(item.path, item.role).sha256)
    except FtplanError:
        return None
