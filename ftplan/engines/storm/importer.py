"""Topologies of Apache Storm: the UI's REST pages, Flux, and topologies decoded from Thrift.

A task of ftplan is an executor, the thread that fails and moves; Storm's own tasks, whose number is fixed for the
lifetime of a topology and over which a fields grouping hashes, are its key groups.
"""

from __future__ import annotations

from typing import Any

from ftplan.engines.importing.draft import Draft
from ftplan.engines.importing.options import ImportOptions
from ftplan.engines.importing.source import EngineSource
from ftplan.engines.storm import decoded, flux, ui
from ftplan.errors import FtplanError


def read(source: EngineSource, options: ImportOptions) -> Draft:
    """Return what Storm says of one topology.

    Raises FtplanError if the source is nothing that Storm knows, or holds several topologies of which none is named.
    """
    if source.url is not None or source.collection is not None:
        return ui.read(source.latest, source.name, options)
    values = dict(source.documents())
    pages = {name: value for name, value in values.items() if ui.is_page(value)}
    if pages:
        return ui.read(pages, source.name, options)
    jobs = {name: value for name, value in values.items() if isinstance(value, dict) and not flux.is_include(value)}
    name, value = _chosen(jobs or values, source, options)
    if decoded.is_decoded(value):
        return decoded.read(value, name, options)
    return flux.read(value, name, source, options)


def _chosen(values: dict[str, Any], source: EngineSource, options: ImportOptions) -> tuple[str, Any]:
    """Return the only topology, or the one that ``--job`` names."""
    named = {name: value.get("name") if isinstance(value, dict) else None for name, value in values.items()}
    chosen = [name for name in values if options.job is None or options.job in (name, named[name])]
    if not values:
        raise FtplanError(f"{source.name}: holds no JSON or YAML")
    if not chosen:
        raise FtplanError(f"--job: {source.name} holds no topology {options.job!r}")
    if len(chosen) > 1:
        raise FtplanError(f"{source.name}: holds {len(chosen)} files that may be topologies: give one, or --job NAME")
    return chosen[0], values[chosen[0]]
