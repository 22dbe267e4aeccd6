"""Topologies and clusters from what engines say of their jobs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pkgutil import resolve_name
from typing import Any

from ftplan.engines.importing.draft import ImportOptions
from ftplan.engines.registry import importers
from ftplan.errors import FtplanError
from ftplan.io.options.fields import FLAG, Check, Options, checked, flag, number, one_of, option, optional, path, texts
from ftplan.model.plan import Warn


def _text(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    raise ValueError


def _zone_map(value: Any) -> Any:
    return value if isinstance(value, Mapping) else path(value)


def _counts(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return texts([str(item) if type(item) is int else item for item in items])


_TEXT = optional(Check("a name", _text))
_OPERATORS = Check("an operator's id or name, or a list of them", texts, "texts")
_COUNTS = Check("N or NAME=N, or a list of them", _counts, "texts")


#: Options that only some engines know, as their rows say.
_ONLY = ("job", "query", "partitions", "parallelism")


@dataclass(frozen=True, kw_only=True)
class Importing(Options, ImportOptions):
    """The options of ``ftplan import-topology``."""

    name: str | None = option(None, _TEXT, "Name of the topology.  [default: as the engine has it]", metavar="TEXT")
    job: str | None = option(
        None, _TEXT, "Which job, topology or application of several, by id or name.", metavar="NAME"
    )
    query: tuple[str, ...] = option(
        (), Check("a name, or a list of them", texts, "texts"), "Which queries of a file; repeatable.", metavar="NAME"
    )
    parallelism: tuple[str, ...] = option(
        (), _COUNTS, "Tasks of operators where the engine does not say it, or of one: NAME=N; repeatable.",
        metavar="N|NAME=N",
    )  # fmt: skip
    partitions: tuple[str, ...] = option(
        (), _COUNTS, "Partitions of topics (Kafka Streams), or of one: TOPIC=N; repeatable.", metavar="N|TOPIC=N"
    )
    correlated: tuple[str, ...] = option(
        (), _OPERATORS, "This operator joins its inputs, whatever its name looks like; repeatable.", metavar="OPERATOR"
    )
    independent: tuple[str, ...] = option(
        (), _OPERATORS, "This operator does not join its inputs; repeatable.", metavar="OPERATOR"
    )
    node_by: str = option(  # type: ignore[assignment]  # the check holds it to the words
        "host", one_of("host", "process"), "What a node is: process where several of one host fail by themselves."
    )
    cores: float | None = option(
        None, optional(number(1e-9, 1e6)), "Cores of a node where the engine does not say them.", metavar="X"
    )
    zone_map: Any = option(
        None,
        optional(Check("a path, or a mapping of hosts to zones", _zone_map)),
        "Zones of hosts: YAML or JSON (host: zone), or CSV rows of host,zone.",
        metavar="FILE",
    )
    break_cycles: bool = option(False, FLAG, "Cut cycles, as few edges as possible, and say which.")
    strict: bool = option(False, FLAG, "Refuse to assume anything that the engine does not say.")


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import.

    Attributes
    ----------
    topology
        A document, as ``ftplan.load`` takes it.
    cluster
        Another; None where the engine names no hosts.
    assumptions
        What the engine does not say, and what is taken instead.
    notes
        What was left out or changed by rule, and what the readers warn of.
    """

    topology: dict[str, Any]
    cluster: dict[str, Any] | None
    assumptions: tuple[Warn, ...] = ()
    notes: tuple[Warn, ...] = ()


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

    plain = ImportOptions(**{item.name: getattr(asked, item.name) for item in fields(ImportOptions)})
    opened = open_source(source, engine, asked.job)
    with collection_paused():
        made = finish(resolve_name(importers()[engine].read)(opened, plain), plain)
    if cluster_output is not None and made.cluster is None:
        raise FtplanError(f"{opened.name}: names no hosts, so that there is no cluster: leave out --cluster-output")
    said = _command(source, engine, options)
    for name, document in ((output, made.topology), (cluster_output, made.cluster)):
        if name is not None and document is not None:
            _write(name, document, said, force)
    return Imported(made.topology, made.cluster, made.assumptions, made.notes)


def _asked(engine: str, options: Mapping[str, Any]) -> Importing:
    """Return the options, checked; also those that only some engines have."""
    if not isinstance(engine, str) or engine not in importers():
        checked("import-topology", {"from": one_of(*importers())}, {"from": engine})
    asked = Importing.of("import-topology", options)
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
    defaults = {item.name: item.default for item in fields(Importing)}
    for name, value in options.items():
        if value != defaults[name] and value is not None:
            values = value if isinstance(value, (list, tuple)) else [value]
            said += [
                flag(name) if v is True else f"{flag(name)} {'-' if isinstance(v, Mapping) else v}" for v in values
            ]
    return " ".join(said)
