"""How much memory there is, before anything large is made."""

from __future__ import annotations

import os
from pathlib import Path

from ftplan.errors import FtplanError
from ftplan.model import container

#: Environment variable that sets the limit in 2^30 bytes, in place of what the system says is available.
VARIABLE = "FTPLAN_MAX_MEMORY_GB"
GB = 2.0**30


def available_bytes() -> float:
    """Return the limit: the environment variable's, else the least of what Linux and the container leave, else none.

    Raises
    ------
    FtplanError
        If the variable is not a positive number.
    """
    text = os.environ.get(VARIABLE)
    if text:
        try:
            limit = float(text)
        except ValueError:
            limit = 0.0
        if not limit > 0:
            raise FtplanError(f"{VARIABLE}: {text!r} is not a number of GiB above 0")
        return limit * GB
    left = container.memory_left_bytes()
    limits = (stated_bytes().get("MemAvailable"), left)
    return min((float(limit) for limit in limits if limit is not None), default=float("inf"))


def stated_bytes() -> dict[str, int]:
    """Return what Linux states of the machine's memory by its names, such as ``MemTotal``; nothing elsewhere."""
    try:
        lines = [line.split() for line in Path("/proc/meminfo").read_text().splitlines()]
    except OSError:
        return {}
    return {words[0].rstrip(":"): 1024 * int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
