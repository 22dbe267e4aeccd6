"""Madsen & Zhou's figures 7 to 9 over time, on real departures: assisted moves, usable copies, and pauses in all."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.presets import TOPOLOGIES
from ftplan.generators.topology import topology as generated
from ftplan.model.cluster import Cluster, Network, Node, Placement
from ftplan.model.problem import Problem
from ftplan.model.topology import Checkpointing, FloatArray, Operator
from reproduce.checks import at_most, mean, rising, within
from reproduce.drawing import lines
from reproduce.load_traces import COLUMNS, FIGURES, adaptations, stats_of
from reproduce.row import Check, Claim, Outcome, Row, Table

LOG = Path(__file__).resolve().parents[2] / "examples" / "flights" / "hflights.csv.gz"
TECHNIQUES = {"baseline": "baseline", "even": "even", "correlated": "optimised", "lazy-move": "lazy-move"}
#: Windows in all and for statistics, and what o4 takes of o1's records: one every 200 ms of each of 16 tasks, of 8,000
#: a second.
MINUTES, STATISTICS_MINUTES, SAMPLED = 48, 15, 16 * 5 / 8000
#: Mean utilisation of the workers in the busiest minute: the paper does not say how full its nodes are.
LEVELS = (0.7, 0.85, 1.0, 1.15)
SLICES = 365 * 24 // MINUTES
#: State of an operator, the interval of its checkpoints, and what its moves depend on beside.
STATE_BYTES, INTERVAL_S, BANDWIDTH_MB_S = 64 * 2.0**20, 1.0, 40.0
OPTIONS = {"record_bytes": 416.0, "queue_s": 0.01}


@cache
def _log() -> pd.DataFrame:
    """Return departures with the hour of the year, the plane, the flight, and whether they were late."""
    log = pd.read_csv(
        LOG, usecols=["Month", "DayofMonth", "DepTime", "UniqueCarrier", "FlightNum", "TailNum", "DepDelay"]
    )
    log = log.dropna(subset=["DepTime", "TailNum"])
    day = pd.to_datetime({"year": 2011, "month": log.Month, "day": log.DayofMonth}).dt.day_of_year - 1
    return pd.DataFrame(
        {
            "hour": day * 24 + (log.DepTime // 100).astype(int) % 24,
            "flight": (log.UniqueCarrier + log.FlightNum.astype(str)).map(_hash),
            "plane": log.TailNum.map(_hash),
            "late": log.DepDelay > 0,
        }
    )


def _hash(key: str) -> int:
    return zlib.crc32(key.encode())


def flights(groups: int, seed: int) -> dict[str, FloatArray]:
    """Return records of the four operators in 48 minutes, each (48, groups).

    The log is cut into slices of 48 hours, half of which are streamed in parallel, an hour of the log a minute: o1
    takes all departures by flight, o2 the late ones and o3 all by plane. o4 samples at a constant rate.
    """
    log = _log()
    chosen = np.random.default_rng(seed).permutation(SLICES)[: SLICES // 2]
    log = log[np.isin(log.hour // MINUTES, chosen)]

    def counted(part: pd.DataFrame, key: str) -> FloatArray:
        cell = (part.hour % MINUTES).to_numpy() * groups + part[key].to_numpy() % groups
        return np.bincount(cell, minlength=MINUTES * groups).reshape(MINUTES, groups).astype(np.float64)

    records = {"o1": counted(log, "flight"), "o2": counted(log[log.late], "plane"), "o3": counted(log, "plane")}
    sampled = SAMPLED * records["o1"].sum(axis=1).mean()
    return {**records, "o4": np.full((MINUTES, groups), sampled / groups)}


def realistic(groups: int, level: float, seed: int) -> tuple[Problem, float]:
    """Return the job of figures 7 to 9 on real departures, and records per second that a core can take.

    *level* is the mean utilisation of the workers in the busiest minute.
    """
    records = flights(groups, seed)
    busiest = sum(records[name].sum(axis=1) for name in ("o1", "o2", "o3")).max()
    per_core = float(busiest) / level / 16 / 60.0
    knobs = replace(TopologyKnobs(**TOPOLOGIES["checkpoints-figure-7"].knobs), key_groups=groups, seed=0)
    made = generated(knobs)

    def stated(operator: Operator) -> Operator:
        state = np.full(operator.parallelism, STATE_BYTES / operator.parallelism)
        return replace(
            operator,
            state_bytes=state,
            record_time_s=1.0 / per_core,
            checkpoint=Checkpointing(INTERVAL_S, "incremental"),
        )

    topology = replace(made, operators=tuple(stated(o) if o.key_groups else o for o in made.operators))
    workers, samplers = tuple(f"w{k + 1}" for k in range(16)), tuple(f"s{k + 1}" for k in range(4))
    where = Placement(tasks={"o1": workers, "o2": workers, "o3": workers, "o4": samplers})
    nodes = tuple(Node(i, 1.0) for i in (*workers, *samplers))
    cluster = Cluster(nodes, network=Network(BANDWIDTH_MB_S, 0.001), placement=where)
    return Problem(topology, cluster, stats_of(records, 60.0)), per_core


@cache
def by_key_groups(quick: bool) -> Table:
    """Return the figures of each technique by load and key groups, with hosts of copies preferred and without."""
    rows = []
    levels, sizes = (LEVELS[::3], (16, 48)) if quick else (LEVELS, (16, 24, 32, 40, 48))
    for level, groups in itertools.product(levels, sizes):
        drawn: dict[tuple[str, bool], list[list[float]]] = {}
        for seed in range(1 if quick else 5):
            problem, per_core = realistic(groups, level, seed)
            asked = {"plan_on": STATISTICS_MINUTES / MINUTES, "capacity_per_core": per_core, "seed": seed}
            for item in adaptations(problem, allocation=tuple(TECHNIQUES), **OPTIONS, **asked):
                cells = drawn.setdefault((item["allocation"], item["preferred"]), [])
                cells.append([item[name] or 0.0 for name in FIGURES])
        for (name, preferred), values in drawn.items():
            rows.append((level, groups, TECHNIQUES[name], preferred, *map(mean, zip(*values, strict=True))))
    return Table(("load", "key_groups", *COLUMNS), tuple(rows))


def _made(column: str, label: str, quick: bool) -> Outcome:
    """Return the numbers of all three figures, of which one column is drawn where hosts of copies are preferred."""
    table = by_key_groups(quick)
    at = table.columns.index("preferred")
    drawn = Table(table.columns, tuple(row for row in table.rows if row[at]))
    return Outcome(table, lines(drawn, "key_groups", [column], "allocation", "load", label=label))


def _factor(column: str, low: float, high: float, preferred: bool, table: Table) -> Iterator[Check]:
    """Yield whether optimised is so many times even and baseline."""
    for level, groups in itertools.product(table.keys("load"), table.keys("key_groups")):
        here = {"load": level, "key_groups": groups, "preferred": preferred}
        best = table.value(column, allocation="optimised", **here)
        for other in ("even", "baseline"):
            than = table.value(column, allocation=other, **here)
            what = f"load {level:g}, {groups} key groups: times {other}"
            yield within(what, best / than if than > 0.0 else 0.0, low, high)


def _grows(column: str, names: tuple[str, ...], table: Table) -> Iterator[Check]:
    for level, name in itertools.product(table.keys("load"), names):
        values = [table.value(column, load=level, key_groups=n, allocation=name, preferred=True) for n in _ends(table)]
        yield rising(f"load {level:g}, {name}, fewest and most key groups", values)


def _ends(table: Table) -> list[int]:
    """Return the fewest and the most key groups."""
    return [table.keys("key_groups")[i] for i in (0, -1)]


def _flat(column: str, table: Table) -> Iterator[Check]:
    for level, name in itertools.product(table.keys("load"), ("even", "baseline")):
        values = table.column(column, load=level, allocation=name, preferred=True)
        yield at_most(f"load {level:g}, {name}: largest over least", max(values) / max(min(values), 1e-9), 1.25)


def _saved(table: Table) -> Iterator[Check]:
    """Yield whether the latency that optimised saves grows with the number of key groups."""

    def latency(level: float, groups: int, name: str) -> float:
        return float(table.value("latency_s", load=level, key_groups=groups, allocation=name, preferred=True))

    for level, other in itertools.product(table.keys("load"), ("even", "baseline")):
        saved = [latency(level, groups, other) - latency(level, groups, "optimised") for groups in _ends(table)]
        yield rising(f"load {level:g}, saved against {other}", saved, ("fewest", "most"))


JOB = (
    "which departures make the load (those of Houston in 2011: slices of 48 hours are streamed in parallel, an hour a "
    "minute, half of the 182 slices drawn by seed), keys (o1 by flight, o2 late ones and o3 all by plane, hashed), "
    "that records of all operators cost alike, capacity (in the busiest minute the 16 workers are 70 %, 85 %, 100 % or "
    "115 % full: each claim is held against all four, means of 5 draws; overload above 0.85), 64 MB of state an "
    "operator, divided among its key groups and sent at 40 MB/s, checkpoints every second, records of 416 bytes, a "
    "queue of 10 ms, the cheapest protocol for each move, an adaptation each minute that pairs the most with the least "
    "loaded node"
)
ROWS = (
    Row(
        "adaptation-figure-7",
        "Madsen2015",
        "figure 7",
        "share of migrations that checkpoints assist, over time on real departures",
        lambda quick: _made("assisted_share", "assisted share of moves", quick),
        (
            Claim(
                "optimised has about twice the assisted share of even and baseline",
                "section 7.2",
                "1.5 to 2.5 times either at each load and number of key groups, hosts of checkpoints preferred",
                lambda t: _factor("assisted_share", 1.5, 2.5, True, t),
            ),
            Claim(
                "optimised has about twice the assisted share of even and baseline, where checkpoints are used as they "
                "happen to lie",
                "section 7.2",
                "1.5 times either or more at each load and number of key groups, without that preference",
                lambda t: _factor("assisted_share", 1.5, float("inf"), False, t),
            ),
            Claim(
                "more key groups raise the share of even and baseline, and slightly that of optimised",
                "section 7.2",
                "the share at most key groups is above that at fewest, at each load, for each",
                lambda t: _grows("assisted_share", ("even", "baseline", "optimised"), t),
            ),
            Claim(
                "more key groups lead to more migrations",
                "section 7.2, of figure 9",
                "there are more at most key groups than at fewest, for each, at each load",
                lambda t: _grows("moves", ("even", "baseline", "optimised"), t),
            ),
        ),
        JOB,
    ),
    Row(
        "adaptation-figure-8",
        "Madsen2015",
        "figure 8",
        "share of checkpoints that are usable, over time on real departures",
        lambda quick: _made("usable_share", "usable share of copies", quick),
        (
            Claim(
                "optimised has 2 to 3 times the usable share of even and baseline",
                "section 7.2",
                "2 to 3 times either, at each load and number of key groups",
                lambda t: _factor("usable_share", 2.0, 3.0, True, t),
            ),
            Claim(
                "the share of even and baseline does not depend on the number of key groups",
                "section 7.2",
                "the largest share is at most 1.25 times the least, at each load",
                lambda t: _flat("usable_share", t),
            ),
            Claim(
                "optimised gains by more key groups",
                "section 7.2",
                "its share at most key groups is above that at fewest, at each load",
                lambda t: _grows("usable_share", ("optimised",), t),
            ),
        ),
        JOB,
    ),
    Row(
        "adaptation-figure-9",
        "Madsen2015",
        "figure 9",
        "latency of all migrations, summed",
        lambda quick: _made("latency_s", "seconds of pause in all", quick),
        (
            Claim(
                "optimised saves latency against even and baseline",
                "section 7.2",
                "its sum is below either's, at each load and number of key groups",
                lambda t: _factor("latency_s", 0.0, 1.0, True, t),
            ),
            Claim(
                "the saved latency grows with the number of key groups",
                "section 7.2",
                "it is more at most key groups than at fewest, against either, at each load",
                lambda t: _saved(t),
            ),
        ),
        JOB,
    ),
)
