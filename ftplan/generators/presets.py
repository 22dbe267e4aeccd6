"""The settings of experiments, by name: what a paper states, and defaults for what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Preset(NamedTuple):
    """Knobs that differ from their defaults, and where they come from."""

    source: str
    knobs: Mapping[str, Any]


#: Operators as the replication experiments have them: only rates differ between tasks.
_BARE: Mapping[str, Any] = {
    "rate": 1.0,
    "cpu": (1.0, 1.0),
    "costs": "operator",
    "state_bytes": (1.0, 1.0),
    "key_groups": 0,
    "priority": "one",
}
_EVEN: Mapping[str, Any] = {"zipf": 0.0, "same_parallelism": 0.0, "priority": "one"}

TOPOLOGIES: Mapping[str, Preset] = {
    "replication-figure-6": Preset(
        "[SuZhou2016], section VI-A, figure 6: a source of 16 tasks and four operators by merge",
        {**_EVEN, "shape": "chain", "tasks": (16, 8, 4, 2, 1), "selectivity": (0.5, 0.5)},
    ),
    "replication-figure-14": Preset(
        "[SuZhou2016], section VI-C, figure 14: 5 to 10 operators; its other settings are --zipf 0, --parallelism "
        "10-20 or 20-30, --full 1, --joins 0.5",
        _BARE,
    ),
    "recovery-figure-16": Preset(
        "[SuZhouTR], section 7.3, figure 16: 18 queries that share tasks; its settings are --largest-share 3, "
        "--share-zipf 0.2 or 0.5, --priority load",
        {"shape": "queries", "cpu": (1.0, 10.0)},
    ),
    "recovery-figure-17": Preset(
        "[SuZhouTR], figures 17 to 20: a source, a parser of 4 tasks and two windows of 4",
        {**_EVEN, "shape": "layers", "tasks": (1, 4, 4, 4), "width": 1, "fan_in": (1, 1), "outputs": 2, "full": 1.0},
    ),
    "checkpoints-figure-5": Preset(
        "[Madsen2015], figures 5 and 6: input and two operators of 20 key groups, 8,000 records/s",
        {**_EVEN, "shape": "chain", "tasks": (4, 20, 20), "full": 1.0, "key_groups": 20, "rate": 2000.0},
    ),
    "checkpoints-figure-7": Preset(
        "[Madsen2015], figures 7 to 9: input and four operators, 16 key groups each (--key-groups 16 to 48)",
        {
            **_EVEN,
            "shape": "layers",
            "tasks": (4, 16, 16, 16, 4),
            "width": 1,
            "fan_in": (1, 1),
            "outputs": 3,
            "full": 1.0,
            "key_groups": 16,
            "rate": 2000.0,
        },
    ),
    "checkpoints-toy": Preset(
        "[Madsen2015], the synthetic job: input and two operators of 10 key groups whose loads run against each other",
        {
            **_EVEN,
            "shape": "layers",
            "tasks": (1, 1, 1),
            "width": 1,
            "fan_in": (1, 1),
            "outputs": 2,
            "full": 1.0,
            "key_groups": 10,
        },
    ),
    "sparse-queries": Preset(
        "benchmarks/recovery_sparse.py: 500 queries of 3 to 8 tasks each of 1,000, few of which nearly all need",
        {
            "shape": "shared-tasks",
            "queries": 500,
            "pool": 1000,
            "query_tasks": (3, 8),
            "share_zipf": 0.8,
            "cpu": (0.25, 0.25),
            "cpu_sigma": 0.5,
        },
    ),
}

CLUSTERS: Mapping[str, Preset] = {
    "replication-figure-6": Preset(
        "[SuZhou2016], section VI-A: 4 nodes for the source, 15 working and 15 standby, of one core",
        {"nodes": 34, "cores": (1.0, 1.0), "zones": 0, "placement": "round-robin"},
    ),
    "recovery-figure-12": Preset(
        "[SuZhouTR], section 7.2, figures 9 and 12: 10 nodes", {"nodes": 10, "zones": 0, "placement": "round-robin"}
    ),
    "checkpoints-figure-5": Preset(
        "[Madsen2015], figures 5 to 9: 25 nodes", {"nodes": 25, "zones": 0, "placement": "round-robin", "copies": 1}
    ),
}

STATISTICS: Mapping[str, Preset] = {
    "checkpoints-toy": Preset(
        "[Madsen2015], the synthetic job: one operator's load moves to the other in 100 s, correlation -1",
        {
            "windows": 100,
            "window_s": 1.0,
            "skew": 0.0,
            "over_time": "ramp",
            "level": 1.0,
            "camps": 2,
            "camps_by": "operator",
            "poisson": False,
        },
    ),
    "checkpoints-figure-7": Preset(
        "[Madsen2015], figures 7 to 9: 48 minutes in which operators rise and fall together",
        {"windows": 48, "window_s": 60.0, "cycle_s": 2880.0, "camps": 1, "strength": 0.95},
    ),
    "daily": Preset(
        "benchmarks/allocation_at_scale.py: two days in windows of 10 minutes, random phases, lognormal sizes",
        {"windows": 288, "records": 10.0},
    ),
}

FAILURES: Mapping[str, Preset] = {
    "replication-figure-8": Preset(
        "[SuZhou2016], section VI-A, figure 8: all nodes fail at once", {"fail": "everything", "arrivals": 0}
    ),
    "recovery-figure-10": Preset(
        "[SuZhouTR], section 7.1, figure 10: three nodes, 60 s apart (--count 1 to 3)",
        {"fail": "nodes", "count": 3, "spacing_s": 60.0},
    ),
    "recovery-figure-12": Preset(
        "[SuZhouTR], section 7.2, figure 12: 8 nodes of 10; new ones come after 2 to 6 minutes",
        {"fail": "nodes", "count": 8},
    ),
}

PRESETS: Mapping[str, Mapping[str, Preset]] = {
    "topology": TOPOLOGIES,
    "cluster": CLUSTERS,
    "stats": STATISTICS,
    "failure": FAILURES,
}
