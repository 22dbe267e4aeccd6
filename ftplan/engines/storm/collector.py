"""What to ask Storm's UI: its topologies, their components with executors and hosts, and the supervisors.

A poll begins with ``/api/v1/cluster/summary``. Component pages are asked for the last ten minutes; the visualization is
the only page that tells groupings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ftplan.engines.collecting.asking import Asking
from ftplan.errors import FtplanError, suggestion

#: Seconds that component pages look back; Storm keeps 600, 10800, 86400 and all time.
WINDOW_S = 600


class StormPoll:
    """Asks Storm's UI; option ``jobs`` are ids or names of topologies, none are all."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if options.get("metrics"):
            raise FtplanError("--metrics: Storm's pages are kept whole; it goes with --from flink")
        self.jobs: Sequence[str] = options.get("jobs") or ()
        self._checked = False

    def __call__(self, ask: Asking) -> None:
        """Ask for everything once."""
        ask.first("storm")
        ask("/api/v1/supervisor/summary")
        topologies = [item for item in _list(ask("/api/v1/topology/summary"), "topologies") if item.get("id")]
        self._check_jobs(topologies)
        for topology in topologies:
            if not self.jobs or {topology["id"], topology.get("name")} & {*self.jobs}:
                self._topology(ask, str(topology.get("encodedId") or quote(str(topology["id"]), safe="")))

    def _check_jobs(self, topologies: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a topology that is unknown when the first answer names others; later ones come and go."""
        checked, self._checked = self._checked, True
        if checked or not topologies:
            return
        known = [str(item.get("name")) for item in topologies]
        for asked in self.jobs:
            if asked not in known and all(item["id"] != asked for item in topologies):
                text = f"--job {asked}: there is no such topology{suggestion(asked, known)}"
                raise FtplanError(f"{text}: {', '.join(known)}")

    def _topology(self, ask: Asking, encoded: str) -> None:
        base = f"/api/v1/topology/{encoded}"
        page = ask(base)
        ask(f"{base}/visualization?window={WINDOW_S}", optional=True)
        for kind in ("spout", "bolt"):
            for component in _list(page, f"{kind}s"):
                plain = component.get(f"{kind}Id")
                name = component.get(f"encoded{kind.title()}Id") or (quote(plain, safe="") if plain else None)
                if name:
                    ask(f"{base}/component/{name}?window={WINDOW_S}")


def _list(answer: Any, key: str) -> list[dict[str, Any]]:
    """Return the mappings that an answer lists below a key, none where it is something else."""
    listed = answer.get(key) if isinstance(answer, dict) else None
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
