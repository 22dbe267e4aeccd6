"""The kinds of plan there are, as plain rows. Importing this loads nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "allocate-checkpoints",
    "replicate-tasks",
    "recovery-schedule",
    "rebalance",
    "peer-ring",
    "scale-out",
    "drain-schedule",
]
#: What the field ``kind`` of a plan file may say.
KINDS: tuple[Kind, ...] = get_args(Kind)


#: What kinds were called before they had their command's name.
FORMER: Mapping[str, Kind] = {"checkpoint-allocation": "allocate-checkpoints", "task-replication": "replicate-tasks"}


@dataclass(frozen=True, slots=True)
class KindRow:
    """A kind of plan: the question that it answers, as data.

    Attributes
    ----------
    table
        The list of records in a plan's body that ``to_frame`` shows.
    needs
        Roles of the inputs without which there is no plan.
    plans
        Options that take another plan, each with the kind of it; they are roles of inputs too.
    files
        Options that take a file of another format; likewise.
    tables
        Options that take a table, in Parquet or CSV; likewise.
    answers_failure
        Whether ``fail`` and a failure file are part of the question. Other plans are only scored under failures.
    fail_replaces_scenarios
        Whether a plan for what ``fail`` names is scored under that, not in the scenarios of its failure file.
    """

    name: Kind
    command: str
    table: str
    needs: tuple[str, ...] = ("topology",)
    plans: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    answers_failure: bool = False
    fail_replaces_scenarios: bool = False

    @property
    def folder(self) -> str:
        """The package of the question."""
        return f"ftplan.planners.{self.command.replace('-', '_')}"


ALLOCATE_CHECKPOINTS = KindRow(
    "allocate-checkpoints",
    "allocate-checkpoints",
    "assignments",
    needs=("topology", "cluster", "stats"),
    plans=(("current", "allocate-checkpoints"),),
    files=("costs",),
)
REPLICATE_TASKS = KindRow(
    "replicate-tasks",
    "replicate-tasks",
    "replicas",
    plans=(("current", "replicate-tasks"),),
    files=("costs",),
    answers_failure=True,
    fail_replaces_scenarios=True,
)
RECOVERY_SCHEDULE = KindRow(
    "recovery-schedule",
    "recovery-schedule",
    "steps",
    plans=(("replicas", "replicate-tasks"), ("checkpoints", "allocate-checkpoints")),
    files=("costs",),
    answers_failure=True,
)
DRAIN_SCHEDULE = KindRow(
    "drain-schedule",
    "drain-schedule",
    "rounds",
    needs=("topology", "cluster"),
    plans=(("replicas", "replicate-tasks"), ("checkpoints", "allocate-checkpoints")),
    files=("costs",),
)
REBALANCE = KindRow(
    "rebalance",
    "rebalance",
    "moves",
    needs=("topology", "cluster", "stats"),
    plans=(("checkpoints", "allocate-checkpoints"),),
    files=("costs",),
)

SCALE_OUT = KindRow(
    "scale-out",
    "scale-out",
    "operators",
    needs=("topology", "stats"),
    plans=(("checkpoints", "allocate-checkpoints"),),
    files=("costs", "rules"),
    tables=("key_log",),
)

PEER_RING = KindRow(
    "peer-ring",
    "peer-ring",
    "ring",
    needs=("topology", "cluster"),
    plans=(("current", "peer-ring"),),
    files=("costs",),
    answers_failure=True,
)

ROWS: tuple[KindRow, ...] = (
    ALLOCATE_CHECKPOINTS,
    REPLICATE_TASKS,
    RECOVERY_SCHEDULE,
    DRAIN_SCHEDULE,
    REBALANCE,
    SCALE_OUT,
    PEER_RING,
)


def row(kind: str) -> KindRow:
    """Return the row of a kind of plan.

    Raises
    ------
    KeyError
        If there is no such kind.
    """
    by_name: dict[str, KindRow] = {item.name: item for item in ROWS}
    return by_name[kind]
