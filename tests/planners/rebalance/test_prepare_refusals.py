"""What cannot be asked of a rebalance is refused in one line that says what would be right."""

from __future__ import annotations

from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from tests.planners.rebalance.prepared_cases import CLUSTER, COSTS, TOPOLOGY, job, prepared, statistics

REPLICAS = {"format": "ftplan/plan", "format_version": "1.0", "kind": "replicate-tasks", "plan": {"replicas": []}}
NO_TASKS = {name: part for name, part in CLUSTER["placement"].items() if name != "tasks"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"add": ("n11",)}, r"--add: unknown node 'n11' \(did you mean 'n1'\?\).*in the cluster file: add it there"),
        ({"remove": ("n11",)}, r"--remove: unknown node 'n11' \(did you mean 'n1'\?\)$"),
        ({"remove": ("zone:c",)}, "--remove: zone:c: unknown zone 'c'"),
        ({"add": ("node:x y",)}, "--add: selector 'node:x y': 'x y' is no identifier"),
        ({"remove": ("rack:a",)}, "--remove: selector 'rack:a': expected KIND:NAME"),
        ({"remove": ("operator:sums",)}, "--remove: operator:sums names no nodes: give node ids, node:ID or zone:ID"),
        ({"add": ("zone:a",), "remove": ("n2", "n1")}, "--add and --remove both name n1, n2"),
        ({"add": ("zone:b",)}, "--add: n3 takes no tasks"),
        ({"within_s": 60.0}, "--within is the notice of nodes that are removed: give --remove too"),
        ({"within_s": 60.0, "add": ("n10",)}, "--within is the notice"),
        ({"remove": ("zone:a", "n10")}, "--remove leaves no node that takes tasks: key groups have nowhere to go"),
        ({"demand": "last:4"}, "--demand: last:4: the statistics have 3 windows"),
        ({"demand": "p101"}, "--demand: 'p101' is not mean, a percentile such as p95, or last:N"),
        ({"demand": "last:0"}, "--demand: 'last:0' is not"),
        ({"load": "cpu_ms"}, "the statistics have no 'cpu_ms': there is records"),
        ({"load": "cpu"}, "--load: 'cpu' is not one of records, bytes, cpu_ms"),
        ({"tolerance": "even"}, "--tolerance: 'even' is not auto, none or a number"),
        ({"tolerance": -0.1}, "--tolerance: -0.1 is not"),
        ({"tolerance": float("nan")}, "--tolerance: nan is not"),
        ({"band": "0.8-0.5"}, "--band: '0.8-0.5' is not two shares such as 0.5-0.75"),
        ({"band": "0.5"}, "--band: '0.5' is not two shares"),
        ({"band": (0.5, 1.5)}, "--band: .* is not two shares"),
        ({"band": 0.5}, "--band: 0.5 is not two shares"),
        ({"objective": "latencies"}, r"--objective: 'latencies' is not one of .*\(did you mean 'latency'\?\)"),
        ({"protocol": "recover"}, "--protocol: 'recover' is not one of auto, cpa, cpal, lazy, direct"),
        ({"max_moves": 1.5}, "--max-moves: 1.5 is not a whole number"),
        ({"max_pause_s": -1.0}, "--max-pause: -1.0 is not a number"),
        ({"cross_zone_cost": -1.0}, "--cross-zone-cost: -1.0 is not a number"),
        ({"bandwidth": 0.0}, "--bandwidth: 0.0 is not a number"),
        ({"costs": {"format": "ftplan/plan"}}, "costs"),
        (
            {"checkpoints": REPLICAS},
            "--checkpoints needs a plan of kind allocate-checkpoints, not replicate-tasks",
        ),
        ({"costs": {**COSTS, "state": "remote"}, "protocol": "direct"}, "--protocol direct: .* state is remote"),
        (
            {"costs": {**COSTS, "parameters": {"capacity_records_s": {"value": 10}}}},
            "--costs: the job can process 10 records/s and gets 10: it never catches up after a move",
        ),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FtplanError, match=message) as caught:
        prepared(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", ["topology", "cluster", "stats"])
def test_missing_inputs(missing: str) -> None:
    inputs: dict[str, Any] = {"topology": TOPOLOGY, "cluster": CLUSTER, "stats": statistics()}
    del inputs[missing]
    if missing != "cluster":
        inputs["cluster"] = {**CLUSTER, "placement": None}
    with pytest.raises(FtplanError, match=f"a rebalance needs {missing}: give --{missing}"):
        prepared(ftplan.load(**inputs))


def test_a_placement_that_does_not_say_where_key_groups_are() -> None:
    with pytest.raises(FtplanError, match=r"operator 'sums': .*placement.tasks.sums or placement.key_groups.sums, or"):
        prepared(job(placement=NO_TASKS))
    spread = ftplan.load(topology=TOPOLOGY, cluster={**CLUSTER, "placement": None}, stats=statistics(), spread=True)
    assert prepared(spread).problem.home.tolist() == [0, 0, 1, 1, 1, 3, 3]


def test_lazy_moves_need_full_checkpoints_at_an_interval() -> None:
    assert prepared(protocol="lazy").problem.protocols == ("lazy",)
    for checkpoint in ({"kind": "full"}, {"interval_s": 5}):
        operators = [
            {**operator, "checkpoint": checkpoint} if "key_groups" in operator else operator
            for operator in TOPOLOGY["operators"]
        ]
        problem = ftplan.load(topology={**TOPOLOGY, "operators": operators}, cluster=CLUSTER, stats=statistics())
        with pytest.raises(FtplanError, match="--protocol lazy: no operator with key groups makes full checkpoints"):
            prepared(problem, protocol="lazy")


def test_no_node_takes_tasks() -> None:
    nodes = [{**node, "accepts": ["checkpoints"]} for node in CLUSTER["nodes"]]
    with pytest.raises(FtplanError, match="no node of the cluster takes tasks: key groups have nowhere to go"):
        prepared(job(nodes=nodes))
