"""Rebalances carried out by plan file and inputs alone: no node is ever too full, and drained ones are empty."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.api import verify
from tests.planners.rebalance.cases import JOB, document, planned

Group = tuple[str, int]
Document = dict[str, Any]
MB = 2**20
#: Seconds a record takes, by its measured cpu time.
RECORD_S = 0.002
#: What is asked of random jobs, in turn.
ASKED: list[dict[str, Any]] = [
    {},
    {"protocol": "direct"},
    {"remove": ["n6"]},
    {"add": ["n7"], "objective": "bytes"},
    {"tolerance": 0.5, "objective": "completion"},
    {"remove": ["n4"], "add": ["n7"], "anti_affinity": "zone"},
    {"remove": ["n3"], "within_s": 0.5},
    {"max_pause_s": 1.0, "phase_bytes": 5 * MB, "protocol": "direct"},
]


def drawn(seed: int) -> Document:
    """Return the job with other loads, key groups and copies elsewhere."""
    rng, documents = np.random.default_rng(seed), copy.deepcopy(dict(JOB))
    hosts = ["n1", "n2", "n3", "n4", "n5", "n6"]
    rows = documents["stats"]["key_groups"].copy()
    names = sorted({(o, int(g)) for o, g in zip(rows["operator"], rows["key_group"], strict=True)})
    factor = dict(zip(names, rng.lognormal(0.0, 0.6, len(names)), strict=True))
    rows["records"] = [
        float(round(r * factor[o, g]))
        for o, g, r in zip(rows["operator"], rows["key_group"], rows["records"], strict=True)
    ]
    rows["cpu_ms"] = 1000.0 * RECORD_S * rows["records"]
    placed = {name: [hosts[int(i)] for i in rng.integers(0, 6, n)] for name, n in (("agg", 12), ("join", 6))}
    held = {
        name: [[str(node)] for node in rng.choice([*hosts, "n7", "n8"], len(nodes))] for name, nodes in placed.items()
    }
    for name, nodes in placed.items():
        held[name] = [[c if c != node else "n7" for c in some] for node, some in zip(nodes, held[name], strict=True)]
    documents["cluster"]["placement"] |= {"key_groups": placed, "checkpoints": held}
    return {**documents, "stats": {**documents["stats"], "key_groups": rows}}


class Replay:
    """A plan carried out step by step."""

    def __init__(self, documents: Document, plan: Document) -> None:
        self.plan, options = plan["plan"], plan["options"]
        nodes = {node["id"]: node for node in documents["cluster"]["nodes"]}
        per_core = options["capacity_per_core"] * 60.0
        self.use = {name: node.get("used_cpu", 0.0) * per_core for name, node in nodes.items()}
        self.ceiling = {name: options["overload"] * node["cpu"] * per_core for name, node in nodes.items()}
        rows = documents["stats"]["key_groups"]
        mean = rows.groupby(["operator", "key_group"])["records"].mean()
        self.load: dict[Group, float] = {(o, int(g)): float(v) for (o, g), v in mean.items()}
        self.place: dict[Group, str] = {}
        self.copies: dict[Group, set[str]] = {}
        placement = documents["cluster"]["placement"]
        for operator in documents["topology"]["operators"]:
            name, count = operator["id"], operator.get("key_groups", 0)
            for g in range(count):
                listed = placement.get("key_groups", {}).get(name)
                task = placement["tasks"][name][g * operator["parallelism"] // count]
                self.place[name, g] = listed[g] if listed else task
                self.copies[name, g] = set(placement["checkpoints"][name][g])
        self.homes = dict(self.place)
        self.zone = {name: node.get("zone", name) for name, node in nodes.items()}
        self.zoned = options["anti_affinity"] == "zone"
        self.most = {name: max(self.ceiling[name], load) for name, load in self.loads().items()}
        self.now = 0.0

    def loads(self) -> dict[str, float]:
        loads = dict(self.use)
        for group, node in self.place.items():
            loads[node] += self.load[group]
        return loads

    def moves(self, number: int) -> list[Document]:
        return [move for move in self.plan["moves"] if move["phase"] == number]

    def phase(self, number: int) -> None:
        """Begin all moves of a phase together, look at every node, and end them."""
        moves = self.moves(number)
        during = self.loads()
        for move in moves:
            group = move["operator"], move["key_group"]
            assert self.place[group] == move["from"]
            during[move["to"]] += self.load[group]
            during[move["from"]] -= 0.0 if move["protocol"] == "cpal" else self.load[group]
        self.keeps(during, number)
        self.times(moves, self.plan["phases"][number])
        for move in moves:
            self.arrive(move)
        self.keeps(self.loads(), number)

    def keeps(self, loads: dict[str, float], number: int) -> None:
        for node, load in loads.items():
            assert load <= self.most[node] * (1 + 1e-9) + 1e-9, f"phase {number}: {node}"

    def arrive(self, move: Document) -> None:
        """The group is there; its old node keeps the fresh checkpoint, the one that it came to is none any more."""
        group = move["operator"], move["key_group"]
        before, self.place[group] = self.copies[group], move["to"]
        lost = move["protocol"] in ("recover", "fetch") or move["from"] in self.plan["remove_nodes"]
        if before and not lost:
            stale = {move["to"]} & before or {max(before, key=lambda name: int(name[1:]))}
            self.copies[group] = (before - stale) | {move["from"]}
        else:
            self.copies[group] = before - {move["to"]}

    def times(self, moves: list[Document], stated: Document) -> None:
        """Serve transfers one after another on each link; a second of waiting costs more than one while catching up."""
        into, out, ends = defaultdict(float), defaultdict(float), [0.0]
        for move in moves:
            link = move["bytes"] / (20 * MB)
            rate = self.load[move["operator"], move["key_group"]] / 60.0
            wait = max(into[move["to"]], out[move["from"]] if move["protocol"] == "direct" else 0.0) if link else 0.0
            if link:
                into[move["to"]] = wait + link
                if move["protocol"] == "direct":
                    out[move["from"]] = wait + link
            late = wait / (1.0 - rate * RECORD_S)
            pause = move["latency_s"] + (0.0 if move["protocol"] == "cpal" else late)
            if move["protocol"] != "fetch":  # whose state leaves some host of a copy
                assert move["pause_s"] == pytest.approx(pause, rel=1e-6)
            ends.append(move["completion_s"] + late)
        if all(move["protocol"] != "fetch" for move in moves):
            assert stated["duration_s"] == pytest.approx(max(ends), rel=1e-6)
        self.now += stated["duration_s"]

    def whole(self) -> None:
        for number in range(len(self.plan["phases"])):
            self.phase(number)
        self.finish()

    def finish(self) -> None:
        """Check what is left: no node overloaded, drained ones empty, and copies apart from their groups."""
        gone = set(self.plan["remove_nodes"])
        for node, load in self.loads().items():
            assert node in gone or load <= self.ceiling[node] * (1 + 1e-9)
        assert not gone & set(self.place.values())
        after = {(c["operator"], c["key_group"]): set(c["nodes"]) for c in self.plan["checkpoints"]}
        made = defaultdict(set)
        for new in self.plan["new_copies"]:
            made[new["operator"], new["key_group"]].add(new["to"])
            assert new["from"] == self.place[new["operator"], new["key_group"]]
        assert after.keys() == self.place.keys()
        for group, nodes in after.items():
            assert not nodes & gone
            if not self.zoned:
                assert nodes == self.copies[group] - gone | made[group]
            moved = self.place[group] != self.homes[group]
            spots = [self.place[group], *nodes]
            if moved or made[group]:
                assert len(set(spots)) == len(spots)
                if self.zoned:
                    assert len({self.zone[node] for node in spots}) == len(spots)


@pytest.mark.parametrize("seed", [*range(15), 36])
def test_a_rebalance_carried_out_keeps_every_limit(seed: int) -> None:
    documents, options = drawn(seed), ASKED[seed % len(ASKED)]
    problem = ftplan.load(**documents)
    plan = planned(problem, iterations=5, **options)
    if plan.plan is None:
        assert plan.status in ("infeasible", "no-plan-in-time")
        return
    assert verify(plan, problem, strict=True).violations == ()
    replay = Replay(documents, document(plan))
    replay.whole()
    if "within_s" in options:
        last = [m for m in replay.plan["moves"] if m["protocol"] in ("recover", "fetch")]
        assert all(m["from"] == "n3" and m["phase"] == len(replay.plan["phases"]) - 1 for m in last)


def test_the_replay_sees_what_is_wrong() -> None:
    plan = document(planned(ftplan.load(**JOB), remove=["n6"]))
    plan["plan"]["moves"] = [m for m in plan["plan"]["moves"] if m["from"] != "n6"]
    replay = Replay(dict(JOB), plan)
    with pytest.raises(AssertionError):
        replay.whole()
