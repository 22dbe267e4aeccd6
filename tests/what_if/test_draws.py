"""Drawn failures follow their seed and number alone, and the log or the probabilities that they are drawn from."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.io.failure_file import read_failure_log
from ftplan.what_if.draws import BurstDraws, ProbableDraws, bursts_of, described
from tests.places import ROOT
from tests.what_if.cases import CLUSTER, answer, save, single, what_if

LOG = """when,machine,rack,disk
2018-05-01 00:10:00,m1,r1,1
2018-05-01 00:10:07,m2,r1,2
2018-05-01 00:10:09,m2,r1,3
2018-05-01 00:29:59,m3,r1,4
2018-05-01 00:30:00,m4,r1,5
2018-05-01 00:12:00,m9,r2,6
2018-05-01 00:11:00,m8,r2,7
2018-05-03 01:00:00,m1,r1,8
"""
COLUMNS = {"time": "when", "node": "machine", "zone": "rack"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_bursts(log: Path) -> None:
    """Half hours on the epoch's grid, rack by rack; a node counts once, from the first failure on."""
    read = read_failure_log(log, **COLUMNS)
    assert [burst.after_s for burst in bursts_of(read, 1800.0, 1)] == [(0.0, 7.0, 1199.0), (0.0, 60.0), (0.0,), (0.0,)]
    assert [burst.after_s for burst in bursts_of(read, 1800.0, 2)] == [(0.0, 7.0, 1199.0), (0.0, 60.0)]
    whole = read_failure_log(log, time="when", node="machine")
    assert [len(burst.after_s) for burst in bursts_of(whole, 86400.0, 1)] == [6, 1]
    with pytest.raises(ftplan.FtplanError, match="no burst of the log has 4 nodes; the largest has 3"):
        bursts_of(read, 1800.0, 4)


