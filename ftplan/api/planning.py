"""One entry to every planner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pkgutil import resolve_name
from typing import Any

from ftplan.api.option_checks import SELECTORS, a_problem, checked, plan_options, quoted
from ftplan.errors import FtplanError
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners import registry

_KINDS: Mapping[str, str] = {
    "checkpoint-allocation": "ftplan.api.checkpoints.make:allocate_checkpoints",
    "recovery-schedule": "ftplan.api.recovery.make:recovery_schedule",
    "task-replication": "ftplan.api.replication.make:replicate_tasks",
}
#: Kinds of plan that answer a failure.
_OF_A_FAILURE = ("recovery-schedule", "task-replication")


def plan(
    command: str,
    problem: Problem,
    *,
    algorithm: str | None = None,
    fail: Iterable[str] = (),
    **options: Any,
) -> Plan:
    """Answer one question about a problem.

    Parameters
    ----------
    command
        The command (``allocate-checkpoints``) or the kind of plan (``checkpoint-allocation``).
    algorithm
        A name that :func:`ftplan.planners.registry.rows` lists; None takes the default, the best that is safe at
        any size.
    fail
        Selectors of what fails, for the kinds of plan that answer a failure.
    options
        The command's options, with underscores: ``copies=2, balance="auto", seed=1, time_limit_s=10.0``.

    Returns
    -------
    Plan
        Also where the answer is no: then ``status`` is ``infeasible`` or ``no-plan-in-time`` and ``plan`` is None.

    Raises
    ------
    FtplanError
        If the command, the algorithm or an option is unknown or wrong, or an input is missing.
    """
    for name, given in (("command", command), ("algorithm", algorithm)):
        if not isinstance(given, str) and (given is not None or name == "command"):
            raise FtplanError(f"{name}: {quoted(given)} is not the name of one")
    problem, row = a_problem(problem), registry.row(command, algorithm)
    selectors = checked(row.command, {"fail": SELECTORS}, {"fail": fail})["fail"]
    options = plan_options(row.kind, row.command, options)
    planned: Callable[..., Plan] = resolve_name(_KINDS[row.kind])
    if row.kind in _OF_A_FAILURE:
        return planned(problem, row, fail=selectors, **options)
    if selectors:
        raise FtplanError(f"{row.command} plans for no failure in particular: leave out fail, or use evaluate")
    return planned(problem, row, **options)
