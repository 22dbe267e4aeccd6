"""Times, sizes, speeds and shares as one types them: the one reader of each, whichever command, file or call has it.

A unit may follow with or without a space. Units of sizes are those of everybody: MB is 10^6 bytes and MiB 2^20.
"""

from __future__ import annotations

import math
import re

from ftplan.model.units import MB

NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_QUANTITY = re.compile(rf"\s*({NUMBER})\s*([A-Za-z%]*)\s*")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SIZE = re.compile(r"([kmgt])(i?)b?|b?")
#: Letters that are read as bits by some and as bytes by others.
_BITS = re.compile(r"[KMGT]i?b")


def _parts(text: str) -> tuple[float, str] | None:
    """Return number and unit of a quantity; None where it is none, or has no end."""
    found = _QUANTITY.fullmatch(text)
    value = float(found[1]) if found else math.inf
    return (value, found[2]) if found and math.isfinite(value) else None


def seconds_of(text: str) -> float:
    """Return seconds: ``500ms``, ``60s``, ``5m``, ``24h``, ``7d``; without a unit a number is of seconds.

    Raises ValueError with what would be right.
    """
    parts = _parts(text)
    if parts is None or parts[1] not in ("", *_SECONDS):
        raise ValueError(f"{text!r} is no duration: a number of seconds, or 500ms, 60s, 5m, 24h, 7d")
    return _finite(parts[0] * _SECONDS[parts[1] or "s"], text)


def bytes_of(text: str) -> float:
    """Return bytes: ``500MB``, ``2GB`` (powers of 10), ``512MiB``, ``2GiB`` (powers of 2); or a number of bytes.

    Raises ValueError with what would be right.
    """
    parts = _parts(text)
    unit = _SIZE.fullmatch(parts[1].lower()) if parts else None
    if parts is None or unit is None:
        raise ValueError(f"{text!r} is no size: a number of bytes, or 500MB, 2GB, 512MiB, 2GiB")
    if _BITS.fullmatch(parts[1]):
        raise ValueError(f"{text!r}: bits or bytes? Bytes are MB or MiB")
    power = " kmgt".index(unit[1]) if unit[1] else 0
    return _finite(parts[0] * (1024.0 if unit[2] else 1000.0) ** power, text)


def speed_of(text: str) -> float:
    """Return units of 2^20 bytes per second: ``100MB/s``, ``100MiB/s``, ``1GB``. A number needs a unit.

    Raises ValueError with what would be right.
    """
    size = text.strip().removesuffix("/s").removesuffix("/S")
    parts = _parts(size)
    if parts is not None and not parts[1]:
        number = parts[0]
        raise ValueError(f"{text!r} has no unit: {number:.12g}MB/s or {number:.12g}MiB/s?")
    try:
        speed = bytes_of(size) / MB
    except ValueError as error:
        if "bits" in str(error):
            raise
        raise ValueError(f"{text!r} is no speed: 100MB/s, 100MiB/s, 1GB/s") from None
    if not speed > 0.0:
        raise ValueError(f"{text!r}: a bandwidth is more than 0 and finite")
    return speed


def share_of(text: str) -> float:
    """Return a share of 1: ``0.7`` or ``70%``.

    Raises ValueError with what would be right.
    """
    parts = _parts(text)
    if parts is None or parts[1] not in ("", "%"):
        raise ValueError(f"{text!r} is no share: 0.7 or 70%")
    return parts[0] / 100.0 if parts[1] else parts[0]


def _finite(value: float, text: str) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not finite")
    return value
