"""Drawings of measurements lie in benchmarks/figures: the site takes those that its pages show from there."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.structure.files import File, Files

from docs.generate.results import BENCHMARKS

_FOLDER = "../../benchmarks/figures/"
_SHOWN = re.compile(rf"\]\({re.escape(_FOLDER)}([\w-]+\.svg)\)")


def on_files(files: Files, config: Any) -> None:
    """Add the drawings that pages show to the files of the site; mkdocs calls this."""
    for page in list(files.documentation_pages()):
        for name in _SHOWN.findall(page.content_string):
            place = f"{page.src_uri.rpartition('/')[0]}/figures/{name}"
            files.append(File.generated(config, place, abs_src_path=str(BENCHMARKS / "figures" / name)))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the drawings from where the site has them; mkdocs calls this."""
    return _SHOWN.sub(r"](figures/\1)", markdown)
