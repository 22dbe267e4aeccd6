"""Stages of Spark Structured Streaming as operators: one name for a stage that has a new number in every batch."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from ftplan.model.names import natural_key

Role = Literal["source", "state", "shuffle"]

_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")
_DESCRIPTION = re.compile(r"(.*?)(?:\n|<br/>)?id = (\S+?)(?:\n|<br/>)runId = (\S+?)(?:\n|<br/>)batch = ", re.DOTALL)
#: Scopes that say how Spark works rather than what the stage is for.
_MECHANICS = re.compile(
    r"WholeStageCodegen.*|InputAdapter|.*Exchange|.*QueryStage|AQEShuffleRead|EventTimeWatermark|mapPartitions.*|"
    r"Project|Filter|StateStoreRestore|.*Restore"
)
_LONGEST_NAME = 70
#: Adaptive execution reads several shuffle partitions as one, or one in parts.
_COALESCED = "AQEShuffleRead"
#: The last millisecond of the year 9999.
_LATEST_MS = 253_402_300_799_999


class Scope(NamedTuple):
    """One RDD of a stage: its number, its class, the plan node that made it, and whether it reads another RDD."""

    rdd: int
    kind: str
    node: str
    leaf: bool


class Stage(NamedTuple):
    """A stage as the start of a job announces it; ``parents`` are the stages whose shuffles it reads."""

    id: int
    tasks: int
    parents: tuple[int, ...]
    scopes: tuple[Scope, ...]


class Job(NamedTuple):
    """A job of a micro-batch. ``application`` tells event logs apart, since each counts its stages from 0."""

    application: int
    id: int
    submitted_ms: int
    query: str
    batch: int
    description: str
    stages: tuple[Stage, ...]


class StageOperator(NamedTuple):
    """A stage of a query over all its batches.

    ``name`` is an identifier, the same in statistics and imported topologies; ``label`` what Spark calls the plan nodes
    in it; ``inputs`` the names of the operators whose shuffles it reads. ``key_groups``: None for a source and where
    the number of partitions differs between batches or adaptive execution joins them; else partitions are key groups.
    """

    name: str
    label: str
    query: str
    tasks: int
    key_groups: int | None
    stateful: bool
    inputs: tuple[str, ...]


class StageOperators(NamedTuple):
    """The operators of all queries by name, and the operator of each (application, stage)."""

    operators: Mapping[str, StageOperator]
    of_stage: Mapping[tuple[int, int], str]


def job_of_event(event: Mapping[str, Any], application: int) -> Job | None:
    """Return the job that ``SparkListenerJobStart`` announces, None where it is not of a micro-batch.

    Raises KeyError, TypeError or ValueError if the event has not the shape of Spark 3 or 4.
    """
    properties = event.get("Properties")
    batch = properties.get("streaming.sql.batchId") if isinstance(properties, Mapping) else None
    if batch is None or not isinstance(properties, Mapping):
        return None
    return Job(
        application=application,
        id=_whole(event["Job ID"]),
        submitted_ms=_whole(event["Submission Time"], _LATEST_MS),
        query=str(properties.get("sql.streaming.queryId") or ""),
        batch=_whole(batch),
        description=str(properties.get("spark.job.description") or ""),
        stages=tuple(_stage(stage) for stage in event["Stage Infos"]),
    )


def _stage(info: Mapping[str, Any]) -> Stage:
    scopes = []
    for rdd in info["RDD Info"]:
        number, kind, scope = _whole(rdd["RDD ID"]), str(rdd["Name"]), rdd.get("Scope")
        node = json.loads(scope)["name"] if scope else ""
        scopes.append(Scope(number, kind, str(node), not rdd.get("Parent IDs")))
    parents = tuple(_whole(p) for p in info.get("Parent IDs") or ())
    return Stage(_whole(info["Stage ID"]), _whole(info["Number of Tasks"]), parents, tuple(sorted(scopes)))


def _whole(value: Any, largest: int = 2**31 - 1) -> int:
    number = int(value)
    if not 0 <= number <= largest:
        raise ValueError(f"{number} is not between 0 and {largest}")
    return number


def run_of(job: Job) -> tuple[str, str]:
    """Return the query's name (empty where it has none) and the id of its run; a restart is another run."""
    match = _DESCRIPTION.match(job.description)
    return (match[1].strip(), match[3]) if match else ("", "")


def execution(job: Job) -> tuple[str, int, str, int]:
    """Return what tells one execution of a batch from all others: query, application, run and batch."""
    return job.query, job.application, run_of(job)[1], job.batch


