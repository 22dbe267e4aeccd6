"""Drawings of measurements that pages show: copies of those in benchmarks/figures, where the site can find them."""

from __future__ import annotations

import re
from pathlib import Path

from docs.generate.results import BENCHMARKS

_SHOWN = re.compile(r"!\[[^\]]*\]\((figures/(?P<name>[\w-]+\.svg))\)")


def drawings(page: Path, text: str) -> dict[Path, Path]:
    """Return where each drawing that a page shows as ``figures/NAME.svg`` is to be, and what it is a copy of."""
    return {page.parent / found[1]: BENCHMARKS / "figures" / found["name"] for found in _SHOWN.finditer(text)}
