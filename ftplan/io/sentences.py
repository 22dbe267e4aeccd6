"""What is wrong and what would be right, in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ftplan.errors import suggestion
from ftplan.io.fields import LIST_TAG, NUMBER_TAG

_LONGEST = 60  # characters of a value that are shown


def described(value: Any) -> str:
    """Return a value as a message shows it: ``'abc'``, ``3``, ``true``, ``nothing``, ``a list``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else value[:_LONGEST] + "…")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    if isinstance(value, (int, float)):
        text = repr(value)
        return text if len(text) <= _LONGEST else "a number with too many digits"
    return "a mapping" if isinstance(value, Mapping) else "a list" if isinstance(value, (list, tuple)) else repr(value)


def first_line(error: BaseException) -> str:
    """Return the first line of what an error of a library says."""
    return (str(error).splitlines() or ["unreadable"])[0]


def _not_text(value: Any) -> str:
    if isinstance(value, bool):
        return f"is read as {described(value)}, not as text: quote it"
    if isinstance(value, (int, float)):
        return f"is read as the number {described(value)}, not as text: quote it"
    return f"expected text, got {described(value)}"


def _literal(value: Any, expected: str) -> str:
    names = [name.strip().strip("'") for name in expected.replace(" or ", ", ").split(",")]
    near = suggestion(value, names) if isinstance(value, str) else ""
    yes_no = ": quote it" if isinstance(value, bool) else ""
    return f"expected {expected}, got {described(value)}{yes_no}{near}"


def _number(mistake: Mapping[str, Any]) -> str:
    value = mistake["input"]
    quoted = isinstance(value, str) and _is_number(value)
    what = "a number or a list of numbers" if NUMBER_TAG in mistake["loc"] else "a number"
    return f"expected {what}, got {described(value)}{': write it without quotes' if quoted else ''}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _too_short(mistake: Mapping[str, Any]) -> str:
    context = mistake["ctx"]
    if LIST_TAG not in mistake["loc"] and context.get("min_length") == 1:
        return "needs at least one entry"
    return f"expected {context['min_length']} values, got {context['actual_length']}"


def _row_form(mistake: Mapping[str, Any]) -> str:
    return (
        "3 values: [from index, to index, records/s]" if "substreams" in mistake["loc"] else "2 values: [first, last]"
    )


def _row(mistake: Mapping[str, Any]) -> str:
    return f"expected {_row_form(mistake).partition(': ')[2]}, got {described(mistake['input'])}"


_EXPLANATIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda m: f"expected {_row_form(m)}" if isinstance(m["loc"][-1], int) else "is missing",
    "string_type": lambda m: _not_text(m["input"]),
    "string_pattern_mismatch": lambda m: (
        "is empty" if not m["input"] else f"{described(m['input'])} is no id (letters, digits, '.', '_' and '-')"
    ),
    "float_type": _number,
    "float_parsing": _number,
    "int_type": lambda m: f"expected a whole number, got {described(m['input'])}",
    "int_from_float": lambda m: f"expected a whole number, got {described(m['input'])}",
    "bool_type": lambda m: f"expected true or false, got {described(m['input'])}",
    "list_type": lambda m: f"expected a list, got {described(m['input'])}",
    "tuple_type": _row,
    "dict_type": lambda m: f"expected a mapping, got {described(m['input'])}",
    "model_type": lambda m: f"expected a mapping, got {described(m['input'])}",
    "model_attributes_type": lambda m: f"expected a mapping, got {described(m['input'])}",
    "finite_number": lambda m: f"must be a finite number, got {described(m['input'])}",
    "greater_than_equal": lambda m: f"must be at least {m['ctx']['ge']:g}, got {described(m['input'])}",
    "greater_than": lambda m: f"must be more than {m['ctx']['gt']:g}, got {described(m['input'])}",
    "less_than_equal": lambda m: f"must be at most {_limit(m['ctx']['le'])}, got {described(m['input'])}",
    "less_than": lambda m: f"must be less than {_limit(m['ctx']['lt'])}, got {described(m['input'])}",
    "literal_error": lambda m: _literal(m["input"], m["ctx"]["expected"]),
    "too_short": _too_short,
    "too_long": lambda m: f"expected {m['ctx']['max_length']} values, got {m['ctx']['actual_length'] or 'more'}",
    "value_error": lambda m: str(m["ctx"]["error"]),
}


def explained(mistake: Mapping[str, Any]) -> str:
    """Return one of pydantic's errors as a sentence without its place."""
    explain = _EXPLANATIONS.get(mistake["type"])
    return explain(mistake) if explain is not None else str(mistake["msg"])


def _limit(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
