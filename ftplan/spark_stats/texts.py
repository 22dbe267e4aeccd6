"""Lines of text files, packed ones and others together, and the groups of a regular expression in them as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import functions as F

from ftplan.spark_stats.packed import ending
from ftplan.spark_stats.session import Session

#: Parts the groups; no text that is read holds it (:func:`ftplan.spark_stats.inputs.inspect_files`).
_MARK = "\0"


def with_groups(
    frame: Any, text: Any, expression: str, groups: Mapping[str, Sequence[int]], column: str
) -> tuple[Any, Any, Mapping[str, Any]]:
    """Return the frame with a *column* of groups, whether the expression matches, and what each name holds.

    The text is replaced by its groups, parted by a mark, and split again: one pass, where an extraction per group
    would take as many. The column keeps the result, so that no engine writes the pass down once for each name. A
    group that took no part is empty; without a text all is null.

    Parameters
    ----------
    expression
        As :mod:`ftplan.spark_stats.patterns` writes it, for the whole text.
    groups
        Numbers of groups by name, from 1; of several, what they hold is put together.
    """
    replacement = "".join(_MARK + "".join(f"${i}" for i in numbers) for numbers in groups.values())
    parts = F.split(F.regexp_replace(text, F.lit(expression), F.lit(replacement)), r"\x00", -1)
    frame = frame.select("*", parts.alias(column))
    return frame, F.size(column) > 1, {name: F.get(F.col(column), F.lit(i)) for i, name in enumerate(groups, 1)}


def read_texts(session: Session, uris: Sequence[str], *, whole: bool = False) -> Any:
    """Return the lines of all files, or each file as a whole, as column ``value``.

    Sail does not read files at once that are packed in different ways, so they are read apart.
    """
    kinds: dict[str, list[str]] = {}
    for uri in uris:
        kinds.setdefault(ending(uri), []).append(uri)
    frame, *others = [session.spark.read.text(paths, wholetext=whole) for paths in kinds.values()]
    for other in others:
        frame = frame.unionByName(other)
    return frame
