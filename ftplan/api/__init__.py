"""The public Python face: load, plan, evaluate, and what the command line does beside them.

Nothing here exits or prints; mistakes raise :class:`ftplan.FtplanError` with the message that the command line shows.
"""

from ftplan.api.answers import Difference, Evaluation, Explanation, Verification
from ftplan.api.difference import diff
from ftplan.api.evaluation import evaluate
from ftplan.api.explanation import explain
from ftplan.api.loading import load
from ftplan.api.planning import plan
from ftplan.api.verification import verify
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem

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
