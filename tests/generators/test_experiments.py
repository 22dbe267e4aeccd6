"""Instances are what they were: figures in benchmarks/RESULTS.md and oracles of tests rest on their bits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import instances as experiments
from benchmarks.instances import daily_loads
from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.presets import TOPOLOGIES
from ftplan.generators.queries import shared_tasks
from ftplan.generators.topology import topology
from ftplan.model.topology import Topology
from tests.generators.cases import digest


def preset(name: str, **asked: object) -> Iterator[Topology]:
    knobs = replace(TopologyKnobs(**TOPOLOGIES[name].knobs), **asked)  # type: ignore[arg-type]
    return (topology(replace(knobs, seed=seed)) for seed in range(20))


INSTANCES: dict[str, tuple[Callable[[], Iterator[Topology]], str]] = {
    "replication figure 14": (lambda: preset("replication-figure-14"), "763ad39fb2e60257"),
    "its full topologies": (lambda: preset("replication-figure-14", full=1.0, zipf=0.0), "2a69e70dce602e7a"),
    "its joins": (lambda: preset("replication-figure-14", joins=0.5, parallelism=(20, 30)), "c8730c92b565cf35"),
    "recovery figure 16": (lambda: preset("recovery-figure-16"), "41411264a63cb297"),
    "its skewed shares": (lambda: preset("recovery-figure-16", share_zipf=0.5, priority="load"), "4e62c0c3e58bb220"),
    "its shares by rank": (lambda: preset("recovery-figure-16", share_zipf=0.2, shared_by="rank"), "949fddfd1ecba2b8"),
    "structured": (
        lambda: (experiments.in_tree(seed, 10, (300, 700), 0.1, joins=0.5) for seed in range(3)),
        "41721c980691f0b0",
    ),
    "mixture": (lambda: iter([experiments.mixture(1000)]), "adcbe01259763b25"),
    "lognormal tree": (lambda: iter([experiments.lognormal_tree(1000, np.random.default_rng(0))]), "4d70312e2c95f83e"),
    "popular queries": (lambda: iter([experiments.popular_queries(100, np.random.default_rng(0))]), "a24e07ae7d38ae0c"),
    "layers": (
        lambda: iter([experiments.layered(experiments.LayerSizes(10, 2, 50, 3), 1, key_groups=128, joins_every=3)]),
        "afab8ae0d1ba35fc",
    ),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_are_what_they_were(name: str) -> None:
    made, was = INSTANCES[name]
    assert digest(made()) == was


def test_shared_tasks_are_what_they_were() -> None:
    drawn = shared_tasks(500, 1000, 1, zipf=0.8)
    text = b"".join(np.asarray(part).tobytes() for part in (drawn.priority, drawn.cpu, drawn.start, drawn.member))
    assert hashlib.sha256(text).hexdigest()[:16] == "3929cb3bce0a1a73"


def test_loads_are_what_they_were() -> None:
    assert hashlib.sha256(daily_loads(512, 288, 0).tobytes()).hexdigest()[:16] == "8870b1aa2143d56f"
    assert hashlib.sha256(daily_loads(512, 48, 0, day=24).tobytes()).hexdigest()[:16] == "ed1be306a3167f39"


def test_places_are_what_they_were() -> None:
    random = np.random.default_rng(0)
    cluster = experiments.packed_cluster(experiments.lognormal_tree(1000, random), 20, 5, 0.8, 0.8, random)
    assert (
        hashlib.sha256(repr((cluster.nodes[0].cpu, cluster.placement)).encode()).hexdigest()[:16] == "2a4ba0f75d7e250d"
    )
