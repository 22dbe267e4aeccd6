"""Statistics: computing them from logs, and summing them up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ftplan.errors import FtplanError, suggestion
from ftplan.io.loading import Source
from ftplan.io.loading import load as load_inputs
from ftplan.io.output import new_folder, refuse_existing
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.model.measures.key_group_series import key_group_series
from ftplan.model.measures.stats_summary import StatsSummary, summarise
from ftplan.model.statistics import Manifest
from ftplan.model.units import MEASURES, Measure


def compute_stats(
    logs: Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    engine: Literal["auto", "spark", "sail"] = "auto",
    master: str | None = None,
    topology: Source | None = None,
    force: bool = False,
    progress: Callable[[str, float | None], None] | None = None,
    told: Callable[[str], None] | None = None,
    **mapping: Any,
) -> Manifest:
    """Compute statistics from logs into a new folder, whole or not at all.

    Raises FtplanError if the mapping or the logs are wrong, too many rows are rejected, or an extra is missing.

    Parameters
    ----------
    logs
        Files, globs or folders.
    output
        The folder; an existing one is refused before any work unless *force* (then only statistics are replaced).
    engine
        ``auto`` (Sail within this process, Spark where *master*, spark-submit or the size of the log ask for it),
        ``spark`` or ``sail``.
    master
        ``local[*]``, ``spark://...``, ``yarn``, ``k8s://...`` or ``sc://...``; None: local, or what spark-submit says.
    topology
        Its numbers of key groups and tasks count.
    told
        Called with the engine that runs, and why it was taken.
    mapping
        The fields of :class:`ftplan.spark_stats.mapping.LogMapping`. Without ``input_format`` and ``time_columns`` an
        engine's own log is recognised by what it holds.
    """
    from ftplan.spark_stats.log_formats import recognised
    from ftplan.spark_stats.mapping import LogMapping
    from ftplan.spark_stats.pipeline import compute

    fields = LogMapping.__dataclass_fields__
    for name in mapping:
        if name not in fields:
            raise FtplanError(f"compute-stats: unknown option {name!r}{suggestion(name, fields)}")
    paths = [os.fspath(log) for log in logs]
    if mapping.get("input_format", "auto") == "auto" and not mapping.get("time_columns"):
        mapping["input_format"] = recognised(paths) or "auto"
    log_mapping = LogMapping(**mapping)
    refuse_existing(output, force)
    job = load_topology(topology).value if topology is not None else None
    with new_folder(output, force) as folder:
        return compute(
            log_mapping,
            paths,
            engine=engine,
            master=master,
            folder=Path(folder),
            topology=job,
            progress=progress,
            told=told,
        )


def summarise_stats(
    stats: Source, *, topology: Source | None = None, load: str = "records", top: int = 10
) -> StatsSummary:
    """Sum up a statistics folder: windows, coverage, heavy key groups, skew, strongest correlations.

    Raises FtplanError if the folder cannot be read, is invalid, or lacks the measure.
    """
    measure = _measure(load)
    loaded = load_stats(stats).value
    job = load_topology(topology).value if topology is not None else None
    return summarise(key_group_series(loaded, measure, job), loaded.manifest, top)


def sweep_stats(
    stats: Source,
    key_groups: Sequence[int],
    *,
    topology: Source | None = None,
    cluster: Source | None = None,
    load: str = "records",
) -> list[dict[str, Any]]:
    """Return figures for each number of key groups; see
    :func:`ftplan.planners.allocate_checkpoints.key_group_sweep.sweep_key_groups`.
    """
    from ftplan.planners.allocate_checkpoints.key_group_sweep import sweep_key_groups

    measure = _measure(load)
    # The cluster without the topology: its lists by key group are of the number measured.
    machines = load_inputs(cluster=cluster).cluster if topology is not None and cluster is not None else None
    problem = load_inputs(topology=topology, stats=stats)
    return sweep_key_groups(replace(problem, cluster=machines), key_groups, measure)


def _measure(load: str) -> Measure:
    """Return the measure of this name, or say which there are."""
    if load in MEASURES:
        return load
    raise FtplanError(f"--load: unknown {load!r}{suggestion(load, MEASURES)}: one of {', '.join(MEASURES)}")
