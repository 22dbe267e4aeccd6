"""``ftplan allocate-checkpoints``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_output, emit, say, warn
from ftplan.model.defaults import OVERLOAD
from ftplan.planners.registry import rows


@options.command("allocate-checkpoints", alternatives=[("failover_limit", "minimise")])
@options.inputs
@click.option(
    "--algorithm",
    type=click.Choice([r.name for r in rows("allocate-checkpoints")]),
    help="The planner.  [default: correlated, safe at any size]",
)
@click.option(
    "--objective",
    type=click.Choice(["usable", "correlation", "node-correlation"]),
    default="usable",
    help="What is optimised: usable = copies whose host could take the key group in the windows in which the "
    "primary's node is overloaded; correlation = load-weighted correlation of each copy with its host's key groups, "
    "summed over these (the paper's); node-correlation = with the host's total load.",
)
@click.option(
    "--correlate",
    type=click.Choice(["raw", "share", "residual"]),
    default="raw",
    help="Which series are correlated: loads, shares of the total load, or loads without the daily profile.",
)
@click.option(
    "--capacity-per-core",
    type=options.Number(0.0),
    metavar="X",
    help="Load units per second that a core can take.  [default: 1000 for cpu_ms, else mean utilisation is 0.7]",
)
@click.option(
    "--overload",
    type=options.Number(0.0),
    default=OVERLOAD,
    metavar="X",
    help="A node is overloaded in a window when its utilisation exceeds this.",
)
@click.option(
    "--holdout",
    type=options.Number(0.0, 1.0),
    metavar="SHARE",
    help="Plan on the first part of the trace and judge on this last share of it, beside even and random plans.",
)
@click.option(
    "--load",
    "measure",
    type=click.Choice(["records", "bytes", "cpu_ms"]),
    default="records",
    help="What counts as load.",
)
@click.option("--copies", type=click.IntRange(min=1), default=1, help="Checkpoint copies of each key group.")
@click.option(
    "--balance",
    default="auto",
    metavar="auto|X|count|none",
    help="How evenly load is spread over nodes: X = every node within (1-X) and (1+X) of its fair share by cpu; "
    "auto = the smallest feasible X from 0.05 up; count = number of copies instead of load.",
)
@click.option(
    "--anti-affinity",
    type=click.Choice(["node", "zone"]),
    default="node",
    help="zone: no copy in its primary's zone, nor two copies in one zone.",
)
@click.option(
    "--failover-limit",
    metavar="X",
    help="After the loss of any one node (zone, with --anti-affinity zone), each key group at its first copy: no "
    "survivor's mean load above X times its fair share by cpu. With --balance auto the balance yields to it.",
)
@click.option(
    "--minimise",
    type=click.Choice(["failover"]),
    help="Find the smallest failover limit first, then the best objective under it.",
)
@click.option("--bound/--no-bound", default=False, help="Prove a bound for the heuristics too.")
@click.option(
    "--current",
    metavar="PLAN",
    help="Upkeep: the plan whose checkpoints are in place now; wins over placement.checkpoints of the cluster.",
)
@click.option(
    "--threshold",
    type=options.Number(0.0),
    metavar="X",
    help="Upkeep: how far from a fresh plan is close enough, as a share of what a random plan loses against it.",
)
@click.option("--max-moves", type=click.IntRange(min=0), metavar="N", help="Upkeep: move at most so many copies.")
@click.option(
    "--max-bytes", type=options.SIZE, metavar="SIZE", help="Upkeep: transfer at most so much state, such as 20GB."
)
@options.search
@options.output
@click.option("--detailed-exitcode", is_flag=True, help="Exit 3 when the plan moves checkpoints.")
@options.verbosity
def command(**given: Any) -> int:
    """Plan on which node the checkpoint of each key group lies.

    Checkpoints go where load runs against their own: when a node is overloaded, its key groups can move to their
    checkpoints without a transfer of state. Needs a topology, a cluster with a placement, and statistics.

    Any upkeep option keeps the checkpoints in place and moves those that improve the plan most: until it is within
    --threshold (0 if not given) of a fresh plan, or --max-moves or --max-bytes is reached. What breaks a rule is
    mended first. Without these options the plan is a fresh one.
    """
    import ftplan
    from ftplan.cli.inputs import problem_given
    from ftplan.cli.tables import plan_answer

    check_output(given["output"], given["force"])
    for name in ("topology", "cluster", "stats"):
        if given[name] is None:
            raise click.UsageError(f"--{name} is missing: give it, or name it under [inputs] in ftplan.toml")
    problem = problem_given(given)
    with progress("planning", limit_s=given["time_limit"], hidden=given["no_progress"] or given["quiet"]):
        result = ftplan.plan(
            "allocate-checkpoints",
            problem,
            algorithm=given["algorithm"],
            objective=given["objective"],
            correlate=given["correlate"],
            capacity_per_core=given["capacity_per_core"],
            overload=given["overload"],
            holdout=given["holdout"],
            load=given["measure"],
            copies=given["copies"],
            balance=given["balance"],
            anti_affinity=given["anti_affinity"],
            failover_limit=given["failover_limit"],
            minimise=given["minimise"],
            bound=given["bound"],
            seed=given["seed"],
            time_limit_s=given["time_limit"],
            iterations=given["iterations"],
            current=given["current"],
            threshold=given["threshold"],
            max_moves=given["max_moves"],
            max_bytes=given["max_bytes"],
        )
    if given["algorithm"] is None:
        say(f"algorithm: {result.algorithm} (the default; exact proves the optimum)", quiet=given["quiet"])
    warn(result.warnings, quiet=given["quiet"])
    emit(plan_answer(result), output=given["output"], form=given["format"], force=given["force"], quiet=given["quiet"])
    if result.plan is None:
        say(f"no plan: {result.reason}")
        if result.infeasible:
            say(f"smallest fix: {result.infeasible.smallest_fix}")
        return 1
    if "upkeep" in result.summary:
        say(str(result.reason), quiet=given["quiet"])
    changed = result.plan["moves"] is None or bool(result.plan["moves"])
    return 3 if given["detailed_exitcode"] and changed else 0