@settings(max_examples=25)
@given(
    rows=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30),
    window=st.integers(1, 60),
)
def test_bursts_by_brute_force(rows: list[tuple[int, int, int]], window: int, tmp_path_factory: Any) -> None:
    """Every pair of rack and window by itself, with pandas."""
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    frame = pd.DataFrame(rows, columns=["time", "node", "zone"])
    frame.to_parquet(path)
    found = bursts_of(read_failure_log(path, time="time", node="node", zone="zone"), float(window), 1)
    expected = []
    for (_, _), part in frame.assign(window=frame.time // window).groupby(["window", "zone"]):
        first = part.groupby("node").time.min().sort_values()
        expected.append(tuple(float(t - first.min()) for t in first))
    assert sorted(burst.after_s for burst in found) == sorted(expected)


def test_the_published_log() -> None:
    """The excerpt among the examples."""
    path = ROOT / "examples" / "what_if" / "alibaba-ssd-bursts.csv.gz"
    read = read_failure_log(path, time="failure_time", node="node_id", zone="rack_id")
    bursts = bursts_of(read, 1800.0, 2)
    assert len(bursts) == 374
    assert max(len(burst.after_s) for burst in bursts) == 42


CASES = st.integers(0, 10_000)


@given(seed=st.integers(0, 2**31 - 1), number=CASES)
def test_burst_draws(seed: int, number: int) -> None:
    """All nodes of a draw lie in one zone, in the burst's times; the same draw whatever was drawn before."""
    cluster = ftplan.load(cluster=CLUSTER).cluster
    assert cluster is not None
    read = bursts_of(_log([(0, "x", "r"), (5, "y", "r"), (9, "z", "r")]), 100.0, 1)
    draws = BurstDraws.onto(cluster, read, zoned=True, together=False, seed=seed)
    drawn = draws(number)
    assert drawn == draws(number) == BurstDraws.onto(cluster, read, zoned=True, together=False, seed=seed)(number)
    names = [entry if isinstance(entry, str) else entry["select"] for entry in drawn]
    nodes = [cluster.node(name.removeprefix("node:")) for name in names]
    assert len({node.zone_id for node in nodes}) == 1
    assert len(set(names)) == len(names) == min(3, sum(n.zone_id == nodes[0].zone_id for n in cluster.nodes))
    assert [0.0 if isinstance(entry, str) else entry["at_s"] for entry in drawn] == [0.0, 5.0, 9.0][: len(drawn)]
    together = BurstDraws.onto(cluster, read, zoned=True, together=True, seed=seed)(number)
    assert together == tuple(names)


def _log(rows: list[tuple[float, str, str]]) -> Any:
    from ftplan.io.failure_file import FailureLog

    times, nodes, zones = zip(*rows, strict=True)
    return FailureLog(np.array(times, dtype=np.float64), nodes, zones, "0")


def test_without_zones_the_cluster_is_one() -> None:
    nodes = [{"id": f"n{i}", "cpu": 1} for i in range(5)]
    cluster = ftplan.load(cluster={**CLUSTER, "nodes": nodes, "zones": [], "placement": None}).cluster
    assert cluster is not None
    bursts = bursts_of(_log([(i, f"m{i}", "r") for i in range(7)]), 100.0, 1)
    draws = BurstDraws.onto(cluster, bursts, zoned=True, together=True, seed=1)
    assert sorted(draws(0)) == [f"node:n{i}" for i in range(5)]
    assert len({draws(number) for number in range(50)}) > 10


@pytest.mark.parametrize("may_be_none", [False, True])
def test_probabilities(may_be_none: bool) -> None:
    """Every set of what fails is drawn as often as all products of probabilities say (brute force over all sets)."""
    chances = {"zone:a": 0.2, "node:n1": 0.1, "node:n3": 0.3, "node:n10": 0.05}
    nodes = [{**node, "failure_probability": chances.get(f"node:{node['id']}")} for node in CLUSTER["nodes"]]
    cluster = ftplan.load(cluster={**CLUSTER, "nodes": nodes}).cluster
    assert cluster is not None
    draws = ProbableDraws.of(cluster, may_be_none=may_be_none, seed=3)
    expected: Counter[tuple[str, ...]] = Counter()
    for failed in itertools.product([False, True], repeat=len(chances)):
        chance = float(np.prod([p if f else 1 - p for f, p in zip(failed, chances.values(), strict=True)]))
        names = [name for f, name in zip(failed, chances, strict=True) if f]
        named = tuple(name for name in names if not ("zone:a" in names and name == "node:n1"))  # n1 lies in a
        expected[named] += chance  # type: ignore[assignment]  # of numbers
    if not may_be_none:
        rest = 1 - expected.pop(())
        expected = Counter({names: chance / rest for names, chance in expected.items()})
    count = 20_000
    seen = Counter(draws(number) for number in range(count))
    assert set(seen) <= set(expected)
    for names, chance in expected.items():
        assert abs(seen[names] - count * chance) <= 5 * np.sqrt(count * chance * (1 - chance)) + 1, names


def test_a_draw_is_a_failure_file(log: Path, tmp_path: Path) -> None:
    """What a draw fails is what a failure file with these entries fails, instead of what the command is told."""
    base = save(tmp_path / "base")
    source = {"from": str(log), "columns": COLUMNS, "at_least": 2, "seed": 4}
    cases = [{"id": "one", "failures": {**source, "draw": 2}}]
    sweep = what_if(base, run={"fail": "zone:b"}, cases=cases, grid=[{"failures": {**source, "draws": 3}}])
    listed = sweep.case(1).deltas["failures"]
    assert listed == sweep.case(4).deltas["failures"]
    assert sweep.case(4).values == {"draw": 2, "failed": described(listed)}
    assert sweep.swept == ("draw",)
    failure = {"format": "ftplan/failure", "format_version": "1.0", "fail": listed}
    expected = single(save(tmp_path / "edited", failure=failure))
    assert answer(base, sweep, 4) == answer(base, sweep, 1) == expected
    assert not expected.startswith("refused")


def test_descriptions() -> None:
    assert described(()) == "nothing"
    assert described(("node:a", {"at_s": 96.0, "select": "node:b"})) == "node:a, node:b (96 s)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("when,machine,rack\n2018,m1,r1\n", None),
        ("when,machine,rack\nmonday,m1,r1\n", "column 'when': row 0: 'monday' is no time"),
        ("when,machine,rack\n1,m1,r1\n,m2,r1\n", "column 'when': row 1: is empty"),
        ("when,machine,rack\n1,,r1\n", "column 'machine': row 0: is empty"),
        ("when,machine,rack\n", "holds no failure"),
        ("", "cannot be read as a failure log: No columns to parse from file"),
        ("when,machine\n1,a\n", "there is no column 'rack'; there are when, machine"),
        ("when,machine,rack\n1,a,b\n2,c,d,e,f\n", "cannot be read as a failure log: Error tokenizing data"),
    ],
)
def test_bad_logs(text: str, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    if message is None:
        assert read_failure_log(path, **COLUMNS).node == ["m1"]
        return
    with pytest.raises(ftplan.FtplanError) as raised:
        read_failure_log(path, **COLUMNS)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_nothing_to_draw_from(tmp_path: Path) -> None:
    nodes = [{**node, "failure_probability": None} for node in CLUSTER["nodes"]]
    base = save(tmp_path / "base", cluster={**CLUSTER, "nodes": nodes, "zones": []})
    with pytest.raises(ftplan.FtplanError, match="no node or zone of the cluster has a failure_probability"):
        what_if(base, grid=[{"failures": {"from": "probabilities", "draws": 2}}])
