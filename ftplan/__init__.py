"""ftplan: recovery planning for stream-processing clusters.

The public Python face is what ``__all__`` names. It is imported on first use, so that ``import ftplan`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ftplan.version import __version__

__all__ = [
    "FtplanError",
    "Plan",
    "Problem",
    "__version__",
    "calibrate",
    "checkpoint_interval",
    "diff",
    "evaluate",
    "explain",
    "export_plan",
    "generate",
    "import_topology",
    "load",
    "plan",
    "report",
    "simulate",
    "verify",
    "what_if",
]

if TYPE_CHECKING:
    from ftplan.api import (
        Plan,
        Problem,
        calibrate,
        checkpoint_interval,
        diff,
        evaluate,
        explain,
        export_plan,
        generate,
        import_topology,
        load,
        plan,
        report,
        simulate,
        verify,
    )
    from ftplan.errors import FtplanError
    from ftplan.what_if_cases.what_if import what_if


def __getattr__(name: str) -> Any:
    if name == "FtplanError":
        from ftplan.errors import FtplanError

        return FtplanError
    if name == "what_if":
        from ftplan.what_if_cases.what_if import what_if

        return what_if
    if name in __all__:
        from ftplan import api

        return getattr(api, name)
    raise AttributeError(f"module 'ftplan' has no attribute {name!r}")
