"""The kinds of plan there are: one row for each question, whose name its command, its plans and its folder have.

The table stands on the lowest floor, and names no code: ``io`` checks the kind of a plan file and its body, pages and
exports look up its main table, the command line lists its commands, and none of them may import ``planners``. What else
is known of a question stands in its folder, in ``kind.py``, and is imported by its name when it is asked for. Importing
this loads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class KindRow:
    """A kind of plan, and the question that it answers.

    Attributes
    ----------
    help
        What the list of commands says of it.
    in_files, in_lists
        Its place where files name all kinds, and where planners and metrics are listed: as these were published. A
        kind without a place comes last, as the rows stand.
    called
        What people call its plan where that is not the name.
    """

    name: str
    help: str
    in_files: int = 1000
    in_lists: int = 1000
    called: str = ""

    @property
    def folder(self) -> str:
        """The package of the question."""
        return f"ftplan.planners.{self.name.replace('-', '_')}"

    @property
    def table(self) -> str:
        """The list of records in a plan's body that ``to_frame`` shows."""
        table: str = question(self.name).table
        return table


#: In the order in which ``ftplan --help`` lists the commands.
ROWS: tuple[KindRow, ...] = (
    KindRow("allocate-checkpoints", "Plan where each key group's checkpoint goes.", 1, 1, "checkpoint allocation"),
    KindRow("replicate-tasks", "Plan which tasks get an active replica.", 2, 3, "task replication"),
    KindRow("recovery-schedule", "Plan which failed tasks come back first.", 3, 2),
    KindRow("rebalance", "Plan which key groups move where, with short pauses.", 4, 5),
    KindRow("scale-out", "Plan how many tasks operators get, before they are bottlenecks.", 6, 6),
    KindRow("drain-schedule", "Plan which nodes restart together, in how few rounds.", 7, 4),
    KindRow("peer-ring", "Plan tokens and copies on a ring that survives failures.", 5, 7),
)
#: The rows that others name: a question whose plans another one takes, or that is simulated or exported.
ALLOCATE_CHECKPOINTS, REPLICATE_TASKS, RECOVERY_SCHEDULE, REBALANCE, SCALE_OUT, DRAIN_SCHEDULE, PEER_RING = ROWS

#: What kinds were called before they had their command's name.
FORMER: Mapping[str, str] = {"checkpoint-allocation": ROWS[0].name, "task-replication": ROWS[1].name}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric that ``evaluate`` reports; ``kind`` is filled in by the kind that lists it.

    ``sense`` says which way is better; ``--fail-under NAME=VALUE`` fails on the worse side of VALUE.
    """

    name: str
    sense: Literal["min", "max"]
    unit: str
    meaning: str
    kind: str = ""


def in_files() -> tuple[str, ...]:
    """Return what the field ``kind`` of a plan file may say."""
    return tuple(item.name for item in sorted(ROWS, key=lambda item: item.in_files))


#: The same, of all kinds that ftplan comes with.
KINDS = in_files()


def names() -> tuple[str, ...]:
    """Return the names of all kinds, sorted."""
    return tuple(sorted(item.name for item in ROWS))


def row(kind: str) -> KindRow:
    """Return the row of a kind of plan.

    Raises
    ------
    KeyError
        If there is no such kind.
    """
    by_name: dict[str, KindRow] = {item.name: item for item in ROWS}
    return by_name[kind]


def noun(kind: str) -> str:
    """Return what people call a plan of a kind, in words: ``checkpoint allocation``; of an unknown one its name."""
    called = {item.name: item.called for item in ROWS}.get(kind)
    return called or kind.replace("-", " ")


def with_article(kind: str) -> str:
    """Return the name of a kind of plan with its article."""
    return f"{'an' if kind[:1] in set('aeiou') else 'a'} {kind}"


def renamed(name: object) -> str | None:
    """Return what is to be said of the name that a kind had before, None of any other name."""
    new = FORMER.get(name) if isinstance(name, str) else None
    return None if new is None else f"{name!r} is now {new!r}"


def question(kind: str) -> Any:
    """Import and return what a question's folder says of it: ``KIND`` of its ``kind.py``.

    Raises
    ------
    KeyError
        If there is no such kind.
    """
    return resolve_name(f"{row(kind).folder}.kind:KIND")


def metrics_of(kind: str) -> tuple[Metric, ...]:
    """Return the metrics of a kind of plan, in the order in which ``evaluate`` shows them; none of an unknown kind."""
    metrics: tuple[Metric, ...] = question(kind).metrics if kind in names() else ()
    return metrics


def all_metrics() -> tuple[Metric, ...]:
    """Return the metrics of all kinds, in the order of lists."""
    listed = sorted(ROWS, key=lambda item: item.in_lists)
    return tuple(metric for item in listed for metric in metrics_of(item.name))
