"""What can be asked of ``ftplan generate topology``: its knobs as options, with what is right and their help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ftplan.api.generation.checks import FRACTION, MOST_TASKS, SEED, TASKS, between
from ftplan.generators import knobs
from ftplan.generators.knobs import TopologyKnobs
from ftplan.io.options.fields import Options, number, one_of, option, whole


@dataclass(frozen=True, kw_only=True)
class TopologyGeneration(Options, TopologyKnobs):
    """The options of ``ftplan generate topology``."""

    seed: int = SEED
    shape: str = option(
        TopologyKnobs.shape,
        one_of(*knobs.SHAPES),
        "tree: every operator feeds one other; layers, dag: some; chain, diamond; queries: operators of one task that "
        "queries share; shared-tasks: the same as two operators, for thousands of queries.",
    )
    operators: Any = option(
        TopologyKnobs.operators, between(1, MOST_TASKS, int), "Number of operators, or a range.", metavar="N|LOW-HIGH"
    )
    parallelism: Any = option(
        TopologyKnobs.parallelism, between(1, MOST_TASKS, int), "Tasks of an operator.", metavar="N|LOW-HIGH"
    )
    tasks: Any = option(
        TopologyKnobs.tasks,
        TASKS,
        "Tasks of each operator, instead of --operators and --parallelism.",
        metavar="N,N,...",
    )
    same_parallelism: float = option(
        TopologyKnobs.same_parallelism,
        FRACTION,
        "Share of operators with as many tasks as a neighbour.",
        metavar="SHARE",
    )
    full: float = option(
        TopologyKnobs.full, FRACTION, "Share of edges that are full; others are one-to-one, split or merge.",
        metavar="SHARE",
    )  # fmt: skip
    joins: float = option(TopologyKnobs.joins, FRACTION, "Share of operators that join their inputs.", metavar="SHARE")
    outputs: int = option(TopologyKnobs.outputs, whole(1, MOST_TASKS), "Number of output operators.", metavar="N")
    width: int = option(TopologyKnobs.width, whole(1, MOST_TASKS), "layers: operators in a layer.", metavar="N")
    fan_in: Any = option(
        TopologyKnobs.fan_in,
        between(1, 1000, int),
        "layers, dag: operators that an operator reads from.",
        metavar="N|LOW-HIGH",
    )
    zipf: float = option(
        TopologyKnobs.zipf, number(0.0, 5.0), "Skew of an operator's tasks: load falls as rank^-X.", metavar="X"
    )
    rate: float = option(
        TopologyKnobs.rate, number(1e-6, 1e9), "Records per second of the busiest task of a source.", metavar="X"
    )
    selectivity: Any = option(
        TopologyKnobs.selectivity,
        between(0.0, 1e6),
        "Records that an operator emits, over all edges, for each that it reads.",
        metavar="X|LOW-HIGH",
    )
    cpu: Any = option(
        TopologyKnobs.cpu, between(0.0, 1e4), "Cores of a task; mean of its operator.", metavar="X|LOW-HIGH"
    )
    costs: str = option(
        TopologyKnobs.costs, one_of(*knobs.COSTS), "load: cpu and state of a task follow its load; operator: all alike."
    )
    cpu_sigma: float = option(
        TopologyKnobs.cpu_sigma, number(0.0, 5.0), "Lognormal spread of cpu and state among tasks.", metavar="X"
    )
    state_bytes: Any = option(
        TopologyKnobs.state_bytes, between(0.0, 1e15), "State of a task, drawn by its logarithm.", metavar="X|LOW-HIGH"
    )
    stateful: float = option(TopologyKnobs.stateful, FRACTION, "Share of operators that have state.", metavar="SHARE")
    key_groups: int = option(
        TopologyKnobs.key_groups, whole(0, MOST_TASKS), "Key groups of a stateful operator with inputs.", metavar="N"
    )
    priority: str = option(
        TopologyKnobs.priority, one_of(*knobs.PRIORITIES), "Of queries: all one, uniform, by rank, or by load."
    )
    priorities: Any = option(
        TopologyKnobs.priorities, between(1e-6, 1e6), "Least and highest priority.", metavar="X|LOW-HIGH"
    )
    queries: int = option(
        TopologyKnobs.queries, whole(1, MOST_TASKS), "queries, shared-tasks: number of queries.", metavar="N"
    )
    query_tasks: Any = option(
        TopologyKnobs.query_tasks,
        between(1, 10_000, int),
        "queries, shared-tasks: tasks of a query.",
        metavar="N|LOW-HIGH",
    )
    pool: int = option(
        TopologyKnobs.pool, whole(1, MOST_TASKS), "shared-tasks: tasks that queries are drawn from.", metavar="N"
    )
    largest_share: int = option(
        TopologyKnobs.largest_share, whole(1, 10_000), "queries: most queries that a task is in.", metavar="N"
    )
    share_zipf: float = option(
        TopologyKnobs.share_zipf, number(0.0, 3.0), "queries, shared-tasks: skew of sharing.", metavar="X"
    )
    shared_by: str = option(
        TopologyKnobs.shared_by,
        one_of(*knobs.SHARED_BY),
        "queries: whether the chance of a share is Zipf, or the shares by rank.",
    )
    max_tasks: int = option(
        TopologyKnobs.max_tasks, whole(1, MOST_TASKS), "Refuse to make more tasks than this.", metavar="N"
    )
