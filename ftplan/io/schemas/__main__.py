"""``python -m ftplan.io.schemas``: write the shipped schemas anew from the models."""

from __future__ import annotations

from ftplan.io.schemas import FOLDER, KINDS, generate
from ftplan.model.plan import canonical_json

if __name__ == "__main__":
    for kind in KINDS:
        (FOLDER / f"{kind}.json").write_text(canonical_json(generate(kind)), encoding="utf-8")
