"""A plugin for ``make coverage``: kernels run as Python where their arrays are small, so that their lines are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ftplan.planners.compiled import Kernel

#: Numbers in the arrays of one call, up to which it is no matter how fast it is.
SMALL = 2_000

_compiled = Kernel.__call__


def _numbers(args: tuple[Any, ...]) -> int:
    return sum(_numbers(arg) if isinstance(arg, tuple) else np.size(arg) for arg in args)


def _call(kernel: Kernel, *args: Any) -> Any:
    return kernel.plain(*args) if _numbers(args) <= SMALL else _compiled(kernel, *args)


def pytest_configure(config: pytest.Config) -> None:
    Kernel.__call__ = _call  # type: ignore[method-assign]
