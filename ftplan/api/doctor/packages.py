"""The packages that ftplan needs, and those that its extras bring, with the versions that are here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata

#: Packages that ftplan cannot do without: the name of their module where it is another.
NEEDED: Mapping[str, str] = {
    "click": "click", "networkx": "networkx", "numba": "numba", "numpy": "numpy", "ortools": "ortools",
    "pandas": "pandas", "pyarrow": "pyarrow", "pydantic": "pydantic", "pyyaml": "yaml", "rich": "rich",
    "scipy": "scipy", "simpy": "simpy", "urllib3": "urllib3",
}  # fmt: skip
#: Packages of extras: those of ``sail`` that ``spark`` brings too stand there.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "spark": {"pyspark": "pyspark", "lz4": "lz4", "zstandard": "zstandard"},
    "sail": {"pysail": "pysail"},
    "report": {"jinja2": "jinja2", "matplotlib": "matplotlib"},
    "forecast": {"statsmodels": "statsmodels"},
}


@dataclass(frozen=True, slots=True)
class Package:
    """A package: its version, None where it is missing; the extra that brings it, None where ftplan needs it."""

    name: str
    version: str | None
    extra: str | None

    @property
    def remedy(self) -> str | None:
        """What installs it, None where it is there."""
        return None if self.version is not None else remedy(self.extra)


def remedy(extra: str | None) -> str:
    """Return the line that installs an extra, or what ftplan itself needs."""
    return f"pip install 'ftplan[{extra}]'" if extra else "pip install --force-reinstall ftplan"


def installed() -> list[Package]:
    """Return all packages, those that are needed first."""
    rows: list[tuple[str, str | None]] = [(name, None) for name in NEEDED]
    rows += [(name, extra) for extra, names in EXTRAS.items() for name in names]
    return [Package(name, _version(name), extra) for name, extra in rows]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name) or None
    except Exception:  # whatever is wrong with what an installer wrote
        return None
