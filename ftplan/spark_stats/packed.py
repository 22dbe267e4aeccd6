"""Packed text: what its name ends in, what it begins with, and the text behind it."""

from __future__ import annotations

from typing import Any

#: What packed text begins with, by the ending that Spark and Sail go by.
MAGIC: dict[str, bytes] = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}


def ending(path: str) -> str:
    """Return the ending by which a path is packed, ``.gz`` or ``.zst``; empty where it is not."""
    return next((known for known in MAGIC if path.lower().endswith(known)), "")


def unpacked(file: Any, by: str) -> Any:
    """Return a binary file to read the text behind an open one, packed as an :func:`ending` says.

    Reading raises EOFError, OSError or zlib.error if the file is cut off or damaged.
    """
    if by == ".gz":
        from gzip import GzipFile

        return GzipFile(fileobj=file, mode="rb")
    if by == ".zst":
        import pyarrow

        return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, mode="r"), "zstd")
    return file
