"""What a page says of a plan."""

from __future__ import annotations

from ftplan.model.kinds import noun, row
from ftplan.model.plan import Plan
from ftplan.reports import plan_figures as kinds
from ftplan.reports.document import PagePart, PlanDocument, Section, fingerprints
from ftplan.reports.numbers import count, label, shown
from ftplan.reports.proof import badge, gap_of, proof, value_figure, value_of
from ftplan.reports.tables import PageTable, body_tables, summary_tables, table
from ftplan.reports.topology_drawing import topology_figure
from ftplan.reports.trace_figure import trace_figure


def plan_section(given: PlanDocument, max_tasks: int) -> Section:
    """Return what is to say of a plan."""
    plan = given.plan
    before = kinds.before(plan)
    words = noun(plan.kind).capitalize()
    where = f": {given.topology.name}" if given.topology is not None and given.topology.name else ""
    parts = [_goodness(given, before)]
    if plan.plan is not None and given.topology is not None:
        states = kinds.states(plan, given.topology, given.cluster)
        parts.append(
            PagePart("The plan on the topology", figures=(topology_figure(given.topology, states, max_tasks),))
        )
    drawn = tuple(kinds.figures(plan))
    if drawn:
        parts.append(PagePart("In pictures", figures=drawn))
    if plan.plan is not None:
        parts.append(PagePart("In tables", tables=tuple(body_tables(plan.plan, _main_table(plan)))))
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


def _goodness(given: PlanDocument, before: str) -> PagePart:
    plan = given.plan
    name = plan.objective.name if plan.objective is not None else ""
    drawn, first = (value_figure(plan, before), trace_figure(given.trace, name)), name.replace("-", "_")
    return PagePart(
        "How good it is" if plan.plan is not None else "What is known",
        texts=tuple(proof(plan)[1:]) if plan.plan is not None else (),
        figures=tuple(one for one in drawn if one is not None),
        tables=tuple(summary_tables(plan.summary, before, first)),
    )


def _assumed(given: PlanDocument) -> PagePart:
    """Return inputs, options and rules of a plan."""
    plan = given.plan
    tables = [fingerprints(plan.inputs)] if plan.inputs else []
    options = dict(plan.options)
    requested = {key.removesuffix("_requested"): value for key, value in options.items() if key.endswith("_requested")}
    derived, asked, usual = [], [], []
    for key, value in sorted(options.items()):
        if key.endswith("_requested"):
            continue
        wanted = requested.get(key, value)
        text = given.meanings.get(key, "")
        if wanted != value or (given.meanings and key not in given.meanings):
            if key in requested:
                text = "chosen by ftplan" if wanted is None else f"asked for: {shown(key, wanted)}"
            derived.append((_option(key), shown(key, value), text))
        elif not given.defaults or value != given.defaults.get(key):
            asked.append((_option(key), shown(key, value), text))
        else:
            usual.append((_option(key), shown(key, value), text))
    asked.insert(0, ("seed", f"{plan.seed:,}", "Seed of every random choice."))
    headings = ("option", "value", "what it means")
    for caption, rows in (("Options asked for", asked), ("Derived from inputs and options", derived)):
        told = 3 if any(row[2] for row in rows) else 2
        tables += [table(caption, headings[:told], [row[:told] for row in rows])] if rows else []
    if usual:
        made = table("Options left at their defaults", headings, usual)
        tables.append(PageTable(made.caption, made.columns, made.rows, made.note, folded=True))
    by = f"Planned by {plan.algorithm or 'hand'}"
    by += f" of ftplan {plan.tool_version}." if plan.tool_version else "."
    rules = "It keeps these rules; ftplan verify holds it to them:" if plan.plan is not None else "It had to keep:"
    rules = rules if plan.rules else "The plan names no rules."
    return PagePart("What was assumed", texts=(by, rules), tables=tuple(tables), words=tuple(plan.rules or ()))


def _option(key: str) -> str:
    if key.endswith("_mb_s"):
        return f"{key.removesuffix('_mb_s').replace('_', ' ')}, MiB/s"
    return key.removesuffix("_s").replace("_", " ")
