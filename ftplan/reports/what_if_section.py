"""What a page says of the result of a what-if: a case a row, and what the cases say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ftplan.model.kinds import noun
from ftplan.model.plan import Warn
from ftplan.reports.charts import ROWS, Axis, Bar, bars, lines
from ftplan.reports.document import WEIGHTED, OtherDocument, PagePart, Section, measured
from ftplan.reports.drawing import Drawing, Figure, figure
from ftplan.reports.numbers import count, label, number, shown
from ftplan.reports.plan_figures import Highlight
from ftplan.reports.proof import Badge
from ftplan.reports.tables import FOLDED, PageTable, facts
from ftplan.reports.what_if_plot import MOST_VALUES, PlottedCase, what_if_figure

Row = Mapping[str, Any]


class WhatIfDocument:
    """The document of a what-if result, with its columns by name."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.columns: dict[str, Mapping[str, Any]] = {column["name"]: column for column in document["columns"]}
        self.rows: Sequence[Row] = document["rows"]
        self.base = next((row for row in self.rows if row.get("case") == document["base"]), None)
        self.cases = [row for row in self.rows if row is not self.base] or list(self.rows)
        self.summary: Mapping[str, Any] = document["summary"]
        self.measure: str | None = self.summary.get("measure")

    def shown(self, name: str, value: Any) -> str:
        """Return the value of a column."""
        if value is None:
            return "–"
        unit = self.columns.get(name, {}).get("unit")
        return measured(name, value, unit) if unit else shown(name, value)

    def numeric(self, name: str) -> bool:
        """Return whether a column holds numbers."""
        return self.columns.get(name, {}).get("type") in ("number", "whole")


def what_if_section(given: OtherDocument) -> Section:
    """Return what is to say of the result of a what-if."""
    result = WhatIfDocument(given.document)
    document, summary, measure = given.document, result.summary, result.measure
    missing = document.get("missing") or []
    warnings = [Warn("FAIL_UNDER", text) for text in document.get("unmet") or []]
    warnings += [Warn(item["code"], item["message"]) for item in document.get("warnings") or []]
    if missing:
        warnings.append(Warn("MISSING", f"{count(len(missing), 'case')} not done in time, first {missing[0]}"))
    if summary.get("failed"):
        warnings.append(Warn("FAILED", f"{count(summary['failed'], 'case')} failed: their rows say why"))
    kind = noun(str(document.get("kind")))
    value = result.shown(measure, (summary.get("best") or {}).get("value")) if measure else "–"
    drawn = [item for item in (_over(result), _front(result)) if item is not None]
    return Section(
        title=f"What if: {document.get('name')}",
        name=given.name,
        badge=Badge("limits not met", "bad") if document.get("unmet") else None,
        lead=tuple(_lead(result, kind)),
        proof=(),
        highlights=tuple(_highlights(result)),
        warnings=tuple(warnings),
        parts=(
            PagePart("What the cases say together", figures=tuple(drawn), tables=tuple(_together(result))),
            PagePart("Case by case", tables=(_cases(result),)),
            PagePart("What was assumed", tables=(_assumed(result),)),
        ),
        glance=("What if", kind, f"best {label(measure)} {value}" if measure else "–", "–", "–"),
    )


def _lead(result: WhatIfDocument, kind: str) -> Sequence[str]:
    summary, measure = result.summary, result.measure
    swept = ", ".join(label(name) for name in result.document.get("swept") or [])
    over = f" over {swept}" if swept else ""
    said = [f"{count(len(result.cases), 'case')} of a {kind}{over}, each beside the base that changes nothing."]
    best, worst = summary.get("best"), summary.get("worst")
    if measure and best and worst:
        ends = [f"{result.shown(measure, end['value'])} in case {end['case']}" for end in (best, worst)]
        said.append(f"{label(measure).capitalize()} is best with {ends[0]} and worst with {ends[1]}.")
    return said


def _highlights(result: WhatIfDocument) -> Sequence[Highlight]:
    measure, listed = result.measure, []
    if not measure:
        return []
    name = label(measure).capitalize()
    if result.base is not None:
        listed.append(Highlight(f"{name}: base", result.shown(measure, result.base.get(measure)), "nothing changed"))
    for which in ("best", "worst"):
        end = result.summary.get(which)
        if end:
            listed.append(Highlight(f"{name}: {which}", result.shown(measure, end["value"]), f"case {end['case']}"))
    return listed


def _together(result: WhatIfDocument) -> list[PageTable]:
    """Return statuses and how each measure is spread."""
    names = ("min", "p10", "p25", "median", "p75", "p90", "max", "mean")
    rows = tuple(
        (label(q["measure"]), f"{q['values']:,}", *(result.shown(q["measure"], q.get(name)) for name in names))
        for q in result.summary.get("quantiles") or []
    )
    columns = (("measure", False), ("cases", True), *((_QUANTILES.get(name, name), True) for name in names))
    made = [PageTable("How the measures are spread over the cases", columns, rows)] if rows else []
    statuses = result.summary.get("statuses") or {}
    listed = tuple((name, f"{number_of:,}") for name, number_of in statuses.items())
    return [*made, PageTable("Rows by status", (("status", False), ("rows", True)), listed)]


