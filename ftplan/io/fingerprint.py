"""Hashes by which a plan names its inputs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def sha256_of_bytes(data: bytes) -> str:
    """Return the SHA-256 of *data* in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_data(data: Any) -> str:
    """Return the SHA-256 of plain JSON data in hexadecimal: sorted keys, no spaces, numbers as they are."""
    return sha256_of_bytes(json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())
