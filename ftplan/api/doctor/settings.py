"""Where settings come from: ``ftplan.toml`` and the environment. Nothing secret is in what is said of them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ftplan.errors import FtplanError, shortened, suggestion

FILE_NAME = "ftplan.toml"
#: Variables of others that change what ftplan does.
OF_OTHERS = (
    "JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", "PYSPARK_PYTHON", "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "TMPDIR", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE", "LD_LIBRARY_PATH", "LC_ALL", "LANG", "NO_COLOR",
)  # fmt: skip
_SECRET = re.compile(r"TOKEN|PASSWORD|SECRET|USER|AUTH|KEY|CREDENTIAL|HEADER")
#: What stands for a value that is not shown.
HIDDEN = "(set, not shown)"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment: whether it is one of ftplan's (None: of others), and its value, or that it is set.

    Of one that is not known the value is not shown: it may be a secret whose name was misspelled.
    """

    name: str
    known: bool | None
    value: str
    near: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """The file that was found, its tables, what is wrong with it, and the variables that are set."""

    file: str | None
    tables: tuple[str, ...] = ()
    error: str | None = None
    variables: tuple[Variable, ...] = field(default=())

    def errors(self) -> list[str]:
        """Return what keeps every command in this folder from working."""
        return [self.error] if self.error else []

    def notes(self) -> Iterator[str]:
        """Yield what is set in vain."""
        for variable in self.variables:
            if variable.known is False:
                yield f"unknown environment variable {variable.name}{variable.near} is ignored"


def in_force(commands: Mapping[str, Collection[str]], known: Collection[str]) -> Settings:
    """Return what settings commands would find in the working folder.

    Parameters
    ----------
    commands
        What ``ftplan.toml`` may say of each command; every table is checked, not only that of one command.
    known
        The variables that an option reads.
    """
    variables = tuple(_variables(known))
    try:
        path = _file()
    except OSError as error:
        return Settings(None, (), f"the working folder cannot be read: {error.strerror}", variables)
    if path is None:
        return Settings(None, variables=variables)
    try:
        from ftplan.io.configuration import read_configuration

        found = read_configuration(path, commands)
    except FtplanError as error:
        return Settings(str(path), (), str(error), variables)
    except Exception as error:  # what reads it may be broken
        return Settings(str(path), (), shortened(f"{path}: cannot be read: {type(error).__name__}: {error}"), variables)
    tables = (*(["inputs"] if found.inputs else []), *found.commands)
    return Settings(str(path), tables, None, variables)


def _file() -> Path | None:
    start = Path.cwd()
    return next((folder / FILE_NAME for folder in (start, *start.parents) if (folder / FILE_NAME).is_file()), None)


def _variables(known: Collection[str]) -> Iterator[Variable]:
    for name in sorted(os.environ):
        if name.startswith("FTPLAN_"):
            value = _shown(name, os.environ[name]) if name in known else HIDDEN
            yield Variable(name, name in known, value, "" if name in known else suggestion(name, sorted(known)))
    for name in OF_OTHERS:
        if name in os.environ:
            yield Variable(name, None, _shown(name, os.environ[name]))


def _shown(name: str, value: str) -> str:
    """Return the value of a variable, without what may be secret: names say so, and so do places in a URL.

    These are what stands before the ``@``, and what follows ``?`` or ``;``, such as the token of ``SPARK_REMOTE``.
    """
    if _SECRET.search(name):
        return HIDDEN
    value = re.sub(r"//\S*@", "//***@", value)
    return shortened(re.sub(r"(//[^\s?;#]*[?;#])\S+", r"\1***", value))
