"""What generators take: the knobs, their defaults, and nothing heavy beside them.

A range is (low, high), both included; equal ends are a fixed value.
"""

from __future__ import annotations

from dataclasses import dataclass

IntRange = tuple[int, int]
FloatRange = tuple[float, float]

SHAPES = ("tree", "chain", "diamond", "layers", "dag", "queries", "shared-tasks")
COSTS = ("operator", "load")
PRIORITIES = ("one", "uniform", "zipf", "load")
SHARED_BY = ("chance", "rank")
PLACEMENTS = ("round-robin", "zones", "random", "none")
LOADS = ("lognormal", "zipf")
SHAPES_OVER_TIME = ("sine", "ramp")
CAMPS = ("key-group", "operator")
FAILING = ("nodes", "zones", "burst", "operators", "tasks", "everything", "nothing")
BURST_SIZES = ("geometric", "fixed")
SCENARIOS = ("none", "nodes", "zones", "both", "bursts")

#: The largest number of tasks that is made without being asked for.
MAX_TASKS = 1_000_000
#: The largest number of rows of a table of statistics that is made without being asked for.
MAX_ROWS = 50_000_000


@dataclass(frozen=True, kw_only=True)
class TopologyKnobs:
    """A topology. The defaults are the random topologies of [SuZhou2016], section VI-C, with costs and state added.

    Units: rate in records per second, cpu in cores, state in bytes.
    """

    seed: int = 0
    shape: str = "tree"
    operators: IntRange = (5, 10)
    parallelism: IntRange = (1, 10)
    tasks: tuple[int, ...] = ()
    same_parallelism: float = 1 / 3
    full: float = 0.0
    joins: float = 0.0
    outputs: int = 1
    width: int = 3
    fan_in: IntRange = (1, 2)
    zipf: float = 0.1
    rate: float = 1000.0
    selectivity: FloatRange = (1.0, 1.0)
    cpu: FloatRange = (0.1, 0.5)
    costs: str = "load"
    cpu_sigma: float = 0.0
    state_bytes: FloatRange = (1e6, 1e8)
    stateful: float = 1.0
    key_groups: int = 64
    priority: str = "uniform"
    priorities: FloatRange = (1.0, 10.0)
    queries: int = 18
    query_tasks: IntRange = (5, 10)
    pool: int = 100
    largest_share: int = 6
    share_zipf: float = 0.0
    shared_by: str = "chance"
    max_tasks: int = MAX_TASKS


@dataclass(frozen=True, kw_only=True)
class ClusterKnobs:
    """A cluster, and what is placed on it. Memory in units of 2^20 bytes, bandwidth in these per second."""

    seed: int = 0
    nodes: int | None = None
    cores: FloatRange | None = None
    memory_per_core: float | None = 4096.0
    zones: int = 4
    utilisation: float | None = None
    placement: str = "zones"
    copies: int = 0
    replicas: float = 0.0
    node_failure: FloatRange | None = (0.001, 0.01)
    zone_failure: FloatRange | None = (0.001, 0.01)
    bandwidth: float | None = 100.0
    delay_s: float | None = 0.001


@dataclass(frozen=True, kw_only=True)
class StatsKnobs:
    """Statistics of the keyed operators of a topology: load of a key group in a window, and how it varies."""

    seed: int = 0
    windows: int = 144
    window_s: float = 600.0
    sizes: str = "lognormal"
    skew: float = 1.0
    records: float | None = None
    cycle_s: float = 86_400.0
    over_time: str = "sine"
    level: float = 1.2
    camps: int = 0
    camps_by: str = "key-group"
    strength: float = 1.0
    poisson: bool = True
    record_bytes: float | None = None
    cpu: bool = True
    state: bool = True
    tasks: bool = False
    substreams: bool = False
    max_rows: int = MAX_ROWS


@dataclass(frozen=True, kw_only=True)
class FailureKnobs:
    """What fails in a cluster, which nodes arrive in its place, and alternatives with probabilities."""

    seed: int = 0
    fail: str = "burst"
    count: int = 1
    burst: float = 3.0
    burst_sizes: str = "geometric"
    spill: float = 0.1
    spacing_s: float = 0.0
    arrivals: int | None = None
    arrival_time_s: FloatRange = (120.0, 360.0)
    uncertain: bool = False
    scenarios: str = "none"
    bursts: int = 10
    probability: float = 0.01
