"""The markers of pages: which generator writes what stands between them."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Name of a generator: module and function, which takes the arguments of the marker and returns Markdown.
GENERATORS = {
    "action": "docs.generate.ci:action",
    "columns": "docs.generate.schemas:columns",
    "example": "docs.generate.schemas:example",
    "fields": "docs.generate.schemas:fields",
    "figure": "docs.generate.results:figure",
    "table": "docs.generate.results:table",
    "options": "docs.generate.commands:options",
    "arrows": "docs.generate.rooms:arrows",
    "plan-options": "docs.generate.python_options:plan_options",
    "rooms": "docs.generate.rooms:rooms",
    "usage": "docs.generate.commands:usage",
    "over": "docs.generate.measures:over",
    "selection": "docs.generate.measures:selection",
    "said": "docs.generate.measures:said",
    "verdicts": "docs.generate.measures:verdicts",
    "claims": "docs.generate.measures:claims",
    "reproduced": "docs.generate.measures:reproduced",
    "shared-options": "docs.generate.commands:shared_options",
    "algorithms": "docs.generate.commands:algorithms",
    "commands": "docs.generate.commands:commands",
    "codes": "docs.generate.codes:codes",
    "metrics": "docs.generate.metrics:metrics",
}
_MARKED = re.compile(
    r"(?P<begin><!-- generate (?P<name>[a-z-]+)(?:: (?P<arguments>.*?))? -->)(?P<body>.*?)(?P<end><!-- end -->)",
    re.DOTALL,
)


def generated_pages() -> list[Path]:
    """Return the pages that may hold markers."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def written(text: str, name: str) -> str:
    """Return a page's text with everything between markers made anew.

    Raises
    ------
    ValueError
        Naming the page and the marker, where a generator does not know what it is asked for, or a marker has no end.
    """
    whole = [found["body"] for found in _MARKED.finditer(text)]
    if not len(whole) == text.count("<!-- generate") == text.count("<!-- end -->"):
        inner = next((body for body in whole if "<!-- generate" in body), "")
        raise ValueError(f"{name}: a marker without its end, or no marker: {' '.join(inner.split())[:80]!r}")

    def anew(found: re.Match[str]) -> str:
        try:
            module, _, function = GENERATORS[found["name"]].partition(":")
            arguments = [part.strip() for part in found["arguments"].split("::")] if found["arguments"] else []
            body = getattr(importlib.import_module(module), function)(*arguments)
        except (KeyError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{name}: {found['begin']}: {error}") from error
        # A block has lines of its own, so that Markdown is read between the comments.
        return found["begin"] + (f"\n\n{body}\n\n" if found["body"].startswith("\n") else body) + found["end"]

    return _MARKED.sub(anew, text)
