"""What is told of an adaptation: figures over its runs, and means over the runs in each period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.simulation.answer import figure
from ftplan.simulation.migration.adaptation.setting import AdaptationOutcome

#: Sums over all periods.
TOTALS = (
    "moves",
    "assisted",
    "latency_s",
    "completion_s",
    "bytes",
    "copies_moved",
    "copy_bytes",
    "overloaded_before",
    "overloaded_after",
    "excess_before",
    "excess_after",
)
#: Shares over all periods.
SHARES = ("assisted_share", "usable_share")
#: What is told period by period.
OVER_TIME = (
    "moves",
    "assisted",
    "latency_s",
    "bytes",
    "copies_moved",
    "overloaded_before",
    "overloaded_after",
    "wanted",
    "usable",
)


def adaptation_document(allocation: str, preferred: bool, runs: Sequence[AdaptationOutcome]) -> dict[str, Any]:
    """Return what all runs with an allocation say together; lists are means over the runs."""
    summary = {name: figure(np.array([run.total(name) for run in runs])) for name in TOTALS}
    for name in SHARES:
        values = (getattr(run, name) for run in runs)
        summary[name] = figure(np.array([np.nan if value is None else value for value in values]))
    by_protocol = np.array([[period.by_protocol for period in run.periods] for run in runs], dtype=np.float64)
    return {
        "allocation": allocation,
        "preferred": preferred,
        "runs": len(runs),
        "summary": summary,
        "by_protocol": dict(zip(PROTOCOLS[:4], by_protocol.sum(axis=1).mean(axis=0).tolist(), strict=False)),
        "over_time": {name: _over_time(name, runs) for name in OVER_TIME},
    }


def _over_time(name: str, runs: Sequence[AdaptationOutcome]) -> list[float]:
    """Return the mean over the runs of a figure in each period."""
    values: list[float] = np.array([[getattr(p, name) for p in run.periods] for run in runs]).mean(axis=0).tolist()
    return values