def stage_operators(jobs: Iterable[Job]) -> StageOperators:
    """Return the operators behind the stages of all jobs.

    Within a batch, stages of one role (those that read a source, keep state, or only a shuffle) are counted in the
    order in which their plan was carried out: an operator is the n-th of its role in any batch of its query. Stage
    numbers would not do: they differ from batch to batch, even in their order. A role without tasks in a batch, such as
    a source without data, keeps its place. Stages that end in one RDD are one: adaptive execution announces a stage in
    a job of its own, and by another number in the job that takes its result.
    """
    stages: dict[tuple[str, int, str, int], dict[int, Stage]] = {}
    names: dict[str, str] = {}
    for job in jobs:
        stages.setdefault(execution(job), {}).update({s.id: s for s in job.stages})
        names.setdefault(job.query, run_of(job)[0])
    place: dict[tuple[int, int], tuple[str, Role, int]] = {}
    members: dict[tuple[str, Role, int], list[tuple[int, Stage]]] = {}
    for (query, application, _, _), of_batch in stages.items():
        number: Counter[Role] = Counter()
        same: dict[int, tuple[str, Role, int]] = {}
        for stage in sorted(of_batch.values(), key=lambda s: (s.scopes[0].rdd if s.scopes else 0, s.id)):
            end = stage.scopes[-1].rdd if stage.scopes else -1 - stage.id
            if end not in same:
                role = _role(stage)
                number[role] += 1
                same[end] = (query, role, number[role])
            key = place[application, stage.id] = same[end]
            members.setdefault(key, []).append((application, stage))
    prefixes = _prefixes(names)
    ids = _names({key: f"{prefixes[key[0]]}.{_label([s for _, s in of])}" for key, of in members.items()})
    operators = {}
    for key, of in members.items():
        parents = {place[application, p] for application, s in of for p in s.parents if (application, p) in place}
        sizes = {stage.tasks for _, stage in of if stage.tasks}
        tasks = max(sizes, default=0)
        whole = len(sizes) == 1 and not any(scope.node == _COALESCED for _, stage in of for scope in stage.scopes)
        operators[ids[key]] = StageOperator(
            name=ids[key],
            label=_label([s for _, s in of]),
            query=prefixes[key[0]],
            tasks=tasks,
            key_groups=tasks if key[1] != "source" and whole else None,
            stateful=key[1] == "state",
            inputs=tuple(sorted({ids[p] for p in parents if p != key}, key=natural_key)),
        )
    ordered = {name: operators[name] for name in sorted(operators, key=natural_key)}
    return StageOperators(ordered, {stage: ids[key] for stage, key in place.items()})


def _role(stage: Stage) -> Role:
    if not stage.parents:
        return "source"
    return "state" if any("StateStore" in scope.kind for scope in stage.scopes) else "shuffle"


def _label(stages: list[Stage]) -> str:
    """What the stage is for, by its plan nodes; of differing batches the commonest that has tasks."""
    labels = Counter(_label_of(stage) for stage in stages if stage.tasks) or Counter(map(_label_of, stages))
    return min(labels, key=lambda label: (-labels[label], label))


def _label_of(stage: Stage) -> str:
    scopes = stage.scopes
    if _role(stage) == "source":
        telling = [s.node for s in scopes if s.leaf and s.node] or [s.kind for s in scopes if s.leaf]
    elif _role(stage) == "state":
        telling = [s.node for s in scopes if "StateStore" in s.kind and not _MECHANICS.fullmatch(s.node)]
    else:
        telling = [s.node for s in scopes if s.node and not _MECHANICS.fullmatch(s.node)][-1:]
    return "-".join(dict.fromkeys(telling)) or ("Source" if _role(stage) == "source" else "Exchange")


def _prefixes(names: Mapping[str, str]) -> dict[str, str]:
    """Return the query's name, or its id's beginning where it has none or shares it."""
    often = Counter(names.values())
    return {
        query: name if name and often[name] == 1 else "-".join(filter(None, (name, query[:8] or "query")))
        for query, name in names.items()
    }


def _names(wanted: Mapping[Any, str]) -> dict[Any, str]:
    """Return an identifier for each; the second of a name has ``-2``, in the order of the keys."""
    taken: set[str] = set()
    ids = {}
    for key in sorted(wanted):
        first = chosen = _FOREIGN.sub("-", wanted[key])[:_LONGEST_NAME].strip("-.") or "stage"
        number = 1
        while chosen in taken:
            number += 1
            chosen = f"{first}-{number}"
        ids[key] = chosen
        taken.add(chosen)
    return ids
