"""Which nodes fail once the planned ring is in place, and how probably nodes and zones fail in one repair window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Failure
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import Assumption, Warn
from ftplan.model.topology import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class FailureProbabilities:
    """How probably nodes (N,) and zones (Z,) fail, 0 where unknown, and whether anybody says so."""

    down: FloatArray
    zone_down: FloatArray
    known: bool
    warnings: tuple[Warn, ...]

    @classmethod
    def of(cls, cluster: Cluster, zones: Sequence[str], holding: BoolArray) -> FailureProbabilities:
        """Return what a cluster states, of its zones in an order; *holding* are the nodes that matter, (N,)."""
        stated = {zone.id: zone.failure_probability for zone in cluster.zones}
        nodes = [node.failure_probability for node in cluster.nodes]
        given = [*nodes, *stated.values()]
        known = any(chance is not None for chance in given)
        unknown = sum(chance is None and here for chance, here in zip(nodes, holding.tolist(), strict=True))
        said: tuple[Warn, ...] = ()
        if known and unknown:
            some = "1 node has" if unknown == 1 else f"{unknown:,} nodes have"
            text = f"{some} no failure_probability in the cluster file: none fails but with its zone"
            said = (Assumption("PROBABILITY_UNKNOWN", text, 0.0),)
        return cls(
            np.array([chance or 0.0 for chance in nodes], dtype=np.float64),
            np.array([stated.get(zone) or 0.0 for zone in zones], dtype=np.float64),
            known,
            said,
        )


def failing_nodes(
    fail: tuple[str, ...], failure: Failure | None, cluster: Cluster
) -> tuple[BoolArray, tuple[Warn, ...]]:
    """Return the nodes that ``--fail`` and the failure file take down, (N,), all at once.

    Raises FtplanError if a selector is wrong, names what is not there, or names no nodes.
    """
    failed = np.zeros(len(cluster.nodes), dtype=np.bool_)
    listed = () if failure is None else failure.fail
    selectors = [(entry.select, "the failure file") for entry in listed]
    selectors += [(_given(text, cluster), "--fail") for text in fail]
    for selector, where in selectors:
        if selector.kind not in ("node", "zone"):
            raise FtplanError(f"{where}: {selector} is no part of a ring: what fails there is node:ID or zone:ID")
        for node in cluster.nodes_of(selector):
            failed[cluster.position[node]] = True
    return failed, tuple(_ignored(failure))


def _given(text: str, cluster: Cluster) -> Selector:
    try:
        selector = parse_selector(text)
        check_selector(selector, cluster=cluster)
    except FtplanError as error:
        raise FtplanError(f"--fail: {error}") from None
    return selector


def _ignored(failure: Failure | None) -> Iterator[Warn]:
    """Yield what of a failure file a plan of a ring does not look at."""
    if failure is None:
        return
    later = [str(entry.select) for entry in failure.fail if entry.at_s > 0.0]
    if later:
        text = f"the failure file lets {', '.join(later)} fail later: here all of it is one failure"
        yield Warn("LATER_FAILURES", text)
    if failure.arrivals:
        yield Warn("ARRIVALS_IGNORED", "nodes that arrive by the failure file join no ring: plan them by --add")
    if failure.scenarios:
        text = "the failure file's scenarios are not planned for: evaluate scores the ring in each of them"
        yield Warn("SCENARIOS_IGNORED", text)
