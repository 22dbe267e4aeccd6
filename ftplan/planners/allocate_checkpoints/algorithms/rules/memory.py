"""How much memory an allocation needs, and whether it is there, before anything large is made."""

from __future__ import annotations

from ftplan.errors import FtplanError
from ftplan.model.machine_limits import GB, VARIABLE, available_bytes

#: Bytes of one pair of key group and node: its cost, and whether it is allowed.
PAIR = 9.0
#: Bytes of one pair in the neighbourhood search, and the pairs above which it is left out.
SEARCHED_PAIR = 26.0
SEARCHED_PAIRS = 50_000_000
#: Bytes of one load: as it is read, in order of the groups, and standardised.
LOAD = 24.0
#: Bytes of one key group's candidates, and of everything that does not grow.
GROUP = 2_500.0
BASE = 0.3 * GB


def needed_bytes(groups: int, nodes: int, windows: int) -> float:
    """Return about how many bytes planning takes at its peak, loaded statistics included."""
    pairs = float(groups) * nodes
    search = SEARCHED_PAIR * pairs if pairs <= SEARCHED_PAIRS else 0.0
    return BASE + LOAD * windows * groups + GROUP * groups + PAIR * pairs + search


def require_memory(groups: int, nodes: int, windows: int) -> None:
    """Refuse a problem that does not fit into memory.

    Raises
    ------
    FtplanError
        If the estimate is above what is available.
    """
    needed, available = needed_bytes(groups, nodes, windows), available_bytes()
    if needed > available:
        raise FtplanError(
            f"planning {groups} key groups on {nodes} nodes over {windows} windows needs about {needed / GB:.1f} GiB "
            f"and {available / GB:.1f} GiB are available: plan fewer operators at a time, compute the statistics with "
            f"fewer key groups or longer windows, or set {VARIABLE} to what may be used"
        )
