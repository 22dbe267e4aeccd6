"""What a set of statistics says at a glance: coverage, heavy key groups, skew, correlations, and trust."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.measures.correlation import strongest_pairs
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import KeyGroupSeries, Manifest
from ftplan.model.topology import FloatArray

SHORT_TRACE_S = 86_400.0
FEW_WINDOWS = 30
LOW_COVERAGE = 0.5


@dataclass(frozen=True, slots=True)
class StatsSummary:
    """The summary as plain data: one mapping for the whole, and rows for operators, groups and pairs of groups."""

    overall: Mapping[str, Any]
    operators: tuple[Mapping[str, Any], ...]
    heaviest: tuple[Mapping[str, Any], ...]
    negative: tuple[Mapping[str, Any], ...]
    positive: tuple[Mapping[str, Any], ...]
    warnings: tuple[Warn, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as the document that ``stats-summary --format json`` prints."""
        return {
            "overall": self.overall,
            "operators": self.operators,
            "heaviest_key_groups": self.heaviest,
            "strongest_negative": self.negative,
            "strongest_positive": self.positive,
            "warnings": [w.to_dict() for w in self.warnings],
        }


def gini(loads: FloatArray) -> float:
    """Return the Gini coefficient of loads >= 0, shape (K,): 0 all equal, towards 1 one group has everything."""
    total = float(loads.sum())
    count = len(loads)
    if count == 0 or total <= 0:
        return 0.0
    ranks = np.arange(1, count + 1)
    return float((2 * ranks - count - 1) @ np.sort(loads) / (count * total))


def summarise(series: KeyGroupSeries, manifest: Manifest, top: int = 10) -> StatsSummary:
    """Summarise key-group loads; *top* bounds the rows of each list.

    Cost: one pass over the loads, and all pairs of key groups blockwise for the correlations.
    """
    loads = series.mean_load
    total = float(loads.sum())
    operators = []
    for number, operator in enumerate(series.operators):
        own = loads[series.operator == number]
        facts = manifest.operators.get(operator)
        operators.append(
            {
                "operator": operator,
                "key_groups": len(own),
                "with_load": int((own > 0).sum()),
                "share": float(own.sum()) / total if total else 0.0,
                "heaviest_over_mean": float(own.max() / own.mean()) if own.any() else 0.0,
                "gini": gini(own),
                "coverage": facts.coverage if facts else None,
                "estimated": bool(series.estimated[series.operator == number].any()),
            }
        )
    order = np.lexsort((np.arange(len(loads)), -loads))[:top]
    heaviest = [
        {
            "key_group": "/".join(map(str, series.names[i])),
            "mean_load": float(loads[i]),
            "share": float(loads[i]) / total if total else 0.0,
        }
        for i in order.tolist()
        if loads[i] > 0
    ]
    negative, positive = (
        tuple({"a": "/".join(map(str, a)), "b": "/".join(map(str, b)), "correlation": c} for a, b, c in pairs)
        for pairs in strongest_pairs(series, top)
    )
    overall = {
        "start": f"{manifest.start:%Y-%m-%dT%H:%M:%SZ}",
        "end": f"{manifest.end:%Y-%m-%dT%H:%M:%SZ}",
        "window_s": manifest.window_s,
        "windows": manifest.windows,
        "coverage": manifest.coverage,
        "rows_read": manifest.rows_read,
        "rows_rejected": manifest.rows_rejected,
        "measure": series.measure,
        "load_per_window": total,
        "key_groups": len(loads),
    }
    return StatsSummary(
        overall, tuple(operators), tuple(heaviest), negative, positive, tuple(trust_warnings(manifest, series))
    )


def trust_warnings(manifest: Manifest, series: KeyGroupSeries | None = None) -> list[Warn]:
    """Say where correlations computed from these statistics are not to be trusted."""
    warnings = []
    length_s = (manifest.end - manifest.start).total_seconds()
    if length_s <= SHORT_TRACE_S:
        warnings.append(
            Warn(
                "SHORT_TRACE",
                f"the trace spans {length_s / 3600:.1f} hours: correlations from a day or less overfit, "
                "judge a plan on time that it has not seen",
            )
        )
    if manifest.windows < FEW_WINDOWS:
        warnings.append(
            Warn("FEW_WINDOWS", f"{manifest.windows} windows are too few for correlations: use at least {FEW_WINDOWS}")
        )
    if manifest.coverage < LOW_COVERAGE:
        warnings.append(
            Warn("LOW_COVERAGE", f"only {manifest.coverage:.0%} of the windows have records: use longer windows")
        )
    if series is not None and not series.estimated.size:
        warnings.append(
            Warn(
                "NO_KEY_GROUPS",
                "the statistics have no key groups, and checkpoints are planned by key group: compute them with "
                "--key-column or --key-groups",
            )
        )
    if series is not None and series.estimated.any():
        warnings.append(
            Warn(
                "ESTIMATED_STATISTICS",
                f"{int(series.estimated.sum())} of {len(series.estimated)} key groups have no measured load of their "
                "own: it was spread over the key groups of a task",
            )
        )
    return warnings


def unmeasured_warnings(stats: StatsTables, series: KeyGroupSeries, arbitrary: str) -> Iterator[Warn]:
    """Yield which operators of a series have no statistics, and which have none by key group: *arbitrary* follows."""
    seen = {*stats.manifest.operators, *stats.tables["key_groups"]["operator"].unique().to_pylist()}
    missing = [operator for operator in series.operators if operator not in seen]
    if missing:
        yield Warn("NO_STATISTICS", f"no statistics for {', '.join(missing)}: its key groups count as idle")
    if series.estimated.any():
        names = ", ".join(series.operators[i] for i in np.unique(series.operator[series.estimated]).tolist())
        text = f"statistics of {names} were spread over the key groups of a task: {arbitrary} is arbitrary"
        yield Warn("ESTIMATED_STATISTICS", text)
