"""``ftplan.toml``: defaults of a project, found in the working folder or its parents.

And which files are ftplan's, among all the others of a repository: what they state, not how they are called.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import display_name
from ftplan.model import kinds

#: The format that a file states, in JSON anywhere, in YAML at the beginning of a line.
_IN_JSON = re.compile(rb'"format"\s*:\s*"(ftplan/[^"]*)"')
_IN_YAML = re.compile(rb"""^["']?format["']?[ \t]*:[ \t]*["']?(ftplan/[\w.-]*)""", re.MULTILINE)


def stated_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format that a file states, such as ``ftplan/plan``; None where it is not one of ftplan's.

    An ``ftplan.toml`` is a ``configuration``. A file that states a format and is broken is ftplan's too: whoever reads
    it says what is wrong with it.
    """
    file = Path(path)
    if file.name == FILE_NAME:
        return "configuration"
    suffix = file.suffix.lower()
    if suffix not in (".json", ".yaml", ".yml"):
        return None
    if not file.is_file():
        return None
    try:
        data = file.read_bytes()
    except OSError:
        return None
    if b"ftplan/" not in data:
        return None
    if suffix != ".json" and not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        found = _IN_YAML.search(data)
        return found[1].decode() if found else None
    found = _IN_JSON.search(data)
    return _outermost(data, found[1].decode("utf-8", "replace")) if found else None


def _outermost(data: bytes, found: str) -> str | None:
    """Return the format of a JSON document itself: a format may stand within a document of somebody else."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return found
    stated = document.get("format") if isinstance(document, Mapping) else None
    return stated if isinstance(stated, str) and stated.startswith("ftplan/") else None


FILE_NAME = "ftplan.toml"
INPUTS = ("topology", "cluster", "stats", "failure")

#: Options of several commands whose values are paths, relative to the folder of the file.
PATH_OPTIONS = frozenset(
    (
        *INPUTS,
        *("replicas", "checkpoints", "costs", "rules"),
        *("output", "plan", "against", "logs", "failure_log", "zone_map", "cluster_output"),
    )
)

#: Names of a command's options, or a mapping from how they are spelled to what they are called.
Options = Collection[str] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration file. Paths are absolute or relative to the working folder; option names have underscores."""

    path: Path
    inputs: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_own(self) -> bool:
        """Whether it lies in the working folder, not in one of its parents."""
        return self.path.parent == Path.cwd()


def find_configuration(
    options: Mapping[str, Options], commands: Collection[str] = (), folder: str | os.PathLike[str] = "."
) -> Configuration | None:
    """Read the nearest ``ftplan.toml`` in *folder* or its parents, None where there is none.

    Raises FtplanError if the file is no TOML (with the line), or has an unknown table or option (with a suggestion).

    Parameters
    ----------
    options
        Option names of each command whose table is to be checked; dashes and underscores are the same. A mapping
        leads from what the file may say to the names in the result. A repeatable option that is called ``keys`` may
        be spelled ``key`` too, and a single value becomes a list then.
    commands
        All commands; a table of one that is not in *options* is accepted unread.
    """
    path = configuration_of(folder)
    return None if path is None else read_configuration(path, options, commands)


def configuration_of(folder: str | os.PathLike[str]) -> Path | None:
    """Return the nearest ``ftplan.toml`` in *folder* or its parents, None where there is none."""
    start = Path(folder).absolute()
    return next((at / FILE_NAME for at in (start, *start.parents) if (at / FILE_NAME).is_file()), None)


def read_configuration(
    path: Path, options: Mapping[str, Options], commands: Collection[str] | None = ()
) -> Configuration:
    """Read one configuration file; see :func:`find_configuration`. With *commands* None any table will do."""
    name = display_name(path)
    tables = _parsed(path, name)
    known = {"inputs", *options, *(commands or ())}
    for table, content in tables.items():
        if table not in known and commands is not None:
            kind = "table" if isinstance(content, dict) else "key"
            raise FtplanError(f"{name}: unknown {kind} {table!r}{suggestion(table, sorted(known))}")
        if not isinstance(content, dict):
            raise FtplanError(f"{name}: {table}: expected a table [{table}]")
    inputs = _checked(tables.get("inputs", {}), "inputs", INPUTS, name)
    for key, value in inputs.items():
        if not isinstance(value, str):
            raise FtplanError(f"{name}: [inputs] {key}: expected a path in quotes")
    read = {
        command: {
            key: _relative(value, path) if key in paths_of(command) else value
            for key, value in _checked(tables[command], command, names, name).items()
        }
        for command, names in options.items()
        if command in tables
    }
    return Configuration(path, {key: _relative(value, path) for key, value in inputs.items()}, read)


def paths_of(command: str) -> frozenset[str]:
    """Return the options of a command whose values are paths: a question names those that are its own."""
    if command not in kinds.names():
        return PATH_OPTIONS
    kind = kinds.question(command)
    return PATH_OPTIONS.union(dict(kind.plans), kind.files, kind.tables)


def _parsed(path: Path, name: str) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FtplanError(f"{name}: line {data.count(10, 0, error.start) + 1}: not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        text = str(error)
        where = re.search(r" \(at line ([0-9]+), column [0-9]+\)", text)
        line = f"line {where[1]}: " if where else ""
        raise FtplanError(f"{name}: {line}{text.replace(where[0], '') if where else text}") from None
    except (ValueError, RecursionError) as error:
        raise FtplanError(f"{name}: not TOML: {error}") from None
    except OSError as error:
        raise FtplanError(f"{name}: cannot be read: {error.strerror}") from None


def _checked(table: Mapping[str, Any], title: str, known: Options, name: str) -> dict[str, Any]:
    """Return a table by the names of its options, all of them known."""
    called = known if isinstance(known, Mapping) else {option: option for option in known}
    called = {spelled.replace("-", "_"): option for spelled, option in called.items()}
    result: dict[str, Any] = {}
    for key, value in table.items():
        spelled = key.replace("-", "_")
        if spelled not in called and f"{spelled}s" in called:
            spelled, value = f"{spelled}s", value if isinstance(value, list) else [value]
        if spelled not in called:
            shown = sorted(item.replace("_", "-") for item in called)
            raise FtplanError(f"{name}: [{title}] unknown key {key!r}{suggestion(key.replace('_', '-'), shown)}")
        if not all(map(_is_plain, value if isinstance(value, list) else [value])):
            raise FtplanError(f"{name}: [{title}] {key}: expected text, a number, true or false, or a list of these")
        if called[spelled] in result:
            raise FtplanError(f"{name}: [{title}] {key}: is given twice (dashes and underscores are the same)")
        result[called[spelled]] = value
    return result


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


def _relative(value: Any, path: Path) -> Any:
    """Return a path, or a list of paths, as seen from the working folder."""
    if isinstance(value, list):
        return [_relative(item, path) for item in value]
    if not isinstance(value, str) or value == "-" or "://" in value:
        return value
    return display_name(path.parent / os.path.expanduser(value))
