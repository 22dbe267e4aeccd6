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
    return min(_of_the_machine(), float("inf") if left is None else float(left))


def _of_the_machine() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    for line in lines:
        if line.startswith("MemAvailable:"):
            return float(line.split()[1]) * 1024.0
    return float("inf")