_QUANTILES = {"min": "least", "p10": "10 %", "p25": "25 %", "p75": "75 %", "p90": "90 %", "max": "most"}
#: Columns that every result has, which say nothing where all rows have the same.
_SELDOM = ("algorithm", "status", "sense", "warnings", "reason")


def _cases(result: WhatIfDocument) -> PageTable:
    """Return a row a case; columns that are empty, or the same in all rows, are left out."""

    def varies(name: str) -> bool:
        values = {str(row.get(name)) for row in result.rows}
        return len(values) > 1 if name in _SELDOM else values != {"None"}

    names = [name for name in result.columns if varies(name)]
    rows = tuple(tuple(result.shown(name, row.get(name)) for name in names) for row in result.rows[:500])
    note = f"The first 500 of {len(result.rows):,}; the file has all." if len(result.rows) > 500 else ""
    columns = tuple((_heading(name), result.numeric(name)) for name in names)
    return PageTable(f"All cases ({count(len(result.rows), 'row')})", columns, rows, note, len(rows) > 4 * FOLDED)


def _heading(name: str) -> str:
    if name.startswith("delta_"):
        return f"{label(name.removeprefix('delta_'))}, against base"
    return label(name)


def _assumed(result: WhatIfDocument) -> PageTable:
    names = ("command", "kind", "base", "fingerprint", "tool_version")
    given = {name: result.document.get(name) for name in names}
    assumed = {item["code"]: item["text"] for item in result.document.get("assumptions") or []}
    return facts("The sweep", {**given, **assumed})


def _over(result: WhatIfDocument) -> Figure | None:
    """Return the first measure over the swept fields that have several values; without any, a bar a case."""
    measure = result.measure
    if not measure or not result.numeric(measure):
        return None
    swept = [name for name in result.document.get("swept") or [] if len({str(r.get(name)) for r in result.cases}) > 1]
    base = result.base.get(measure) if result.base is not None else None
    for names in (swept[:2], swept[:1]):
        points = [
            PlottedCase(tuple(row[name] for name in names), float(row[measure]))
            for row in result.cases
            if isinstance(row.get(measure), (int, float)) and all(row.get(name) is not None for name in names)
        ]
        if (
            names
            and points
            and all(len(set(axis)) <= MOST_VALUES for axis in zip(*(p.at for p in points), strict=True))
        ):
            form = partial(result.shown, measure)
            return what_if_figure(points, [label(name) for name in names], label(measure), base, form)
    return _bars(result, measure, base)


def _bars(result: WhatIfDocument, measure: str, base: Any) -> Figure | None:
    """Return a measure of each case, the worst first."""
    valued = [row for row in result.cases if isinstance(row.get(measure), (int, float))]
    if not valued:
        return None
    name = label(measure).capitalize()
    sign = -1.0 if result.columns[measure].get("sense") == "min" else 1.0
    worst = sorted(valued, key=lambda row: sign * row[measure])[:ROWS]
    rows = [Bar(str(row["case"]), row[measure], result.shown(measure, row[measure])) for row in worst]
    limit = (base, f"base: {result.shown(measure, base)}") if isinstance(base, (int, float)) else None
    said = f"{name} of each case, the worst first." + (f" The worst {ROWS} are drawn." if len(valued) > ROWS else "")
    return figure(f"{name} by case", said, lambda width: bars(rows, width, limit))


def _front(result: WhatIfDocument) -> Figure | None:
    """Return the Pareto front of two measures among all cases, None where none was asked for."""
    pareto = result.summary.get("pareto")
    if not pareto or not pareto["cases"]:
        return None
    x, y = pareto["measures"]
    best = [tuple(float(v) for v in item["values"]) for item in pareto["cases"]]
    others = [
        (float(row[x]), float(row[y]))
        for row in result.cases
        if isinstance(row.get(x), (int, float)) and isinstance(row.get(y), (int, float))
    ]
    rows = tuple(
        (str(i["case"]), result.shown(x, i["values"][0]), result.shown(y, i["values"][1])) for i in pareto["cases"]
    )
    columns = (("case", False), (label(x), True), (label(y), True))
    dots = [(point, "other") for point in dict.fromkeys(others)] + [((a, b), "value") for a, b in best]

    def draw(width: float) -> Drawing:
        return lines(
            [],
            width,
            Axis(label(x), partial(result.shown, x), times=result.columns[x].get("unit") == "s" and x not in WEIGHTED),
            Axis(label(y), partial(result.shown, y)),
            dots=dots,
        )

    said = (
        f"{count(len(best), 'case')} of {number(len(others))} that no other beats in one without losing in the other."
    )
    key = (("value", "", "on the front"), ("other", "", "another case"))
    return figure("What no case beats twice", said, draw, key=key, table=PageTable("The front", columns, rows))
