"""How much longer the fidelity of 100 budgets takes than that of one.

Run from the project's root: ``python benchmarks/replication_curve.py``. Prints a Markdown table. The jobs are a
chain and an in-tree of operators with full edges, task loads falling as 1/sqrt(k), and an in-tree with structured
edges; each time is the least of three runs through the Python face, from the loaded job to the plan.
"""

from __future__ import annotations

import time

import ftplan

RUNS, RATIO = 3, "25%"


def job(kind: str, tasks: int) -> dict[str, object]:
    """Return a topology of seven operators: a chain, or two branches that meet."""
    shares = [1 / (k + 1) ** 0.5 for k in range(tasks)]
    operators = [{"id": f"o{i}", "parallelism": tasks, "input_share": shares} for i in range(7)]
    for source in operators[:2]:
        source["rate_out"] = shares
    pairs = [(i, i + 1) for i in range(6)] if kind == "chain" else [(0, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 6)]
    rule = "one-to-one" if kind == "structured" else "full"
    edges = [{"from": f"o{a}", "to": f"o{b}", "partitioning": rule} for a, b in pairs]
    return {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}


def seconds(problem: ftplan.Problem, algorithm: str, curve: bool) -> tuple[float, int]:
    """Return the least time of some runs, and how many budgets the curve has."""
    best, points = float("inf"), 1
    for _ in range(RUNS):
        started = time.perf_counter()
        plan = ftplan.plan("replicate-tasks", problem, algorithm=algorithm, budget=RATIO, curve=curve)
        best = min(best, time.perf_counter() - started)
        points = len((plan.plan or {}).get("curve") or [0])
    return best, points


def main() -> None:
    print(
        "| topology | tasks | algorithm | one budget, s | curve, s | budgets | ratio |\n|---|--:|---|--:|--:|--:|--:|"
    )
    for kind, tasks in (("chain", 500), ("in-tree", 500), ("structured", 100)):
        problem = ftplan.load(topology=job(kind, tasks))
        for algorithm in ("greedy", "structure-aware", "exact"):
            one, _ = seconds(problem, algorithm, False)
            many, points = seconds(problem, algorithm, True)
            print(f"| {kind} | {7 * tasks:,} | {algorithm} | {one:.3f} | {many:.3f} | {points} | {many / one:.1f} × |")


if __name__ == "__main__":
    main()
