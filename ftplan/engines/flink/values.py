"""Values in answers of Flink: figures come as numbers or as text, and "NaN" or -1 stand for what is not known."""

from __future__ import annotations

import html
import math
from typing import Any

#: Larger figures are none: Flink writes the largest long for "never".
_MOST = 1e17


def number(value: Any) -> float | None:
    """Return a figure as a number, None where it is none: NaN, infinite, negative, or no figure at all."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) and 0 <= result <= _MOST else None


def whole(value: Any) -> int | None:
    """Return a figure that is a whole number from 0, else None."""
    result = number(value)
    return int(result) if result is not None and result.is_integer() else None


def text(value: Any) -> str | None:
    """Return a text with its HTML unescaped, None where there is none; a whole number counts as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return None
    return html.unescape(value).strip() or None


def entries(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; whatever else is there is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def part(value: Any, *keys: str) -> Any:
    """Return what lies in objects within objects under *keys*, None where one of them is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
