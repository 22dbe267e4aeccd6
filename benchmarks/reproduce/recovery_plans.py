"""Su & Zhou's technical report: which tasks come back first, as plans alone tell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import recovery_figure_16 as figure_16
from recovery_figure_16 import ALGORITHMS, SHARES, measured

import ftplan
from reproduce.checks import at_least, at_most, compared, mean
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "figure-2"
#: The table in figure 2: what each node recovers, by paradigm, and the queries that are whole by then.
PARADIGMS = {"operator-centric": "operator-centric", "query-centric": "best-density"}
FIGURE_2 = {
    "operator-centric": ("p03 p04", "p05 p06", "p07 p08", "p09 p10", "p11 p12"),
    "query-centric": ("p03 p05", "p07 p09", "p04 p10", "p06 p08", "p11 p12"),
}
QUERIES = {"operator-centric": (0, 0, 0, 2, 2), "query-centric": (0, 1, 1, 0, 2)}


def make_figure_2(_: bool) -> Outcome:
    """Return what each arriving node recovers in the example, and how many queries are whole."""
    rows = []
    for paradigm, algorithm in PARADIGMS.items():
        problem = ftplan.load(**{name: EXAMPLE / f"{name}.yaml" for name in ("topology", "cluster", "failure")})
        plan = ftplan.plan("recovery-schedule", problem, algorithm=algorithm)
        whole = 0
        for step in plan.plan["steps"][1:]:
            whole += len(step["restored"])
            tasks = " ".join(sorted(task["operator"] for task in step["recover"]))
            rows.append((paradigm, f"N{step['step']}", tasks, len(step["restored"]), whole))
    table = Table(("paradigm", "node", "recovered", "queries", "queries_so_far"), tuple(rows))
    return Outcome(table, lines(table, "node", ["queries_so_far"], "paradigm", label="whole queries"))


def _as_printed(paradigm: str, table: Table) -> Iterator[Check]:
    columns = (table.column(name, paradigm=paradigm) for name in ("node", "recovered", "queries"))
    printed = zip(FIGURE_2[paradigm], QUERIES[paradigm], strict=True)
    for (node, tasks, whole), (wanted, queries) in zip(zip(*columns, strict=True), printed, strict=True):
        is_so = (tasks, whole) == (wanted, queries)
        yield Check(is_so, f"{node} {tasks}" + ("" if is_so else f", not {wanted}"))


def _earlier(table: Table) -> Iterator[Check]:
    late, early = (table.column("queries_so_far", paradigm=name) for name in PARADIGMS)
    yield Check(all(a <= b for a, b in zip(late, early, strict=True)), "never fewer queries")
    yield Check(sum(early) > sum(late), f"summed over nodes {sum(early)} against {sum(late)}")


def make_figure_16(quick: bool) -> Outcome:
    """Return figure 16's means by sub-figure, setting and capacity; (b) in two readings of its shares."""
    parts = {f"({name}) {about}": settings for name, (about, settings) in figure_16.FIGURES.items()}
    if not quick:
        parts |= {f"(b) {reading}": settings for reading, settings in figure_16.BY_RANK.items()}
    topologies, shares = (1, (0.5,)) if quick else (100, SHARES)
    curves, rows = {}, []
    for part, settings in parts.items():
        seconds = dict.fromkeys(ALGORITHMS, 0.0)
        curves[part] = tuple((setting, measured(setting, topologies, seconds, shares)) for setting in settings)
        for setting, recovered in curves[part]:
            for j, share in enumerate(shares):
                rows.append((part, setting.name, share, *(float(recovered[name][:, j].mean()) for name in ALGORITHMS)))
    drawn = {name: curves[f"({name}) {about}"] for name, (about, _) in figure_16.FIGURES.items()}
    return Outcome(
        Table(("part", "setting", "capacity", *ALGORITHMS), tuple(rows)), partial(figure_16.plot, drawn, shares=shares)
    )


