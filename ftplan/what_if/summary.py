"""What all rows say together: best and worst case, failures, quantiles, and what no case beats twice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.planners.scenarios import Limit, limit_of

if TYPE_CHECKING:
    from ftplan.what_if.axes import RowColumn
    from ftplan.what_if.cases import WhatIfCases

Row = Mapping[str, Any]

#: Measures of an objective; whether more or less is better is its own, which the rows have in a column.
OBJECTIVE, SENSE = ("objective", "bound"), "sense"
QUANTILES = {"min": 0.0, "p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9, "max": 1.0}


@dataclass(frozen=True)
class SummaryRequest:
    """What is asked of the rows: two measures to weigh against each other, and limits; see :func:`summary_request`."""

    pareto: tuple[RowColumn, RowColumn] | None = None
    limits: tuple[Limit, ...] = ()


def summary_request(cases: WhatIfCases, pareto: str | None, fail_under: Iterable[str]) -> SummaryRequest:
    """Check what is asked before any case is carried out.

    Raises FtplanError if one names no measure, a measure of which neither more nor less is better, or no number.

    Parameters
    ----------
    pareto
        ``A,B``: two measures.
    fail_under
        ``MEASURE=VALUE``, each.
    """
    columns = {column.name: column for column in cases.columns}
    measures = [*cases.measures, *(name for name in ("gap",) if name in columns and name not in cases.measures)]
    limits = tuple(limit_of(text, measures, "MEASURE") for text in fail_under)
    for name, _ in limits:
        _directed(cases, columns[name], "--fail-under")
    if pareto is None:
        return SummaryRequest(None, limits)
    names = [name.strip() for name in pareto.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise FtplanError(f"--pareto {pareto!r}: expected two measures, as A,B; measures: {', '.join(measures)}")
    for name in names:
        if name not in measures:
            close = suggestion(name, measures)
            raise FtplanError(f"--pareto: unknown measure {name!r}{close}; measures: {', '.join(measures)}")
    first, second = (_directed(cases, columns[name], "--pareto") for name in names)
    return SummaryRequest((first, second), limits)


def _directed(cases: WhatIfCases, column: RowColumn, option: str) -> RowColumn:
    """Refuse a measure of which neither more nor less is better; which of an objective is, the rows will tell."""
    if column.sense is None and not _of_objective(cases, column):
        raise FtplanError(f"{option}: of {column.name} neither more nor less is better: say which in the what-if file")
    return column


def _of_objective(cases: WhatIfCases, column: RowColumn) -> bool:
    return column.name in OBJECTIVE and any(other.name == SENSE for other in cases.columns)


def _sign(cases: WhatIfCases, column: RowColumn, rows: Sequence[Row]) -> float | None:
    """Return 1 where more of a measure is better, -1 where less is, None where neither is or rows differ in it."""
    senses = {column.sense}
    if column.sense is None and _of_objective(cases, column):
        senses = {row[SENSE] for row in rows} - {None}
    return {"max": 1.0, "min": -1.0}.get(str(senses.pop())) if len(senses) == 1 else None


def summary(cases: WhatIfCases, rows: Sequence[Row], asked: SummaryRequest | None = None) -> dict[str, Any]:
    """Return the figures of all rows. They are over the cases without the base, unless there is only that.

    Returns
    -------
    dict
        ``cases`` (with the base), ``statuses`` (how many rows of each), ``failed`` (rows with an error), ``measure``
        (the first one) with ``best`` and ``worst``, each ``{case, value}`` or None, ``quantiles`` of each measure, and
        ``pareto``: ``{measures, cases: [{case, values}]}`` or None.
    """
    judged = without_base(cases, rows)
    columns = {column.name: column for column in cases.columns}
    first = columns[cases.measures[0]] if cases.measures else None
    best, worst = (None, None) if first is None else _extremes(first, _sign(cases, first, judged), judged)
    pareto = None
    if asked is not None and asked.pareto is not None:
        signs = [_sign(cases, column, judged) for column in asked.pareto]
        names = [column.name for column in asked.pareto]
        pareto = {"measures": names, "cases": _front(names, signs, judged)}
    return {
        "cases": len(cases),
        "statuses": dict(sorted(Counter(str(row["status"]) for row in rows).items())),
        "failed": sum(row["status"] == "error" for row in rows),
        "measure": None if first is None else first.name,
        "best": best,
        "worst": worst,
        "quantiles": [_quantiles(name, judged) for name in cases.measures if columns[name].type in ("number", "whole")],
        "pareto": pareto,
    }


def without_base(cases: WhatIfCases, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the cases that change something; the base where there is no other."""
    base = cases.case(0).id
    return [row for row in rows if row["case"] != base] or list(rows)


def unmet_limits(cases: WhatIfCases, rows: Sequence[Row], limits: Sequence[Limit]) -> tuple[str, ...]:
    """Return a sentence for each limit that a case misses: by how many, and the worst of them.

    A case without a value misses it too.
    """
    columns = {column.name: column for column in cases.columns}
    judged = without_base(cases, rows)
    texts = []
    for name, limit in limits:
        sign = _sign(cases, columns[name], judged)
        if sign is None and any(row[name] is not None for row in judged):
            texts.append(f"{name}: more of it is better in some cases, less in others: {limit:g} is no limit")
            continue
        sign = sign or 1.0
        missed = [row for row in judged if row[name] is None or sign * row[name] < sign * limit]
        if not missed:
            continue
        worst = min(missed, key=lambda row: -math.inf if row[name] is None else sign * row[name])
        side = "below" if sign > 0 else "above"
        shown = "undefined, which misses" if worst[name] is None else f"{worst[name]:.6g}, {side}"
        more = f"; {len(missed):,} of {len(judged):,} cases miss it" if len(missed) > 1 else ""
        texts.append(f"{name} of case {worst['case']} is {shown} the limit {limit:g}{more}")
    return tuple(texts)


def _extremes(
    measure: RowColumn, sign: float | None, rows: Sequence[Row]
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the best and the worst row of a measure, the first of equals; None where neither way is better."""
    valued = [row for row in rows if row[measure.name] is not None]
    if sign is None or not valued:
        return None, None
    best = max(valued, key=lambda row: sign * row[measure.name])
    worst = min(valued, key=lambda row: sign * row[measure.name])
    return _named(best, measure), _named(worst, measure)


def _named(row: Row, measure: RowColumn) -> dict[str, Any]:
    return {"case": row["case"], "value": row[measure.name]}


def _quantiles(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    values = np.array([row[name] for row in rows if row[name] is not None], dtype=np.float64)
    figures: dict[str, Any] = {"measure": name, "values": len(values)}
    for label, share in QUANTILES.items():
        figures[label] = float(np.quantile(values, share)) if len(values) else None
    figures["mean"] = float(values.mean()) if len(values) else None
    return figures


def _front(names: Sequence[str], signs: Sequence[float | None], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows that no other one beats in one measure without being worse in the other, best first.

    Of rows with equal values in both, the first; no row where of a measure neither more nor less is better. Cost:
    n log n.
    """
    if None in signs:
        return []
    points = [
        (tuple((sign or 0.0) * row[name] for sign, name in zip(signs, names, strict=True)), row)
        for row in rows
        if all(row[name] is not None for name in names)
    ]
    points.sort(key=lambda point: (-point[0][0], -point[0][1]))  # stable: equals stay in the order of cases
    front, reached = [], -math.inf
    for values, row in points:
        if values[1] > reached:
            reached = values[1]
            front.append({"case": row["case"], "values": [row[name] for name in names]})
    return front
