"""Storm's UI of the job of examples/storm-recovery: a production topology on twelve hosts.

Components, parallelism, cpu and groupings are those of the topology; hosts are those of the example's cluster. What is
counted over ten minutes follows from its 100 records a second from each task of the first bolts.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ftplan.engines.storm.components import is_coordination
from ftplan.io.parsers import parse_yaml
from tests.engines.collecting.server import FakeEndpoint
from tests.places import ROOT

_EXAMPLE = ROOT / "examples" / "storm-recovery"
ID = "TopologyName00034-7-1795336798"
BASE = f"/api/v1/topology/{ID}"
_WINDOW_S, _FIRST_RATE, _CPU = 600, 100.0, "topology.component.cpu.pcore.percent"


class StormUi(FakeEndpoint):
    """Answers the pages of one topology."""

    def __init__(self) -> None:
        super().__init__(pages())


@cache
def pages() -> dict[str, Any]:
    """Return the pages by path."""
    document = json.loads((_EXAMPLE / "TopologyName00034.json").read_text("utf-8"))
    cluster: Any = parse_yaml((_EXAMPLE / "cluster.yaml").read_text("utf-8"), "cluster.yaml")
    placed: dict[str, list[str]] = cluster["placement"]["tasks"]
    percent = {c["id"]: c["resources"].get(_CPU, document["conf"][_CPU]) for c in document["components"]}
    edges = [
        edge
        for edge in document["edges"]
        if edge["from"] in placed and edge["to"] in placed and not is_coordination(edge["stream"])
    ]
    rates = _rates(placed, edges)
    sends = {name: max(sum(edge["from"] == name for edge in edges), 1) for name in placed}
    components, first = {}, 1
    for name in sorted(placed):
        hosts = placed[name]
        executor = {
            "uptimeSeconds": 86_400,
            "emitted": round(rates[name] * sends[name] * _WINDOW_S / len(hosts)),
            "executed": round(rates[name] * _WINDOW_S / len(hosts)),
            "capacity": f"{percent[name] / 100:.3f}",
        }
        components[f"{BASE}/component/{name}?window={_WINDOW_S}"] = {
            "id": name,
            "topologyId": ID,
            "window": str(_WINDOW_S),
            "executorStats": [
                {"id": f"[{first + k}-{first + k}]", "host": host, "port": 6700, **executor}
                for k, host in enumerate(hosts)
            ],
            "inputStats": [
                {"component": edge["from"], "stream": edge["stream"], "executed": rates[edge["from"]] * _WINDOW_S}
                for edge in edges
                if edge["to"] == name
            ],
        }
        first += len(hosts)
    return {
        "/api/v1/cluster/summary": {"supervisors": len(cluster["nodes"])},
        "/api/v1/supervisor/summary": {
            "supervisors": [
                {"host": node["id"], "totalCpu": 100.0 * node["cpu"], "totalMem": node["memory_mb"]}
                for node in cluster["nodes"]
            ]
        },
        "/api/v1/topology/summary": {"topologies": [{"id": ID, "name": document["name"], "encodedId": ID}]},
        BASE: {
            "id": ID,
            "name": document["name"],
            "status": "ACTIVE",
            "window": ":all-time",
            "topologyStats": [],
            "workers": [{"host": node["id"], "port": 6700} for node in cluster["nodes"]],
            "spouts": [],
            "bolts": [
                {"boltId": name, "executors": len(hosts), "tasks": len(hosts), "capacity": f"{percent[name] / 100:.3f}"}
                for name, hosts in placed.items()
            ],
        },
        f"{BASE}/visualization?window={_WINDOW_S}": {
            name: {
                ":type": "bolt",
                ":inputs": [
                    {":component": e["from"], ":stream": e["stream"], ":grouping": e["grouping"]}
                    for e in edges
                    if e["to"] == name
                ],
            }
            for name in placed
        },
        **components,
    }


def _rates(placed: dict[str, list[str]], edges: list[dict[str, Any]]) -> dict[str, float]:
    """Return the records a second that a component takes in; it sends as many on each of its streams."""
    rates: dict[str, float] = {}

    def rate(name: str) -> float:
        if name not in rates:
            inputs = [edge["from"] for edge in edges if edge["to"] == name]
            rates[name] = sum(map(rate, inputs)) if inputs else _FIRST_RATE * len(placed[name])
        return rates[name]

    for name in placed:
        rate(name)
    return rates
