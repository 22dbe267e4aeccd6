"""Running a query without the tasks that have no replica, and asking which measure foretold what is left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ftplan.api.loading import load
from ftplan.api.option_fields import texts
from ftplan.api.tentative.job import job_document, task_graph
from ftplan.api.tentative.options import READING, TentativeOutputOptions
from ftplan.api.tentative.question import Question, question_of
from ftplan.api.tentative.replica_sets import ReplicaSet, given_set, planned_pairs, planned_sets, prepared_for
from ftplan.api.tentative.result import JudgedSet, TentativeOutput
from ftplan.errors import FtplanError, suggestion
from ftplan.model.plan import InputFile, Warn
from ftplan.simulation.tentative_output import accuracy

if TYPE_CHECKING:
    from ftplan.api.replication.problem import PreparedReplication
    from ftplan.model.topology import IntArray
    from ftplan.spark_stats.tentative.settings import TentativeQuery

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
        Fields of :class:`ftplan.api.tentative.options.TentativeOutputOptions`, and those of
        :class:`ftplan.spark_stats.mapping.LogMapping` that say how a log is read, for instance
        ``time_columns=("time",)``.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, the log cannot be read, or a plan is not for this query.
    MissingExtraError
        If pyspark or pysail is not installed.
    """
    reading = {name: options.pop(name) for name in READING if name in options}
    reading |= {name: texts(reading[name]) for name in ("time_columns", "csv_columns") if name in reading}
    known = (*TentativeOutputOptions.options(), *READING)
    for name in options:
        if name not in known:
            raise FtplanError(f"simulate tentative-output: unknown option {name!r}{suggestion(name, known)}")
    asked = TentativeOutputOptions.of("simulate tentative-output", options)
    paths = [os.fspath(log) for log in ((logs,) if isinstance(logs, (str, os.PathLike)) else logs)]
    question = question_of(asked, paths, reading)
    planned_pairs(asked)
    given = None if asked.replicas is None else given_set(asked.replicas, task_graph(question))
    from ftplan.spark_stats.tentative.run import started

    with started(question.setting, paths, engine, master, progress) as run:
        flows = run.query.flows()
        if not flows.outputs.any():
            raise FtplanError(f"{question.query} puts out nothing even without failure: nothing can be lost")
        document = job_document(question, flows)
        problem = load(topology=document)
        prepared = prepared_for(problem)
        # remote files have no fingerprint
        files = [InputFile("log", f.path, f.sha256) for f in run.files if f.sha256 is not None]
        said: tuple[Warn, ...] = ()
        if given is not None:
            sets, files = [given[0]], [*files, given[1]]
        else:
            progress("planning", None)
            sets, said = planned_sets(problem, asked)
        accuracies = accuracy(_kept(run.query, question, prepared, sets), flows.outputs)
        used = run.engine
    judged = tuple(_judged(prepared, item, float(part)) for item, part in zip(sets, accuracies, strict=True))
    rows = {"windows": len(flows.outputs), "outputs": int(flows.outputs.sum()), "seconds": flows.seconds}
    return TentativeOutput(question.query, asked, document, rows, judged, tuple(files), (*said, *_said(judged)), used)


def _kept(
    query: TentativeQuery, question: Question, prepared: PreparedReplication, sets: Sequence[ReplicaSet]
) -> IntArray:
    """Return how many entries each set of replicas keeps in each window, shape (sets, windows), from one run."""
    shape, graph = question.shape, prepared.graph
    lanes: list[Mapping[str, Any]] = []
    for item in sets:
        by_operator = {name: item.replicated[graph.slice_of(graph.topology.position[name])] for name in shape.operators}
        lanes.append(shape.live(by_operator))
    patterns, place = np.unique(
        [np.concatenate([live[stream] for stream in shape.streams]) for live in lanes], axis=0, return_inverse=True
    )
    parts = dict(zip(shape.streams, np.split(patterns, len(shape.streams), axis=1), strict=True))
    return query.kept(parts)[place.ravel()]


def _judged(prepared: PreparedReplication, item: ReplicaSet, part: float) -> JudgedSet:
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


def _said(judged: Sequence[JudgedSet]) -> tuple[Warn, ...]:
    """Warn where nothing can be said of ranks."""
    if len(judged) > 1 and len({item.accuracy for item in judged}) == 1:
        text = f"all sets of replicas have an accuracy of {judged[0].accuracy:.3g}: ranks say nothing"
        return (Warn("ACCURACY_CONSTANT", f"{text}; give other --ratios"),)
    return ()
