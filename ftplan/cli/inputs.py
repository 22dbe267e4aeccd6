"""The inputs of a command: those of its flags, and a plan file together with what it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from ftplan.io.loading import load
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.plan_inputs import ROLES, a_plan, load_inputs, load_state, seen_from_here


def problem_given(given: Mapping[str, Any]) -> Problem:
    """Load the inputs that a command was given.

    Raises FtplanError if one cannot be read.
    """
    return load(**{role: given.get(role) for role in ROLES}, **_limits(given), spread=given["spread"])


def problem_of_plan(path: str, given: Mapping[str, Any]) -> tuple[Plan, Problem]:
    """Load a plan and its inputs.

    A flag or environment variable wins over the path that the plan names, and that over ``ftplan.toml``.

    Raises FtplanError if the plan or an input cannot be read, or an input that is needed is named nowhere.
    """
    plan, asked = seen_from_here(a_plan(path), path), asked_roles()
    return plan, load_inputs(
        plan,
        name=path,
        defaults={role: given.get(role) for role in ROLES if role not in asked},
        spread=bool(given.get("spread")),
        **_limits(given),
        **{role: given.get(role) for role in ROLES if role in asked},
    )


def simulation_inputs(plan: str | None, given: Mapping[str, Any]) -> tuple[str | Plan | None, Problem]:
    """Return what a simulation takes as its plan, and the inputs: those of the plan where there is one.

    A plan from standard input cannot be read again, so that it is loaded; of another the simulation gets the path.

    Raises FtplanError as :func:`problem_given` and :func:`problem_of_plan`.
    """
    if plan is None:
        return None, problem_given(given)
    loaded, problem = problem_of_plan(plan, given)
    return (loaded if plan == "-" else plan), problem


def inputs_asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that a flag or environment variable gives, by role."""
    return {role: given[role] for role in ROLES if role in asked_roles() and given.get(role) is not None}


def state_of_plan(plan: Plan, given: Mapping[str, Any]) -> Problem | None:
    """Load topology and statistics where they are given or where the plan's own are still there; None without them.

    Raises FtplanError if a file that was asked for cannot be read.
    """
    return load_state(plan, asked=asked_roles() & {"topology", "stats"}, given=given)


def _limits(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"max_stats_age_s": given.get("max_stats_age"), "min_coverage": given.get("min_coverage")}


def asked_roles() -> set[str]:
    """Return the roles that a flag or environment variable gives."""
    context = click.get_current_context()
    strong = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return {role for role in ROLES if context.get_parameter_source(role) in strong}
