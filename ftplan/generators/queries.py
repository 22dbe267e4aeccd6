"""Queries that share tasks: the random topologies of the recovery experiments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.generators.knobs import FloatRange, IntRange, TopologyKnobs
from ftplan.model.topology import Edge, FloatArray, IntArray, Operator, Substreams, Topology


def queries_topology(knobs: TopologyKnobs) -> Topology:
    """Return operators of one task each, the first of them outputs: [SuZhouTR], section 7.3 and figure 16.

    A query has as many tasks as ``query_tasks`` says, one of them its own output task; the others are in 1 to
    ``largest_share`` queries. One task feeds another if it is in all queries of that one, or by its place. What the
    paper leaves open is assumed: uniform sizes and costs, and that "share frequencies follow a Zipfian distribution"
    is about the chance of a share, or (``shared_by`` rank) that the k-th task is shared in proportion to k^-s. Time and
    memory grow with the square of the tasks.

    Raises
    ------
    FtplanError
        If there are more tasks than ``max_tasks``.
    """
    random = np.random.default_rng(knobs.seed)
    low, high = knobs.query_tasks
    room = random.integers(low, high + 1, knobs.queries) - 1
    if knobs.queries + int(room.sum()) > min(knobs.max_tasks, MOST_NESTED):
        raise FtplanError(
            f"--queries {knobs.queries:,}: up to {knobs.queries + int(room.sum()):,} tasks, more than "
            f"{min(knobs.max_tasks, MOST_NESTED):,}; for more use --shape shared-tasks"
        )
    queries_of = [{q} for q in range(knobs.queries)]  # the output tasks
    for share in _shares(knobs, random):
        if not room.any():
            break
        members = random.choice(knobs.queries, min(share, int((room > 0).sum())), replace=False, p=room / room.sum())
        room[members] -= 1
        queries_of.append(set(members.tolist()))
    cost = random.uniform(knobs.cpu[0], knobs.cpu[1], len(queries_of))
    priority = np.ones(len(queries_of))
    load = np.array([sum(cost[t] for t, of in enumerate(queries_of) if q in of) for q in range(knobs.queries)])
    priority[: knobs.queries] = priorities_of(knobs.priority, knobs.priorities, load, random)
    ids = [f"{t:03}" for t in range(len(queries_of))]
    operators = [
        Operator(ids[t], 1, cost[[t]], np.zeros(1), priority[[t]], output=t < knobs.queries)
        for t in range(len(queries_of))
    ]
    edges = [
        Edge(i, j, "full")
        for (i, a), (j, b) in itertools.permutations(enumerate(queries_of), 2)
        if a > b or (a == b and i > j)  # among equals the output task, of the lowest number, comes last
    ]
    return Topology(tuple(operators), tuple(edges))


#: Tasks of which every pair is compared; a quarter of a minute.
MOST_NESTED = 10_000


def _shares(knobs: TopologyKnobs, random: np.random.Generator) -> Iterator[int]:
    """Yield in how many queries each task is."""
    if knobs.shared_by == "rank":
        yield from (max(1, round(knobs.largest_share * k**-knobs.share_zipf)) for k in itertools.count(1))
    chance = np.arange(1, knobs.largest_share + 1) ** -knobs.share_zipf
    while True:
        yield 1 + int(random.choice(knobs.largest_share, p=chance / chance.sum()))


def priorities_of(rule: str, between: FloatRange, load: FloatArray, random: np.random.Generator) -> FloatArray:
    """Return a priority for each load: one, uniform whole numbers, Zipf by a random rank, or linear in the load."""
    low, high = between
    if rule == "one":
        return np.ones(len(load))
    if rule == "uniform":
        least, most = np.ceil(low), np.floor(high)
        if least > most:  # no whole number between
            return random.uniform(low, high, len(load))
        return random.integers(int(least), int(most) + 1, len(load)).astype(np.float64)
    if rule == "zipf":
        rank = random.permutation(len(load)) + 1
        return np.maximum(low, high / rank)
    spread = load.max() - load.min()
    if spread == 0.0:
        return np.full(len(load), high)
    linear: FloatArray = low + (high - low) * (load - load.min()) / spread
    return linear


class SharedTasks(NamedTuple):
    """Queries and the tasks that they need, as rows of an index: those of query q are ``member[start[q]:start[q+1]]``.

    Shapes: priority (queries,), cpu (tasks,) in cores, start (queries + 1,), member (needs,).
    """

    priority: FloatArray
    cpu: FloatArray
    start: IntArray
    member: IntArray


def shared_tasks(
    queries: int, tasks: int, seed: int, *, zipf: float, needs: IntRange = (3, 8), cpu: float = 0.25, sigma: float = 0.5
) -> SharedTasks:
    """Return queries that need a few of many tasks, some of which nearly all need.

    A task is drawn with probability proportional to rank^-zipf. Costs are lognormal (``sigma``) around ``cpu``,
    priorities uniform from 1 to 10.
    """
    random = np.random.default_rng(seed)
    rank = random.permutation(tasks) + 1
    odds = 1.0 / rank**zipf
    reach = np.cumsum(odds / odds.sum())
    drawn = []
    for count in random.integers(needs[0], needs[1] + 1, queries).tolist():
        need: set[int] = set()
        while len(need) < count:
            need.update(np.searchsorted(reach, random.random(count - len(need)) * reach[-1], side="right").tolist())
        drawn.append(sorted(need))
    member = np.concatenate(drawn).astype(np.int64)
    cost = cpu * random.lognormal(0.0, sigma, tasks)
    priority = random.integers(1, 11, queries).astype(np.float64)
    start = np.concatenate(([0], np.cumsum([len(need) for need in drawn]))).astype(np.int64)
    return SharedTasks(priority, cost, start, member)


def shared_topology(knobs: TopologyKnobs) -> Topology:
    """Return :func:`shared_tasks` as two operators, ``task`` and ``query``, with a substream of 1 record/s a need.

    Raises
    ------
    FtplanError
        If the pool holds fewer tasks than a query may need, or pool and queries are more than ``max_tasks``.
    """
    most = knobs.query_tasks[1]
    if knobs.pool < most:
        raise FtplanError(f"--pool {knobs.pool}: fewer tasks than a query may need (--query-tasks {most})")
    if knobs.pool + knobs.queries > knobs.max_tasks:
        raise FtplanError(f"{knobs.pool + knobs.queries:,} tasks are more than --max-tasks {knobs.max_tasks:,}")
    drawn = shared_tasks(
        knobs.queries, knobs.pool, knobs.seed, zipf=knobs.share_zipf, needs=knobs.query_tasks,
        cpu=float(np.mean(knobs.cpu)), sigma=knobs.cpu_sigma,
    )  # fmt: skip
    load = np.add.reduceat(drawn.cpu[drawn.member], drawn.start[:-1])
    priority = drawn.priority
    if (knobs.priority, knobs.priorities) != ("uniform", (1.0, 10.0)):
        priority = priorities_of(knobs.priority, knobs.priorities, load, np.random.default_rng([knobs.seed, 1]))
    return two_operators(drawn._replace(priority=priority))


def two_operators(drawn: SharedTasks) -> Topology:
    """Return the operators ``task`` and ``query`` and the substreams between them; queries cost nothing."""
    tasks, queries = len(drawn.cpu), len(drawn.priority)
    receiver = np.repeat(np.arange(queries, dtype=np.int64), np.diff(drawn.start))
    order = np.lexsort((receiver, drawn.member))
    stream = Substreams(drawn.member[order], receiver[order], np.ones(len(receiver)))
    nothing = np.zeros(max(tasks, queries))
    return Topology(
        (
            Operator("task", tasks, drawn.cpu, nothing[:tasks], np.ones(tasks)),
            Operator("query", queries, nothing[:queries], nothing[:queries], drawn.priority, output=True),
        ),
        (Edge(0, 1, substreams=stream),),
    )
