"""What can be asked of ``ftplan generate topology``, and the checks that all knobs of generators have.

A range is (low, high), both included; equal ends are a fixed value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ftplan.io.options.fields import MOST, Check, Options, number, one_of, option, whole
from ftplan.io.options.quantities import NUMBER, bytes_of, share_of
from ftplan.model import ranges

IntRange = tuple[int, int]
FloatRange = tuple[float, float]
#: The largest numbers of tasks, and of rows of a table of statistics, that are made without being asked for.
MAX_TASKS, MAX_ROWS = 1_000_000, 20_000_000
_END = rf"{NUMBER}[A-Za-z%]*"
#: What a document may hold of tasks, key groups or nodes.
MOST_TASKS = 10_000_000
_PARALLELISM = whole(1, MOST_TASKS)
SEED = option(0, whole(0, MOST), "Seed of every random choice.")
FRACTION = number(0.0, 1.0)


def between(low: float, high: float, kind: Callable[[str], float] = share_of) -> Check:
    """Return a check for a number within limits, or for a range of them: ``5-10``, or a pair in Python.

    *kind* reads each end, with its unit if it has one.
    """
    single = whole(int(low), int(high)) if kind is int else number(low, high)

    def take(value: Any) -> tuple[Any, Any]:
        if isinstance(value, str):
            parts = re.fullmatch(rf"\s*({_END})\s*(?:-\s*({_END})\s*)?", value)
            if not parts:
                raise ValueError
            value = [kind(part) for part in (parts[1], parts[2] or parts[1])]
        ends = tuple(map(single.take, value)) if isinstance(value, (tuple, list)) else (single.take(value),) * 2
        if len(ends) != 2 or ends[0] > ends[1]:
            raise ValueError
        return ends

    shown = f"{low:,} to {high:,}" if kind is int else f"{low:g} to {high:g}"
    return Check(f"a {'whole ' * (kind is int)}number or a range such as 2-8, from {shown}", take)


def held(allowed: ranges.Range, high: float) -> Check:
    """Return a check for 0 or a number that a file may hold, up to a limit."""
    single = number(0.0, high)

    def take(value: Any) -> Any:
        taken = single.take(value)
        if 0.0 < taken < allowed.low:
            raise ValueError
        return taken

    return Check(f"0, or a number from {allowed.low:g} to {high:g}", take, "number", low=0.0, high=high)


def _whole_numbers(value: Any) -> tuple[int, ...]:
    listed = value.split(",") if isinstance(value, str) and value else value or ()
    return tuple(_PARALLELISM.take(int(item) if isinstance(item, str) else item) for item in listed)


def or_none(check: Check) -> Check:
    """Return a check that lets None pass too, which the command line spells ``none``."""

    def take(value: Any) -> Any:
        if value is None or value == "none":
            return None
        return check.take(float(value) if check.form == "number" and isinstance(value, str) else value)

    return Check(f"{check.right}, or none", take)


CHANCE = or_none(between(1e-9, 1.0))
#: Of ``--tasks``.
TASKS = Check("whole numbers such as 16,8,4", _whole_numbers)


@dataclass(frozen=True, kw_only=True)
class TopologyKnobs(Options):
    """The options of ``ftplan generate topology``: by default as in [SuZhou2016], section VI-C, costs and state added.

    Units: rate in records per second, cpu in cores, state in bytes.
    """

    seed: int = SEED
    shape: str = option(
        "tree",
        one_of("tree", "chain", "diamond", "layers", "dag", "queries", "shared-tasks"),
        "tree: every operator feeds one other; layers, dag: some; chain, diamond; queries: operators of one task that "
        "queries share; shared-tasks: the same as two operators, for thousands of queries.",
    )
    operators: Any = option(
        (5, 10), between(1, MOST_TASKS, int), "Number of operators, or a range.", metavar="N|LOW-HIGH"
    )
    parallelism: Any = option((1, 10), between(1, MOST_TASKS, int), "Tasks of an operator.", metavar="N|LOW-HIGH")
    tasks: Any = option(
        (),
        TASKS,
        "Tasks of each operator, instead of --operators and --parallelism.",
        metavar="N,N,...",
    )
    same_parallelism: float = option(
        1 / 3,
        FRACTION,
        "Share of operators with as many tasks as a neighbour.",
        metavar="SHARE",
    )
    full: float = option(
        0.0, FRACTION, "Share of edges that are full; others are one-to-one, split or merge.",
        metavar="SHARE",
    )  # fmt: skip
    joins: float = option(0.0, FRACTION, "Share of operators that join their inputs.", metavar="SHARE")
    outputs: int = option(1, whole(1, MOST_TASKS), "Number of output operators.", metavar="N")
    width: int = option(3, whole(1, MOST_TASKS), "layers: operators in a layer.", metavar="N")
    fan_in: Any = option(
        (1, 2),
        between(1, 1000, int),
        "layers, dag: operators that an operator reads from.",
        metavar="N|LOW-HIGH",
    )
    zipf: float = option(0.1, number(0.0, 5.0), "Skew of an operator's tasks: load falls as rank^-X.", metavar="X")
    rate: float = option(1000.0, number(1e-6, 1e9), "Records per second of the busiest task of a source.", metavar="X")
    selectivity: Any = option(
        (1.0, 1.0),
        between(0.0, 1e6),
        "Records that an operator emits, over all edges, for each that it reads.",
        metavar="X|LOW-HIGH",
    )
    cpu: Any = option((0.1, 0.5), between(0.0, 1e4), "Cores of a task; mean of its operator.", metavar="X|LOW-HIGH")
    costs: str = option(
        "load", one_of("operator", "load"), "load: cpu and state of a task follow its load; operator: all alike."
    )
    cpu_sigma: float = option(0.0, number(0.0, 5.0), "Lognormal spread of cpu and state among tasks.", metavar="X")
    state_bytes: Any = option(
        (1e6, 1e8), between(0.0, 1e15, bytes_of), "State of a task, drawn by its logarithm.", metavar="X|LOW-HIGH"
    )
    stateful: float = option(1.0, FRACTION, "Share of operators that have state.", metavar="SHARE")
    key_groups: int = option(64, whole(0, MOST_TASKS), "Key groups of a stateful operator with inputs.", metavar="N")
    priority: str = option(
        "uniform", one_of("one", "uniform", "zipf", "load"), "Of queries: all one, uniform, by rank, or by load."
    )
    priorities: Any = option((1.0, 10.0), between(1e-6, 1e6), "Least and highest priority.", metavar="X|LOW-HIGH")
    queries: int = option(18, whole(1, MOST_TASKS), "queries, shared-tasks: number of queries.", metavar="N")
    query_tasks: Any = option(
        (5, 10),
        between(1, 10_000, int),
        "queries, shared-tasks: tasks of a query.",
        metavar="N|LOW-HIGH",
    )
    pool: int = option(100, whole(1, MOST_TASKS), "shared-tasks: tasks that queries are drawn from.", metavar="N")
    largest_share: int = option(6, whole(1, 10_000), "queries: most queries that a task is in.", metavar="N")
    share_zipf: float = option(0.0, number(0.0, 3.0), "queries, shared-tasks: skew of sharing.", metavar="X")
    shared_by: str = option(
        "chance",
        one_of("chance", "rank"),
        "queries: whether the chance of a share is Zipf, or the shares by rank.",
    )
    max_tasks: int = option(MAX_TASKS, whole(1, MOST_TASKS), "Refuse to make more tasks than this.", metavar="N")
