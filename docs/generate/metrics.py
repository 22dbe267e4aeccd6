"""The metrics of ``ftplan evaluate``."""

from __future__ import annotations

from docs.generate.option_rows import escaped
from ftplan.model.kinds import metrics_of


def metrics(kind: str) -> str:
    """Return the metrics of a kind of plan as a table: which way is better, the unit, the meaning."""
    found = metrics_of(kind)
    if not found:
        raise LookupError(f"no metrics of {kind!r}")
    lines = ["| metric | what it means |", "|---|---|"]
    for metric in found:
        meaning = escaped(metric.meaning[0].upper() + metric.meaning[1:])
        unit = {"s": "seconds"}.get(metric.unit, metric.unit)
        better = {"min": "less", "max": "more"}[metric.sense]
        lines.append(f"| `{metric.name}` | {meaning} ({unit}; {better} is better) |")
    return "\n".join(lines)
