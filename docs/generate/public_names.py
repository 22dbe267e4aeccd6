"""What is public in Python has to say what it is; ``mkdocs build`` calls this, and fails in strict mode where not.

A function says every parameter, what it returns and what it raises; a class every field and method.
"""

from __future__ import annotations

import dataclasses
import inspect
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

PAGE = "python-reference"
_log = logging.getLogger("mkdocs.plugins.public_names")


def public(module: Any) -> dict[str, Any]:
    """Return what a module names in ``__all__``, without its version."""
    return {name: getattr(module, name) for name in module.__all__ if not name.startswith("__")}


def faults(name: str, item: Any) -> Iterator[str]:
    """Yield what is not said of a public function or class."""
    if not (item.__doc__ or "").strip() or (inspect.isclass(item) and item.__doc__.startswith(f"{item.__name__}(")):
        yield f"{name}: has no docstring"
        return
    said = _sections(item)
    if not inspect.isclass(item):
        wanted = [parameter for parameter in inspect.signature(item).parameters if parameter != "self"]
        yield from (f"{name}: parameter {one} is not documented" for one in wanted if one not in said["parameters"])
        if inspect.signature(item).return_annotation not in (None, "None") and not said["returns"]:
            yield f"{name}: does not say what it returns"
        return
    fields = [field.name for field in dataclasses.fields(item)] if dataclasses.is_dataclass(item) else []
    shown = [one for one in fields if not one.startswith("_")]
    yield from (f"{name}: attribute {one} is not documented" for one in shown if one not in said["attributes"])
    for key, value in vars(item).items():
        inner = getattr(value, "fget", value)
        if not key.startswith("_") and (inspect.isfunction(inner)) and not inspect.getdoc(inner):
            yield f"{name}.{key}: has no docstring"


def _sections(item: Any) -> dict[str, set[str]]:
    """Return the names that each section of a docstring says something of."""
    kinds = {"parameters": griffe.DocstringSectionKind.parameters, "attributes": griffe.DocstringSectionKind.attributes,
             "returns": griffe.DocstringSectionKind.returns}  # fmt: skip
    parsed = griffe.Docstring(inspect.getdoc(item) or "", lineno=1, parser="numpy").parse(warnings=False)
    found: dict[str, set[str]] = {}
    for word, kind in kinds.items():
        entries = [entry for section in parsed if section.kind is kind for entry in section.value]
        found[word] = {part.strip(" *") for entry in entries for part in (entry.name or "it").split(",")}
    return found


def on_pre_build(config: Any) -> None:
    """Warn of public names that do not say what they are; mkdocs calls this."""
    import ftplan

    for name, item in public(ftplan).items():
        for fault in faults(f"ftplan.{name}", item):
            _log.warning(fault)


def on_post_build(config: Any) -> None:
    """Warn of public names that are not on the page, and of private ones that are; mkdocs calls this."""
    import ftplan

    html = (Path(config["site_dir"]) / f"{PAGE}.html").read_text("utf-8")
    for fault in missing(html, [f"ftplan.{name}" for name in public(ftplan)]):
        _log.warning(fault)


def missing(html: str, names: list[str]) -> Iterator[str]:
    """Yield which names a page does not have, and which private ones it has."""
    anchors = set(re.findall(r'id="(ftplan\.[\w.]+)"', html))
    yield from (f"{name}: is public, and not on the page {PAGE}" for name in names if name not in anchors)
    yield from (f"{one}: is private, and on the page {PAGE}" for one in sorted(anchors) if "._" in one)
