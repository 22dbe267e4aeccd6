"""The engines, a row each: what of an engine can be imported, collected, read as a log and written for it.

A row names functions as ``module:function``, so that nothing of an engine is loaded before it is asked for; the command
line takes its choices from here. A further engine is its folder and its row: see docs/contributing/importers.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ftplan.errors import FtplanError
from ftplan.model.kinds import KINDS
from ftplan.model.plan import Warn
from ftplan.spark_stats.log_formats import LogFormat

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Importer:
    """How a topology is read from what an engine says."""

    read: str  # "module:function" of ``read(source, options) -> Draft``: see :mod:`ftplan.engines.importing`
    takes: str  # what it reads, for help
    options: tuple[str, ...] = ()  # of the options that only some importers have, those that it has


@dataclass(frozen=True, slots=True)
class Collector:
    """How an engine's endpoint is asked over time."""

    #: ``page``, ``key``: a page that only this endpoint has, and a key of that answer
    page: str
    key: str
    #: "module:class" of what asks, made with the options: ``Poll`` in :mod:`ftplan.engines.collecting.asking`. None
    #: where it is asked for ranges of time instead.
    poll: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What a plan can be written for."""

    name: str
    #: "module:function" of ``write(plan, problem, **options) -> Export``; of *problem* topology and cluster count, and
    #: either may be missing
    writer: str
    gives: str  # what the output is
    #: ``told``, ``untold``: what the engine can be told by it, and what of a plan it cannot be told
    told: str
    untold: str
    kinds: tuple[str, ...]  # kinds of plan that it takes
    options: tuple[str, ...] = ()  # names of the options that its writer takes

    def check(self, kind: str, given: Iterable[str]) -> None:
        """Refuse a kind of plan that the target does not take, or an option that is for another target.

        Raises FtplanError with the targets that do take it.
        """
        if kind not in self.kinds:
            able = ", ".join(name for name, target in targets().items() if kind in target.kinds)
            takes = " or ".join(self.kinds)
            raise FtplanError(f"--to {self.name} takes a {takes}, not a {kind}; --to {able} can")
        for name in given:
            if name not in self.options:
                able = ", ".join(target.name for target in targets().values() if name in target.options)
                raise FtplanError(f"--{name.replace('_', '-')} is for --to {able}, not for --to {self.name}")

    def limits(self) -> Warn:
        """Return the warning that says what the engine is not told."""
        return Warn("ENGINE_LIMITS", f"{self.name} cannot be told {self.untold}")


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine, and what ftplan can do with it; its folder has its name, with underscores."""

    name: str
    importer: Importer | None = None
    collector: Collector | None = None
    logs: tuple[LogFormat, ...] = ()
    targets: tuple[Target, ...] = ()


