"""``ftplan replicate-tasks``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import planning
from ftplan.cli.render import check_output
from ftplan.model.kinds import TASK_REPLICATION


@planning.command(
    TASK_REPLICATION,
    default="structure-aware, safe at any size",
    changes="starts or stops replicas",
    algorithm_after="target",
    more=(click.option("--plot", metavar="FILE", help="Draw that curve, as .svg or .png."),),
)
def command(plot: str | None, **given: Any) -> int:
    """Plan which tasks get an active replica, and where.

    Under a budget, replicas go to the tasks that keep most output alive while a failure is repaired: to whole trees of
    tasks from sources to an output, since a gap in one makes the rest useless. Needs a topology and a budget or a
    target. Without --fail and --failure any task may fail, all at once; scenarios of a failure file count with their
    probabilities. With a cluster each replica gets a node outside its primary's zone.
    """
    from ftplan.api.replication.plot import check_plot, plot_curve

    if plot is not None:
        check_output(given["output"], given["force"])
        check_plot(plot, given["force"])
        given["curve"] = True
    plan = planning.planned(TASK_REPLICATION, given)
    if plot is not None and plan.plan is not None:
        plot_curve(plan, plot, given["force"])
    return planning.answered(TASK_REPLICATION, plan, given)
