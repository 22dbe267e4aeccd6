"""Write what is generated into README.md and the pages. With ``--check`` only say which pages are out of date."""

from __future__ import annotations

import sys

from docs.generate.pages import ROOT, generated_pages, written


def main() -> int:
    """Return 1 if a page was out of date and ``--check`` was given, else 0."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for page in generated_pages():
        before = page.read_text("utf-8")
        after = written(before, str(page.relative_to(ROOT)))
        if after != before:
            stale += 1
            print(f"{page.relative_to(ROOT)}: {'out of date: python -m docs.generate' if check else 'written'}")
            if not check:
                page.write_text(after, "utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
