"""Su & Zhou's technical report: recoveries of the job of fifteen queries, simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from reproduce.checks import at_most, mean, number, rising
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table
from reproduce.simulation import Simulated, fifteen_queries, known_mean, simulated

EIGHT = tuple(f"n{k}" for k in range(3, 11))
#: Name in the figure, mode of the simulation.
RECOVERIES = {"best case": "best-case", "incremental": "incremental", "blocking": "blocking"}
#: The failures of figures 13 and 14: failed nodes and what they hold.
SCENARIOS = {
    "upstream": (("n3", "n4"), ("o0", "o1", "o2", "o3")),
    "downstream": (("n9", "n10"), ("o12", "o13", "o14")),
}
QUICK_BATCH_S = 1.0


def _options(quick: bool) -> dict[str, float]:
    """Return options of a simulation; arrivals alone are random."""
    return {"batch_s": QUICK_BATCH_S if quick else 0.1, "until_s": 1200.0, "checkpoint_age_s": 5.0}


def _every(step_s: float, run: Simulated) -> np.ndarray:
    """Return one bin in *step_s* seconds, from shortly before the failure."""
    return np.array([b for b in run.after(-20.0) if abs(run.series.time_s[b] % step_s) < 1e-6], dtype=np.int64)


def make_figure_12(quick: bool) -> Outcome:
    """Return availability over time of three recoveries from the failure of eight nodes, means over arrivals."""
    inputs = fifteen_queries(1000.0, EIGHT, 8)
    runs = [None] if quick else list(range(20))
    rows, curves, available = [], [], {}
    for name, mode in RECOVERIES.items():
        done = [simulated(inputs, mode, run, runs=len(runs), **_options(quick)) for run in runs]
        up = np.mean([run.series.available.sum(axis=1) for run in done], axis=0)
        available[name] = up
        bins = _every(10.0, done[0])
        latency = known_mean(np.array([run.latency() for run in done]), axis=0)
        curves += [(name, *point) for point in zip(done[0].series.time_s[bins], up[bins], latency[bins], strict=True)]
        ahead = float((up > available["best case"] + 1e-9)[done[0].after(0.0)].mean())
        seconds = mean([float(run.down_s().sum()) for run in done])
        peak = mean([float(np.nanmax(run.latency())) for run in done])
        back = mean([run.back_s() for run in done])
        rows.append((name, len(done), seconds, float(np.mean(up[done[0].after(0.0, 360.0)])), back, peak, ahead))
    columns = (
        "recovery",
        "runs",
        "query_seconds_down",
        "queries_in_6_min",
        "last_back_s",
        "peak_latency",
        "ahead_of_best",
    )
    drawn = Table(("recovery", "seconds", "available_queries", "relative_latency"), tuple(curves))
    return Outcome(
        Table(columns, tuple(rows)), lines(drawn, "seconds", ["available_queries"], "recovery", label="queries")
    )


def _order(column: str, names: Sequence[str], table: Table) -> Iterator[Check]:
    for low, high in pairwise(names):
        a, b = (table.value(column, recovery=name) for name in (low, high))
        yield Check(a < b, f"{low} {number(a)} {'<' if a < b else '>='} {high} {number(b)}")


def make_figure_13(quick: bool) -> Outcome:
    """Return how the failed queries do under incremental and blocking recovery, for two places of the failure."""
    rows, curves = [], []
    for scenario, (nodes, failed) in SCENARIOS.items():
        inputs = fifteen_queries(100.0, nodes, 2)
        for mode in ("incremental", "blocking"):
            run = simulated(inputs, mode, **_options(quick))
            latency, bins = run.latency(failed), _every(5.0, run)
            curves += [(scenario, mode, *point) for point in zip(run.series.time_s[bins], latency[bins], strict=True)]
            rows.append(
                (scenario, mode, float(run.down_s(failed).sum()), run.back_s(failed), float(np.nanmax(latency)))
            )
    drawn = Table(("scenario", "mode", "seconds", "relative_latency"), tuple(curves))
    table = Table(("scenario", "mode", "query_seconds_down", "last_back_s", "peak_latency"), tuple(rows))
    return Outcome(table, lines(drawn, "seconds", ["relative_latency"], "mode", "scenario", label="relative latency"))


def _incremental_is_better(column: str, table: Table) -> Iterator[Check]:
    for scenario in table.keys("scenario"):
        ours, theirs = (table.value(column, scenario=scenario, mode=mode) for mode in ("incremental", "blocking"))
        yield Check(ours < theirs, f"{scenario}: {number(ours)} {'<' if ours < theirs else '>='} {number(theirs)}")


def make_figure_14(quick: bool) -> Outcome:
    """Return how failed and normal queries do under incremental recovery, before and after tasks start."""
    rows, curves = [], []
    for scenario, (nodes, failed) in SCENARIOS.items():
        run = simulated(fifteen_queries(100.0, nodes, 2), "incremental", **_options(quick))
        started = min(start.at_s for start in run.trace.setting.starts)
        for kind in ("failed", "normal"):
            names = tuple(name for name in run.queries if (name in failed) == (kind == "failed"))
            latency, bins = run.latency(names), _every(5.0, run)
            curves += [(scenario, kind, *point) for point in zip(run.series.time_s[bins], latency[bins], strict=True)]
            before, after = latency[run.after(0.0, started)], latency[run.after(started)]
            output = float(np.isfinite(before).mean()) if before.size else 0.0
            most = float(np.nanmax(before)) if np.isfinite(before).any() else None
            rows.append((scenario, kind, started, output, most, float(np.nanmax(after)), float(latency[-10:].mean())))
    drawn = Table(("scenario", "queries", "seconds", "relative_latency"), tuple(curves))
    columns = ("scenario", "queries", "first_start_s", "output_before", "most_before", "most_after", "at_the_end")
    draw = lines(drawn, "seconds", ["relative_latency"], "queries", "scenario", label="relative latency")
    return Outcome(Table(columns, tuple(rows)), draw)


def _healthy_go_on(table: Table) -> Iterator[Check]:
    where = {"scenario": "downstream", "queries": "normal"}
    most = table.value("most_before", **where)
    output = table.value("output_before", **where)
    yield Check(output == 1.0, f"output in {output:.1%} of the seconds before the first start")
    yield at_most("relative latency before the first start at most", most if most is not None else np.inf, 1.2)


def _back_to_normal(table: Table) -> Iterator[Check]:
    for scenario, queries, *_, end in table.rows:
        yield at_most(f"{scenario}, {queries} queries at the end", end if np.isfinite(end) else np.inf, 1.2)


def make_figure_15(quick: bool) -> Outcome:
    """Return how the failed queries do after four and after eight nodes, in topological order and in the reverse."""
    rows, curves = [], []
    runs = [None] if quick else list(range(10))
    for order, nodes in (("reverse", EIGHT[::-1]), ("topological", EIGHT)):
        for count in (4, 8):
            inputs = fifteen_queries(100.0, nodes[:count], count)
            there = inputs.cluster["placement"]["tasks"]
            failed = tuple(name for name, (node,) in there.items() if node in nodes[:count])
            done = [simulated(inputs, "incremental", run, runs=len(runs), **_options(quick)) for run in runs]
            bins = _every(10.0, done[0])
            latency = known_mean(np.array([run.latency(failed) for run in done]), axis=0)
            points = zip(done[0].series.time_s[bins], latency[bins], strict=True)
            curves += [(order, f"{count} nodes", *point) for point in points]
            each = mean([float(run.down_s(failed).mean()) for run in done])
            rows.append((order, count, len(failed), each, mean([run.back_s(failed) for run in done])))
    table = Table(("order", "failed_nodes", "failed_queries", "seconds_down_each", "last_back_s"), tuple(rows))
    drawn = Table(("order", "nodes", "seconds", "relative_latency"), tuple(curves))
    return Outcome(table, lines(drawn, "seconds", ["relative_latency"], "nodes", "order", label="relative latency"))


def _longer(column: str, table: Table) -> Iterator[Check]:
    for order in table.keys("order"):
        yield rising(
            order, table.column(column, order=order), [f"{n} nodes" for n in table.column("failed_nodes", order=order)]
        )


ASSUMED = (
    "examples/fifteen-queries/topology.yaml; failures are noticed after 5 s, when live tasks go "
    "back to the last checkpoint; tasks start in 2 s; best density plans"
)
LOCAL = (
    f"{ASSUMED}; at 100 tweets a second tasks cost what they cost at 1,000, a node holds two; new nodes are ready "
    "after 200 and 280 s"
)
ROWS = (
    Row(
        "recovery-figure-12",
        "SuZhouTR",
        "figure 12",
        "all fifteen queries fail with eight of ten nodes",
        make_figure_12,
        (
            Claim(
                "the best case is better than incremental recovery, and that than blocking",
                "section 7.2",
                "queries x seconds without availability are in this order",
                partial(_order, "query_seconds_down", list(RECOVERIES)),
            ),
            Claim(
                "the best case is always better",
                "section 7.2",
                "at no time are more queries available than in the best case",
                lambda t: [
                    at_most(f"{name}: share of the time ahead", t.value("ahead_of_best", recovery=name), 0.0)
                    for name in ("incremental", "blocking")
                ],
            ),
            Claim(
                "incremental recovery has lower latencies than blocking",
                "section 7.2",
                "the highest mean relative latency is lower",
                partial(_order, "peak_latency", ["incremental", "blocking"]),
            ),
            Claim(
                "failed queries are back sooner than by blocking",
                "section 7.2",
                "the last query is back sooner",
                partial(_order, "last_back_s", ["incremental", "blocking"]),
            ),
        ),
        f"{ASSUMED}; 20 draws of arrivals between 2 and 6 minutes; available: relative latency over 10 s below 1.2",
    ),
    Row(
        "recovery-figure-13",
        "SuZhouTR",
        "figure 13",
        "failed queries after two nodes, upstream or downstream",
        make_figure_13,
        (
            Claim(
                "incremental recovery is better than blocking in both scenarios",
                "section 7.2",
                "fewer query x seconds without availability",
                partial(_incremental_is_better, "query_seconds_down"),
            ),
        ),
        LOCAL,
    ),
    Row(
        "recovery-figure-14",
        "SuZhouTR",
        "figure 14",
        "normal and failed queries under incremental recovery",
        make_figure_14,
        (
            Claim(
                "failed downstream tasks leave normal queries alone until the recovery starts",
                "section 7.2, figure 14 a",
                "they have output in each second before the first start, at a relative latency of at most 1.2",
                _healthy_go_on,
            ),
            Claim(
                "normal queries fluctuate once it has started",
                "section 7.2, figure 14 a",
                "their relative latency exceeds 1.2 then",
                lambda t: [
                    Check(
                        (most := t.value("most_after", scenario="downstream", queries="normal")) > 1.2,
                        f"at most {number(most)}",
                    )
                ],
            ),
            Claim(
                "failed upstream tasks stop the output of all queries until then",
                "section 7.2, figure 14 b",
                "no query has output in more than a tenth of the seconds before the first start",
                lambda t: [
                    at_most(
                        f"{kind}: share of seconds with output",
                        t.value("output_before", scenario="upstream", queries=kind),
                        0.1,
                    )
                    for kind in ("failed", "normal")
                ],
            ),
            Claim(
                "latencies of failed and normal queries return to normal",
                "section 7.2",
                "the mean of the last ten seconds is at most 1.2 times the usual",
                _back_to_normal,
            ),
        ),
        LOCAL,
    ),
    Row(
        "recovery-figure-15",
        "SuZhouTR",
        "figure 15",
        "failed queries after four and eight nodes",
        make_figure_15,
        (
            Claim(
                "with more failed nodes queries take longer to return to normal",
                "section 7.2, figure 15 a and b",
                "the mean time that a failed query is down is longer, in both orders",
                partial(_longer, "seconds_down_each"),
            ),
            Claim(
                "the last query is back later",
                "section 7.2, figure 15 a and b",
                "it is, in both orders",
                partial(_longer, "last_back_s"),
            ),
        ),
        f"{ASSUMED}; 100 tweets a second; as many new nodes as failed come within 2 to 6 minutes, so that of more "
        "the first comes sooner; 10 draws",
    ),
)
