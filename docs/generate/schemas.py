"""Kinds of files as their JSON Schemas have them: a table of fields for each kind of object; columns of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from docs.generate.pages import ROOT
from docs.generate.shapes import Schema, plain, shape
from ftplan.io.schemas import schema as schema_of
from ftplan.model.statistics import BATCHES_TABLE, TABLES


@dataclass
class _Fields:
    """Sections of one schema: *sections* has the titles of objects that were met, in their order."""

    definitions: Mapping[str, Schema]
    level: int = 3
    sections: dict[str, str] = field(default_factory=dict)

    def tables(self, model: Schema, prefix: str = "", ending: str = "") -> Iterator[str]:
        """Yield the table of an object, then the sections of what it holds that no section has yet."""
        met: dict[str, str] = {}
        rows = ["| field | holds | meaning |", "|---|---|---|"]
        for name, schema in model["properties"].items():
            here = prefix + name

            def refer(reference: str, several: bool, here: str = here) -> str:
                definition = reference.removeprefix("#/$defs/")
                if definition not in self.sections:
                    self.sections[definition] = f"`{here}{'[]' if several else ''}`{ending}"
                    met[definition] = f"{here}{'[]' if several else ''}."
                return f"[{'objects' if several else 'object'}](#{anchor(self.sections[definition])})"

            rows.append(self._row(name, schema, shape(schema, name, refer), name in model.get("required", ())))
        yield "\n".join(rows)
        for definition, path in met.items():
            inner = self.definitions[definition]
            yield f"{'#' * self.level} {self.sections[definition]}"
            yield inner["description"]
            yield from self.tables(inner, path, ending)

    def _row(self, name: str, schema: Schema, words: str, required: bool) -> str:
        default = schema.get("default")
        shown = (
            f"; default {_value(default)}" if default not in (None, {}, []) and not isinstance(default, dict) else ""
        )
        marked = f"`{name}` **required**" if required else f"`{name}`"
        text = re.sub(r"\s+", " ", schema.get("description", "Of which kind the file is"))
        return f"| {marked} | {_cell(words + shown)} | {_cell(text)} |"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return plain(value)
    return ", ".join(f"`{item}`" for item in value) if isinstance(value, list) else f"`{value}`" if value else "empty"


def _cell(text: str) -> str:
    """Return a text that ends no cell and begins no markup."""
    return text.replace("|", "\\|").replace(" * ", " \\* ").replace("<", "&lt;")


def anchor(title: str) -> str:
    """Return where a heading is, on the site and on GitHub alike."""
    return re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-")


def fields(kind: str) -> str:
    """Return all fields of a kind of file; of a kind with kinds of its own, what these hold comes after."""
    document = schema_of(kind)
    written = _Fields(document.get("$defs", {}))
    parts = list(written.tables(document))
    common = set(document["properties"])
    for rule in document.get("allOf", ()):
        name = rule["if"]["properties"]["kind"]["const"]
        body = document["$defs"][name]
        if kind != "plan":  # fields of the document itself: those that all kinds have are above
            body = {**body, "properties": {key: one for key, one in body["properties"].items() if key not in common}}
        holds = "`plan` of" if kind == "plan" else "A simulation of"
        parts += [f"## {holds} kind `{name}`", body["description"], *written.tables(body, ending=f" in {name}")]
    return "\n\n".join(parts)


def columns(table: str) -> str:
    """Return the columns of a table of the statistics."""
    known = {**TABLES, "batches": BATCHES_TABLE}
    if table not in known:
        raise LookupError(f"no table {table!r}")
    rows = ["| column | type | meaning |", "|---|---|---|"]
    for column in known[table]:
        kind = column.type + (", or null" if column.nullable else "")
        rows.append(f"| `{column.name}` | {kind} | {_cell(column.meaning)} |")
    return "\n".join(rows)


def example(path: str, lines: str = "") -> str:
    """Return a file of the project as a block, or some of its *lines*: ``1-12``."""
    text = (ROOT / path).read_text("utf-8").splitlines()
    if lines:
        first, _, last = lines.partition("-")
        text = text[int(first) - 1 : int(last)]
    return f"```{path.rpartition('.')[2]}\n" + "\n".join(text) + "\n```"
