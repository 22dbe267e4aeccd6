"""Topologies and clusters from what engines say of their jobs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pkgutil import resolve_name
from typing import Any

from ftplan.engines.importing.draft import Imported, ImportOptions
from ftplan.engines.registry import importers
from ftplan.errors import FtplanError
from ftplan.io.options.fields import FLAG, Check, checked, flag, one_of, optional, path

#: Options that only some engines know, as their rows say.
_ONLY = ("job", "query", "partitions", "parallelism")


def import_topology(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    engine: str,
    *,
    output: str | os.PathLike[str] | None = None,
    cluster_output: str | os.PathLike[str] | None = None,
    force: bool = False,
    **options: Any,
) -> Imported:
    """Return the topology, and where the engine names hosts the cluster, of a job that an engine runs.

    Parameters
    ----------
    source
        A file, a folder of saved answers, a folder that ``ftplan collect`` wrote, the URL of a REST endpoint, ``-`` for
        standard input, or several files.
    engine
        ``flink``, ``storm``, ``kafka-streams``, ``spark`` or ``risingwave``.
    output, cluster_output
        Also write them: JSON, YAML where the name ends in ``.yaml`` or ``.yml``; whole or not at all.
    force
        Replace outputs that are there.
    options
        Those of ``ftplan import-topology``, with underscores: ``zone_map={"host-1": "rack-a"}, strict=True``.

    Returns
    -------
    Imported
        Topology and cluster as ``ftplan.load`` takes them, and what was assumed.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, the source cannot be read or is not what the engine says, the job has a cycle
        that may not be cut, something had to be assumed with *strict*, or a cluster is asked for and no host is named.
    """
    asked = _asked(engine, options)
    writing = {"output": output, "cluster_output": cluster_output, "force": force}
    a_path = optional(Check("a path", path))
    checked("import-topology", {"output": a_path, "cluster_output": a_path, "force": FLAG}, writing)
    _refuse_outputs(output, cluster_output, force)
    from ftplan.engines.importing.finish import finish
    from ftplan.engines.importing.source import open_source
    from ftplan.io.documents import collection_paused

    opened = open_source(source, engine, asked.job)
    with collection_paused():
        try:
            draft = resolve_name(importers()[engine].read)(opened, asked)
        except FtplanError as error:
            if not opened.unread:
                raise
            raise FtplanError(f"{error}; what could not be read: {opened.unread[0]}") from None
        for text in opened.unread:
            draft.assume("UNREADABLE", f"{text}; left out")
        made = finish(draft, asked)
    if cluster_output is not None and made.cluster is None:
        raise FtplanError(f"{opened.name}: names no hosts, so that there is no cluster: leave out --cluster-output")
    said = _command(source, engine, options)
    for name, document in ((output, made.topology), (cluster_output, made.cluster)):
        if name is not None and document is not None:
            _write(name, document, said, force)
    return made


def _asked(engine: str, options: Mapping[str, Any]) -> ImportOptions:
    """Return the options, checked; also those that only some engines have."""
    if not isinstance(engine, str) or engine not in importers():
        checked("import-topology", {"from": one_of(*importers())}, {"from": engine})
    asked = ImportOptions.of("import-topology", options)
    for item in _ONLY:
        if getattr(asked, item) and item not in importers()[engine].options:
            able = [name for name, row in importers().items() if item in row.options]
            raise FtplanError(f"{flag(item)}: goes with {' and '.join(able)}, not with {engine}")
    return asked


def _refuse_outputs(
    output: str | os.PathLike[str] | None, cluster_output: str | os.PathLike[str] | None, force: bool
) -> None:
    given = [os.fspath(name) for name in (output, cluster_output) if name is not None]
    if len(given) == 2 and os.path.realpath(given[0]) == os.path.realpath(given[1]):
        raise FtplanError(f"--cluster-output: {given[1]} is the topology's file; give it a name of its own")
    if given:
        from ftplan.io.output import refuse_existing

        for name in given:
            refuse_existing(name, force)


def _write(name: str | os.PathLike[str], document: Mapping[str, Any], said: str, force: bool) -> None:
    from ftplan.io.documents import collection_paused
    from ftplan.io.model_entries import document_text
    from ftplan.io.output import write_text

    with collection_paused():
        text = document_text(document, os.fspath(name), said)
    write_text(name, text, force)


def _command(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], engine: str, options: Mapping[str, Any]
) -> str:
    """Return the command that imports the same again, up to a zone map that was given as a mapping."""
    paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    said = ["ftplan import-topology", *(os.fspath(item) for item in paths), "--from", engine]
    defaults = {item.name: item.default for item in fields(ImportOptions)}
    for name, value in options.items():
        if value != defaults[name] and value is not None:
            values = value if isinstance(value, (list, tuple)) else [value]
            said += [
                flag(name) if v is True else f"{flag(name)} {'-' if isinstance(v, Mapping) else v}" for v in values
            ]
    return " ".join(said)
