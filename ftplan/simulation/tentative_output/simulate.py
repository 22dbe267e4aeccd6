"""Running a query without the tasks that have no replica, and asking which measure foretold what is left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.io.loading import load
from ftplan.io.options.fields import Check, checked, quoted, texts
from ftplan.model.plan import InputFile, Warn
from ftplan.simulation.tentative_output.answer import JudgedSet, TentativeOutput
from ftplan.simulation.tentative_output.options import READING, TentativeOutputOptions
from ftplan.simulation.tentative_output.outcome import accuracy
from ftplan.simulation.tentative_output.replica_sets import (
    ReplicaSet,
    given_set,
    planned_pairs,
    planned_sets,
    prepared_for,
)
from ftplan.simulation.tentative_output.scene import TentativeScene, job_document, scene_of, task_graph

if TYPE_CHECKING:
    from ftplan.model.topology import IntArray
    from ftplan.planners.replicate_tasks.prepare import PreparedReplication
    from ftplan.spark_stats.tentative.run import Started
    from ftplan.spark_stats.tentative.settings import TentativeQuery

COMMAND = "simulate tentative-output"
Path = str | os.PathLike[str]


def simulate_tentative_output(
    logs: Path | Iterable[Path] = (),
    *,
    engine: Literal["auto", "spark", "sail"] = "auto",
    master: str | None = None,
    progress: Callable[[str, float | None], None] = lambda what, share: None,
    **options: Any,
) -> TentativeOutput:
    """Run a query on PySpark, and say how much of its output sets of replicas keep when everything else fails.

    The query runs once to measure its rates, from which planners choose the replicas, and once for all sets of
    replicas together: records are dropped where a task on their way is not replicated. *Accuracy* is the part of the
    entries of all windows that are still there ([SuZhou2016], section VI-B), and is held against three measures that
    foretell it from the rates alone.

    Parameters
    ----------
    logs
        Files, globs or folders for the query ``top-k``; ``incidents`` makes its own streams.
    engine, master
        As in ``compute_stats``.
    options
        Fields of :class:`ftplan.simulation.tentative_output.options.TentativeOutputOptions`, and those of
        :class:`ftplan.spark_stats.mapping.LogMapping` that say how a log is read, for instance
        ``time_columns=("time",)``.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, the log cannot be read, or a plan is not for this query.
    MissingExtraError
        If pyspark or pysail is not installed.
    """
    request, reading = _request(options)
    paths = [os.fspath(log) for log in ((logs,) if isinstance(logs, (str, os.PathLike)) else logs)]
    scene = scene_of(request, paths, reading)
    planned_pairs(request)
    given = None if request.replicas is None else given_set(request.replicas, task_graph(scene))
    from ftplan.spark_stats.tentative.run import started

    with started(scene.setting, paths, engine, master, progress) as run:
        return _judged(run, scene, request, given, progress)


def _request(options: Mapping[str, Any]) -> tuple[TentativeOutputOptions, dict[str, Any]]:
    """Return the options, and how a log is read."""
    known = (*TentativeOutputOptions.options(), *READING)
    for name in options:
        if name not in known:
            raise FtplanError(f"{COMMAND}: unknown option {quoted(name)}{suggestion(name, known)}")
    reading = {name: value for name, value in options.items() if name in READING}
    columns = Check("the name of a column, or several", texts, "texts")
    listed = {name: value for name, value in reading.items() if name in ("time_columns", "csv_columns")}
    reading |= checked(COMMAND, dict.fromkeys(listed, columns), listed)
    own = {name: value for name, value in options.items() if name not in reading}
    return TentativeOutputOptions.of(COMMAND, own), reading


def _judged(
    run: Started,
    scene: TentativeScene,
    options: TentativeOutputOptions,
    given: tuple[ReplicaSet, InputFile] | None,
    progress: Callable[[str, float | None], None],
) -> TentativeOutput:
    """Run the query that was started: for its rates, and for all sets of replicas."""
    flows = run.query.flows()
    if not flows.outputs.any():
        raise FtplanError(f"{scene.query} puts out nothing even without failure: nothing can be lost")
    document = job_document(scene, flows)
    problem = load(topology=document)
    prepared = prepared_for(problem)
    # remote files have no fingerprint
    files = [InputFile("log", file.path, file.sha256) for file in run.files if file.sha256 is not None]
    warnings: tuple[Warn, ...] = ()
    if given is not None:
        sets, files = [given[0]], [*files, given[1]]
    else:
        progress("planning", None)
        sets, warnings = planned_sets(problem, options)
    accuracies = accuracy(_kept(run.query, scene, prepared, sets), flows.outputs)
    judged = tuple(_with_measures(prepared, item, float(part)) for item, part in zip(sets, accuracies, strict=True))
    warnings += _warnings(judged)
    totals = {"windows": len(flows.outputs), "outputs": int(flows.outputs.sum()), "seconds": flows.seconds}
    return TentativeOutput(scene.query, options, document, totals, judged, tuple(files), warnings, run.engine)


def _kept(
    query: TentativeQuery, scene: TentativeScene, prepared: PreparedReplication, sets: Sequence[ReplicaSet]
) -> IntArray:
    """Return how many entries each set of replicas keeps in each window, shape (sets, windows), from one run."""
    shape, graph = scene.shape, prepared.graph
    lanes: list[Mapping[str, Any]] = []
    for item in sets:
        by_operator = {name: item.replicated[graph.slice_of(graph.topology.position[name])] for name in shape.operators}
        lanes.append(shape.live(by_operator))
    patterns, place = np.unique(
        [np.concatenate([live[stream] for stream in shape.streams]) for live in lanes], axis=0, return_inverse=True
    )
    parts = dict(zip(shape.streams, np.split(patterns, len(shape.streams), axis=1), strict=True))
    return query.kept(parts)[place.ravel()]


def _with_measures(prepared: PreparedReplication, item: ReplicaSet, part: float) -> JudgedSet:
    value, graph = prepared.problem.value, prepared.graph
    tasks = tuple(graph.names(np.flatnonzero(item.replicated)))
    return JudgedSet(
        item.ratio,
        item.budget,
        item.algorithm,
        item.metric,
        item.bound,
        tasks,
        value(item.replicated, model=prepared.output_fidelity),
        value(item.replicated, model=prepared.key_aligned),
        value(item.replicated, model=prepared.completeness),
        part,
    )


def _warnings(judged: Sequence[JudgedSet]) -> tuple[Warn, ...]:
    """Warn where nothing can be warnings of ranks."""
    if len(judged) > 1 and len({item.accuracy for item in judged}) == 1:
        text = f"all sets of replicas have an accuracy of {judged[0].accuracy:.3g}: ranks say nothing"
        return (Warn("ACCURACY_CONSTANT", f"{text}; give other --ratios"),)
    return ()
