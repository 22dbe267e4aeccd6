"""``ftplan explain``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, emit_answer, warn
from ftplan.reports.answer import Answer, Table


@options.command("explain")
@click.argument("plan", metavar="PLAN")
@click.argument("selector", metavar="SELECTOR")
@options.inputs
@options.failure
@options.fail
@options.output
@options.verbosity
def command(plan: str, selector: str, **given: Any) -> None:
    """Say why a plan decided as it did: every candidate, what it costs, and the rule that rules it out.

    SELECTOR is key-group:OPERATOR/NUMBER for one key group of a checkpoint allocation or of a rebalance,
    query:OPERATOR/INDEX or task:OPERATOR/INDEX for one of a recovery schedule, task:OPERATOR/INDEX for one of a task
    replication, query:OPERATOR/INDEX or zone:ID for one of a drain schedule, zone:ID or operator:ID for what moves in
    a rebalance, operator:ID for one of a scale-out, or node:ID for what lies on a node, what comes and goes, or when
    it restarts. A scale-out and a peer ring take key-group:OPERATOR/NUMBER too.
    """
    from ftplan.api import explain
    from ftplan.cli.inputs import problem_of_plan

    check_outputs(given)
    loaded, problem = problem_of_plan(plan, given)
    explanation = explain(loaded, problem, selector, fail=given["fail"])
    warn(explanation.warnings, quiet=given["quiet"])
    rows = [tuple(row[name] for name in explanation.columns) for row in explanation.rows]
    tables = [Table(explanation.columns, rows, explanation.title)]
    if explanation.candidate_columns:
        others = [tuple(row[name] for name in explanation.candidate_columns) for row in explanation.candidates]
        tables.append(Table(explanation.candidate_columns, others, f"{explanation.selector}: where it could stand"))
    emit_answer(Answer(explanation.to_json(), tables, explanation.notes), given)
