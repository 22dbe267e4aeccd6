"""``ftplan evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, emit_answer, say, warn
from ftplan.reports.answer import Answer, Table

if TYPE_CHECKING:
    from ftplan.api import Evaluation


def scenario_tables(evaluation: Evaluation) -> list[Table]:
    """Return a table with a row for each scenario, of the metrics that are not the same in all of them."""
    if not evaluation.scenarios:
        return []
    values = [{m.name: m.value for m in scenario.metrics} for scenario in evaluation.scenarios]
    names = [m.name for m in evaluation.metrics if any(one[m.name] != values[0][m.name] for one in values)]
    rows = [
        (s.id, s.probability, ", ".join(s.failures) or "nothing", *(one[name] for name in names))
        for s, one in zip(evaluation.scenarios, values, strict=True)
    ]
    title = "in each scenario" + ("" if names else ": all metrics are as in the mean")
    return [Table(("scenario", "probability", "failed", *names), rows, title)]


@options.command("evaluate")
@click.argument("plan", metavar="PLAN")
@options.inputs
@options.failure
@options.fail
@click.option("--load", "measure", type=click.Choice(["records", "bytes", "cpu_ms"]), help="What counts as load.")
@click.option(
    "--capacity-per-core",
    type=options.Number(0.0),
    metavar="X",
    help="Load units per second that a core can take.  [default: the plan's, else mean utilisation is 0.7]",
)
@click.option(
    "--overload",
    type=options.FACTOR,
    metavar="X",
    help="A node is overloaded when its utilisation exceeds this.  [default: the plan's, else 0.85]",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Exit 1 when a metric is worse than this: below it where high is good, above it where low is good; "
    "repeatable. `ftplan algorithms --metrics` lists the names.",
)
@options.output
@options.verbosity
def command(plan: str, **given: Any) -> int:
    """Score a plan, also one that ftplan did not make, under failures or on other statistics.

    Inputs that are not given are read from the paths that the plan names. Where the failure file has scenarios, each is
    scored, and a metric is the mean over them by probability.
    """
    from ftplan.api import evaluate
    from ftplan.cli.inputs import problem_of_plan

    check_outputs(given)
    loaded, problem = problem_of_plan(plan, given)
    evaluation = evaluate(
        loaded,
        problem,
        fail=given["fail"],
        load=given["measure"],
        capacity_per_core=given["capacity_per_core"],
        overload=given["overload"],
        fail_under=given["fail_under"],
    )
    warn(evaluation.warnings, quiet=given["quiet"])
    rows = [(m.name, m.value, {"min": "low", "max": "high"}[m.sense], m.unit) for m in evaluation.metrics]
    title = f"failed: {', '.join(evaluation.failures)}" if evaluation.failures else None
    if evaluation.scenarios:
        title = f"mean over {len(evaluation.scenarios)} scenarios, by probability" + (f"; {title}" if title else "")
    emit_answer(
        Answer(
            evaluation.to_json(),
            [Table(("metric", "value", "better", "unit"), rows, title), *scenario_tables(evaluation)],
        ),
        given,
    )
    for line in evaluation.unmet:
        say(line)
    return 1 if evaluation.unmet else 0
