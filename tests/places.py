"""Where the project's files are, for tests in folders of any depth."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
