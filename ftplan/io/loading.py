"""Reading the inputs of a plan into one problem."""

from __future__ import annotations

import dataclasses
import logging
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from ftplan.errors import FtplanError
from ftplan.io.cluster_file import load_cluster
from ftplan.io.options.parameters import call
from ftplan.io.placement_checks import read_placement
from ftplan.io.topology_file import load_topology
from ftplan.io.validation import Loaded
from ftplan.model.cluster import Cluster, Placement
from ftplan.model.cluster import spread as spread_tasks
from ftplan.model.failure import Failure
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem, StatsTables
from ftplan.model.topology import Topology

_log = logging.getLogger(__name__)

Value = TypeVar("Value")

#: Seconds that the end of statistics may lie ahead of this machine's clock where their age counts.
AHEAD_S = 300.0

Source = str | os.PathLike[str] | Mapping[str, Any]


def load(
    *,
    topology: Source | None = None,
    cluster: Source | None = None,
    stats: Source | None = None,
    failure: Source | None = None,
    spread: bool = False,
    max_stats_age_s: float | None = None,
    min_coverage: float | None = None,
) -> Problem:
    """Read and check the inputs of a plan.

    Parameters
    ----------
    topology, cluster, failure
        A path (``-`` is standard input), or the document as a mapping.
    stats
        A statistics folder, or a mapping with the manifest and the tables as pandas frames or Arrow tables.
    spread
        Where the cluster places no tasks, place them round robin over its nodes in file order, with a warning.
    max_stats_age_s
        Refuse statistics that end earlier than this many seconds before now.
    min_coverage
        Refuse statistics with records in a smaller share of their windows than this.

    Returns
    -------
    Problem
        What was given, checked and held against each other.

    Raises
    ------
    FtplanError
        If an input cannot be read or is invalid; the message names file, place, what is wrong, what would be right.
    """
    given = {"topology": topology, "cluster": cluster, "stats": stats, "failure": failure}
    call("load", **given, spread=spread, max_stats_age_s=max_stats_age_s, min_coverage=min_coverage)
    started = time.perf_counter()

    def told(loaded: Loaded[Any]) -> Loaded[Any]:
        nonlocal started
        seconds, started = time.perf_counter() - started, time.perf_counter()
        _log.info("read %s %s in %.2f s", loaded.input.role, loaded.input.path or "(given)", seconds)
        return loaded

    job = told(load_topology(topology)) if topology is not None else None
    machines = told(load_cluster(cluster, topology=_value(job))) if cluster is not None else None
    tables = None
    if stats is not None:
        from ftplan.io.stats_store import load_stats  # Arrow is loaded where there are tables to read

        tables = told(load_stats(stats))
    failures = None
    if failure is not None:
        from ftplan.io.failure_file import load_failure

        failures = told(load_failure(failure, topology=_value(job), cluster=_value(machines)))
    if tables is not None:
        _require_fresh(tables.value, max_stats_age_s, min_coverage)
    return problem_of(job, machines, tables, failures, spread=spread)


def _value(loaded: Loaded[Value] | None) -> Value | None:
    return None if loaded is None else loaded.value


def problem_of(
    topology: Loaded[Topology] | None,
    cluster: Loaded[Cluster] | None,
    stats: Loaded[StatsTables] | None,
    failure: Loaded[Failure] | None,
    *,
    spread: bool = False,
) -> Problem:
    """Return the problem of inputs that were read and held against each other, with the cluster's placement completed.

    Raises FtplanError if the statistics' placement does not fit, or no node takes what shall be spread.
    """
    read = [item for item in (topology, cluster, stats, failure) if item is not None]
    warnings = [warning for item in read for warning in item.warnings]
    job, machines = _value(topology), _value(cluster)
    if machines is not None and job is not None:
        machines, said = _with_placement(machines, job, _value(stats), spread)
        warnings += said
    inputs = tuple(item.input for item in read)
    return Problem(job, machines, _value(stats), _value(failure), inputs, tuple(warnings))


def _require_fresh(tables: StatsTables, max_age_s: float | None, min_coverage: float | None) -> None:
    manifest = tables.manifest
    age_s = (datetime.now(UTC) - manifest.end).total_seconds()
    if max_age_s is not None and age_s < -AHEAD_S:
        raise FtplanError(
            f"the statistics end at {manifest.end:%Y-%m-%dT%H:%M:%SZ}, {-age_s / 3600:,.1f} hours from now, so that "
            "--max-stats-age cannot tell their age: the clock, or the time zone of the log, is wrong"
        )
    if max_age_s is not None and age_s > max_age_s:
        raise FtplanError(
            f"the statistics end at {manifest.end:%Y-%m-%dT%H:%M:%SZ}, {age_s / 3600:,.1f} hours ago, more than "
            f"--max-stats-age {max_age_s / 3600:,.1f} h: compute newer ones"
        )
    if min_coverage is not None and manifest.coverage < min_coverage:
        raise FtplanError(
            f"the statistics have records in {manifest.coverage:.1%} of their windows, less than "
            f"--min-coverage {min_coverage:g}: use longer windows or a denser log"
        )


def _with_placement(
    cluster: Cluster, topology: Topology, stats: StatsTables | None, spread: bool
) -> tuple[Cluster, list[Warn]]:
    """Complete the cluster's placement: from the statistics' node column, or round robin if asked to."""
    placement = cluster.placement
    said: list[Warn] = []
    if placement is None and stats is not None and stats.placement is not None:
        placement = read_placement(stats.placement, "placement.yaml of the statistics", cluster, topology)
        said.append(Warn("PLACEMENT_FROM_STATISTICS", "the cluster has no placement; the statistics' one is used"))
    if spread:
        placement = placement or Placement()
        if placement.tasks:
            said.append(Warn("SPREAD_IGNORED", "the cluster places its tasks already; --spread changes nothing"))
        else:
            tasks = spread_tasks(topology, cluster).tasks
            placement = dataclasses.replace(placement, tasks=tasks)
            said.append(Warn("SPREAD", "tasks are placed round robin in file order, not where they really run"))
    return dataclasses.replace(cluster, placement=placement), said
