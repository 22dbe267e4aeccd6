"""Compiled functions, kept on disk where that is possible. Import it late: numba is slow to load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, inline: str = "never") -> Function:
    """Compile a function when it is first called. Division by zero is infinite or NaN, as in numpy.

    The machine code is kept beside the source or in the user's cache. Where neither can be written, such as in a
    container whose file system is read-only, numba refuses to: then each process compiles anew.
    """
    result: Function
    try:
        result = njit(cache=True, error_model="numpy", inline=inline)(function)
    except RuntimeError:
        result = njit(error_model="numpy", inline=inline)(function)
    return result


def inlined(function: Function) -> Function:
    """Compile a function into those that call it: a call counts references to each array that it passes."""
    return compiled(function, inline="always")
