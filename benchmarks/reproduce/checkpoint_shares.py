"""Madsen & Zhou's figures 7 and 8: how many migrations checkpoints assist, and how many checkpoints are usable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.presets import TOPOLOGIES
from ftplan.generators.topology import topology as generated
from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.measures.planned_copies import planned_copies
from ftplan.planners.allocate_checkpoints.copy_measures import migrations
from ftplan.planners.allocate_checkpoints.metrics import allocation_score
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from reproduce.checkpoints import TECHNIQUES, Job, allocated, series_of
from reproduce.checks import at_most, mean, rising, within
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table

STATISTICS_MINUTES = 15


def realistic(groups: int, seed: int) -> Job:
    """Return the job of figures 7 to 9: o1 to o3 rise and fall together on 16 nodes, o4 samples steadily on four."""
    knobs = replace(TopologyKnobs(**TOPOLOGIES["checkpoints-figure-7"].knobs), key_groups=groups, seed=seed)
    topology = generated(knobs)
    series = series_of(topology, "checkpoints-figure-7", seed, skew=0.0)
    steady = series.operator == series.operators.index("o4")
    loads = series.loads.copy()
    loads[:, steady] = loads[:, steady].mean(axis=0)
    workers, samplers = tuple(f"w{k + 1}" for k in range(16)), tuple(f"s{k + 1}" for k in range(4))
    where = Placement(tasks={"o1": workers, "o2": workers, "o3": workers, "o4": samplers})
    cluster = Cluster(tuple(Node(i, 1.0) for i in (*workers, *samplers)), placement=where)
    return Job(topology, cluster, replace(series, loads=loads))


@cache
def by_key_groups(quick: bool) -> Table:
    """Return usable and assisted shares on the last 33 minutes of plans made on the first 15, by key groups."""
    rows = []
    for groups in (16, 48) if quick else (16, 24, 32, 40, 48):
        drawn: dict[str, list[tuple[float, float, float]]] = {name: [] for name in TECHNIQUES}
        for seed in range(2 if quick else 20):
            job = realistic(groups, seed)
            seen, later = (replace(job.series, loads=part) for part in np.split(job.series.loads, [STATISTICS_MINUTES]))
            usable = CheckpointObjective("usable").resolved(job.series, job.cluster)
            for name in TECHNIQUES:
                objective = CheckpointObjective().resolved(seen, job.cluster)
                plan = allocated(job._replace(series=seen), name, objective, seed)
                copies = planned_copies(plan, later, job.cluster)
                loads = later.loads[:, copies.columns]
                moved = migrations(loads, copies, usable.node_load(loads, later.window_s, copies.home, job.cluster))
                share = allocation_score(plan, job.cluster, later, usable).usable_share or 0.0
                drawn[name].append((share, moved.share or 0.0, float(moved.assisted + moved.direct)))
        rows.extend((groups, name, *map(mean, zip(*values, strict=True))) for name, values in drawn.items())
    return Table(("key_groups", "allocation", "usable_share", "assisted_share", "migrations"), tuple(rows))


def make_assisted(quick: bool) -> Outcome:
    """Return figure 7's numbers."""
    table = by_key_groups(quick)
    return Outcome(table, lines(table, "key_groups", ["assisted_share"], "allocation", label="assisted share of moves"))


def make_usable(quick: bool) -> Outcome:
    """Return figure 8's numbers."""
    table = by_key_groups(quick)
    return Outcome(table, lines(table, "key_groups", ["usable_share"], "allocation", label="usable share of copies"))


def _factor(column: str, low: float, high: float, table: Table) -> Iterator[Check]:
    for groups in table.keys("key_groups"):
        best = table.value(column, key_groups=groups, allocation="optimised")
        for other in ("even", "baseline"):
            than = table.value(column, key_groups=groups, allocation=other)
            yield within(f"{groups} key groups: times {other}", best / than if than > 0.0 else 0.0, low, high)


def _flat(column: str, table: Table) -> Iterator[Check]:
    for name in ("even", "baseline"):
        values = table.column(column, allocation=name)
        yield at_most(f"{name}: largest over least", max(values) / max(min(values), 1e-9), 1.25)


def _grows(column: str, names: tuple[str, ...], table: Table) -> Iterator[Check]:
    for name in names:
        values = table.column(column, allocation=name)
        yield rising(f"{name}, fewest and most key groups", [values[0], values[-1]])


JOB = (
    "how even key groups are (all alike: keys are hashed), what the input does (a sine of 48 minutes, correlation 0.95 "
    "between groups of operators 1 to 3; operator 4 constant), capacity (mean utilisation 0.7, overload above 0.85), "
    "what the adaptation does (planners/allocate_checkpoints/copy_measures.py: it prefers holders of checkpoints)"
)
ROWS = (
    Row(
        "checkpoints-figure-7",
        "Madsen2015",
        "figure 7",
        "share of migrations that checkpoints assist",
        make_assisted,
        (
            Claim(
                "optimised has about twice the assisted share of even and baseline",
                "section 7.2",
                "1.5 to 2.5 times either, at each number of key groups",
                lambda t: _factor("assisted_share", 1.5, 2.5, t),
            ),
            Claim(
                "more key groups raise the share of even and baseline, and slightly that of optimised",
                "section 7.2",
                "the share at most key groups is above that at fewest, for each",
                lambda t: _grows("assisted_share", ("even", "baseline", "optimised"), t),
            ),
            Claim(
                "more key groups lead to more migrations",
                "section 7.2, of figure 9",
                "there are more at most key groups than at fewest, for each",
                lambda t: _grows("migrations", ("even", "baseline", "optimised"), t),
            ),
        ),
        JOB,
    ),
    Row(
        "checkpoints-figure-8",
        "Madsen2015",
        "figure 8",
        "share of checkpoints that are usable",
        make_usable,
        (
            Claim(
                "optimised has at least twice the usable share of even and baseline",
                "section 7.2",
                "2 times either or more, at each number of key groups",
                lambda t: _factor("usable_share", 2.0, float("inf"), t),
            ),
            Claim(
                "the factor is 2 to 3",
                "section 7.2",
                "2 to 3 times either, at each number of key groups",
                lambda t: _factor("usable_share", 2.0, 3.0, t),
            ),
            Claim(
                "the share of even and baseline does not depend on the number of key groups",
                "section 7.2",
                "the largest share is at most 1.25 times the least",
                lambda t: _flat("usable_share", t),
            ),
            Claim(
                "optimised gains by more key groups",
                "section 7.2",
                "its share at most key groups is above that at fewest",
                lambda t: _grows("usable_share", ("optimised",), t),
            ),
        ),
        JOB,
    ),
)
