"""Drafts of jobs, random ones too, and imports of the samples."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import ftplan
from ftplan.engines.importing.draft import Draft, DraftEdge, DraftNode, DraftOperator, Imported
from ftplan.io.cluster_file import load_cluster
from ftplan.io.topology_file import load_topology
from tests.places import ROOT

DATA = ROOT / "tests" / "data"
EXAMPLES = ROOT / "examples"
KAFKA, SPARK = EXAMPLES / "kafka-streams", EXAMPLES / "spark" / "eventlog"


def accepted(imported: Imported) -> Imported:
    """Return what was imported; the readers take both documents, one held against the other."""
    topology = load_topology(json.loads(json.dumps(imported.topology))).value
    if imported.cluster is not None:
        load_cluster(json.loads(json.dumps(imported.cluster)), topology)
    return imported


def imported(source: Any, engine: str, **options: Any) -> Imported:
    return accepted(ftplan.import_topology(source, engine, **options))


def codes(done: Imported) -> list[str]:
    return [warning.code for warning in done.assumptions]


def nexmark(folder: Path) -> Path:
    """Write the plans of the Nexmark queries, unpacked."""
    path = folder / "nexmark.yaml"
    path.write_bytes(gzip.decompress((DATA / "risingwave" / "nexmark.yaml.gz").read_bytes()))
    return path


_NAMES = st.text(st.sampled_from("ab :>-(é)2"), min_size=1, max_size=6)


@st.composite
def drafts(draw: st.DrawFn, cycles: bool = False) -> Draft:
    """A random draft: names that collide as slugs, edges that stand twice, rules that do not fit, hosts."""
    names = draw(st.lists(_NAMES, min_size=1, max_size=6))
    rng = random.Random(draw(st.integers(0, 2**20)))
    draft = Draft("job", nodes=[DraftNode(f"host {i}", zone=rng.choice([None, "a", "A b"])) for i in range(3)])
    for i, name in enumerate(names):
        tasks = rng.randint(1, 4)
        operator = DraftOperator(f"k{i}", name, tasks, key_groups=rng.choice([None, tasks * 2]))
        operator.correlated = rng.random() < 0.3
        operator.cpu = rng.choice([None, 0.5, [rng.random() for _ in range(tasks)]])
        operator.rate_out = rng.choice([None, [rng.choice([0.0, 1e-12, 50.0]) for _ in range(tasks)]])
        operator.input_share = rng.choice([None, [0.0] * tasks, [1.0 + j for j in range(tasks)]])
        operator.state_bytes = rng.choice([None, 1e6])
        draft.operators.append(operator)
        if rng.random() < 0.5:
            draft.tasks[operator.key] = [rng.choice(draft.nodes).host for _ in range(tasks)]
    for _ in range(rng.randint(0, 9)):
        a, b = rng.randrange(len(names)), rng.randrange(len(names))
        if not cycles:
            if a == b:
                continue
            a, b = min(a, b), max(a, b)
        one, other = draft.operators[a], draft.operators[b]
        measured = [(i, j, rng.random()) for i in range(one.parallelism) for j in range(other.parallelism)]
        rule = rng.choice(["full", "one-to-one", "split", "merge"])
        draft.edges.append(DraftEdge(one.key, other.key, rule, rng.choice([None, None, measured])))
    return draft


def shuffled(draft: Draft, seed: int) -> Draft:
    rng = random.Random(seed)
    for listed in (draft.operators, draft.edges, draft.nodes):
        rng.shuffle(listed)
    return draft
