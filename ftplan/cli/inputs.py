"""A plan file together with the inputs that it was made from, or with those given instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ftplan.api.loading import load
from ftplan.errors import FtplanError
from ftplan.io.plan_file import load_plan
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem

_ROLES = ("topology", "cluster", "stats", "failure")
#: Kinds of plan that answer a failure, and do without a cluster.
_OF_A_FAILURE = ("recovery-schedule", "task-replication")
_ASKED = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


def problem_given(given: Mapping[str, Any]) -> Problem:
    """Load the inputs that a command was given.

    Raises
    ------
    FtplanError
        If one cannot be read.
    """
    return load(
        topology=given["topology"],
        cluster=given["cluster"],
        stats=given["stats"],
        failure=given.get("failure"),
        spread=given["spread"],
        max_stats_age_s=given["max_stats_age"],
        min_coverage=given["min_coverage"],
    )


def problem_of_plan(path: str, given: Mapping[str, Any]) -> tuple[Plan, Problem]:
    """Load a plan and its inputs.

    A flag or environment variable wins over the path that the plan names, and that over ``ftplan.toml``; a failure
    is only taken where it is given, or where the plan answers it.

    Raises
    ------
    FtplanError
        If the plan or an input cannot be read, or an input that is needed is named nowhere.
    """
    plan = load_plan(path).value
    named = {item.role: item.path for item in plan.inputs if item.path not in (None, "-")}
    sources: dict[str, Any] = {}
    of_a_failure = plan.kind in _OF_A_FAILURE
    for role in _ROLES:
        asked = click.get_current_context().get_parameter_source(role) in _ASKED
        source = given.get(role)
        if not asked and of_a_failure and plan.inputs and role not in named:
            source = None  # the plan was made without it
        if not asked and role in named:
            source = named[role]
            if not Path(str(source)).exists():
                raise FtplanError(f"{path}: its input {source} ({role}) is not there any more: give --{role}")
        sources[role] = source
    if sources["topology"] is None or (sources["cluster"] is None and not of_a_failure):
        missing = "topology" if sources["topology"] is None else "cluster"
        raise FtplanError(f"{path}: names no {missing} file, and --{missing} is missing")
    problem = load(
        **sources,
        spread=bool(given.get("spread")) or bool(plan.options.get("spread")),
        max_stats_age_s=given.get("max_stats_age"),
        min_coverage=given.get("min_coverage"),
    )
    return plan, problem


def state_of_plan(plan: Plan, given: Mapping[str, Any]) -> Problem | None:
    """Load topology and statistics where they are given or where the plan's own are still there; None without them.

    A flag or environment variable wins over the path that the plan names, and that over ``ftplan.toml``.

    Raises
    ------
    FtplanError
        If a file that was asked for cannot be read.
    """
    named = {item.role: item.path for item in plan.inputs if item.path not in (None, "-")}
    context = click.get_current_context()
    asked = [role for role in ("topology", "stats") if context.get_parameter_source(role) in _ASKED]
    sources: dict[str, Any] = {}
    for role in ("topology", "stats"):
        own = named.get(role)
        sources[role] = own if role not in asked and own is not None and Path(own).exists() else given.get(role)
    if sources["topology"] is None:
        return None
    try:
        return load(**sources)
    except FtplanError:
        if asked:
            raise
        return None  # what lies where the plan's inputs were is of no use any more
