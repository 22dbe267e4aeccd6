"""From a what-if file to its cases, ready to be answered: one question under changed inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ftplan.errors import FtplanError, Mistakes
from ftplan.io.documents import STANDARD_INPUT, Document, sha256_of_data
from ftplan.io.loading import Source
from ftplan.io.plan_file import load_plan
from ftplan.io.what_if_file import WhatIfModel, load_what_if
from ftplan.planners.plan_inputs import sources_of
from ftplan.version import __version__
from ftplan.what_if.axes import CaseAxis, RowColumn
from ftplan.what_if.cases import WhatIfCases, points_of
from ftplan.what_if.delta import Delta, Input
from ftplan.what_if.expansion import ROLES, Expansion
from ftplan.what_if.inputs import Inputs, Problems, Reader
from ftplan.what_if.measures import Measure, measures_of
from ftplan.what_if.question import CaseQuestion, question_of

#: More cases than this are a slip of the keyboard.
MOST_CASES = 10_000_000


def load_cases(
    source: Source,
    *,
    topology: Source | None = None,
    cluster: Source | None = None,
    stats: Source | None = None,
    failure: Source | None = None,
    spread: bool = False,
    measures: list[str] | None = None,
) -> WhatIfCases:
    """Read a what-if file with all that it names, and prepare it.

    Raises FtplanError if the file or an input is wrong, with all that is: before any case is answered.

    Parameters
    ----------
    source
        A path (``-`` is standard input), or the document as a mapping. Paths in it are relative to its folder; in a
        mapping, and on standard input, to the working folder.
    topology, cluster, stats, failure
        Inputs of the base instead of those that the file names.
    spread
        As ``spread: true`` in the file.
    measures
        What is measured, instead of what the file says.
    """
    mistakes = Mistakes()
    loaded = load_what_if(source, mistakes)
    model, name = loaded.value, loaded.input.path or "what-if"
    path = None if isinstance(source, Mapping) or os.fspath(source) == STANDARD_INPUT else Path(source)
    reader, here = Reader(None if path is None else path.parent), Reader(None)
    given: dict[str, Input] = {}
    for role, instead in zip(ROLES, (topology, cluster, stats, failure), strict=True):
        with mistakes.caught():
            given |= _given(model, reader, here, role, instead)
    read = not len(mistakes)
    question = question_of(model.run, reader, mistakes, name)
    if question is None:
        mistakes.finish()
    assert question is not None
    measured: tuple[Measure, ...] = ()
    with mistakes.caught(name):
        measured = measures_of(measures or model.measures, question.kind, evaluated=question.evaluates)
    spread = spread or model.inputs.spread
    problems, inputs, base = Problems(), dict[str, Inputs](), None
    if read:
        with mistakes.caught():
            inputs[_key(question.plan)] = _inputs(question.plan, given, spread, here)
            base = problems.of(inputs[_key(question.plan)])
    expansion = Expansion(reader, base, question)
    listed, axes = _cases(model, expansion, _columns(question, measured, ()), name, mistakes)
    mistakes.finish()
    for document in expansion.plans:
        inputs.setdefault(document.sha256, _inputs(document, given, spread, here))
    files = [*reader.fingerprints(), *here.fingerprints(), *expansion.fingerprints]
    names = [question.kind, *(measure.name for measure in measured), str(spread)]
    digest = [loaded.input.sha256, *names, *files, __version__]
    digest += [str(item) for one in inputs.values() for item in one.fingerprints]
    return WhatIfCases(
        name=model.name or Path(name).stem,
        question=question,
        measured=measured,
        columns=_columns(question, measured, axes),
        swept=tuple(column.name for axis in axes for column in axis.columns[: axis.swept]),
        fingerprint=sha256_of_data(digest),
        inputs=inputs,
        listed=listed,
        axes=axes,
        warnings=loaded.warnings,
        problems=problems,
    )


def _given(model: WhatIfModel, reader: Reader, here: Reader, role: str, instead: Source | None) -> dict[str, Input]:
    """Return an input of the base by its role: the one given *instead*, from *here*, else the one of the file."""
    own = getattr(model.inputs, role)
    if instead is not None:
        return {role: here.read(role, instead)}
    return {} if own is None else {role: reader.read(role, own)}


def _key(plan: Document | None) -> str:
    return "" if plan is None else plan.sha256


def _inputs(plan: Document | None, given: Mapping[str, Input], spread: bool, reader: Reader) -> Inputs:
    """Return the inputs of the base; of a plan that is evaluated also those that it names, where none are given."""
    if plan is None:
        return Inputs(**given, spread=spread)  # type: ignore[arg-type]  # each role has what its field takes
    made = load_plan(plan).value
    sources = sources_of(made, given=given, name=plan.name)
    read = {
        role: source if role in given else reader.read(role, source)
        for role, source in sources.items()
        if source is not None
    }
    return Inputs(**read, spread=spread or bool(made.options.get("spread")))  # type: ignore[arg-type]


def _cases(
    model: WhatIfModel, expansion: Expansion, columns: tuple[RowColumn, ...], name: str, mistakes: Mistakes
) -> tuple[tuple[tuple[str, Delta], ...], tuple[CaseAxis, ...]]:
    """Return the listed cases and the axes of the grid, whose columns differ from those that every what-if file has."""
    taken = {column.name for column in columns} - {"algorithm"}
    listed: list[tuple[str, Delta]] = []
    axes: list[CaseAxis] = []
    for i, case in enumerate(model.cases):
        with mistakes.caught(f"{name}: cases[{i}]"):
            listed.append((case.id, expansion.delta(case)))
    for i, axis in enumerate(model.grid):
        with mistakes.caught(f"{name}: grid[{i}]"):
            axes.append(expansion.axis(axis, taken))
            taken.update(column.name for column in axes[-1].columns)
    with mistakes.caught(f"{name}: grid"):
        if (count := points_of(tuple(axes))) > MOST_CASES:
            raise FtplanError(f"has {count:,} combinations, more than {MOST_CASES:,}")
    return tuple(listed), tuple(axes)


def _columns(
    question: CaseQuestion, measured: tuple[Measure, ...], axes: tuple[CaseAxis, ...]
) -> tuple[RowColumn, ...]:
    """Return the columns of the rows, in order."""
    own = [column for axis in axes for column in axis.columns]
    names = {column.name for column in own} | {measure.name for measure in measured}
    of_plans = [] if question.evaluates else [RowColumn("algorithm", "text"), RowColumn("sense", "text")]
    gap = [] if question.evaluates else [RowColumn("gap", "number", "min", "share")]
    return (
        RowColumn("case", "text"),
        *own,
        RowColumn("status", "text"),
        *(column for column in of_plans if column.name not in names),
        *(RowColumn(measure.name, "number", measure.sense, measure.unit) for measure in measured),
        *(column for column in gap if column.name not in names),
        *(RowColumn(f"delta_{measure.name}", "number", measure.sense, measure.unit) for measure in measured),
        RowColumn("reason", "text"),
    )
