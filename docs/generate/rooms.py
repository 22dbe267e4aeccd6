"""The rooms of the code and the arrows between them, as the import contracts in pyproject.toml have them."""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from functools import cache

from docs.generate.pages import ROOT

#: Columns of the picture: it is also read on phones.
WIDTH = 58


@cache
def _contracts() -> tuple[dict[str, object], ...]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return tuple(project["tool"]["importlinter"]["contracts"])


def layers() -> list[list[str]]:
    """Return the rooms from top to bottom; those side by side do not see each other."""
    (contract,) = [one for one in _contracts() if one["name"] == "Arrows point down"]
    found = contract["layers"]
    assert isinstance(found, list)
    return [[room.strip().removeprefix("ftplan.") for room in layer.split("|")] for layer in found]


def only_in() -> dict[str, list[str]]:
    """Return the packages that few rooms alone may import: ``X and Y only in ROOM and ROOM``."""
    packages: dict[str, list[str]] = {}
    for contract in _contracts():
        said = re.fullmatch(r".* only in (\w+(?: and \w+)*)", str(contract["name"]))
        if said and isinstance(contract["forbidden_modules"], list):
            for room in said[1].split(" and "):
                packages.setdefault(room, []).extend(contract["forbidden_modules"])
    return packages


def arrows() -> str:
    """Return the picture: a room sees what stands below it."""
    alone = only_in()
    floors = []
    for layer in layers():
        named = [f"{room}_({',_'.join(alone[room])})" if room in alone else room for room in layer]
        lines = textwrap.wrap(" · ".join(named), WIDTH, break_on_hyphens=False, break_long_words=False)
        floors.append("\n".join(lines).replace("_(", " (").replace(",_", ", "))
    return "```text\n" + "\n   ↓\n".join(floors) + "\n```"


def rooms() -> str:
    """Return what is in each room, as its package says."""
    rows = ["| room | what is in it |", "|---|---|"]
    for layer in layers():
        for room in layer:
            folder = ROOT / "ftplan" / room
            source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
            said = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
            first = " ".join(said.split("\n\n")[0].split()).rstrip(".")
            rows.append(f"| `{room}` | {first} |")
    return "\n".join(rows)
