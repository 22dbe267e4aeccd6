"""A plan that a call was given: as one, as a path or as a document."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NoReturn

from ftplan.errors import FtplanError
from ftplan.io.options.fields import PlanSource, quoted
from ftplan.io.options.parameters import SOURCE
from ftplan.model.kinds import names
from ftplan.model.plan import Plan
from ftplan.planners.kind import kind_of


def a_plan(given: Plan | PlanSource) -> Plan:
    """Return a plan that was given as one, as a path or as a document, with options that can be understood.

    Raises
    ------
    FtplanError
        If it is anything else, cannot be read, or records an option that is wrong.
    """
    if isinstance(given, (str, os.PathLike, Mapping)):
        from ftplan.io.plan_file import load_plan

        given = load_plan(SOURCE.take(given) if given != "" else _refused(given)).value
    if not isinstance(given, Plan):
        _refused(given)
    if given.kind in names():
        kind_of(given.kind).options.of_plan(given)
    return given


def _refused(given: object) -> NoReturn:
    raise FtplanError(f"plan: {quoted(given)} is not a plan, the path of one, or its document")
