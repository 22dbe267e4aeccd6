"""Logs for tests: thinned out, where all of one would only cost time."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path


def thin(source: Path, target: Path, step: int) -> Path:
    """Write the header and every *step*-th row of a gzipped text to *target*, which may be the source."""
    with gzip.open(source, "rt", encoding="utf-8") as whole:
        header = next(whole)
        kept = list(islice(whole, 0, None, step))
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=1) as out:
        out.writelines([header, *kept])
    return target
