"""Read the lines of text files, packed ones and others together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ftplan.spark_stats.session import Session


def read_texts(session: Session, uris: Sequence[str], *, whole: bool = False) -> Any:
    """Return the lines of all files, or each file as a whole, as column ``value``.

    Sail does not read packed files and others at once, so they are read apart.
    """
    kinds = [[uri for uri in uris if uri.endswith(".gz") == packed] for packed in (False, True)]
    frame, *others = [session.spark.read.text(paths, wholetext=whole) for paths in kinds if paths]
    for other in others:
        frame = frame.unionByName(other)
    return frame
