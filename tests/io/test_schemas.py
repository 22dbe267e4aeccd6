"""The shipped schemas are those of the readers, and both judge the same documents alike."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from ftplan.errors import FtplanError
from ftplan.io.cluster_file import load_cluster
from ftplan.io.evaluation_file import load_evaluation
from ftplan.io.failure_file import load_failure
from ftplan.io.plan_file import load_plan
from ftplan.io.schemas import FOLDER, KINDS, generate, schema
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from tests.io import examples
from tests.io.examples import said

EVALUATION = {
    "format": "ftplan/evaluation",
    "format_version": "1.0",
    "kind": "checkpoint-allocation",
    "tool_version": "0.1.0",
    "inputs": [{"role": "plan", "path": "plan.json", "sha256": "00"}],
    "failures": ["zone:rack-a", "task:join/3"],
    "metrics": [{"name": "usable", "value": 0.5, "sense": "max", "unit": "share"}],
    "unmet": [],
    "warnings": [{"code": "A", "message": "b"}],
}

FULL_TOPOLOGY = examples.topology()
FULL_TOPOLOGY["operators"][0].update(
    cpu=[1, 2.5, 0, 1], rate_out=3, input_share=[1, 1, 1, 0], labels={"a": "b"}, name="N", selectivity=0.5,
    state_bytes=7, record_time_s=0.1, checkpoint={"interval_s": 10, "kind": "full"}, deterministic=False, output=True,
    priority=[1, 2, 3, 4.5],
)  # fmt: skip
FULL_TOPOLOGY["edges"][0] = {"from": "flights", "to": "join", "substreams": [[0, 0, 1.5], [1, 2, 0]]}

FULL_CLUSTER = examples.cluster(
    zones=[{"id": "rack-a", "failure_probability": 0.1}],
    network={"bandwidth_mb_s": 100, "delay_s": 0},
    placement={"tasks": {"a": ["n1"]}, "checkpoints": {"a": [["n1", "n2"]]}, "replicas": {"a": [None, "n1"]}},
)
FULL_CLUSTER["nodes"][0].update(used_cpu=1, accepts=["tasks"], failure_probability=0.5)

FULL_PLAN = examples.plan(
    status="feasible", seed=3, options={"copies": 1}, rules=["R1"], reason=None,
    objective={"name": "correlation", "sense": "min", "value": 1, "bound": None},
    infeasible={"reason": "a", "limit": "b", "current": 3, "needed": 4, "smallest_fix": "c"},
)  # fmt: skip
FULL_PLAN["plan"]["moves"] = [{"operator": "join", "key_group": 0, "from": None, "to": "n2", "bytes": 1e6}]

FULL_MANIFEST = examples.manifest(
    inputs=[{"path": "a.csv", "bytes": 3, "sha256": None}], tables={"tasks": {"rows": 3}}, coverage=0.5, engine="spark"
)


def _stats(document: Any) -> None:
    load_stats({"manifest": document, "key_groups": []})


CASES: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "topology": (FULL_TOPOLOGY, load_topology),
    "cluster": (FULL_CLUSTER, load_cluster),
    "failure": (examples.failure(), load_failure),
    "stats": (FULL_MANIFEST, _stats),
    "plan": (FULL_PLAN, load_plan),
    "evaluation": (EVALUATION, load_evaluation),
}

#: What is put in the place of every value in turn. Semantic rules are the readers' alone: see `_structural`.
BAD_VALUES = (None, True, -1, 0.5, "x y", "", [], {}, [None], [[]], 10**30)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from _places(item, (*place, key))


def _bent(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    bent = copy.deepcopy(document)
    inner = bent
    for key in place[:-1]:
        inner = inner[key]
    if value is _REMOVED:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return bent


_REMOVED = object()

#: Words of messages about what a schema cannot say: rules between one place and another.
_BETWEEN_PLACES = (
    "wrong length", "unknown operator", "unknown node", "duplicate", "all shares are 0", "needs equal", "needs fewer",
    "needs more", "out of range", "no time", "no time zone", "windows:", "must be after", "not on the grid",
    "but the status", "ends before", "self loop", "cycle", "too large", "expected between", "outside",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_shipped_is_generated(kind: str) -> None:
    """If this fails: python -m ftplan.io.schemas."""
    shipped = json.loads((FOLDER / f"{kind}.json").read_text())
    assert shipped == json.loads(json.dumps(generate(kind)))
    jsonschema.Draft202012Validator.check_schema(shipped)


@pytest.mark.parametrize("kind", KINDS)
def test_valid_for_both(kind: str) -> None:
    document, load = CASES[kind]
    load(document)
    jsonschema.Draft202012Validator(schema(kind)).validate(document)


@pytest.mark.parametrize("kind", KINDS)
def test_both_judge_alike(kind: str) -> None:
    """Every value is replaced or removed in turn: reader and schema accept the same, but for rules between places."""
    document, load = CASES[kind]
    validator = jsonschema.Draft202012Validator(schema(kind))
    differences = []
    for place in _places(document):
        for value in (*BAD_VALUES, _REMOVED):
            bent = _bent(document, place, value)
            message = ""
            try:
                load(bent)
            except FtplanError as error:
                message = str(error)
            if any(words in message for words in _BETWEEN_PLACES):
                continue
            if validator.is_valid(bent) != (not message):
                differences.append((place, "removed" if value is _REMOVED else value, message))
    assert differences == []


def test_every_field_is_described() -> None:
    for kind in KINDS:
        for name, definition in {**schema(kind)["$defs"], kind: schema(kind)}.items():
            for field, content in definition.get("properties", {}).items():
                assert field == "format" or "description" in content, (kind, name, field)


def test_unknown_kind() -> None:
    assert said(schema, "topologie") == (
        "unknown kind of file 'topologie' (did you mean 'topology'?): one of topology, cluster, failure, stats, plan, "
        "evaluation"
    )
