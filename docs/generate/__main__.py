"""Write what is generated into README.md and the pages, or say with ``--check`` which are out of date.

Drawings that pages show are copied to where the site can find them.
"""

from __future__ import annotations

import sys

from docs.generate.drawings import drawings
from docs.generate.pages import ROOT, generated_pages, written


def main() -> int:
    """Return 1 if a page was out of date and ``--check`` was given, else 0."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for page in generated_pages():
        before = page.read_text("utf-8")
        now = written(before, str(page.relative_to(ROOT)))
        for copy, original in drawings(page, now).items():
            if not check and not (copy.is_file() and copy.read_bytes() == original.read_bytes()):
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(original.read_bytes())
                print(f"{copy.relative_to(ROOT)}: written")
        if now == before:
            continue
        stale += 1
        print(f"{page.relative_to(ROOT)}: {'out of date: python -m docs.generate' if check else 'written'}")
        if not check:
            page.write_text(now, "utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