def _near_optimum(table: Table) -> Iterator[Check]:
    for part in table.keys("part"):
        ours, best = (mean(table.column(name, part=part)) for name in ("BestDensity", "DP"))
        yield at_least(f"{part}: share of DP", ours / best, 0.95)


def _oc_is_worst(table: Table) -> Iterator[Check]:
    below = [(oc <= density, oc <= best) for _, _, _, density, best, oc in table.rows]
    yield Check(all(map(all, below)), f"at {sum(map(all, below))} of {len(below)} points")


def _moves(prefix: str, signs: dict[str, int], table: Table) -> Iterator[Check]:
    """Compare the two settings of each part whose name begins so: above (1) or below (-1) the first."""
    for part in (name for name in table.keys("part") if name.startswith(prefix)):
        first, second = dict.fromkeys(table.column("setting", part=part))
        for name, sign in signs.items():
            order = (first, second) if sign > 0 else (second, first)
            low, high = ({"part": part, "setting": setting} for setting in order)
            yield compared(table, name, low, high, f"{part}, {name}, {order[0]} and {order[1]}")


def _slightly_lower(table: Table) -> Iterator[Check]:
    yield from _moves("(c)", {"BestDensity": -1, "DP": -1}, table)
    (part,) = (name for name in table.keys("part") if name.startswith("(c)"))
    for name in ("BestDensity", "DP"):
        random, by_load = (
            mean(table.column(name, part=part, setting=s)) for s in ("priority random", "priority by load")
        )
        yield at_most(f"{name} loses a share of", 1.0 - by_load / random, 0.1)


ROWS = (
    Row(
        "recovery-figure-2",
        "SuZhouTR",
        "figure 2",
        "the worked example of operator-centric and query-centric recovery",
        make_figure_2,
        (
            Claim(
                "operator-centric recovery gives the table's left column",
                "section 2.2.3, figure 2",
                "tasks and whole queries of each node are those of the table",
                partial(_as_printed, "operator-centric"),
            ),
            Claim(
                "query-centric recovery gives the table's right column",
                "section 2.2.3, figure 2",
                "tasks and whole queries of each node are those of the table",
                partial(_as_printed, "query-centric"),
            ),
            Claim(
                "queries are recovered much earlier than by operators",
                "section 2.2.3",
                "after no node fewer queries are whole, and more after some",
                _earlier,
            ),
        ),
        "the streams, which the table does not print (examples/figure-2); the right column needs prefetching, which "
        "definition 2 and algorithm 3 do not have",
    ),
    Row(
        "recovery-figure-16",
        "SuZhouTR",
        "figure 16",
        "best density, the optimum and operator-centric recovery on random topologies",
        make_figure_16,
        (
            Claim(
                "BestDensity approximates DP in all settings",
                "section 7.3",
                "in each part it reaches 95 % of DP's mean over settings and capacities",
                _near_optimum,
            ),
            Claim(
                "OC is worst in all settings", "section 7.3", "its mean is at no point above either other", _oc_is_worst
            ),
            Claim(
                "(a) doubling the largest share lowers all three",
                "section 7.3",
                "the mean over capacities is lower",
                partial(_moves, "(a)", dict.fromkeys(ALGORITHMS, -1)),
            ),
            Claim(
                "(b) more skew of the shares raises BestDensity",
                "section 7.3",
                "the mean over capacities is higher, in each reading of the shares",
                partial(_moves, "(b)", {"BestDensity": 1}),
            ),
            Claim(
                "(b) more skew of the shares lowers OC",
                "section 7.3",
                "the mean over capacities is lower, in each reading of the shares",
                partial(_moves, "(b)", {"OC": -1}),
            ),
            Claim(
                "(c) priorities by load lower BestDensity and DP slightly",
                "section 7.3",
                "the mean over capacities is lower, by at most a tenth of it",
                _slightly_lower,
            ),
        ),
        "what the head of benchmarks/recovery_figure_16.py says",
    ),
)