ENGINES: tuple[Engine, ...] = (
    Engine(
        "flink",
        Importer(
            "ftplan.engines.flink.importer:read", "/jobs/:id and what lies below it", options=("job", "parallelism")
        ),
        Collector("/overview", "taskmanagers", "ftplan.engines.flink.collector:FlinkPoll"),
        logs=(
            LogFormat(
                "flink-rest",
                "ftplan.engines.flink.rest_log:read",
                "ftplan.engines.flink.rest_files:find",
                collected="flink",
                looks="ftplan.engines.flink.rest_files:is_saved",
            ),
            LogFormat(
                "flink-slf4j",
                "ftplan.engines.flink.slf4j_log:read",
                text=True,
                looks="ftplan.engines.flink.rest_files:is_reporter_log",
            ),
        ),
        targets=(
            Target(
                "flink",
                "ftplan.engines.flink.exporter:flink",
                "a fragment of config.yaml, with the rest of the plan as remarks to go by",
                "max parallelism, restarts by region, recovery from local copies, spreading over TaskManagers, spare "
                "TaskManagers, the parallelism of single vertices, and in code max parallelism and slot sharing "
                "groups with their cores, operator by operator",
                "on which TaskManager a task runs or a copy of its state lies, in which order tasks restart, which "
                "key groups a task has, nor active replicas of tasks: it has none",
                ("allocate-checkpoints", "replicate-tasks", "recovery-schedule", "drain-schedule", "scale-out"),
            ),
        ),
    ),
    Engine(
        "storm",
        Importer(
            "ftplan.engines.storm.importer:read",
            "/api/v1/topology/:id and component pages; Flux YAML; decoded topologies",
            options=("job", "parallelism"),
        ),
        Collector("/api/v1/cluster/summary", "supervisors", "ftplan.engines.storm.collector:StormPoll"),
        targets=(
            Target(
                "storm",
                "ftplan.engines.storm.exporter:storm",
                "a fragment of a topology's configuration, YAML, with the supervisor of each component as a list to "
                "go by",
                "which hosts a topology prefers and which it avoids, and how many executors of a component a node may "
                "have: to the resource aware scheduler; to the isolation scheduler how many machines; and by storm "
                "rebalance how many executors each component has",
                "which supervisor runs which task, nor in which order tasks come back: ftplan.component.supervisors "
                "is for people and for a scheduler of your own; nor which keys a task gets",
                ("recovery-schedule", "scale-out"),
                ("host_map",),
            ),
        ),
    ),
    Engine(
        "kafka-streams",
        Importer(
            "ftplan.engines.kafka_streams.importer:read",
            "Topology.describe(); kafka-log-dirs; kafka-streams-groups --describe --members --verbose",
            options=("job", "partitions"),
        ),
        targets=(
            Target(
                "kafka-streams",
                "ftplan.engines.kafka_streams.exporter:kafka_streams",
                "properties of Kafka Streams, with the tag of each instance as a list to go by",
                "how many standbys each task has, and that these keep to instances of other zones",
                "tokens, which instance runs which task, who its standbys are, nor that only neighbours are: it "
                "assigns tasks itself, by their number",
                ("peer-ring",),
            ),
        ),
    ),
    Engine(
        "spark",
        Importer("ftplan.engines.spark.importer:read", "an event log of Structured Streaming", options=("query",)),
        logs=(
            LogFormat(
                "spark-eventlog",
                "ftplan.engines.spark.event_log:read",
                "ftplan.engines.spark.log_files:find",
                looks="ftplan.engines.spark.log_files:holds_events",
            ),
        ),
    ),
    Engine(
        "risingwave",
        Importer(
            "ftplan.engines.risingwave.importer:read",
            "stream_dist_plan, or EXPLAIN (DISTSQL), by query",
            options=("query", "parallelism"),
        ),
    ),
    Engine(
        "kafka",
        logs=(
            LogFormat(
                "kafka-log-dirs",
                "ftplan.engines.kafka.log_dirs:read",
                options=("snapshot_time", "application_id", "stores"),
                looks="ftplan.engines.kafka_streams.tools:holds_log_dirs",
            ),
        ),
        targets=(
            Target(
                "kafka-reassignment",
                "ftplan.engines.kafka.exporter:kafka_reassignment",
                "the JSON of kafka-reassign-partitions: the brokers of each partition of the changelog topics",
                "which brokers keep each changelog partition, which of them leads by preference, and in which log "
                "directory",
                "where Kafka Streams runs tasks and standbys (num.standby.replicas and rack.aware.assignment.* "
                "choose), in which order partitions move, nor within the JSON how fast: the throttle is an option of "
                "the command",
                ("allocate-checkpoints",),
                ("broker_map", "application_id", "topic", "log_dir", "bandwidth", "allow_fewer_replicas"),
            ),
        ),
    ),
    Engine(
        "prometheus",
        collector=Collector("/api/v1/status/buildinfo", "data"),
        logs=(
            LogFormat(
                "prometheus",
                "ftplan.engines.prometheus.log:read",
                "ftplan.engines.prometheus.queries:find",
                text=True,
                collected="prometheus",
            ),
        ),
    ),
    Engine(
        "kubernetes",
        targets=(
            Target(
                "kubernetes",
                "ftplan.engines.kubernetes.exporter:kubernetes",
                "patches for the workloads of standbys, one YAML document an operator: node affinity, anti-affinity, "
                "spread",
                "on which hosts standby pods may run, how evenly they spread over hosts and zones, and that they keep "
                "away from the pods of their operator",
                "which pod runs which task: the pods of a workload are alike, so that one task and its own replica "
                "cannot be kept apart where others of the operator may meet; nor anything about pods that run already",
                ("replicate-tasks", "allocate-checkpoints"),
                ("host_map", "workload", "host_label", "zone_label"),
            ),
        ),
    ),
)
#: No engine's: a plan for spreadsheets and scripts.
_CSV = Target(
    "csv",
    "ftplan.engines.exporting:csv_table",
    "the plan's main table, flat, with a header",
    "nothing: it is for spreadsheets and scripts",
    "what the plan states beside its main table",
    KINDS,
)
#: The order in which help lists log formats and targets; what is not named here follows, in the order of the rows.
_LISTED = (
    "spark-eventlog", "flink-rest", "flink-slf4j", "kafka-log-dirs", "prometheus",
    "kafka-reassignment", "kafka-streams", "kubernetes", "storm", "flink",
)  # fmt: skip


def importers() -> dict[str, Importer]:
    """Return the importers by the names of their engines."""
    return {engine.name: engine.importer for engine in ENGINES if engine.importer is not None}


def collectors() -> dict[str, Collector]:
    """Return what can be collected from, by the names of the engines."""
    return {engine.name: engine.collector for engine in ENGINES if engine.collector is not None}


def polls() -> dict[str, str]:
    """Return what is asked again and again, by engine, as "module:class"."""
    return {name: collector.poll for name, collector in collectors().items() if collector.poll is not None}


def log_formats() -> dict[str, LogFormat]:
    """Return the formats of engines' own logs by their names."""
    return _listed({row.name: row for engine in ENGINES for row in engine.logs})


def targets() -> dict[str, Target]:
    """Return what a plan can be written for, by name; the last is no engine but a table."""
    return {**_listed({row.name: row for engine in ENGINES for row in engine.targets}), _CSV.name: _CSV}


def _listed(rows: Mapping[str, T]) -> dict[str, T]:
    names = [name for name in _LISTED if name in rows]
    return {name: rows[name] for name in dict.fromkeys([*names, *rows])}
