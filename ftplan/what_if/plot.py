"""A plot of what-if cases as a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ftplan.errors import FtplanError, suggestion
from ftplan.reports.plot_file import check_plot, write_figure
from ftplan.reports.what_if_plot import MOST_VALUES, PlottedCase, what_if_figure

if TYPE_CHECKING:
    from ftplan.what_if.axes import RowColumn
    from ftplan.what_if.cases import WhatIfCases
    from ftplan.what_if.result import WhatIfResult


@dataclass(frozen=True)
class PlotRequest:
    """What is drawn, and into which file; see :func:`plot_request`."""

    path: str
    measure: RowColumn
    fields: tuple[RowColumn, ...]


def plot_request(
    cases: WhatIfCases, path: str | os.PathLike[str], measure: str | None, over: str | None, force: bool = False
) -> PlotRequest:
    """Check a plot before any case is carried out.

    Raises FtplanError if a name is unknown, nothing is swept, or the file cannot be written; MissingExtraError if what
    draws is not installed.

    Parameters
    ----------
    path
        Ends in .svg or .png.
    measure
        None takes the first one.
    over
        One swept field, or two as ``A,B``; None takes the first that have several values, at most two.
    """
    check_plot(path, force)
    columns = {column.name: column for column in cases.columns}
    measures = [name for name in cases.measures if columns[name].type in ("number", "whole")]
    name = measure or next(iter(measures), "")
    if name not in measures:
        text = f"--plot-measure: unknown measure {name!r}{suggestion(name, measures)}"
        raise FtplanError(f"{text}; measures that are numbers: {', '.join(measures) or 'none'}")
    fields = [field.strip() for field in over.split(",")] if over else _several(cases)[:2]
    for field in fields:
        if field not in cases.swept:
            text = f"--plot-over: unknown field {field!r}{suggestion(field, cases.swept)}"
            raise FtplanError(f"{text}; swept are {', '.join(cases.swept) or 'none'}")
    if not 1 <= len(set(fields)) == len(fields) <= 2:
        raise FtplanError("--plot: there has to be one swept field to plot over, or two: name them with --plot-over")
    return PlotRequest(os.fspath(path), columns[name], tuple(columns[field] for field in fields))


def _several(cases: WhatIfCases) -> list[str]:
    """Return the swept fields that have several values, all where none has."""
    values = [cases.case(number).values for number in range(1, len(cases))]
    several = [name for name in cases.swept if len({case.get(name) for case in values} - {None}) > 1]
    return several or list(cases.swept)


def write_plot(result: WhatIfResult, asked: PlotRequest, force: bool = False) -> None:
    """Draw a measure over one or two swept fields into a file.

    Raises FtplanError if no case has values for it, or the file cannot be written.
    """
    names = [field.name for field in asked.fields]
    measure, base = asked.measure, result.cases.case(0).id
    points = [
        PlottedCase(tuple(row[name] for name in names), float(row[measure.name]))
        for row in result.rows.rows
        if row[measure.name] is not None and all(row[name] is not None for name in names)
    ]
    if not points:
        raise FtplanError(f"--plot: no case has a value of {measure.name} over {' and '.join(names)}")
    for i, name in enumerate(names):
        several = len({point.at[i] for point in points})
        if several > MOST_VALUES and len(names) > 1:
            text = f"--plot: {name} has {several:,} values, a map of two fields shows {MOST_VALUES}"
            raise FtplanError(f"{text}: plot over one of them with --plot-over")
    unchanged = next((row[measure.name] for row in result.rows.rows if row["case"] == base), None)
    drawn = what_if_figure(points, [_label(field) for field in asked.fields], _label(measure), unchanged)
    write_figure(drawn, asked.path, force)


def _label(column: RowColumn) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name
