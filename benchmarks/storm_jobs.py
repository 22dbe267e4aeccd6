"""Production Storm topologies as ``ftplan import-topology --from storm --break-cycles`` reads them."""

from __future__ import annotations

from pathlib import Path

import ftplan


def tasks_and_edges(path: Path) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the number of tasks by component, and who sends to whom, in the order of names; nothing for no topology.

    Trident's coordination is left out, several streams between two components are one edge, and the fewest edges
    are cut so that there is no cycle.
    """
    try:
        topology = ftplan.import_topology(path, "storm", break_cycles=True).topology
    except ftplan.FtplanError:
        return {}, []
    tasks = {operator["id"]: operator["parallelism"] for operator in topology["operators"]}
    return tasks, sorted((edge["from"], edge["to"]) for edge in topology["edges"])
