"""What every planner of a command is asked: small inputs, in any order of file, and questions about them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import yaml

import ftplan
from tests.effort import some
from tests.places import ROOT
from tests.planners.drain_schedule import cases as drain_cases
from tests.planners.peer_ring import cases as ring_cases
from tests.planners.rebalance import cases as rebalance_cases
from tests.planners.recovery_schedule import recovery_cases
from tests.planners.replicate_tasks import replication_cases
from tests.planners.scale_out import cases as scale_out_cases

Documents = Mapping[str, Any]
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Question:
    """Inputs and options; ``more`` is an option of which each value gives a plan no worse than those before."""

    documents: Documents
    options: Mapping[str, Any] = field(default_factory=dict)
    more: tuple[str, tuple[Any, ...]] | None = None
    best: Callable[[], ftplan.Plan] | None = None  # by a planner that tries everything


@dataclass(frozen=True)
class Questions:
    """What the planners of one command are asked."""

    asked: Mapping[str, Question]
    #: No plan can be given, and the smallest fix is an option.
    impossible: Mapping[str, Question]
    #: There is nothing to do, and nothing to gain.
    nothing: Mapping[str, Question]
    #: A plan also keeps the rules that ``verify --strict`` adds.
    strict: bool = False


def inputs(documents: Documents, seed: int | None = None) -> ftplan.Problem:
    """Load documents, their lists in another order for each *seed*; as they are, those of a question once."""
    if seed is not None:
        return ftplan.load(**shuffled(documents, random.Random(seed)))
    _, problem = _LOADED.get(id(documents), (None, None))
    if problem is None:
        _, problem = _LOADED[id(documents)] = (documents, ftplan.load(**documents))
    return problem


#: Problems by the identity of their documents, which are kept so that no others get it.
_LOADED: dict[int, tuple[Documents, ftplan.Problem]] = {}


def shuffled(documents: Documents, order: random.Random) -> dict[str, Any]:
    """Return documents that mean the same, with operators, edges, nodes, failures and rows in another order."""

    def mixed(items: Any) -> Any:
        return order.sample(items, len(items)) if isinstance(items, list) else items

    changed = {
        kind: {key: mixed(value) for key, value in document.items()}
        for kind, document in documents.items()
        if kind != "stats"
    }
    if "placement" in changed.get("cluster", {}):
        placement = changed["cluster"]["placement"]
        changed["cluster"]["placement"] = {key: dict(mixed(list(of.items()))) for key, of in placement.items()}
    if "stats" in documents:
        rows = documents["stats"]["key_groups"].sample(frac=1, random_state=order.randrange(2**31))
        changed["stats"] = {**documents["stats"], "key_groups": rows}
        if "tasks" in documents["stats"]:
            tasks = documents["stats"]["tasks"].sample(frac=1, random_state=order.randrange(2**31))
            changed["stats"]["tasks"] = tasks
    return changed


def keyed_job(groups: int, seed: int, scale: float = 1.0) -> Documents:
    """Two keyed operators, eight tasks each, with random loads; nine nodes of four zones, one for tasks alone."""
    loads = np.random.default_rng(seed).gamma(2.0, 10.0, size=(24, 2 * groups)).round() * scale
    names = [("agg", "join")[i // groups] for i in range(2 * groups)]
    start = pd.Timestamp("2026-01-01T00:00:00Z")
    times = [start + pd.Timedelta(minutes=w) for w in range(24)]
    rows = [
        {
            "operator": names[i], "key_group": i % groups, "window_start": times[w], "records": loads[w, i],
            "cpu_ms": None, "state_bytes": None, "resolution": "key_group", "estimated": False,
        }
        for w in range(24) for i in range(2 * groups)
    ]  # fmt: skip
    manifest = {
        "format": "ftplan/stats", "format_version": "1.0", "window_s": 60, "windows": 24, "start": str(times[0]),
        "end": str(times[-1] + pd.Timedelta(minutes=1)), "measures": ["records"],
        "operators": {name: {"key_groups": groups} for name in ("agg", "join")},
    }  # fmt: skip
    operators = [
        {"id": name, "parallelism": 8, "cpu": 1, "state_bytes": 1e6, "key_groups": groups} for name in ("join", "agg")
    ]
    nodes: list[dict[str, Any]] = [
        {"id": f"n{i}", "cpu": 2.0 if i == 3 else 1.0, "memory_mb": 40, "zone": f"z{i % 4}"} for i in range(1, 9)
    ]
    nodes.append({"id": "n9", "cpu": 1.0, "memory_mb": 40, "accepts": ["tasks"]})
    tasks = {"agg": [f"n{i}" for i in range(1, 9)], "join": [f"n{i}" for i in range(2, 10)]}
    return {
        "topology": {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": []},
        "cluster": {
            "format": "ftplan/cluster", "format_version": "1.0", "nodes": nodes, "placement": {"tasks": tasks}
        },
        "stats": {"manifest": manifest, "key_groups": pd.DataFrame(rows)},
    }  # fmt: skip


def without_rows(documents: Documents) -> Documents:
    manifest = {**documents["stats"]["manifest"], "operators": {}}
    return {**documents, "stats": {"manifest": manifest, "key_groups": documents["stats"]["key_groups"][:0]}}


def allocation() -> Questions:
    job, small = keyed_job(16, 1), {"iterations": 30, "bound": True, "time_limit_s": 3600.0}
    asked = {
        f"{balance}-{zone}-{copies}": Question(
            job,
            {**small, "objective": "correlation", "balance": balance, "anti_affinity": zone, "copies": copies},
        )
        for balance, zone, copies in some(
            [*itertools.product(["auto", 0.3, "count", "none"], ["node", "zone"], [1, 2])]
        )
    }
    other = keyed_job(16, 5)
    for balance in ("auto", "count", "none"):
        options = {**small, "balance": balance, "copies": 2}
        asked[f"usable-{balance}"] = Question(other, {**options, "objective": "usable"})
        asked[f"share-{balance}"] = Question(
            other, {**options, "objective": "node-correlation", "correlate": "share"}
        )  # fmt: skip
    asked["looser"] = Question(job, {**small, "objective": "correlation"}, ("balance", (0.1, 0.2, 0.5, "none")))
    return Questions(
        asked,
        impossible={"copies": Question(job, {"copies": 9})},
        nothing={
            "no-statistics": Question(without_rows(job), {"bound": True}),
            "idle": Question(keyed_job(16, 3, scale=0.0), {"bound": True, "objective": "correlation"}),
        },
    )


def envelope(kind: str, **content: Any) -> dict[str, Any]:
    return {"format": f"ftplan/{kind}", "format_version": "1.0", **content}


def storm() -> dict[str, Any]:
    folder = EXAMPLES / "storm-recovery"
    names = ("topology", "cluster", "failure")
    return {name: yaml.safe_load((folder / f"{name}.yaml").read_text()) for name in names}


def recovery() -> Questions:
    small = {"iterations": 5, "samples": 0}
    # Rounds of 6,000 moves, which are not compiled; over time the small failure is planned, and each example elsewhere.
    few = {**small, "iterations": 2, "objective": "priority"}
    ways: dict[str, dict[str, Any]] = {
        "default": {},
        "no-prefetch": {"prefetch": False},
        "parallel": {"parallel_recovery": True},
        "capped": {"capacity": 1.2},
        "slow-network": {"bandwidth": 5.0},
        "complete": {"complete_failure": True},
    }
    three = {"topology": recovery_cases.TOPOLOGY, "cluster": recovery_cases.CLUSTER}
    failed = {**three, "failure": envelope("failure", fail=["zone:a"])}
    measured = recovery_cases.statistics(
        [("join", i, w, 10 + i, 9_000.0 * i) for i in range(1, 4) for w in (0, 1)],
        [("join", g, w, 5 + g, None, 2.0**20 * (g + 1)) for g in range(8) for w in (0, 1)],
    )
    placement = {"tasks": recovery_cases.PLACEMENT, "checkpoints": {"join": [["n3"], ["n10"]] * 4}}
    copied = {**failed, "cluster": {**recovery_cases.CLUSTER, "placement": placement}}
    return Questions(
        {
            **{name: Question(storm(), {**few, **options}) for name, options in ways.items()},
            "statistics": Question({**failed, "stats": measured}, small),
            "checkpoints": Question(copied, small),
            **{name: Question(failed, {**small, "objective": name}) for name in ("priority-time", "fidelity-time")},
            "random-orders": Question(failed, {"iterations": 20, "time_limit_s": 3600.0}),
            "capacity": Question(failed, small, ("capacity", (1.0, 2.0, 3.0, 4.0))),
        },
        impossible={
            "capacity": Question(
                {"topology": recovery_cases.TOPOLOGY},
                {**small, "fail": ("operator:join", "operator:source"), "capacity": 1.2},
            )
        },
        nothing={},
    )


def replication() -> Questions:
    job = {"topology": replication_cases.TOPOLOGY, "cluster": replication_cases.CLUSTER}
    scenarios = envelope(
        "failure",
        scenarios=[
            {"id": "a", "probability": 0.5, "fail": ["zone:a"]},
            {"id": "n3", "probability": 0.1, "fail": ["node:n3"]},
        ],
    )
    failing = {**job, "failure": scenarios}

    def question(documents: Documents, more: tuple[str, tuple[Any, ...]] | None = None, **options: Any) -> Question:
        return Question(documents, options, more, lambda: replication_cases.planned(inputs(documents), **options))

    doomed = envelope(
        "failure",
        scenarios=[
            {"id": "all", "probability": 1.0, "fail": ["node:n1", "node:n2", "node:n3", "node:n4"]},
            {"id": "some", "probability": 1.0, "fail": ["node:n1"]},
        ],
    )
    return Questions(
        {
            "budget": question(job, ("budget", (0, 1, 2, 3, 4, 5, 6)), budget=4),
            "cores": question(job, budget_cpu=2.0, weight="priority"),
            "memory": question(job, budget_mb=2.0),
            "scenarios": question(failing, budget="50%"),
            "target": question(job, target=0.6),
        },
        impossible={"target": Question({**job, "failure": doomed}, {"target": 0.9})},
        nothing={"no-budget": Question(job, {"budget": 0})},
        strict=True,
    )


def drain() -> Questions:
    job = drain_cases.JOB
    racks = {name: document for name, document in storm().items() if name != "failure"}
    replicated = {**job, "cluster": {**job["cluster"], "placement": {"tasks": drain_cases.TASKS}}}

    def question(documents: Documents, more: tuple[str, tuple[Any, ...]] | None = None, **options: Any) -> Question:
        best = None if options.get("move") else lambda: drain_cases.best(documents, options)
        return Question(documents, {"iterations": 50, "time_limit_s": 3600.0, **options}, more, best)

    return Questions(
        {
            "no-limits": question(job),
            "fidelity": question(job, ("min_fidelity", (0.3, 0.2, 0.1, 0.0)), min_fidelity=0.25),
            "zones": question(job, ("max_per_zone", (1, 2, 3)), max_per_zone=1),
            "nodes": question(job, ("max", (1, 2, 3, 4, 5)), max=2),
            "priority": question(job, keep_priority=5),
            "checkpoints": question(job, keep_copies="checkpoints", min_fidelity=0.1),
            "no-copies": question(replicated, max_per_zone=2, min_fidelity=0.1),
            "everything": question(job, max=3, max_per_zone=2, min_fidelity=0.1, keep_priority=5),
            "move": question(job, move=True, max_cpu=0.6),
            "storm": Question(racks, {"iterations": 50, "time_limit_s": 3600.0, "min_fidelity": 0.4, "max": 4}),
        },
        impossible={
            "fidelity": question(job, min_fidelity=0.9),
            "priority": question(job, keep_priority=3),
        },
        nothing={"none-may": question(job, min_fidelity=1.0, partial=True, nodes=("zone:a", "node:n4"))},
        strict=False,
    )


def rebalance() -> Questions:
    job, few = rebalance_cases.JOB, rebalance_cases.FEW

    def question(documents: Documents, more: tuple[str, tuple[Any, ...]] | None = None, **options: Any) -> Question:
        usual = {"iterations": 100, "time_limit_s": 3600.0, "capacity_per_core": rebalance_cases.PER_CORE}
        asked = {**usual, **options}
        best = (lambda: rebalance_cases.best(documents, asked)) if documents is few else None
        return Question(documents, asked, more, best)

    return Questions(
        {
            "overload": question(job, ("overload", (0.8, 0.85, 0.95, 1.1))),
            "completion": question(job, objective="completion"),
            "bytes": question(job, objective="bytes", max_pause_s=2.0),
            "direct": question(job, ("max_moves", (1, 2, 3, 4)), protocol="direct", max_moves=3),
            "drained": question(job, remove=["n6"]),
            "replaced": question(job, remove=["n2"], add=["n7"], anti_affinity="zone"),
            "few": question(few),
            "few-even": question(few, ("tolerance", (0.4, 0.5, 0.6, "none")), tolerance=0.6),
            "few-drained": question(few, remove=["n2"], protocol="direct", objective="completion"),
        },
        impossible={
            "overload": question(few, overload=0.4),
            "tolerance": question(few, tolerance=0.05),
            "moves": question(job, remove=["n6"], max_moves=1),
        },
        nothing={"roomy": question(job, overload=3.0)},
        strict=True,
    )


def scale_out() -> Questions:
    job, bare = scale_out_cases.JOB, scale_out_cases.BARE

    def question(documents: Documents, more: tuple[str, tuple[Any, ...]] | None = None, **options: Any) -> Question:
        asked = {**scale_out_cases.USUAL, **options}
        tried = documents is bare and asked.get("split") == "hash"
        best = cache(lambda: scale_out_cases.best(documents, asked)) if tried else None
        return Question(documents, asked, more, best)

    return Questions(
        {
            "plain": question(job, ("target_utilisation", (0.5, 0.7, 0.9))),
            "hash": question(job, split="hash", technique="checkpoint"),
            "forecast": question(job, forecast="trend", growth=0.8),
            "free-cpu": question(bare, ("free_cpu", (0.0, 2.0, 5.0, 9.0, 20.0)), free_cpu=5.0),
            "quota": question(bare, ("quota", (12.0, 14.0, 16.0, 25.0)), quota=16.0, split="hash", max_parallelism=7),
            "tight": question(
                bare, ("free_cpu", (2.0, 3.0, 4.0, 6.0)), split="hash", free_cpu=4.0, growth=1.5, max_parallelism=7
            ),
            "few-tasks": question(bare, ("max_parallelism", (4, 5, 6, 8)), max_parallelism=5),
            "full-nodes": question(scale_out_cases.FULL),
        },
        impossible={"quota": question(bare, quota=4.0)},
        nothing={},
        strict=True,
    )


def peer_ring() -> Questions:
    job, bare = ring_cases.JOB, ring_cases.BARE

    def question(documents: Documents, more: tuple[str, tuple[Any, ...]] | None = None, **options: Any) -> Question:
        return Question(documents, {**ring_cases.USUAL, **options}, more)

    def changed(more: tuple[str, tuple[Any, ...]] | None = None, **options: Any) -> Question:
        return question(job, more, current=ring_cases.EVEN, **{"remove": [], **options})

    idle = {**job, "stats": {**job["stats"], "key_groups": job["stats"]["key_groups"].assign(records=0.0)}}
    return Questions(
        {
            "plain": question(job),
            "two-backups": question(job, replication=2),
            "no-statistics": question(bare, replication=2),
            "uneven": question(job, remove=[]),
            "tier": question(job, tier=["zone:vault"]),
            "again": changed(),
            "grown": changed(("max_bytes", (4e8, 6e8, 8e8, 1e9, 2e9)), add=["n7"], max_bytes=1e9),
            "shrunk": changed(remove=["n6"], overload=3.0),
            "enough": changed(add=["n7"], target_load=1.4),
            "failed": changed(fail=["node:n1", "node:n3"]),
        },
        impossible={"bytes": changed(remove=["n6"], overload=3.0, max_bytes=1.0)},
        nothing={"idle": question(idle)},
        strict=True,
    )


#: By command: a planner of one of these is covered by its row in the registry alone.
QUESTIONS: Mapping[str, Questions] = {
    "allocate-checkpoints": allocation(),
    "drain-schedule": drain(),
    "peer-ring": peer_ring(),
    "rebalance": rebalance(),
    "recovery-schedule": recovery(),
    "replicate-tasks": replication(),
    "scale-out": scale_out(),
}
