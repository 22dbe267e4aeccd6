"""Write what is generated: into README.md and the pages, and below share/ what an installation puts beside ftplan.

With ``--check`` only say which files are out of date.
"""

from __future__ import annotations

import sys

from docs.generate.manual import SHARE, installed_files
from docs.generate.pages import ROOT, generated_pages, written


def main() -> int:
    """Return 1 if a file was out of date and ``--check`` was given, else 0."""
    check = "--check" in sys.argv[1:]
    now = {page: written(page.read_text("utf-8"), str(page.relative_to(ROOT))) for page in generated_pages()}
    files = installed_files()
    stale = [path for path, text in {**now, **files}.items() if not path.is_file() or path.read_text("utf-8") != text]
    left = [path for path in SHARE.rglob("*") if path.is_file() and path not in files]
    for path in stale + left:
        print(f"{path.relative_to(ROOT)}: {'out of date: python -m docs.generate' if check else 'written'}")
        if check:
            continue
        if path in left:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((now | files)[path], "utf-8")
    return int(check and bool(stale + left))


if __name__ == "__main__":
    sys.exit(main())
