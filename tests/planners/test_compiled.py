"""Compiled functions run where nothing can be written, too."""

from __future__ import annotations

import pytest
from numba.core import caching

from ftplan.planners.compiled import compiled, inlined


def half(x: float) -> float:
    return x / 2.0


def ratio(x: float, y: float) -> float:
    return x / y


@pytest.mark.parametrize("writable", [True, False])
def test_compiles_with_and_without_a_cache(monkeypatch: pytest.MonkeyPatch, writable: bool) -> None:
    if not writable:
        monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert compiled(half)(3.0) == 1.5


def test_divides_like_numpy() -> None:
    assert compiled(ratio)(1.0, 0.0) == float("inf")


def test_inlines() -> None:
    inner = inlined(half)

    def quarter(x: float) -> float:
        return inner(inner(x))

    assert compiled(quarter)(3.0) == 0.75
