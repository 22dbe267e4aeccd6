"""One trial, in a process of its own: a solver or an engine that crashes takes only that with it."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Sequence
from pkgutil import resolve_name

from ftplan.errors import FtplanError

#: What the new interpreter runs: the path of modules comes first, everything else can be imported then.
PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from ftplan.api.doctor.trial import carry_out
carry_out(sys.argv[2])
"""


def carry_out(function: str) -> None:
    """Call a function ``module:name``, print what it says as JSON, and leave at once; ``imports:a,b`` imports a and b.

    What solvers and engines print themselves goes to standard error.
    """
    answer = os.dup(1)
    os.dup2(2, 1)
    kind, _, names = function.partition(":")
    try:
        said = _imported(names.split(",")) if kind == "imports" else resolve_name(function)()
        detail, place = said if isinstance(said, tuple) else (said, "")
        message = {"detail": detail, "place": place}
    except BaseException as error:
        message = {"error": str(error) if isinstance(error, FtplanError) else f"{type(error).__name__}: {error}"}
    with os.fdopen(answer, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(message))
    os._exit(0)  # what is left running beneath may take long to end, or crash


def _imported(names: Sequence[str]) -> str:
    """Import packages; name all that cannot be imported, not only the first."""
    broken = []
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:
            broken.append(f"{name} ({type(error).__name__}: {error})")
    if broken:
        raise ImportError("; ".join(broken))
    return ", ".join(names)
