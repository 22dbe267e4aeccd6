"""What sets of replicas keep of a query's output, as tables, and how well measures predict it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.reports.answer import Table

Document = Mapping[str, Any]

#: What people call the measures.
MEASURE_NAMES = {
    "output_fidelity": "output fidelity",
    "key_aligned_fidelity": "key-aligned fidelity",
    "internal_completeness": "internal completeness",
}


def tables(document: Document) -> list[Table]:
    """Return the sets of replicas, and the measures beside what came."""
    columns = ("replicated", "replicas", "algorithm", "metric", "accuracy", *MEASURE_NAMES.values())
    rows = [
        (
            f"{item['ratio']:.0%}",
            len(item["replicas"]),
            item["algorithm"] or "(given)",
            item["metric"],
            _digits(item["accuracy"]),
            *(_digits(item[name]) for name in MEASURE_NAMES),
        )
        for item in document["sets"]
    ]
    predictions = [
        (MEASURE_NAMES[item["measure"]], *(_digits(item[name]) for name in ("spearman", "kendall", "error", "bias")))
        for item in document["predictions"]
    ]
    return [
        Table(columns, rows, "what sets of replicas keep"),
        Table(("measure", "Spearman", "Kendall", "mean error", "mean excess"), predictions, "how well it was foretold"),
    ]


def notes(document: Document) -> list[str]:
    """Return what ran, and which measures predict best."""
    run = document["run"]
    lines = [
        f"{document['query']}: {run['outputs']:,} entries in {run['windows']:,} windows, "
        f"{document['different_sets']} different sets of replicas"
    ]
    words = {"spearman": "best ranks (Spearman)", "kendall": "best ranks (Kendall)", "error": "least error"}
    for statistic, best in document["best"].items():
        if best:
            lines.append(f"{words[statistic]}: {', '.join(MEASURE_NAMES[name] for name in best)}")
    return lines


def _digits(value: float | None) -> float | None:
    return None if value is None else round(value, 4) + 0.0
