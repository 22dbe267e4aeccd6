"""Reading a YAML or JSON document from a file, standard input or memory.

And the hashes by which a plan names its inputs.
"""

from __future__ import annotations

import errno
import gc
import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ftplan.errors import FtplanError, made_by, suggestion
from ftplan.io.inputs_read import refuse_special, remember_input
from ftplan.io.parsers import MAX_DEPTH, parse_json, parse_yaml, states_a_format


def sha256_of_bytes(data: bytes) -> str:
    """Return the SHA-256 of *data* in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; OSError also if it is a pipe or a device."""
    if not path.is_file():
        raise OSError(errno.EINVAL, "no regular file")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_data(data: Any) -> str:
    """Return the SHA-256 of plain JSON data in hexadecimal: sorted keys, no spaces, numbers as they are."""
    return sha256_of_bytes(json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


STANDARD_INPUT = "-"
_read_streams: list[object] = []  # the standard input that was read; tests put another in its place


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data with where it came from. ``path`` is relative to the working folder; None for data in memory."""

    value: Any
    sha256: str
    name: str
    path: str | None


Source = str | os.PathLike[str] | Mapping[str, Any] | Document


def display_name(path: str | os.PathLike[str]) -> str:
    """Return how messages call a file: as it was given, relative where it lies below the working folder."""
    text = os.fspath(path)
    if text == STANDARD_INPUT:
        return "standard input"
    if os.path.isabs(text):
        relative = os.path.relpath(text)
        return text if relative.startswith("..") else relative
    return text


def recorded_path(path: str | os.PathLike[str]) -> str:
    """Return the path that a plan records: relative to the working folder, ``-`` for standard input."""
    return STANDARD_INPUT if os.fspath(path) == STANDARD_INPUT else os.path.relpath(path)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause cyclic garbage collection: building a million small values is otherwise mostly collection."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_document(source: Source, what: str) -> Document:
    """Read a document. *what* says in messages what was expected, for instance ``topology``.

    A path ending in ``.json`` is JSON, in ``.yaml`` or ``.yml`` YAML; anything else, and standard input (``-``), is
    JSON where it begins with ``{`` or ``[`` and YAML otherwise.

    Raises FtplanError (with the line) if the file is missing, a folder, unreadable, empty, binary, not UTF-8, no valid
    document, or holds NaN or infinity; and on a second use of standard input.
    """
    if isinstance(source, Document):
        return source
    with collection_paused():
        if isinstance(source, Mapping):
            try:
                value = plain(source, what)
                return Document(value, sha256_of_data(value), what, None)
            except RecursionError:
                raise FtplanError(f"{what}: nested deeper than {MAX_DEPTH} levels") from None
            except UnicodeEncodeError:
                raise FtplanError(f"{what}: a text holds half of a surrogate pair") from None
            except ValueError:
                raise FtplanError(f"{what}: a number with too many digits") from None
        name = display_name(source)
        data = read_bytes(source, what)
        return Document(
            parse_text(decoded(data, name), name, source), sha256_of_bytes(data), name, recorded_path(source)
        )


def read_bytes(path: str | os.PathLike[str], what: str) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``.

    Raises FtplanError if the file is missing (with the name of a file like it), a folder or unreadable, or standard
    input was read before.
    """
    name = display_name(path)
    if name == "standard input":
        if any(stream is sys.stdin for stream in _read_streams):
            raise FtplanError("standard input: '-' can stand for one input only; give the others as files")
        _read_streams[:] = [sys.stdin]
        try:
            data: bytes = sys.stdin.buffer.read()
        except OSError as error:
            raise FtplanError(f"{name}: cannot be read: {error.strerror}") from None
        return data
    refuse_special(path, name)
    remember_input(path)
    try:
        return Path(path).read_bytes()
    except IsADirectoryError:
        raise FtplanError(f"{name}: is a folder; expected a {what} file") from None
    except (FileNotFoundError, NotADirectoryError):
        raise FtplanError(f"{name}: no such file{_near_file(Path(path)) or made_by(what)}") from None
    except PermissionError:
        raise FtplanError(f"{name}: may not be read (permission denied)") from None
    except (OSError, ValueError) as error:
        raise FtplanError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _near_file(path: Path) -> str:
    try:
        known = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return "" if path.parent == Path() else f" (nor a folder {display_name(path.parent)!r})"
    return suggestion(path.name, known)


def decoded(data: bytes, name: str) -> str:
    """Return the text of a file; a byte order mark of UTF-8 is dropped.

    Raises FtplanError if there is no text, or it is not UTF-8.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FtplanError(f"{name}: is UTF-16 text; save it as UTF-8")
    if b"\0" in data or data.startswith((b"\x1f\x8b", b"PAR1", b"PK\x03\x04")):
        raise FtplanError(f"{name}: is a binary file; expected YAML or JSON")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FtplanError(f"{name}: line {line}: not UTF-8 (byte 0x{data[error.start]:02x})") from None
    if not text.strip():
        raise FtplanError(f"{name}: is empty")
    return text


def parse_text(text: str, name: str, path: str | os.PathLike[str] = "") -> Any:
    """Return the data in YAML or JSON text; the extension of *path* decides, else the first character.

    Raises FtplanError if the text is no valid document (with the line), or holds NaN or infinity (with the place).
    """
    extension = os.path.splitext(os.fspath(path))[1].lower()
    as_json = extension == ".json" or (extension not in (".yaml", ".yml") and text.lstrip()[0] in "{[")
    with collection_paused():
        value = parse_json(text, name) if as_json else parse_yaml(text, name)
    if ("NaN" in text or "Infinity" in text) if as_json else _may_hold_special(text):
        refuse_not_finite(value, name, "" if states_a_format(text) else None)
    return value


def _may_hold_special(text: str) -> bool:
    lower = text.lower()
    return ".nan" in lower or ".inf" in lower


def refuse_not_finite(value: Any, name: str, place: str | None = "") -> None:
    """Raise :class:`FtplanError` with its place if a number anywhere in *value* is NaN or infinite.

    With None as *place* keys are not repeated.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise FtplanError(f"{name}: {place or 'the document'}: must be a finite number, got {_spelled(value)}")
    elif isinstance(value, dict):
        for key, item in value.items():
            refuse_not_finite(item, name, f"{place}.{key}" if place else place if place is None else key)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            refuse_not_finite(item, name, place if place is None else f"{place}[{i}]")


def _spelled(value: float) -> str:
    return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"


def plain(value: Any, name: str) -> Any:
    """Return data given in Python as lists, dictionaries and plain numbers; numpy values and tuples become these.

    Raises FtplanError if a key is no text, or a value is nothing that JSON knows.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise FtplanError(f"{name}: the key {key!r} is not text")
        return {key: plain(item, name) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return [plain(item, name) for item in items]
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return plain(value.tolist(), name)
    raise FtplanError(f"{name}: a value of type {type(value).__name__} has no place in a document")
