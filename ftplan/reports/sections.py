"""What a page says of each document: a plan, an evaluation, or the result of a what-if."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ftplan.metrics.names import metrics_of
from ftplan.model.cluster import Cluster
from ftplan.model.kinds import row
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.model.topology import Topology
from ftplan.reports import figures as kinds
from ftplan.reports.charts import Bar, bars
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.figures import Highlight
from ftplan.reports.numbers import Unit, count, label, quantity, shown
from ftplan.reports.proof import Badge, badge, gap_of, proof, value_figure, value_of
from ftplan.reports.tables import Table, body_tables, summary_tables, table
from ftplan.reports.topology_drawing import topology_figure


@dataclass(frozen=True)
class PlanDocument:
    """A plan, and what of its inputs is at hand.

    Attributes
    ----------
    notes
        What is missing or has changed since.
    defaults, meanings
        The default and the help of each option of its kind.
    """

    plan: Plan
    name: str
    topology: Topology | None = None
    cluster: Cluster | None = None
    notes: tuple[Warn, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OtherDocument:
    """An evaluation or the result of a what-if, as its file holds it."""

    format: str
    document: Mapping[str, Any]
    name: str


@dataclass(frozen=True)
class Part:
    """A part of a section: a heading, sentences, lists of words, drawings and tables."""

    title: str
    texts: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """All that a page says of one document; what matters most first."""

    title: str
    name: str
    badge: Badge | None
    lead: tuple[str, ...]
    proof: tuple[str, ...]
    highlights: tuple[Highlight, ...]
    warnings: tuple[Warn, ...]
    parts: tuple[Part, ...]
    #: Kind, algorithm, value, bound and gap, for the comparison of several documents.
    glance: tuple[str, ...]


#: What the figures of ``before`` are of.
_BEFORE = {
    "recovery-schedule": "waiting until all fits",
    "checkpoint-allocation": "copies in place",
    "task-replication": "replicas in place",
}


def plan_section(given: PlanDocument, max_tasks: int) -> Section:
    """Return what is to say of a plan."""
    plan = given.plan
    before = _BEFORE.get(plan.kind, "before")
    words = plan.kind.replace("-", " ").capitalize()
    where = f": {given.topology.name}" if given.topology is not None and given.topology.name else ""
    parts = [_goodness(plan, before)]
    if plan.plan is not None and given.topology is not None:
        states = kinds.states(plan, given.topology, given.cluster)
        parts.append(Part("The plan on the topology", figures=(topology_figure(given.topology, states, max_tasks),)))
    drawn = tuple(kinds.figures(plan))
    if drawn:
        parts.append(Part("In pictures", figures=drawn))
    if plan.plan is not None:
        parts.append(Part("In tables", tables=tuple(body_tables(plan.plan, _main_table(plan)))))
    parts.append(_assumed(given))
    objective = plan.objective
    glance = ["–", "–", "–"]
    if objective is not None:
        value = value_of(objective, objective.value)
        glance = [f"{label(objective.name)} {value}", value_of(objective, objective.bound), gap_of(objective)]
    return Section(
        title=words + where,
        name=given.name,
        badge=badge(plan),
        lead=tuple(kinds.lead(plan)) or _plainly(plan),
        proof=tuple(proof(plan)[:1] if plan.plan is not None else proof(plan)),
        highlights=tuple(kinds.highlights(plan)),
        warnings=(*given.notes, *plan.warnings),
        parts=tuple(parts),
        glance=(words, plan.algorithm or "by hand", *glance),
    )


def _main_table(plan: Plan) -> str:
    try:
        return row(plan.kind).table
    except KeyError:
        return ""


def _plainly(plan: Plan) -> tuple[str, ...]:
    """Return the lead of a plan of a kind that has none of its own."""
    if plan.plan is None:
        return ()
    main = _main_table(plan)
    listed = plan.plan.get(main)
    return (f"The plan lists {count(len(listed), 'row')} of {label(main)}.",) if isinstance(listed, list) else ()


def _goodness(plan: Plan, before: str) -> Part:
    drawn = value_figure(plan, before)
    return Part(
        "How good it is",
        texts=tuple(proof(plan)) if plan.plan is not None else (),
        figures=(drawn,) if drawn is not None else (),
        tables=tuple(summary_tables(plan.summary, before)),
    )


def _assumed(given: PlanDocument) -> Part:
    """Return inputs, options and rules of a plan."""
    plan = given.plan
    tables = [_inputs(plan.inputs)] if plan.inputs else []
    options = dict(plan.options)
    requested = {key.removesuffix("_requested"): value for key, value in options.items() if key.endswith("_requested")}
    derived, asked, usual = [], [], []
    for key, value in sorted(options.items()):
        if key.endswith("_requested"):
            continue
        wanted = requested.get(key, value)
        text = given.meanings.get(key, "")
        if wanted != value or (given.meanings and key not in given.meanings):
            came = f"asked for: {shown(key, wanted)}" if key in requested else ""
            derived.append((_option(key), shown(key, value), came or text))
        elif not given.defaults or value != given.defaults.get(key):
            asked.append((_option(key), shown(key, value), text))
        else:
            usual.append((_option(key), shown(key, value), text))
    asked.insert(0, ("seed", f"{plan.seed:,}", "Seed of every random choice."))
    headings = ("option", "value", "what it means")
    for caption, rows in (("Options asked for", asked), ("Derived from inputs and options", derived)):
        tables += [table(caption, headings, rows)] if rows else []
    if usual:
        made = table("Options left at their defaults", headings, usual)
        tables.append(Table(made.caption, made.columns, made.rows, made.note, folded=True))
    by = f"Planned by {plan.algorithm or 'hand'}"
    by += f" of ftplan {plan.tool_version}." if plan.tool_version else "."
    rules = "These rules hold, and ftplan verify recomputes them:" if plan.rules else "The plan names no rules."
    return Part("What was assumed", texts=(by, rules), tables=tuple(tables), words=tuple(plan.rules or ()))


def _option(key: str) -> str:
    for ending in ("_mb_s", "_s"):
        key = key.removesuffix(ending)
    return key.replace("_", " ")


def _inputs(inputs: Sequence[InputFile]) -> Table:
    rows = tuple((item.role, item.path or "(in memory)", item.sha256) for item in inputs)
    columns = (("input", False), ("file", False), ("fingerprint (SHA-256)", False))
    return Table("Inputs and their fingerprints", columns, rows)


_METRIC_UNITS: Mapping[str, Unit] = {"share": "share", "probability": "share", "s": "seconds", "bytes": "bytes"}
#: Metrics in priority or fidelity times seconds.
_WEIGHTED = ("priority-time", "fidelity-time")


def _metric(item: Mapping[str, Any]) -> str:
    value, name = item.get("value"), str(item.get("name"))
    if value is None:
        return "undefined"
    unit = "plain" if name in _WEIGHTED else _METRIC_UNITS.get(item.get("unit") or "", "plain")
    return quantity(value, unit)


def evaluation_section(given: OtherDocument) -> Section:
    """Return what is to say of an evaluation."""
    document = given.document
    kind = str(document.get("kind"))
    metrics, scenarios = document["metrics"], document.get("scenarios") or []
    failures = ", ".join(map(str, document.get("failures") or []))
    words = kind.replace("-", " ")
    under = f" while this fails: {failures}" if failures else ""
    mean = f", the mean over {count(len(scenarios), 'scenario')} by probability" if scenarios else ""
    unmet = tuple(Warn("FAIL_UNDER", text) for text in document.get("unmet") or [])
    warnings = [Warn(item["code"], item["message"]) for item in document.get("warnings") or []]
    meanings = {m.name: m.meaning for m in metrics_of(kind)}
    rows = [
        (label(m["name"]), _metric(m), {"min": "low", "max": "high"}[m["sense"]], meanings.get(m["name"], ""))
        for m in metrics
    ]
    columns = (("metric", False), ("value", True), ("better", False), ("what it means", False))
    parts = [Part("Scores", tables=(Table("All metrics", columns, tuple(rows)),))]
    if scenarios:
        parts.append(_scenarios(scenarios))
    listed = tuple(document.get("inputs") or [])
    inputs = [InputFile(i["role"], i.get("path"), i["sha256"]) for i in listed]
    parts.append(Part("What was assumed", tables=(_inputs(inputs),) if inputs else ()))
    return Section(
        title=f"Evaluation of a {words}",
        name=given.name,
        badge=Badge("limits not met", "bad") if unmet else None,
        lead=(f"The {words} scored{under}{mean}.",),
        proof=(),
        highlights=tuple(Highlight(label(m["name"]).capitalize(), _metric(m)) for m in metrics[:3]),
        warnings=(*unmet, *warnings),
        parts=tuple(parts),
        glance=("Evaluation", words, *(_first_metrics(metrics))),
    )


def _first_metrics(metrics: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    first = metrics[0] if metrics else None
    return (f"{label(first['name'])} {_metric(first)}" if first else "–", "–", "–")


def _scenarios(scenarios: Sequence[Mapping[str, Any]]) -> Part:
    """Return the metrics that differ between scenarios, and the first of them as bars."""
    values = [{m["name"]: m for m in scenario["metrics"]} for scenario in scenarios]
    names = [name for name in values[0] if any(one.get(name) != values[0][name] for one in values)]
    rows = tuple(
        (
            str(scenario["id"]),
            quantity(scenario["probability"], "share"),
            ", ".join(map(str, scenario["failures"])) or "nothing",
            *(_metric(one[name]) if name in one else "–" for name in names),
        )
        for scenario, one in zip(scenarios, values, strict=True)
    )
    columns = (("scenario", False), ("probability", True), ("fails", False), *((label(name), True) for name in names))
    drawn = []
    if names:
        listed = [(row[0], one[names[0]]) for row, one in zip(rows, values, strict=True) if names[0] in one][:40]
        shown_bars = [Bar(name, m["value"], _metric(m)) for name, m in listed if m.get("value") is not None]
        said = f"{label(names[0]).capitalize()} in each scenario."
        drawn = [figure("Scenario by scenario", said, lambda w: bars(shown_bars, w))] if len(shown_bars) > 1 else []
    note = "" if names else "All metrics are the same in each of them."
    return Part("Scenarios", figures=tuple(drawn), tables=(Table("Each scenario", columns, rows, note),))
