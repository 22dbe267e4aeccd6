"""One self-contained HTML page of plans, evaluations and what-if results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ftplan.errors import MissingExtraError
from ftplan.reports.document import OtherDocument, PlanDocument, Section
from ftplan.reports.drawing import Figure, Line, Rect, Text, sheet
from ftplan.reports.evaluation_section import evaluation_section
from ftplan.reports.numbers import count
from ftplan.reports.palette import DARK, LETTERINGS, LIGHT, SHAPES
from ftplan.reports.plan_section import plan_section
from ftplan.reports.tables import PageTable
from ftplan.reports.what_if_section import what_if_section

if TYPE_CHECKING:
    from jinja2 import Environment

#: Tasks up to which each is a cell of its own on the topology, and up to which that can be asked for.
MAX_TASKS, MOST_CELLS = 400, 2000


def page(
    documents: Sequence[PlanDocument | OtherDocument],
    version: str,
    title: str | None = None,
    max_tasks: int = MAX_TASKS,
) -> str:
    """Return the page: the same text for the same documents, whatever the clock says.

    It loads nothing and runs no script; all that comes from the documents is escaped.

    Raises MissingExtraError if jinja2 is not installed.

    Parameters
    ----------
    version
        Of ftplan.
    title
        None takes that of the only document, or says how many there are.
    max_tasks
        With more tasks, a topology is folded by operator.
    """
    environment = templates()
    sections = [_section(document, max_tasks) for document in documents]
    if title is None:
        title = sections[0].title if len(sections) == 1 else f"{count(len(sections), 'document')} by ftplan"
    return environment.get_template("page.html").render(
        title=title,
        sections=sections,
        glance=_glance(sections) if len(sections) > 1 else None,
        version=version,
        **_look(),
    )


def _section(document: PlanDocument | OtherDocument, max_tasks: int) -> Section:
    if isinstance(document, PlanDocument):
        return plan_section(document, max_tasks)
    return _SECTIONS[document.format](document)


_SECTIONS = {"ftplan/evaluation": evaluation_section, "ftplan/what-if-result": what_if_section}


def _glance(sections: Sequence[Section]) -> PageTable:
    """Return the documents side by side."""
    headings = ("document", "kind", "made by", "value", "proven bound", "gap", "warnings")
    rows = tuple((s.name, *s.glance, f"{len(s.warnings):,}" if s.warnings else "none") for s in sections)
    numeric = (False, False, False, False, True, True, True)
    return PageTable("All documents side by side", tuple(zip(headings, numeric, strict=True)), rows)


def svg(drawn: Figure) -> str:
    """Return a figure as an SVG file.

    Raises MissingExtraError if jinja2 is not installed.
    """
    template = templates().get_template("file.svg")
    return template.render(drawing=sheet(drawn), title=drawn.title, description=drawn.description, **_look())


def _look() -> Mapping[str, Any]:
    return {"light": LIGHT, "dark": DARK, "shape_styles": SHAPES, "letterings": LETTERINGS}


@cache
def templates() -> Environment:
    """Return the templates, which escape whatever they are given.

    Raises MissingExtraError if jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("jinja2", "report", "a report") from None
    environment = Environment(
        loader=PackageLoader("ftplan.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["rect"] = lambda shape: isinstance(shape, Rect)
    environment.tests["line"] = lambda shape: isinstance(shape, Line)
    environment.tests["lettering"] = lambda shape: isinstance(shape, Text)
    environment.filters["px"] = lambda value: f"{value:.1f}".removesuffix(".0")
    return environment
