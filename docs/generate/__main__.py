"""Write what is generated: into README.md and the pages, and below share/ what an installation puts beside ftplan.

Drawings that pages show are copied to where the site can find them. With ``--check`` only say which files are out
of date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docs.generate.drawings import drawings
from docs.generate.manual import SHARE, installed_files
from docs.generate.pages import ROOT, generated_pages, written


def generated_files() -> dict[Path, bytes]:
    """Return all that is generated: where it stands in the project, and what it holds."""
    files = {path: text.encode() for path, text in installed_files().items()}
    for page in generated_pages():
        text = written(page.read_text("utf-8"), str(page.relative_to(ROOT)))
        files[page] = text.encode()
        files |= {copy: original.read_bytes() for copy, original in drawings(page, text).items()}
    return files


def main() -> int:
    """Return 1 if a file was out of date and ``--check`` was given, else 0."""
    check = "--check" in sys.argv[1:]
    files = generated_files()
    stale = [path for path, held in files.items() if not path.is_file() or path.read_bytes() != held]
    left = [path for path in SHARE.rglob("*") if path.is_file() and path not in files]
    for path in stale + left:
        print(f"{path.relative_to(ROOT)}: {'out of date: python -m docs.generate' if check else 'written'}")
        if check:
            continue
        if path in left:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[path])
    return int(check and bool(stale or left))


if __name__ == "__main__":
    sys.exit(main())
