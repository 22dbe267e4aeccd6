"""How near the local search of one recovery step comes to the best published values of the set-union knapsack.

Run: ``python benchmarks/sukp.py FOLDER [--seconds 1] [--seeds 10] [--only TEXT] [--cp-sat-seconds 0]``. The folder (or
the environment variable ``FTPLAN_SUKP``) holds ``best_known.csv`` (instance, best_known) and ``INSTANCE.txt.gz``:
items, elements, capacity; profits; weights; a 0/1 matrix (He et al. 2018; Wei & Hao). Prints a Markdown table.

``--generated`` takes instances of the same shapes instead (``sukp_instances.py``) and needs no folder: the best values
are those of many runs then. ``--cpu`` counts processor time, for a machine that does other things besides.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sukp_instances import BEST_FOUND, generated

from ftplan.model.topology import BoolArray
from ftplan.planners import budget
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.local_search import local_search_step


def read(path: Path) -> SetUnionKnapsack:
    """Return the knapsack of one file: items are queries."""
    with gzip.open(path, "rt") as file:
        text = file.read()
    head = re.search(r"m\s*=\s*(\d+)\s+n\s*=\s*(\d+)\s+knapsack size\s*=\s*(\d+)", text)
    if head is None:
        raise ValueError(f"{path.name}: no line 'm=... n=... knapsack size=...'")
    items, elements, capacity = (int(number) for number in head.groups())
    lines = [line for line in text[head.end() :].splitlines() if re.fullmatch(r"[\d\s]*\d[\d\s]*", line)]
    numbers = np.array(" ".join(lines).split(), dtype=np.int64)
    matrix = numbers[items + elements :].reshape(items, elements) == 1
    return SetUnionKnapsack(
        priority=numbers[:items].astype(np.float64),
        weight=numbers[items : items + elements].astype(np.float64),
        start=np.concatenate(([0], np.cumsum(matrix.sum(axis=1)))),
        member=np.nonzero(matrix)[1],
        capacity=float(capacity),
    )


def densest_first(knapsack: SetUnionKnapsack) -> float:
    """Return the value of choosing again and again what fits and has most priority per marginal weight."""
    matrix = np.zeros((knapsack.queries, knapsack.elements), dtype=np.bool_)
    matrix[knapsack.row, knapsack.member] = True
    chosen = np.zeros(knapsack.queries, dtype=np.bool_)
    while True:
        covered = knapsack.covered(chosen)
        add = (matrix & ~covered) @ knapsack.weight
        fits = ~chosen & (add + knapsack.weight[covered].sum() <= knapsack.limit)
        if not fits.any():
            return knapsack.value(chosen)
        chosen[np.argmax(np.where(fits, knapsack.priority / np.maximum(add, 1e-9), -1.0))] = True


def cp_sat(knapsack: SetUnionKnapsack, seconds: float) -> float:
    """Return the value that CP-SAT finds on one thread, 0 for none; weights must be whole."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    chosen = [model.new_bool_var("") for _ in range(knapsack.queries)]
    paid = [model.new_bool_var("") for _ in range(knapsack.elements)]
    for query, bundle in zip(knapsack.row, knapsack.member, strict=True):
        model.add_implication(chosen[query], paid[bundle])
    model.add(sum(int(w) * x for w, x in zip(knapsack.weight, paid, strict=True)) <= int(knapsack.capacity))
    model.maximize(sum(int(p) * x for p, x in zip(knapsack.priority, chosen, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    found = solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return float(solver.objective_value) if found else 0.0


def time_to(knapsack: SetUnionKnapsack, value: float, choice: BoolArray, seconds: float, seed: int) -> float:
    """Return the seconds after which the search of this seed first had *value*, by halving its time."""
    if knapsack.value(choice) < value:
        return float("nan")
    low, high = 0.0, seconds
    while high - low > seconds / 32:
        middle = (low + high) / 2
        reached = knapsack.value(local_search_step(knapsack, Budget(middle), seed).queries) >= value
        low, high = (low, middle) if reached else (middle, high)
    return high


def row(name: str, knapsack: SetUnionKnapsack, best: float, options: argparse.Namespace) -> tuple[str, int]:
    """Return the table's row of one instance, and how many seeds reached the best published value."""
    values, times = [], []
    for seed in range(options.seeds):
        choice = local_search_step(knapsack, Budget(options.seconds), seed).queries
        if not knapsack.fits(choice):
            raise AssertionError(f"{name}, seed {seed}: the choice does not fit")
        values.append(knapsack.value(choice))
        if options.time_to_best:
            times.append(time_to(knapsack, best, choice, options.seconds, seed))
    reached = sum(value >= best for value in values)
    mean = f"{np.nanmean(times):.2f}" if reached and times else ""
    exact = f"{1 - cp_sat(knapsack, options.cp_sat_seconds) / best:.2%}" if options.cp_sat_seconds > 0 else ""
    return (
        f"| {name} | {best:,.0f} | {reached} of {options.seeds} | {1 - min(values) / best:.2%} | {mean} | "
        f"{1 - densest_first(knapsack) / best:.2%} | {exact} |"
    ), reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=os.environ.get("FTPLAN_SUKP"))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="instances whose name contains this")
    parser.add_argument("--cp-sat-seconds", type=float, default=0.0, help="0: leave CP-SAT out")
    parser.add_argument("--time-to-best", action="store_true", help="measure it by runs of half the time each")
    parser.add_argument("--generated", action="store_true", help="instances by seed, not those of a folder")
    parser.add_argument("--cpu", action="store_true", help="seconds of the processor, not of the clock")
    options = parser.parse_args()
    if options.cpu:
        budget.now = time.process_time
    known: dict[str, float] = {}
    load: Callable[[str], SetUnionKnapsack]
    if options.generated:
        shapes = {f"generated_{shape.name}": shape for shape in BEST_FOUND}
        known = {name: BEST_FOUND[shape] for name, shape in shapes.items()}

        def load(name: str) -> SetUnionKnapsack:
            return generated(shapes[name])

    elif options.folder is None or not (Path(options.folder) / "best_known.csv").exists():
        print("Skipped: no folder of instances (give it as the argument or in FTPLAN_SUKP, or use --generated).")
        return
    else:
        folder = Path(options.folder)
        with (folder / "best_known.csv").open() as file:
            known = {line["instance"]: float(line["best_known"]) for line in csv.DictReader(file)}

        def load(name: str) -> SetUnionKnapsack:
            return read(folder / f"{name}.txt.gz")

    known = {name: best for name, best in known.items() if options.only in name}
    first = next(iter(known), None)
    if first is not None:
        local_search_step(load(first), Budget(1.0, 1))  # the kernels are loaded
    print(f"{options.seconds:g} s of search for each seed, one thread.\n")
    print("| instance | best known | reached | worst short by | s to best | density short by | CP-SAT short by |")
    print("|---|---|---|---|---|---|---|")
    total, start = 0, time.perf_counter()
    for name, best in known.items():
        line, reached = row(name, load(name), best, options)
        total += reached
        print(line, flush=True)
    print(f"\nReached in {total} of {len(known) * options.seeds} runs; {time.perf_counter() - start:.0f} s in all.")


if __name__ == "__main__":
    main()
