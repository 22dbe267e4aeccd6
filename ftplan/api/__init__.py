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
    "calibrate",
    "checkpoint_interval",
    "diff",
    "evaluate",
    "explain",
    "export_plan",
    "generate",
    "import_topology",
    "load",
    "load_inputs",
    "plan",
    "report",
    "simulate",
    "verify",
]

if TYPE_CHECKING:
    from ftplan.api.exporting import export_plan
    from ftplan.api.importing import import_topology
    from ftplan.api.plans import diff, evaluate, explain, plan
    from ftplan.api.reporting import report
    from ftplan.api.verification import verify
    from ftplan.costs.calibrate import calibrate
    from ftplan.costs.checkpoint_interval.choose import checkpoint_interval
    from ftplan.generators.generate import generate
    from ftplan.io.loading import load
    from ftplan.model.plan import Plan
    from ftplan.model.problem import Problem
    from ftplan.planners.assessments import Difference, Evaluation, Explanation, Verification
    from ftplan.planners.plan_inputs import load_inputs
    from ftplan.simulation.registry import simulate

#: The module of each name.
_MODULES = {
    **dict.fromkeys(("Difference", "Evaluation", "Explanation", "Verification"), "ftplan.planners.assessments"),
    **dict.fromkeys(("diff", "evaluate", "explain", "plan"), "ftplan.api.plans"),
    "calibrate": "ftplan.costs.calibrate",
    "Plan": "ftplan.model.plan",
    "Problem": "ftplan.model.problem",
    "checkpoint_interval": "ftplan.costs.checkpoint_interval.choose",
    "export_plan": "ftplan.api.exporting",
    "generate": "ftplan.generators.generate",
    "import_topology": "ftplan.api.importing",
    "load": "ftplan.io.loading",
    "load_inputs": "ftplan.planners.plan_inputs",
    "report": "ftplan.api.reporting",
    "simulate": "ftplan.simulation.registry",
    "verify": "ftplan.api.verification",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'ftplan.api' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
