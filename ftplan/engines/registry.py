"""Plans in the words of engines: one module a target, and the registry of them.

A writer is a function ``write(plan, problem, **options) -> Export``; of *problem* topology and cluster count, and
either may be missing. It takes the options that its row names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ftplan.errors import FtplanError
from ftplan.model.kinds import KINDS
from ftplan.model.plan import Warn


@dataclass(frozen=True, slots=True)
class Target:
    """What a plan can be written for.

    Attributes
    ----------
    writer
        "module:function".
    gives
        What the output is.
    told, untold
        What the engine can be told by it, and what of a plan it cannot be told.
    kinds
        Kinds of plan that it takes.
    options
        Names of the options that its writer takes.
    """

    name: str
    writer: str
    gives: str
    told: str
    untold: str
    kinds: tuple[str, ...]
    options: tuple[str, ...] = ()

    def check(self, kind: str, given: Iterable[str]) -> None:
        """Refuse a kind of plan that the target does not take, or an option that is for another target.

        Raises
        ------
        FtplanError
            With the targets that do take it.
        """
        if kind not in self.kinds:
            able = ", ".join(name for name, target in TARGETS.items() if kind in target.kinds)
            takes = " or ".join(self.kinds)
            raise FtplanError(f"--to {self.name} takes a {takes}, not a {kind}; --to {able} can")
        for name in given:
            if name not in self.options:
                able = ", ".join(target.name for target in TARGETS.values() if name in target.options)
                raise FtplanError(f"--{name.replace('_', '-')} is for --to {able}, not for --to {self.name}")

    def limits(self) -> Warn:
        """Return the warning that says what the engine is not told."""
        return Warn("ENGINE_LIMITS", f"{self.name} cannot be told {self.untold}")


_ROWS = (
    Target(
        "kafka-reassignment",
        "ftplan.engines.kafka.exporter:kafka_reassignment",
        "the JSON of kafka-reassign-partitions: the brokers of each partition of the changelog topics",
        "which brokers keep each changelog partition, which of them leads by preference, and in which log directory",
        "where Kafka Streams runs tasks and standbys (num.standby.replicas and rack.aware.assignment.* choose), in "
        "which order partitions move, nor within the JSON how fast: the throttle is an option of the command",
        ("allocate-checkpoints",),
        ("broker_map", "application_id", "topic", "log_dir", "bandwidth"),
    ),
    Target(
        "kafka-streams",
        "ftplan.engines.kafka_streams.exporter:kafka_streams",
        "properties of Kafka Streams, with the tag of each instance as a list to go by",
        "how many standbys each task has, and that these keep to instances of other zones",
        "tokens, which instance runs which task, who its standbys are, nor that only neighbours are: it assigns tasks "
        "itself, by their number",
        ("peer-ring",),
    ),
    Target(
        "kubernetes",
        "ftplan.engines.kubernetes.exporter:kubernetes",
        "patches for the workloads of standbys, one YAML document an operator: node affinity, anti-affinity, spread",
        "on which hosts standby pods may run, how evenly they spread over hosts and zones, and that they keep away "
        "from the pods of their operator",
        "which pod runs which task: the pods of a workload are alike, so that one task and its own replica cannot be "
        "kept apart where others of the operator may meet; nor anything about pods that run already",
        ("replicate-tasks", "allocate-checkpoints"),
        ("host_map", "workload", "host_label", "zone_label"),
    ),
    Target(
        "storm",
        "ftplan.engines.storm.exporter:storm",
        "a fragment of a topology's configuration, YAML, with the supervisor of each component as a list to go by",
        "which hosts a topology prefers and which it avoids, and how many executors of a component a node may have: "
        "to the resource aware scheduler; to the isolation scheduler how many machines; and by storm rebalance how "
        "many executors each component has",
        "which supervisor runs which task, nor in which order tasks come back: ftplan.component.supervisors is for "
        "people and for a scheduler of your own; nor which keys a task gets",
        ("recovery-schedule", "scale-out"),
        ("host_map",),
    ),
    Target(
        "flink",
        "ftplan.engines.flink.exporter:flink",
        "a fragment of config.yaml, with the rest of the plan as remarks to go by",
        "max parallelism, restarts by region, recovery from local copies, spreading over TaskManagers, spare "
        "TaskManagers, the parallelism of single vertices, and in code max parallelism and slot sharing groups with "
        "their cores, operator by operator",
        "on which TaskManager a task runs or a copy of its state lies, in which order tasks restart, which key groups "
        "a task has, nor active replicas of tasks: it has none",
        ("allocate-checkpoints", "replicate-tasks", "recovery-schedule", "drain-schedule", "scale-out"),
    ),
    Target(
        "csv",
        "ftplan.io.plan_csv:csv_table",
        "the plan's main table, flat, with a header",
        "nothing: it is for spreadsheets and scripts",
        "what the plan states beside its main table",
        KINDS,
    ),
)
TARGETS: Mapping[str, Target] = {target.name: target for target in _ROWS}
