"""What knobs of a failure ask for is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ftplan.generators.cluster import cluster
from ftplan.generators.failure import burst, failure
from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.options import ClusterKnobs, FailureKnobs
from ftplan.generators.topology import topology
from ftplan.model.failure import Failure

NODES = cluster(ClusterKnobs(nodes=60, zones=6))
JOB = topology(TopologyKnobs())


def made(**knobs: Any) -> Failure:
    return failure(FailureKnobs(**knobs), NODES, JOB)


@pytest.mark.parametrize("kind", ["node", "zone", "operator", "task"])
def test_as_many_fail_as_asked(kind: str) -> None:
    fail = made(fail=f"{kind}s", count=3).fail
    assert [item.select.kind for item in fail] == [kind] * 3
    assert len({item.select for item in fail}) == 3


def test_everything_and_nothing() -> None:
    assert sorted(str(item.select) for item in made(fail="everything").fail) == [f"zone:z{k}" for k in range(1, 7)]
    assert made(fail="nothing", arrivals=0) == Failure()


def test_bursts_have_geometric_sizes_and_stay_in_their_zone() -> None:
    """2,000 bursts: mean size within four standard errors, and one zone unless they spill."""
    random, every = np.random.default_rng(0), range(len(NODES.nodes))
    drawn = [burst(FailureKnobs(burst=3.0, spill=0.0), NODES, every, random) for _ in range(2000)]
    sizes = np.array([len(hit) for hit in drawn])
    assert abs(sizes.mean() - 3.0) <= 4.0 * np.sqrt(6.0 / 2000)
    assert all(len(set(NODES.zone_index[hit])) == 1 for hit in drawn if len(hit) <= 10)
    fixed = FailureKnobs(burst=4.0, burst_sizes="fixed")
    assert {len(burst(fixed, NODES, every, random)) for _ in range(20)} == {4}
    spilt = [burst(FailureKnobs(burst=6.0, spill=1.0), NODES, every, random) for _ in range(200)]
    assert np.mean([len(set(NODES.zone_index[hit])) for hit in spilt if len(hit) > 3]) > 2.0


def test_failures_in_a_row() -> None:
    fail = made(fail="nodes", count=3, spacing_s=60.0).fail
    assert [item.at_s for item in fail] == [0.0, 60.0, 120.0]


def test_arrivals_replace_what_is_lost() -> None:
    lost = made(fail="zones", count=1)
    zone = lost.fail[0].select.name
    assert len(lost.arrivals) == 10
    times = [arrival.at_s for arrival in lost.arrivals]
    assert times == sorted(times)
    assert all(low == high and 120.0 <= low <= 360.0 for low, high in times)
    assert {arrival.node.zone for arrival in lost.arrivals} == {zone}
    assert not {arrival.node.id for arrival in lost.arrivals} & set(NODES.position)
    assert len(made(arrivals=4).arrivals) == 4
    assert {arrival.at_s for arrival in made(uncertain=True, arrival_time_s=(5.0, 9.0)).arrivals} == {(5.0, 9.0)}


def test_scenarios() -> None:
    both = made(scenarios="both").scenarios
    assert len(both) == 66
    by_id = {scenario.id: scenario.probability for scenario in both}
    assert by_id["node-n7"] == NODES.node("n7").failure_probability
    assert by_id["zone-z2"] == next(zone.failure_probability for zone in NODES.zones if zone.id == "z2")
    bursts = made(scenarios="bursts", bursts=20, probability=0.1).scenarios
    assert len(bursts) == 20
    assert sum(scenario.probability for scenario in bursts) == pytest.approx(0.1)
    plain = cluster(ClusterKnobs(node_failure=None, zone_failure=None))
    alone = failure(FailureKnobs(scenarios="zones", probability=0.02), plain).scenarios
    assert [scenario.probability for scenario in alone] == [0.02] * 4
