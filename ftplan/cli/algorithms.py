"""``ftplan algorithms``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, emit_answer
from ftplan.reports.answer import Answer, Table


@options.command("algorithms")
@click.option("--metrics", is_flag=True, help="List the metrics that evaluate reports instead.")
@options.output
@options.verbosity
def command(metrics: bool, **given: Any) -> None:
    """List the planners with their guarantees and sources, or with --metrics what evaluate reports."""
    from ftplan.model.plan import canonical_json

    check_outputs(given)
    if metrics:
        from ftplan.model.kinds import all_metrics

        listed = all_metrics()
        document = {"metrics": [asdict(metric) for metric in listed]}
        table = Table(
            ("metric", "kind", "better", "unit", "meaning"),
            [(m.name, m.kind, {"min": "low", "max": "high"}[m.sense], m.unit, m.meaning) for m in listed],
        )
    else:
        from ftplan.planners.registry import rows

        planners = rows()
        document = {"algorithms": [row.to_dict() for row in planners]}
        table = Table(
            ("algorithm", "command", "default", "guarantee", "source"),
            [(r.name, r.kind, r.default, r.guarantee, r.source) for r in planners],
        )
    emit_answer(Answer(canonical_json(document), [table]), given)
