"""What tests of generators share: digests of instances, and knobs that hypothesis draws."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ftplan.generators.options import OPTIONS
from ftplan.model.topology import Topology

Drawn = dict[str, Any]


def digest(topologies: Iterable[Topology]) -> str:
    """Return a hash of everything that topologies hold but their names, down to the last bit."""
    text = hashlib.sha256()
    for topology in topologies:
        for item in (*topology.operators, *topology.edges):
            for field in item.__dataclass_fields__:
                value = getattr(item, field)
                if field == "substreams" and value is not None:
                    value = np.concatenate([value.from_index, value.to_index, value.rate])
                text.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return text.hexdigest()[:16]


def bounded(low: float, high: float) -> st.SearchStrategy[Any]:
    """Draw a number or a pair in order."""
    number = st.integers(int(low), int(high)) if isinstance(low, int) else st.floats(low, high)
    return number | st.tuples(number, number).map(lambda pair: tuple(sorted(pair)))


def some(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Drawn]:
    """Draw any of some knobs."""
    return st.fixed_dictionaries({}, optional=strategies)


def word(what: str, knob: str) -> st.SearchStrategy[str]:
    """Draw one of the words of a knob."""
    return st.sampled_from(OPTIONS[what].options()[knob].check.names)


SHARE = st.sampled_from([0.0, 0.3, 1.0]) | st.floats(0.0, 1.0)
TOPOLOGIES = some(
    seed=st.integers(0, 2**31 - 1),
    shape=word("topology", "shape"),
    operators=bounded(1, 9),
    parallelism=bounded(1, 6),
    tasks=st.lists(st.integers(1, 5), min_size=1, max_size=6).map(tuple),
    same_parallelism=SHARE,
    full=SHARE,
    joins=SHARE,
    outputs=st.integers(1, 4),
    width=st.integers(1, 4),
    fan_in=bounded(1, 4),
    zipf=st.floats(0.0, 5.0),
    rate=st.floats(1e-6, 1e9),
    selectivity=bounded(0.0, 10.0),
    cpu=bounded(0.0, 1e4),
    costs=word("topology", "costs"),
    cpu_sigma=st.floats(0.0, 5.0),
    state_bytes=bounded(0.0, 1e15),
    stateful=SHARE,
    key_groups=st.integers(0, 30),
    priority=word("topology", "priority"),
    priorities=bounded(1e-6, 1e6),
    queries=st.integers(1, 12),
    query_tasks=bounded(1, 8),
    pool=st.integers(1, 30),
    largest_share=st.integers(1, 20),
    share_zipf=st.floats(0.0, 3.0),
    shared_by=word("topology", "shared_by"),
    max_tasks=st.integers(1, 60),
)
CLUSTERS = some(
    seed=st.integers(0, 2**31 - 1),
    nodes=st.integers(1, 12) | st.none(),
    cores=bounded(0.5, 64.0) | st.none(),
    memory_per_core=st.floats(1.0, 1e6) | st.none(),
    zones=st.integers(0, 6),
    utilisation=SHARE | st.none(),
    placement=word("cluster", "placement"),
    copies=st.integers(0, 4),
    replicas=SHARE,
    node_failure=bounded(1e-9, 1.0) | st.none() | st.just("none"),
    zone_failure=bounded(1e-9, 1.0) | st.none(),
    bandwidth=st.floats(1e-6, 1e9) | st.none(),
    delay_s=st.floats(0.0, 1e6) | st.none(),
)
STATISTICS = some(
    seed=st.integers(0, 2**31 - 1),
    windows=st.integers(1, 30),
    window_s=st.sampled_from([1e-3, 1.0, 60.0, 3600.0]) | st.floats(1e-3, 1e6),
    sizes=word("stats", "sizes"),
    skew=st.floats(0.0, 5.0),
    records=st.floats(1e-6, 1e12) | st.none(),
    cycle_s=st.floats(1e-3, 1e10),
    over_time=word("stats", "over_time"),
    level=st.floats(0.0, 1e6),
    camps=st.integers(0, 5),
    camps_by=word("stats", "camps_by"),
    strength=SHARE,
    poisson=st.booleans(),
    record_bytes=st.floats(1e-3, 1e9) | st.none(),
    cpu=st.booleans(),
    state=st.booleans(),
    tasks=st.booleans(),
    substreams=st.booleans(),
    max_rows=st.sampled_from([100, 10**6]),
)
FAILURES = some(
    seed=st.integers(0, 2**31 - 1),
    fail=word("failure", "fail"),
    count=st.integers(1, 6),
    burst=st.floats(1.0, 1e6),
    burst_sizes=word("failure", "burst_sizes"),
    spill=SHARE,
    spacing_s=st.floats(0.0, 1e6),
    arrivals=st.integers(0, 5) | st.none(),
    arrival_time_s=bounded(1e-3, 1e6),
    uncertain=st.booleans(),
    scenarios=word("failure", "scenarios"),
    bursts=st.integers(1, 5),
    probability=st.floats(1e-6, 1.0),
)
