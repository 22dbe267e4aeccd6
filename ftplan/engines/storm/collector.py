"""What to ask Storm's UI: its topologies, their components with executors and hosts, and the supervisors.

A poll begins with ``/api/v1/cluster/summary``. Component pages are asked for the last ten minutes; the visualization is
the only page that tells groupings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ftplan.engines.collecting.asking import Asking, Chosen, listed
from ftplan.errors import FtplanError

#: Seconds that component pages look back; Storm keeps 600, 10800, 86400 and all time.
WINDOW_S = 600


class StormPoll:
    """Asks Storm's UI; option ``jobs`` are ids or names of topologies, none are all."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if options.get("metrics"):
            raise FtplanError("--metrics: Storm's pages are kept whole; it goes with --from flink")
        self._chosen = Chosen(options.get("jobs") or (), "topology")

    def __call__(self, ask: Asking) -> None:
        """Ask for everything once."""
        ask.first("storm")
        ask("/api/v1/supervisor/summary")
        topologies = [item for item in listed(ask("/api/v1/topology/summary"), "topologies") if item.get("id")]
        for topology in self._chosen.of(topologies, "id"):
            self._topology(ask, str(topology.get("encodedId") or quote(str(topology["id"]), safe="")))

    def _topology(self, ask: Asking, encoded: str) -> None:
        base = f"/api/v1/topology/{encoded}"
        page = ask(base)
        ask(f"{base}/visualization?window={WINDOW_S}", optional=True)
        for kind in ("spout", "bolt"):
            for component in listed(page, f"{kind}s"):
                plain = component.get(f"{kind}Id")
                name = component.get(f"encoded{kind.title()}Id") or (quote(plain, safe="") if plain else None)
                if name:
                    ask(f"{base}/component/{name}?window={WINDOW_S}")
