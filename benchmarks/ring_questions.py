"""Questions of a peer ring for benchmarks: loads of key groups by law and from real logs, nodes in four zones."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.problem import RingProblem, RingSetting
from ftplan.planners.peer_ring.ring import position_of

ROOT = Path(__file__).resolve().parent.parent
FLIGHTS = ROOT / "examples" / "flights" / "hflights.csv.gz"
EDITS = ROOT / "examples" / "wikiticker" / "wikiticker-2015-09-12-sampled.json.gz"
ZONES = 4
LAWS = ("equal", "exponential", "log-normal, sigma 1", "Wikipedia edits by page", "Houston flights by aircraft")


def loads(law: str, groups: int, seed: int = 0) -> FloatArray:
    """Return the load of each of so many key groups; real keys are hashed to them."""
    random = np.random.default_rng(seed)
    if law == "equal":
        return np.ones(groups)
    if law == "exponential":
        return np.asarray(random.exponential(size=groups))
    if law.startswith("log-normal"):
        return np.asarray(random.lognormal(0.0, 1.0, groups))
    keys = _edited_pages() if law.startswith("Wikipedia") else _aircraft()
    at = np.array([zlib.crc32(key.encode()) % groups for key in keys.index])
    return np.bincount(at, keys.to_numpy(), minlength=groups).astype(np.float64)


def _edited_pages() -> pd.Series[int]:
    with gzip.open(EDITS, "rt", encoding="utf-8") as lines:
        return pd.Series([json.loads(line)["page"] for line in lines]).value_counts()


def _aircraft() -> pd.Series[int]:
    return pd.read_csv(FLIGHTS, usecols=["TailNum"])["TailNum"].dropna().value_counts()


def ring_question(
    load: FloatArray, cpu: FloatArray, replication: int = 1, state: FloatArray | None = None
) -> RingProblem:
    """Return the question of nodes n0, n1, ... in ZONES zones by turns, with one operator's key groups."""
    nodes, groups = len(cpu), len(load)
    key_group, none, zero = np.arange(groups), np.zeros(nodes, dtype=np.bool_), np.zeros(nodes)
    position = position_of(key_group, np.full(groups, groups))
    size = np.ones(groups) if state is None else state
    unknown = np.full(groups, np.nan)
    return RingProblem(
        nodes=tuple(f"n{k}" for k in range(nodes)), zones=tuple(f"zone-{z}" for z in range(ZONES)),
        zone=np.arange(nodes) % ZONES, members=~none, tier=none, added=none, removed=none, fails=none, cpu=cpu,
        down=zero, zone_down=np.zeros(ZONES), position=position, load=load, rate=load, state=size,
        operators=("keys",) * groups, key_group=key_group, atom=key_group, group_load=load, group_state=size,
        capacity=cpu * float(load.sum() / cpu.sum()) / 0.7, foreign=zero, overload=0.85, replication=replication,
        setting=RingSetting(10.0, 0.0, 10.0, True, 0.0, 0.015, np.full(nodes, np.inf), 1e8, unknown),
    )  # fmt: skip
