"""Operators that are to be scaled, small and by hand or at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from ftplan.model.measures.task_state import even_ranges
from ftplan.planners.scale_out.problem import OperatorScaling, ScalableOperator, ScalingProblem

MB = 2.0**20


def operator(name: str = "op", **fields: Any) -> ScalableOperator:
    """Return an operator of 2 tasks and 4 key groups, evenly used, 64 MB each, that is a bottleneck."""
    groups = fields.pop("key_groups", 4)
    use = fields.pop("use", 2.0)
    known: dict[str, Any] = {
        "job": 0,
        "parallelism": 2,
        "cpu": 1.0,
        "most": 16,
        "group_use": np.full(groups, use / groups) if groups else np.zeros(0),
        "state_bytes": np.full(groups, 64 * MB),
        "task_memory": np.inf,
        "score": 80.0,
        "state": "promoted",
        **fields,
    }
    return ScalableOperator(id=name, key_groups=groups, use=use, **known)


def problem(*operators: ScalableOperator, nodes: int = 0, **fields: Any) -> ScalingProblem:
    """Return the question for operators of one job; tasks are on nodes 0, 1, 2, ... in turn now."""
    known: dict[str, Any] = {"weight": np.ones(1)}
    if nodes:
        known["nodes"] = tuple(f"n{i}" for i in range(nodes))
        known["free"] = np.full(nodes, 64.0)
        known["now"] = tuple(tuple(i % nodes for i in range(item.parallelism)) for item in operators)
    return ScalingProblem(operators=operators, **{**known, **fields})


def evenly(item: ScalableOperator, tasks: int, nodes: tuple[int, ...] = (), number: int = 0) -> OperatorScaling:
    """Return a scaling of an operator with even ranges."""
    return OperatorScaling(number, tasks, even_ranges(item.key_groups, tasks) if item.keyed else (), nodes)


@st.composite
def splits(draw: st.DrawFn, nodes: int = 3, highest: float = 0.9) -> tuple[ScalingProblem, OperatorScaling]:
    """Return an operator with checkpoints on nodes, and new tasks for it, none busier than *highest*."""
    groups = draw(st.integers(1, 8))
    old, new = draw(st.integers(1, groups)), draw(st.integers(1, groups))
    whole = st.integers(0, 20)
    use = np.array(draw(st.lists(whole, min_size=groups, max_size=groups)), dtype=np.float64)
    state = np.array(draw(st.lists(whole, min_size=groups, max_size=groups)), dtype=np.float64) * MB
    copies = tuple(tuple(sorted(draw(st.sets(st.integers(0, nodes - 1), max_size=2)))) for _ in range(groups))
    cuts = sorted(draw(st.sets(st.integers(1, groups - 1), min_size=new - 1, max_size=new - 1))) if new > 1 else []
    ranges = tuple(zip([0, *cuts], [cut - 1 for cut in [*cuts, groups]], strict=True))
    largest = max(float(use[first : last + 1].sum()) for first, last in ranges)
    use *= highest / max(largest, 1.0)
    item = operator(
        key_groups=groups,
        parallelism=old,
        use=float(use.sum()),
        group_use=use,
        state_bytes=state,
        copies=copies,
        cpu=draw(st.sampled_from([0.5, 1.0, 2.0])),
        state=draw(st.sampled_from(["normal", "prepared", "promoted", "scale-in"])),
    )
    where = tuple(draw(st.lists(st.integers(0, nodes - 1), min_size=new, max_size=new)))
    return problem(item, nodes=nodes), OperatorScaling(0, new, ranges, where)
