"""Lines of text files, packed ones and others together, and the groups of a regular expression in them as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import functions as F

from ftplan.spark_stats.packed import ending
from ftplan.spark_stats.patterns import LogPattern
from ftplan.spark_stats.session import Session


def with_groups(
    frame: Any, text: Any, pattern: LogPattern, groups: Mapping[str, Sequence[int]], column: str
) -> tuple[Any, Any, Mapping[str, Any]]:
    """Return the frame with a *column* of groups, whether the pattern is found, and what each name holds.

    RE2 looks for it, in an Arrow UDF: its time is linear in the text, where Java's grows exponentially with some
    patterns and its stack with others. The column keeps the result, so that no engine computes it anew for each name.
    A group that took no part is empty; where nothing is found, or without a text, all is null.

    Parameters
    ----------
    groups
        Numbers of groups by name, from 1; of several, what they hold is put together.
    """
    fields = [f"g{i}" for i in range(len(groups))]
    found_in = groups_of(pattern, tuple(groups.values()))
    kind = f"struct<{','.join(f'{field}: string' for field in fields)}>"
    frame = frame.select("*", F.arrow_udf(lambda texts: found_in(texts), kind)(text).alias(column))
    named = {name: F.col(column).getField(field) for name, field in zip(groups, fields, strict=True)}
    return frame, F.col(column).isNotNull(), named


def groups_of(pattern: LogPattern, numbers: Sequence[Sequence[int]]) -> Any:
    """Return the function of that UDF; defined within another, it goes to executors by value.

    It takes an array of n texts and returns one of n structs with the fields ``g0``, ``g1`` and so on, one for each of
    *numbers* (:func:`with_groups`), null where nothing is found.
    """
    expression, of_ascii = pattern.expression, pattern.ascii

    def found_in(texts: Any) -> Any:
        import pyarrow
        import pyarrow.compute as pc

        places = texts.cast(pyarrow.string()).dictionary_encode()  # most times stand in many rows
        texts = places.dictionary
        plain = pc.all(pc.string_is_ascii(texts)).as_py()
        found = pc.extract_regex(texts, pattern=of_ascii if plain else expression)
        parts = found.flatten()
        columns = [pc.binary_join_element_wise(*(parts[n - 1] for n in several), "") for several in numbers]
        names = [f"g{i}" for i in range(len(columns))]
        return pyarrow.StructArray.from_arrays(columns, names, mask=found.is_null()).take(places.indices)

    return found_in


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
