"""One HTML page of plans, what-if results and evaluations, with what of their inputs is still there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.documents import read_document
from ftplan.io.loading import Source, load
from ftplan.io.options.fields import quoted
from ftplan.io.plan_file import load_plan
from ftplan.io.trace_file import read_trace
from ftplan.io.validation import FORMATS
from ftplan.model.kinds import names
from ftplan.model.plan import FORMAT as PLAN
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Evaluation
from ftplan.planners.kind import kind_of
from ftplan.reports.document import OtherDocument, PlanDocument
from ftplan.reports.page import MAX_TASKS, MOST_CELLS, page
from ftplan.version import __version__

Reported = Plan | Evaluation | Source
_EVALUATION = "ftplan/evaluation"
_WHAT_IF = "ftplan/what-if-result"


def report(
    documents: Reported | Sequence[Reported],
    *,
    title: str | None = None,
    topology: Source | None = None,
    cluster: Source | None = None,
    max_tasks: int = MAX_TASKS,
    traces: Sequence[str | os.PathLike[str]] = (),
) -> str:
    """Return one self-contained HTML page: it loads nothing, runs no script, and escapes what documents hold.

    The topology of a plan is drawn where the file that the plan names is still there; where it is not, or has changed,
    the page says so.

    Parameters
    ----------
    documents
        One or several plans, evaluations and what-if results: objects, paths or documents.
    title
        None takes that of the only document, or says how many there are.
    topology, cluster
        Instead of what the plans name: a path, or the document as a mapping.
    max_tasks
        With more tasks than this, a topology is folded by operator; at most 2,000.
    traces
        Paths of what ``--trace`` wrote: the first belongs to the first plan, and so on.

    Returns
    -------
    str
        The page.

    Raises
    ------
    FtplanError
        If a document cannot be read or is none that can be reported on, or *topology* or *cluster* is wrong.
    MissingExtraError
        If jinja2 is not installed (``pip install 'ftplan[report]'``).
    """
    single = isinstance(documents, (Plan, Evaluation, str, os.PathLike, Mapping))
    listed: Any = [documents] if single else documents
    if not isinstance(listed, Iterable):
        raise FtplanError(f"report: {quoted(documents)} is no plan, evaluation or what-if result")
    listed = list(listed)
    if not listed:
        raise FtplanError("report: give at least one plan, evaluation or what-if result")
    if isinstance(max_tasks, bool) or not isinstance(max_tasks, int) or not 0 <= max_tasks <= MOST_CELLS:
        raise FtplanError(f"report: max_tasks: {quoted(max_tasks)} is no whole number from 0 to {MOST_CELLS:,}")
    given = {"topology": topology, "cluster": cluster}
    return page(_with_traces([_document(item, given) for item in listed], traces), __version__, title, max_tasks)


def _with_traces(
    documents: list[PlanDocument | OtherDocument], traces: Sequence[str | os.PathLike[str]]
) -> list[PlanDocument | OtherDocument]:
    """Return the documents, the plans among them with the traces in their order."""
    plans = sum(isinstance(item, PlanDocument) for item in documents)
    if len(traces) > plans:
        raise FtplanError(f"report: {len(traces)} traces for {plans} plans: each belongs to a plan, in their order")
    left = iter([read_trace(path) for path in traces])
    return [replace(item, trace=next(left, ())) if isinstance(item, PlanDocument) else item for item in documents]


def _document(item: Any, given: Mapping[str, Source | None]) -> PlanDocument | OtherDocument:
    if isinstance(item, Plan):
        return _with_inputs(item, item.kind, given)
    if isinstance(item, Evaluation):
        return OtherDocument(_EVALUATION, item.to_dict(), "evaluation")
    if not isinstance(item, (str, os.PathLike, Mapping)):
        raise FtplanError(f"report: {quoted(item)} is no plan, evaluation or what-if result, nor the path of one")
    document = read_document(item, "plan, evaluation or what-if result")
    form = document.value.get("format") if isinstance(document.value, Mapping) else None
    if form == _EVALUATION:
        from ftplan.io.evaluation_file import load_evaluation

        return OtherDocument(form, load_evaluation(document).value, document.name)
    if form == _WHAT_IF:
        from ftplan.io.what_if_result import load_what_if_result

        return OtherDocument(form, load_what_if_result(document).value, document.name)
    if isinstance(form, str) and form in FORMATS and form != PLAN:
        expected = f"{PLAN}, {_EVALUATION} or {_WHAT_IF}"
        raise FtplanError(f"{document.name}: format: this is a {FORMATS[form]} file ({form}); expected {expected}")
    folder = os.path.dirname(document.path) if document.path is not None else ""
    return _with_inputs(load_plan(document).value, document.name, given, folder)


def _with_inputs(plan: Plan, name: str, given: Mapping[str, Source | None], folder: str = "") -> PlanDocument:
    """Return a plan with the topology and the cluster that were given, or that it names and that are still there.

    Paths in a plan are relative to the folder in which it was made; *folder*, where it lies, is tried after that.
    """
    named = {item.role: item for item in plan.inputs}
    sources: dict[str, Source] = {}
    notes: list[Warn] = []
    for role in ("topology", "cluster"):
        path = named[role].path if role in named else None
        if path is not None and not os.path.exists(path) and os.path.exists(os.path.join(folder, path)):
            path = os.path.join(folder, path)
        if given[role] is not None:
            sources[role] = given[role]  # type: ignore[assignment]  # not None
        elif path is not None and path != "-" and os.path.exists(path):
            sources[role] = path
        elif role == "topology" or role in named:
            where = f" {path}" if path else ""
            text = f"the {role}{where} is not at hand, so that nothing is drawn on it: --{role} says where it is"
            notes.append(Warn("INPUT_MISSING", text))
    problem, said = _loaded(sources, plan, given)
    notes += said
    now = {item.role: item for item in problem.inputs}
    notes += [
        Warn("STALE_INPUT", f"the {role} {item.path or '(given)'} is not what the plan was made from any more")
        for role, item in now.items()
        if role in named and _differs(item, named[role])
    ]
    defaults, meanings = _options_of(plan.kind)
    return PlanDocument(plan, name, problem.topology, problem.cluster, tuple(notes), defaults, meanings)


def _differs(now: InputFile, then: InputFile) -> bool:
    return now.sha256 != then.sha256


def _loaded(
    sources: Mapping[str, Source], plan: Plan, given: Mapping[str, Source | None]
) -> tuple[Problem, Sequence[Warn]]:
    """Load topology and cluster; what lies where a plan's inputs were may be anything by now, and is left out then."""
    topology = sources.get("topology")
    if topology is None:
        return Problem(), ()
    spread = bool(plan.options.get("spread"))
    for roles in ({**sources}, {"topology": topology}):
        try:
            return load(**roles, spread=spread and "cluster" in roles), ()  # type: ignore[arg-type]  # roles are names
        except FtplanError as error:
            if any(given.values()):
                raise
            said = Warn("INPUT_MISSING", f"an input of the plan cannot be read any more: {error}")
    return Problem(), (said,)


def _options_of(kind: str) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Return the defaults of a kind's options and what they mean; nothing for an unknown kind."""
    if kind not in names():
        return {}, {}
    options = kind_of(kind).options
    defaults = {item.name: list(v) if isinstance(v := item.default, tuple) else v for item in fields(options)}
    return defaults, {name: item.help for name, item in options.options().items()}
