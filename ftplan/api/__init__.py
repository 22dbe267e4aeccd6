"""The public Python face: load, plan, evaluate, and what the command line does beside them.

Nothing here exits or prints; mistakes raise :class:`ftplan.FtplanError` with the message that the command line shows.
Each name is imported on first use: a command loads what it needs and nothing that another one would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "Difference",
    "Evaluation",
    "Explanation",
    "Plan",
    "Problem",
    "Verification",
    "diff",
    "evaluate",
    "explain",
    "load",
    "plan",
    "verify",
]

if TYPE_CHECKING:
    from ftplan.api.answers import Difference, Evaluation, Explanation, Verification
    from ftplan.api.difference import diff
    from ftplan.api.evaluation import evaluate
    from ftplan.api.explanation import explain
    from ftplan.api.loading import load
    from ftplan.api.planning import plan
    from ftplan.api.verification import verify
    from ftplan.model.plan import Plan
    from ftplan.model.problem import Problem

#: The module of each name.
_MODULES = {
    "Difference": "ftplan.api.answers",
    "Evaluation": "ftplan.api.answers",
    "Explanation": "ftplan.api.answers",
    "Plan": "ftplan.model.plan",
    "Problem": "ftplan.model.problem",
    "Verification": "ftplan.api.answers",
    "diff": "ftplan.api.difference",
    "evaluate": "ftplan.api.evaluation",
    "explain": "ftplan.api.explanation",
    "load": "ftplan.api.loading",
    "plan": "ftplan.api.planning",
    "verify": "ftplan.api.verification",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'ftplan.api' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
