"""What a page says of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ftplan.model.kinds import metrics_of, noun
from ftplan.model.plan import InputFile, Warn
from ftplan.reports.charts import Bar, bars
from ftplan.reports.document import OtherDocument, PagePart, Section, fingerprints, measured
from ftplan.reports.drawing import figure
from ftplan.reports.numbers import count, label, quantity
from ftplan.reports.plan_figures import Highlight
from ftplan.reports.proof import Badge
from ftplan.reports.tables import PageTable


def _shown(metric: Mapping[str, Any]) -> str:
    return measured(str(metric["name"]), metric.get("value"), metric.get("unit"))


def evaluation_section(given: OtherDocument) -> Section:
    """Return what is to say of an evaluation."""
    document = given.document
    kind = str(document.get("kind"))
    metrics, scenarios = document["metrics"], document.get("scenarios") or []
    failures = ", ".join(map(str, document.get("failures") or []))
    words = noun(kind)
    under = f" when this fails: {failures}" if failures else ""
    mean = f" in {count(len(scenarios), 'scenario')}, averaged by probability" if scenarios else ""
    unmet = tuple(Warn("FAIL_UNDER", text) for text in document.get("unmet") or [])
    warnings = [Warn(item["code"], item["message"]) for item in document.get("warnings") or []]
    meanings = {m.name: m.meaning for m in metrics_of(kind)}
    rows = [
        (label(m["name"]), _shown(m), {"min": "low", "max": "high"}[m["sense"]], meanings.get(m["name"], ""))
        for m in metrics
    ]
    columns = (("metric", False), ("value", True), ("better", False), ("what it means", False))
    parts = [PagePart("Scores", tables=(PageTable("All metrics", columns, tuple(rows)),))]
    if scenarios:
        parts.append(_scenarios(scenarios))
    listed = tuple(document.get("inputs") or [])
    inputs = [InputFile(i["role"], i.get("path"), i["sha256"]) for i in listed]
    parts.append(PagePart("What was assumed", tables=(fingerprints(inputs),) if inputs else ()))
    return Section(
        title=f"Evaluation of a {words}",
        name=given.name,
        badge=Badge("limits not met", "bad") if unmet else None,
        lead=(f"Scores of a {words}{mean}{under}.",),
        proof=(),
        highlights=tuple(Highlight(label(m["name"]).capitalize(), _shown(m)) for m in metrics[:3]),
        warnings=(*unmet, *warnings),
        parts=tuple(parts),
        glance=("Evaluation", words, *(_first_metrics(metrics))),
    )


def _first_metrics(metrics: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    first = metrics[0] if metrics else None
    return (f"{label(first['name'])} {_shown(first)}" if first else "–", "–", "–")


def _scenarios(scenarios: Sequence[Mapping[str, Any]]) -> PagePart:
    """Return the metrics that differ between scenarios, and the first of them as bars."""
    values = [{m["name"]: m for m in scenario["metrics"]} for scenario in scenarios]
    names = [name for name in values[0] if any(one.get(name) != values[0][name] for one in values)]
    rows = tuple(
        (
            str(scenario["id"]),
            quantity(scenario["probability"], "share"),
            ", ".join(map(str, scenario["failures"])) or "nothing",
            *(_shown(one[name]) if name in one else "–" for name in names),
        )
        for scenario, one in zip(scenarios, values, strict=True)
    )
    columns = (("scenario", False), ("probability", True), ("fails", False), *((label(name), True) for name in names))
    drawn = []
    if names:
        listed = [(row[0], one[names[0]]) for row, one in zip(rows, values, strict=True) if names[0] in one][:40]
        shown_bars = [Bar(name, m["value"], _shown(m)) for name, m in listed if m.get("value") is not None]
        said = f"{label(names[0]).capitalize()} in each scenario."
        drawn = [figure("Scenario by scenario", said, lambda w: bars(shown_bars, w))] if len(shown_bars) > 1 else []
    note = "" if names else "All metrics are the same in each of them."
    return PagePart("Scenarios", figures=tuple(drawn), tables=(PageTable("Each scenario", columns, rows, note),))
