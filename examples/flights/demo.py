"""The main job on real data: a log becomes statistics on Spark, these become checkpoint allocations and a recovery.

Run by ``make demo``; every step is a command that it prints first, so that you can run it yourself in this folder.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
ALGORITHMS = ("baseline", "even", "correlated", "exact")
OBJECTIVES = ("correlation", "node-correlation", "usable")
console = Console(highlight=False, soft_wrap=True)


def ftplan(*args: str) -> float:
    """Run one ftplan command in this folder and return its seconds; leave with its exit code if it fails."""
    console.print(f"[bold]$ ftplan {shlex.join(args)}[/bold]")
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "ftplan", *args], cwd=HERE, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return time.perf_counter() - started


def unseen_months() -> None:
    """Plan by each objective on the first part of the year and print what is usable in the rest, next to even."""
    console.print()
    table = Table(title="Usable share on unseen months (September to December)", title_justify="left")
    for column in ("objective", "exact", "even", "gain over even, 95 % interval"):
        table.add_column(column, justify="left" if column == "objective" else "right")
    gained: list[str] = []
    for objective in OBJECTIVES:
        target = f"out/unseen-{objective}.json"
        ftplan(
            "allocate-checkpoints", "--algorithm", "exact", "--objective", objective, "--holdout", "0.33",
            "--time-limit", "10s", "--quiet", "--output", target,
        )  # fmt: skip
        judged = json.loads((HERE / target).read_text())["summary"]["holdout"]
        gain = judged["gain_over_even"]
        low, high = gain["interval"]
        if low > 0:
            gained.append(objective)
        table.add_row(
            objective,
            f"{judged['plan']['usable_share']:.3f}",
            f"{judged['even']['usable_share']:.3f}",
            f"{gain['value']:+.3f} ({low:+.3f} to {high:+.3f})",
        )
    console.print(table)
    console.print(
        "Of the windows in which a node is overloaded, the share in which a key group's copy lies where the\n"
        f"group could go. Better than even beyond chance: {', '.join(gained) or 'none of them: use even'}.\n"
    )


def after_a_rack() -> None:
    """Fail a rack and print when queries come back: in the planned order, in random ones, and all at once."""
    console.print()
    target = "out/recovery.json"
    ftplan("recovery-schedule", "--fail", "zone:rack-a", "--time-limit", "20s", "--quiet", "--output", target)
    summary = json.loads((HERE / target).read_text())["summary"]
    table = Table(title="After the loss of rack-a, new nodes within 2 to 6 minutes", title_justify="left")
    for column in ("", "queries back", "priority x seconds down", "first back s", "last back s"):
        table.add_column(column, justify="right" if column else "left")
    for name, figures in (("planned", "after"), ("random order, mean", "random"), ("all at once", "before")):
        row = summary[figures]
        times = ("–" if row[key] is None else f"{row[key]:.0f}" for key in ("first_back_s", "last_back_s"))
        table.add_row(name, f"{row['queries_back']:.0f}", f"{row['priority_time']:,.0f}", *times)
    console.print(table)
    console.print(
        f"{summary['failed_queries']} queries failed. Every sink reads all departures, so most return together as\n"
        "soon as the failed source is back, in whatever order: examples/storm-recovery has a job whose\n"
        "order matters.\n"
    )


def main() -> None:
    """Compute, allocate four times, verify, and print what came out."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    ftplan("compute-stats", "--force")
    ftplan("stats-summary", "stats", "--top", "5", "--format", "table")
    rows, plans = [], {}
    for name in ALGORITHMS:
        target = f"out/{name}.json"
        limit = ("--time-limit", "30s") if name == "exact" else ()
        seconds = ftplan("allocate-checkpoints", "--algorithm", name, *limit, "--bound", "--quiet", "--output", target)
        plans[name] = plan = json.loads((HERE / target).read_text())
        objective = plan["objective"]
        after, random = plan["summary"]["after"], plan["summary"]["random"]["correlation"]
        rows.append((name, plan, objective, after, random, seconds))
    ftplan("verify", "out/exact.json", "--quiet", "--format", "table")

    table = Table(title="Checkpoint allocation, Houston 2011, 20 nodes in 4 racks", title_justify="left")
    for column in ("algorithm", "status", "objective", "bound", "gap", "imbalance", "time s"):
        table.add_column(column, justify="left" if column in ("algorithm", "status") else "right")
    for name, plan, objective, after, _, seconds in rows:
        table.add_row(
            name,
            plan["status"],
            f"{objective['value']:.3f}",
            f"{objective['bound']:.3f}",
            f"{objective['gap']:.3%}",
            f"{after['imbalance']:.3f}",
            f"{seconds:.1f}",
        )
    console.print()
    console.print(table)
    console.print(f"The objective is load-weighted correlation, low is good; a random plan expects {rows[0][4]:.3f}.")
    console.print(
        "Each bound is proven for that algorithm's own rules: baseline and even keep no zone and\n"
        "no load balance, so they may lie lower and promise less. Times are whole processes.\n"
    )

    by_operator = Table(title="Where there is something to gain", title_justify="left")
    for column in ("operator", "random plan", "even", "exact", "exact against random"):
        by_operator.add_column(column, justify="left" if column == "operator" else "right")
    even, exact = (plans[name]["summary"]["after"]["by_operator"] for name in ("even", "exact"))
    for job, random in plans["exact"]["summary"]["random"]["by_operator"].items():
        change = (exact[job] - random) / abs(random)
        by_operator.add_row(job, f"{random:.3f}", f"{even[job]:.3f}", f"{exact[job]:.3f}", f"{change:+.0%}")
    console.print(by_operator)
    console.print(
        "Departures all follow the day, so nearly all correlations are positive: lower means less in\n"
        "step, not opposed. One airport per key group keeps its own rhythm; 50 planes hashed into one\n"
        "group average theirs away: by plane there is next to nothing to gain."
    )
    unseen_months()
    after_a_rack()
    console.print(
        f"Plans and statistics are in {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}."
    )


if __name__ == "__main__":
    main()
