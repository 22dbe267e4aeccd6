"""Small jobs with statistics of their load over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import numpy as np

from ftplan.generators.loads import START_S, joined, rows_of
from ftplan.generators.options import StatsKnobs
from ftplan.model.cluster import Cluster, Network, Node, Placement
from ftplan.model.problem import Problem, StatsTables
from ftplan.model.statistics import EPOCH, Manifest, OperatorStatistics
from ftplan.model.topology import Checkpointing, Edge, FloatArray, Operator, Topology

MB = 2.0**20


def statistics(records: Mapping[str, FloatArray], window_s: float = 1.0) -> StatsTables:
    """Return statistics of records by operator, each (windows, key groups)."""
    knobs = StatsKnobs(windows=len(next(iter(records.values()))), window_s=window_s)
    parts = [
        rows_of(knobs, "key_groups", {"operator": name}, {"key_group": np.arange(load.shape[1])}, {"records": load})
        for name, load in sorted(records.items())
    ]
    start = EPOCH + timedelta(seconds=START_S // window_s * window_s)
    known = {name: OperatorStatistics(load.shape[1]) for name, load in sorted(records.items())}
    manifest = Manifest(window_s, start, start + timedelta(seconds=knobs.windows * window_s), known)
    return StatsTables(manifest, {"key_groups": joined("key_groups", parts)})


def job(records: Mapping[str, FloatArray], where: Mapping[str, Sequence[str]], nodes: Sequence[Node]) -> Problem:
    """Return operators in a row whose key groups lie where stated: 1 MB of state each, 1 MB/s, 10 s of replay."""
    made = []
    for number, (name, load) in enumerate(records.items()):
        groups = load.shape[1]
        one = np.ones(groups)
        made.append(
            Operator(
                name, groups, cpu=0.1 * one, state_bytes=MB * one, priority=one, key_groups=groups,
                rate_out=None if number else one, record_time_s=1e-4, checkpoint=Checkpointing(10.0),
            )
        )  # fmt: skip
    edges = tuple(Edge(i, i + 1, "full") for i in range(len(made) - 1))
    placement = Placement(key_groups={name: tuple(there) for name, there in where.items()})
    cluster = Cluster(tuple(nodes), network=Network(1.0, 0.0), placement=placement)
    return Problem(Topology(tuple(made), edges), cluster, statistics(records))


def against_each_other(control: bool = True) -> Problem:
    """Return the job of [Madsen2015], section 7.2: 1 % of the load moves from o1 to o2 each second.

    Ten key groups each, on nodes 1 and 2; a core takes 1,000 records a second, and 70 % of nodes 0 and 2 is foreign
    load. Node 3, where asked for, holds checkpoints and takes no key groups.
    """
    share = np.arange(100)[:, None] / 100.0 * np.ones(10)
    records = {"o1": 70.0 * (1.0 - share), "o2": 70.0 * share}
    nodes = [Node("0", 1.0, used_cpu=0.7), Node("1", 1.0), Node("2", 1.0, used_cpu=0.7)]
    nodes += [Node("3", 1.0, accepts=frozenset(("checkpoints",)))] if control else []
    return job(records, {"o1": ["1"] * 10, "o2": ["2"] * 10}, nodes)


#: Options for :func:`against_each_other`: nodes 0 and 2 begin at their ceiling.
AT_THE_CEILING = {"overload": 0.7, "capacity_per_core": 1000.0, "plan_on": 0.2}


def day(seed: int = 0, groups: int = 12, windows: int = 60, nodes: int = 4) -> Problem:
    """Return one operator whose key groups rise and fall with phases of their own."""
    random = np.random.default_rng(seed)
    phase, size = random.uniform(0.0, 2.0 * np.pi, groups), random.uniform(5.0, 20.0, groups)
    time = np.arange(windows)[:, None] * 2.0 * np.pi / 20.0
    loads = np.round(size * (1.0 + 0.8 * np.sin(time + phase)), 1)
    ids = [f"n{i + 1}" for i in range(nodes)]
    dealt = random.permutation(np.arange(groups) % nodes)
    return job({"op": loads}, {"op": [ids[i] for i in dealt]}, [Node(i, 1.0) for i in ids])
