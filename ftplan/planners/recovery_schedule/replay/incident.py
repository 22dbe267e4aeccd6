"""What a recovery schedule is judged against: what failed, what it costs, where there is room, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.defaults import MAX_CPU
from ftplan.model.failure import Arrival, Fail
from ftplan.model.measures.recovery_time import AT_ONCE, RecoveryDelays
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray


@dataclass(frozen=True, eq=False)
class Transfers:
    """How long state takes to reach a node.

    ``at_once`` restores run at a time on a node, each with an equal part of the bandwidth; others wait for them.

    ``local_bytes`` is the state of a task, by (task, node id), that lies on a node of the start.
    """

    state_bytes: FloatArray  # (T,)
    bandwidth_bytes_s: float  # > 0
    delay_s: float = 0.0
    local_bytes: Mapping[tuple[int, str | None], float] = field(default_factory=dict)
    at_once: int = 1

    def seconds(self, task: int, node: str | None, share: float, *, empty: bool) -> float:
        """Return how long a share of a task's state is under way to a node; *empty*: nothing lies there yet."""
        local = 0.0 if empty else self.local_bytes.get((task, node), 0.0)
        size = max(0.0, float(self.state_bytes[task]) - local) * share
        return self.delay_s + self.at_once * size / self.bandwidth_bytes_s if size > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class Incident:
    """A failure and what there is to recover from it, as the files tell. Tasks are numbered as in ``TaskGraph``.

    A node takes tasks up to ``max_cpu`` of its cores, minus its ``used_cpu``, what is ``reserved`` there and the
    cost of the live tasks and live replicas that stand on it. Without a cluster there is one place without a name,
    with ``capacity`` cores; with one, ``capacity`` caps what the nodes that are there at the start take together.
    """

    graph: TaskGraph
    cost: FloatArray  # (T,) cores
    fail: tuple[Fail, ...]
    cluster: Cluster | None = None
    arrivals: tuple[Arrival, ...] = ()
    max_cpu: float = MAX_CPU
    capacity: float | None = None
    replicas: Mapping[int, str | None] = field(default_factory=dict)  # task -> node of its replica; None: no node
    reserved: Mapping[str, float] = field(default_factory=dict)  # node id -> cores, where it arrives
    complete: bool = False  # everything failed at the start, wherever it stood
    transfers: Transfers | None = None  # None: restores take no time
    delays: RecoveryDelays = AT_ONCE
    may_pause: bool = False  # running queries of lower priority may give way to failed ones

    @property
    def rolls_back(self) -> bool:
        """Whether every failure sends all tasks that run back to the last checkpoint ([SuZhouTR], section 4.3)."""
        return not all(operator.deterministic for operator in self.graph.topology.operators)

    def share(self, task: int, entry: Mapping[str, Any]) -> float:
        """Return which share of a task an entry of a plan starts: less than all where it names key groups."""
        cost = float(self.cost[task])
        split = entry.get("key_groups") and entry.get("cpu") is not None and cost > 0.0
        return float(entry["cpu"]) / cost if split else 1.0
