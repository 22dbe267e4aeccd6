"""What makes pages of the site easier to read: ``mkdocs build`` calls this."""

from __future__ import annotations

import re
from typing import Any

_BLOCK = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
_CODE = re.compile(r"(<code>)([^<]*)(</code>)")
_OPTION = re.compile(r"(?<![\w-])(--?[a-z][\w-]*)")


def unbroken(html: str) -> str:
    """Return a page on which no line ends within an option, as browsers would break ``--seed`` after its hyphens."""
    kept = list(_BLOCK.finditer(html))
    starts = [0, *(block.end() for block in kept)]
    ends = [*(block.start() for block in kept), len(html)]
    blocks = [*(block.group() for block in kept), ""]
    return "".join(
        _CODE.sub(_marked, html[start:end]) + block for start, end, block in zip(starts, ends, blocks, strict=True)
    )


def _marked(code: re.Match[str]) -> str:
    return code[1] + _OPTION.sub(r'<span class="option">\1</span>', code[2]) + code[3]


def on_page_content(html: str, **_: Any) -> str:
    """Mark the options on a page; mkdocs calls this."""
    return unbroken(html)
