"""Options that several kinds of question have, word for word: each call makes a field of its own."""

from __future__ import annotations

from typing import Any

from ftplan.io.options.fields import PLAN, number, option, optional, seconds, speed

BANDWIDTH = number(1e-6, 1e9)


def replicas_in_place() -> Any:
    """Return the option of the active replicas that run."""
    text = (
        "Task replication whose active replicas run; wins over placement.replicas of the cluster. Or a scale-out: its "
        "prepared backups run beside those."
    )
    return option(None, PLAN, text, metavar="PLAN")


def checkpoints_in_place() -> Any:
    """Return the option of the checkpoints that lie on nodes."""
    text = "Checkpoint allocation in place: no transfer where a copy lies; wins over placement.checkpoints."
    return option(None, PLAN, text, metavar="PLAN")


def restore_bandwidth() -> Any:
    """Return the option of what restores get."""
    text = "Of restores, such as 100MB/s.  [default: as --costs says, else the "
    return speed(None, optional(BANDWIDTH), f"{text}cluster's network]")


def resolution(least_s: float) -> Any:
    """Return the option of how finely a simulation tells what happens over time."""
    text = "Resolution of what the answer tells over time.  [default: a round time, at most 120 in all]"
    return seconds(None, optional(number(least_s, 1e6)), text)
