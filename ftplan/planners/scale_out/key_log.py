"""Every max parallelism, on the keys of a log: into how many key groups an operator's keys are best hashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ftplan.compiled import called_often
from ftplan.errors import FtplanError, suggestion
from ftplan.io.key_log_file import KeyedRecords, KeyLog
from ftplan.model.plan import Warn
from ftplan.model.statistics import Manifest
from ftplan.model.tolerances import TINY
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.parallelism import OperatorSizing
from ftplan.planners.scale_out.problem import ScalableOperator, ScalingProblem, share_at
from ftplan.spark_stats import hashing, spark_hashing

#: The largest max parallelism that engines take.
LARGEST = 32_768
#: Up to this each one is tried; beyond, powers of two and multiples of the number of key groups now.
EACH, DEFAULT = 512, 128
#: Traps that are listed.
MAX_LISTED = 120
#: Hashes of keys that depend on the max parallelism; ``identity`` does not.
HASHES: dict[str, Any] = {
    "java": hashing.java,
    "flink": hashing.flink,
    "kafka": hashing.kafka,
    "xxhash64": spark_hashing.xxhash64,
    "murmur3": spark_hashing.murmur3,
    "crc32": spark_hashing.crc32,
}


class MaxParallelism(NamedTuple):
    """A number of key groups, the smallest parallelism that suffices with it, and the use of the busiest task then.

    Where none suffices, the smallest parallelism with the least use of its busiest task.
    """

    max_parallelism: int
    parallelism: int
    highest: float


def key_groups(keys: Any, key_hash: str, groups: int) -> IntArray:
    """Return the key group of each key, (n,), as ``compute-stats`` does with ``--key-hash`` and ``--key-type auto``.

    *keys* is an Arrow array of texts, or of whole numbers, none null.
    """
    return hashes(keys, key_hash) % groups


def hashes(keys: Any, key_hash: str) -> IntArray:
    """Return the hash of each key, (n,), of which the key group is the floor modulus."""
    # Of Spark's own hashes a number of 32 bits has another one than of 64; for all others it is long.
    text = not pa.types.is_integer(keys.type)
    short = pa.types.is_int32(keys.type) and key_hash in ("xxhash64", "murmur3")
    hashed = HASHES[key_hash](keys, "text" if text else "int" if short else "long")
    return np.asarray(hashed.to_numpy(zero_copy_only=False), dtype=np.int64)


def max_parallelisms(
    problem: ScalingProblem, log: KeyLog, manifest: Manifest, most: int | None = None
) -> tuple[list[dict[str, Any]], tuple[Warn, ...]]:
    """Return what each max parallelism means for the operators of a key log, as ``summary.max_parallelism`` has it.

    Each is tried exactly: keys are hashed as the statistics say (as Flink does where they do not), and every
    parallelism is looked at, with ranges as the problem asks for, until one suffices. ``best`` is that with the
    smallest parallelism that suffices; of these the present one, since another needs all keys to be hashed anew, else
    that whose busiest task is least busy. ``traps`` are those that need more tasks, or leave the
    busiest busier, than a smaller one does.

    *most*: the largest that is tried, 32,768 if None. Cost O(keys + max
    parallelism) for each that is tried.

    Raises FtplanError if the log names an operator that is not there, or has no key groups.
    """
    by_id = {operator.id: operator for operator in problem.operators}
    rows: list[dict[str, Any]] = []
    warnings: list[Warn] = []
    for name, keyed in log.by_operator.items():
        operator = by_id.get(name)
        if operator is None:
            raise FtplanError(f"key log: operator {name!r} is not in the topology{suggestion(name, list(by_id))}")
        if not operator.keyed:
            raise FtplanError(f"key log: operator {name!r} has no key_groups in the topology")
        key_hash = getattr(manifest.operators.get(name), "key_hash", None)
        if key_hash not in HASHES:  # statistics of an engine's own counters know the number of a group, not its keys
            key_hash = "flink"
            text = f"{name}: the statistics do not say how keys became key groups; they are hashed as Flink does"
            warnings.append(Warn("KEY_HASH_ASSUMED", text))
        rows.append(_row(problem, operator, keyed, key_hash, most))
    return rows, tuple(warnings)


def _row(
    problem: ScalingProblem, operator: ScalableOperator, keyed: KeyedRecords, key_hash: str, most: int | None
) -> dict[str, Any]:
    hashed, use = _uses(operator, keyed, key_hash)
    candidates = _candidates(operator.key_groups, LARGEST if most is None else most)
    with called_often():
        tried = [_sized(problem, operator, hashed, use, groups) for groups in candidates]
    target = problem.limits.target
    now = _sized(problem, operator, hashed, use, operator.key_groups)
    best = min((now, *tried), key=lambda item: (*_rank(item, target), item != now, item.highest, item.max_parallelism))
    heaviest = float(use.max(initial=0.0))
    return {
        "operator": operator.id,
        "key_hash": key_hash,
        "keys": len(hashed),
        "tried": len(tried),
        "best": best._asdict(),
        "now": now._asdict(),
        "traps": [item._asdict() for item in _traps(tried, target)[:MAX_LISTED]],
        "heaviest_key_use": heaviest if share_at(heaviest, target) < 1.0 else None,
    }


def _uses(operator: ScalableOperator, keyed: KeyedRecords, key_hash: str) -> tuple[IntArray, FloatArray]:
    """Return the hashes that there are, (h,), and the use of each: the operator's, by records."""
    hashed, inverse = np.unique(hashes(keyed.keys, key_hash), return_inverse=True)
    records = np.bincount(inverse, np.asarray(keyed.records), minlength=len(hashed))
    use: FloatArray = np.asarray(operator.use * records / max(float(records.sum()), TINY), dtype=np.float64)
    return hashed, use


def _sized(
    problem: ScalingProblem, operator: ScalableOperator, hashed: IntArray, use: FloatArray, groups: int
) -> MaxParallelism:
    of_group: FloatArray = np.asarray(np.bincount(hashed % groups, use, minlength=groups), dtype=np.float64)
    hypothetical = replace(
        operator,
        parallelism=1,
        key_groups=groups,
        most=groups,
        group_use=of_group,
        state_bytes=np.zeros(groups),  # the log says nothing of state
        copies=(),
    )
    size = OperatorSizing(hypothetical, problem.split, problem.limits.target).enough
    assert size is not None  # there is no state that might not fit
    return MaxParallelism(groups, size.parallelism, size.highest)


def _candidates(now: int, most: int) -> list[int]:
    step = now or DEFAULT
    powers = [2**power for power in range(most.bit_length()) if 2**power <= most]
    return sorted({*range(1, min(most, EACH) + 1), *powers, *range(step, most + 1, step)})


def _rank(item: MaxParallelism, target: float) -> tuple[float, ...]:
    """Return what is smaller the better a max parallelism is."""
    short = share_at(item.highest, target) < 1.0
    return short, item.highest if short else 0.0, item.parallelism


def _traps(tried: Sequence[MaxParallelism], target: float) -> list[MaxParallelism]:
    """Return those that are worse than a smaller one, ascending."""
    traps, least = [], None
    for item in tried:
        rank = _rank(item, target)
        if least is not None and rank > least:
            traps.append(item)
        least = rank if least is None else min(least, rank)
    return traps
