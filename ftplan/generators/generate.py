"""Topologies, clusters, statistics and failures made from knobs and a seed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.generators.options import OPTIONS
from ftplan.generators.presets import PRESETS
from ftplan.io.loading import Source, load
from ftplan.io.options.fields import FLAG, Check, checked, flag, optional, path, quoted
from ftplan.model.problem import Problem
from ftplan.version import __version__

OUTPUT = Check("a path", path)
#: The inputs that each kind is made for, and whether it has to have them.
INPUTS: Mapping[str, Mapping[str, bool]] = {
    "topology": {},
    "cluster": {"topology": False},
    "stats": {"topology": True},
    "failure": {"cluster": True, "topology": False},
}


def generate(
    what: str,
    *,
    like: str | None = None,
    topology: Source | None = None,
    cluster: Source | None = None,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    **knobs: Any,
) -> dict[str, Any]:
    """Return a random document; equal arguments give the same one.

    Parameters
    ----------
    what
        ``topology``, ``cluster``, ``stats`` or ``failure``.
    like
        The name of an experiment whose settings replace the defaults; ``ftplan generate`` lists them.
    topology, cluster
        What a cluster, statistics or a failure are made for: a path, or the document as a mapping.
    output
        Also write it: JSON, YAML where the name ends in ``.yaml`` or ``.yml``, for statistics a folder; whole or not at
        all.
    force
        Replace an *output* that is there.
    knobs
        Options of ``ftplan generate``, with underscores, for instance ``operators=(5, 10), zipf=0.5, seed=1``.

    Returns
    -------
    dict
        The document, as ``ftplan.load`` takes it; for statistics the manifest and the tables as Arrow tables.

    Raises
    ------
    FtplanError
        If a knob is unknown or wrong, knobs contradict each other, or an input is missing or invalid.
    """
    asked = _options(what, like, knobs)
    problem = _inputs(what, {"topology": topology, "cluster": cluster})
    checked(f"generate {what}", {"output": optional(OUTPUT), "force": FLAG}, {"output": output, "force": force})
    if output is not None:
        from ftplan.io.output import refuse_existing

        refuse_existing(output, force)
    if what == "stats":
        return _statistics(asked, problem, output, force)
    document = _document(what, asked, problem)
    if output is not None:
        from ftplan.io.model_entries import document_text
        from ftplan.io.output import write_text

        said = _command(what, like, {"topology": topology, "cluster": cluster}, knobs)
        write_text(output, document_text(document, os.fspath(output), said), force)
    return document


def _options(what: str, like: str | None, knobs: Mapping[str, Any]) -> Any:
    """Return the options of what is to be made, checked: knobs win over those of an experiment."""
    if not isinstance(what, str) or what not in OPTIONS:
        near = suggestion(what, OPTIONS) if isinstance(what, str) else ""
        raise FtplanError(f"generate: {quoted(what)} is not one of {', '.join(OPTIONS)}{near}")
    preset = dict(_preset(what, like))
    if "tasks" in preset and {"operators", "parallelism"} & set(knobs):
        del preset["tasks"]
    return OPTIONS[what].of(f"generate {what}", {**preset, **knobs})


def _preset(what: str, like: str | None) -> Mapping[str, Any]:
    if like is None:
        return {}
    known = PRESETS[what]
    if not isinstance(like, str) or like not in known:
        near = suggestion(like, known) if isinstance(like, str) else ""
        raise FtplanError(f"--like: {quoted(like)} is not one of {', '.join(known)}{near}")
    return known[like].knobs


def _inputs(what: str, given: Mapping[str, Source | None]) -> Problem:
    """Load the inputs, and refuse those that are missing or have no place here."""
    for name, source in given.items():
        if source is not None and name not in INPUTS[what]:
            raise FtplanError(f"generate {what}: takes no {name}")
        if source is None and INPUTS[what].get(name):
            raise FtplanError(f"generate {what}: the {name} is missing: give it with --{name}")
    if all(source is None for source in given.values()):
        return Problem()
    return load(topology=given["topology"], cluster=given["cluster"])


def _document(what: str, asked: Any, problem: Problem) -> dict[str, Any]:
    """Return a document, which its reader has accepted."""
    from ftplan.io import model_entries

    if what == "topology":
        from ftplan.generators.topology import topology
        from ftplan.io.topology_file import load_topology

        return _accepted(what, model_entries.topology_entry(topology(asked)), load_topology)
    if what == "cluster":
        from ftplan.generators.cluster import cluster
        from ftplan.io.cluster_file import load_cluster

        return _accepted(what, model_entries.cluster_entry(cluster(asked, problem.topology)), load_cluster)
    from ftplan.generators.failure import failure
    from ftplan.io.failure_file import load_failure

    assert problem.cluster is not None
    return _accepted(what, model_entries.failure_entry(failure(asked, problem.cluster, problem.topology)), load_failure)


def _accepted(what: str, document: dict[str, Any], reader: Any) -> dict[str, Any]:
    try:
        reader(document)
    except FtplanError as error:
        raise FtplanError(f"generate {what}: these knobs go beyond what a file may hold: {error}") from None
    return document


def _statistics(asked: Any, problem: Problem, output: str | os.PathLike[str] | None, force: bool) -> dict[str, Any]:
    from ftplan.generators.stats import statistics
    from ftplan.io.output import new_folder
    from ftplan.spark_stats.rejects import Rejects
    from ftplan.spark_stats.writers import manifest_document, write_documents, write_tables

    assert problem.topology is not None
    made = statistics(asked, problem.topology)
    if output is not None:
        with new_folder(output, force) as folder:
            manifest = replace(made.manifest, tables=write_tables(made.tables, folder))
            write_documents(manifest, {}, Rejects(0, {}, ()), folder, __version__)
    return {"manifest": manifest_document(made.manifest, __version__), **made.tables}


def _command(what: str, like: str | None, inputs: Mapping[str, Source | None], knobs: Mapping[str, Any]) -> str:
    """Return the command that makes a document again, up to the names of inputs that were given as mappings."""
    said = ["ftplan generate", what]
    for name, source in inputs.items():
        if source is not None:
            said.append(f"--{name} {'-' if isinstance(source, Mapping) else os.fspath(source)}")
    said += [] if like is None else [f"--like {like}"]
    options = OPTIONS[what].options()
    for name, value in knobs.items():
        if isinstance(value, bool):
            yes, _, no = (options[name].flag or flag(name)).partition("/")
            said += [yes] if value else [no] if no else []
        elif value is not None:
            between = "," if name == "tasks" else "-"
            said.append(f"{flag(name)} {between.join(map(str, value)) if isinstance(value, (tuple, list)) else value}")
    return " ".join(said)
