"""Statistics are as asked: sizes, correlations, and the topology's rates, cpu and state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.generators.options import StatsKnobs
from ftplan.generators.stats import statistics
from ftplan.model.measures.key_group_series import key_group_series
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.measures.task_costs import task_costs
from ftplan.model.measures.task_state import task_state
from ftplan.model.problem import StatsTables
from ftplan.model.rates import rates
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology

DOCUMENT = ftplan.generate("topology", shape="layers", tasks=(3, 4, 5, 2), width=1, outputs=2, key_groups=40, zipf=0.4)
LOADED = ftplan.load(topology=DOCUMENT).topology
assert LOADED is not None
JOB: Topology = LOADED


def tables(**knobs: Any) -> StatsTables:
    made = statistics(StatsKnobs(**knobs), JOB)
    return StatsTables(made.manifest, made.tables)


def series(**knobs: Any) -> KeyGroupSeries:
    return key_group_series(tables(**knobs), "records")


@pytest.mark.parametrize("zipf", [0.0, 0.5, 1.2])
def test_zipf_is_recovered(zipf: float) -> None:
    loads = series(sizes="zipf", skew=zipf, records=1e5, windows=144)
    for operator in range(len(loads.operators)):
        mean = np.sort(loads.mean_load[loads.operator == operator])[::-1]
        slope = np.polyfit(np.log(np.arange(1, len(mean) + 1)), np.log(mean), 1)[0]
        assert slope == pytest.approx(-zipf, abs=0.02)


def test_lognormal_is_recovered() -> None:
    loads = np.log(series(skew=0.7, records=1e6).mean_load)
    assert loads.std() == pytest.approx(0.7, rel=0.2)
    assert np.median(loads) == pytest.approx(np.log(1.2e6), abs=0.3)


@pytest.mark.parametrize("strength", [0.25, 0.8, 1.0])
@pytest.mark.parametrize("over_time", ["sine", "square", "ramp"])
def test_camps_correlate_as_asked(strength: float, over_time: str) -> None:
    """Within a camp by the strength, against the other camp by its opposite."""
    loads = series(
        camps=2, strength=strength, over_time=over_time, records=1e6, poisson=False, windows=2880, skew=0.3, level=9.0
    )
    correlation = np.corrcoef(loads.loads.T)
    same = (loads.key_group[:, None] - loads.key_group) % 2 == 0
    off = ~np.eye(len(correlation), dtype=np.bool_)
    assert correlation[same & off].mean() == pytest.approx(strength, abs=0.02)
    assert correlation[~same].mean() == pytest.approx(-strength, abs=0.02)


def test_camps_of_operators() -> None:
    loads = series(camps=2, camps_by="operator", records=1e6)
    correlation = np.corrcoef(loads.loads.T)
    apart = loads.operator[:, None] != loads.operator
    even = np.array([int(name[1:]) % 2 for name in loads.operators])[loads.operator]
    assert (correlation[~apart] > 0.9).all()
    assert (correlation[even[:, None] != even] < -0.9).all()


def test_one_camp_rises_together_and_random_phases_do_not() -> None:
    together, apart = (np.corrcoef(series(camps=camps, records=1e6).loads.T) for camps in (1, 0))
    assert together.min() > 0.9
    assert apart.min() < -0.9
    assert abs(apart.mean()) < 0.2


@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_the_topology_is_measured_as_it_is(skew: float) -> None:
    """Rates, cpu and state that the metrics take from the statistics are the topology's own; nothing is warned of."""
    stats = tables(skew=skew, tasks=True, substreams=True, poisson=True)
    graph = TaskGraph(JOB)
    measured = measured_topology(JOB, stats)
    assert measured.warnings == ()
    own, theirs = rates(graph), rates(TaskGraph(measured.topology))
    assert theirs.out == pytest.approx(own.out, rel=1e-9)
    assert theirs.into == pytest.approx(own.into, rel=1e-9)
    assert task_costs(graph, stats).cost == pytest.approx(graph.per_task("cpu"), rel=1e-9)
    keyed = np.isin(graph.operator_of, [i for i, o in enumerate(JOB.operators) if o.key_groups])
    assert task_state(graph, stats).total[keyed] == pytest.approx(graph.per_task("state_bytes")[keyed], rel=1e-9)


def test_key_groups_share_what_their_task_receives() -> None:
    loads = series(windows=144, poisson=False)
    flows = rates(TaskGraph(JOB))
    for number, name in enumerate(loads.operators):
        operator, here = JOB.operator(name), loads.operator == number
        mean = np.bincount(operator.task_of_key_groups(), loads.mean_load[here])
        tasks = TaskGraph(JOB).slice_of(JOB.position[name])
        assert mean / 600.0 == pytest.approx(flows.into[tasks], rel=1e-9)


def test_the_cycle_is_a_day() -> None:
    loads = series(windows=288, camps=1, records=1e6, poisson=False).loads
    assert loads[:144] == pytest.approx(loads[144:])
    assert loads.max(axis=0) / loads.min(axis=0) == pytest.approx(2.2 / 0.2)


def test_a_square_is_high_and_low_in_turn() -> None:
    loads = series(windows=60, window_s=60.0, cycle_s=600.0, over_time="square", camps=1, records=1e4, poisson=False)
    high = np.tile(np.repeat([True, False], 5), 6)
    assert loads.loads[high].min(axis=0) == pytest.approx(loads.loads[~high].max(axis=0) * 2.2 / 0.2)


def test_columns_that_were_not_asked_for_are_empty() -> None:
    table = tables(cpu=False, state=False).tables["key_groups"]
    assert [table[name].null_count for name in ("bytes", "cpu_ms", "state_bytes")] == [table.num_rows] * 3
    table = tables(record_bytes=100.0).tables["key_groups"]
    assert table["bytes"].to_numpy() == pytest.approx(100.0 * table["records"].to_numpy())
