"""What answers of Prometheus say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def result_of(value: Any) -> list[dict[str, Any]] | None:
    """Return the series of an answer, None where it is none."""
    try:
        result = value["data"]["result"]
        good = value["status"] == "success" and value["data"]["resultType"] == "matrix"
        good = good and all(isinstance(s["metric"], dict) and isinstance(s["values"], list) for s in result)
    except (TypeError, KeyError):
        return None
    return list(result) if good else None


def refusal_of(value: Any) -> str:
    """Return what an answer that is no result says instead."""
    said = value.get("error") if isinstance(value, dict) else None
    return str(said) if said else "the answer is not what Prometheus answers"


def warnings_of(value: Mapping[str, Any]) -> list[str]:
    """Return the warnings of an answer."""
    said = value.get("warnings")
    return [str(text) for text in said] if isinstance(said, list) else []


def is_partial(value: Mapping[str, Any]) -> bool:
    """Whether an answer says that it is incomplete; remarks on the query itself say no such thing."""
    told = [text for text in warnings_of(value) if not text.startswith("PromQL")]
    return bool(told) or value.get("isPartial") is True


def name_of(series: Mapping[str, Any]) -> str:
    """Return what tells a series from all others."""
    return repr(sorted(series["metric"].items()))
