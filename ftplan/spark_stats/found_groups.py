"""Groups of a regular expression as columns, in one pass over a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import functions as F

#: Parts the groups; no text that is read holds it (:func:`ftplan.spark_stats.inputs.inspect_files`).
_MARK = "\0"


def found_groups(text: Any, expression: str, names: Sequence[str]) -> tuple[Any, Mapping[str, Any]]:
    """Return whether an expression for a whole text matches, and what its groups hold, by their names in order.

    The text is replaced by its groups, parted by a mark, and split again: one pass, where an extraction per group
    would take as many. A group that took no part is empty.

    Parameters
    ----------
    expression
        As :mod:`ftplan.spark_stats.patterns` writes it, anchored at both ends.
    """
    groups = "".join(f"{_MARK}${i}" for i in range(1, len(names) + 1))
    replaced = F.regexp_replace(text, F.lit(expression), F.lit(groups))
    parts = F.split(replaced, r"\x00", -1)
    return replaced.startswith(_MARK), {name: F.get(parts, F.lit(i)) for i, name in enumerate(names, 1)}
