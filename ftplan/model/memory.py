"""How much memory there is, before anything large is made."""

from __future__ import annotations

import os
from pathlib import Path

from ftplan.errors import FtplanError

#: Environment variable that sets the limit in 2^30 bytes, in place of what the system says is available.
VARIABLE = "FTPLAN_MAX_MEMORY_GB"
GB = 2.0**30


def available_bytes() -> float:
    """Return the limit: the environment variable's, else what Linux calls available, else no limit.

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
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    for line in lines:
        if line.startswith("MemAvailable:"):
            return float(line.split()[1]) * 1024.0
    return float("inf")
