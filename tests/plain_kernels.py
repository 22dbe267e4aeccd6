"""A plugin for ``make coverage``: kernels run as Python where their arrays are small, so that their lines are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

#: Numbers in the arrays of one call, up to which it is no matter how fast it is.
SMALL = 2_000
#: Tests of compiling itself.
COMPILING = ("test_compiled", "test_interrupts")


def _numbers(args: tuple[Any, ...]) -> int:
    return sum(_numbers(arg) if isinstance(arg, tuple) else np.size(arg) for arg in args)


@pytest.fixture(autouse=True)
def _plain_kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    from ftplan.compiled import Kernel  # late: what is imported before coverage begins is not seen

    compiled = Kernel.__call__

    def call(kernel: Kernel, *args: Any) -> Any:
        return kernel.plain(*args) if _numbers(args) <= SMALL else compiled(kernel, *args)

    if request.path.stem not in COMPILING:
        monkeypatch.setattr(Kernel, "__call__", call)
