"""Small random jobs under tight limits, and the best scale-out of each by trying everything; knows JSON and tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from tests.planners.scale_out.outside_judge import SLACK, busiest, even, jobs_of, uses, weights_of

Document = Mapping[str, Any]
WINDOW_S, WINDOWS = 60, 4


def random_job(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return one or two chains on up to three nodes with few cores left, measured; and options."""
    rng = np.random.default_rng(seed)
    operators: list[dict[str, Any]] = []
    edges, tasks, groups = [], list[dict[str, Any]](), list[dict[str, Any]]()
    times = [pd.Timestamp("2026-01-01T00:00:00Z") + pd.Timedelta(seconds=WINDOW_S * w) for w in range(WINDOWS)]
    for job in range(int(rng.integers(1, 3))):
        came = rng.uniform(50.0, 200.0) * rng.uniform(0.5, 1.0, WINDOWS)
        for number in range(int(rng.integers(2, 4))):
            keyed = int(rng.choice([0, 3, 5])) if number else 0
            count = int(rng.integers(1, (keyed or 4) + 1)) if number else 1
            operators.append({"id": f"{'ba'[job]}{number}", "parallelism": count, "cpu": float(rng.choice([0.5, 1.0]))})
            name, passed = operators[-1]["id"], float(rng.choice([0.5, 1.0, 2.0]))
            part = rng.dirichlet(np.full(keyed, 3.0)) if keyed else np.zeros(0)
            owner = np.arange(keyed) * count // keyed if keyed else np.zeros(0, dtype=int)
            share = np.bincount(owner, part, minlength=count) if keyed else np.full(count, 1.0 / count)
            if number:
                operators[-1] |= {"key_groups": keyed} if keyed else {}
                edges.append({"from": operators[-2]["id"], "to": name, "partitioning": "full"})
            rate = came.max() / count / rng.uniform(0.05, 2.0)
            for (w, time), task in itertools.product(enumerate(times), range(count)):
                read, out = (came[w] * share[task] * WINDOW_S, passed) if number else (0.0, 1.0)
                wrote = read * out if number else came[w] * WINDOW_S
                tasks.append({"operator": name, "task": task, "window_start": time, "records_in": read,
                              "records_out": wrote, "busy_ms": 1000.0 * read / rate if number else None})  # fmt: skip
            groups += [
                {"operator": name, "key_group": g, "window_start": time, "records": came[w] * part[g] * WINDOW_S,
                 "state_bytes": 1e6, "bytes": None, "resolution": "key_group", "estimated": False}
                for (w, time), g in itertools.product(enumerate(times), range(keyed))
            ]  # fmt: skip
            came = came * passed if number else came
        operators[-1]["output"] = True
    topology = {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}
    end = times[-1] + pd.Timedelta(seconds=WINDOW_S)
    manifest = {
        "format": "ftplan/stats", "format_version": "1.0", "window_s": WINDOW_S, "windows": WINDOWS,
        "start": str(times[0]), "end": str(end), "measures": ["records"],
        "operators": {o["id"]: {name: o[name] for name in o if name == "key_groups"} for o in operators},
    }  # fmt: skip
    columns = ["operator", "key_group", "window_start", "records", "state_bytes", "bytes", "resolution", "estimated"]
    stats = {"manifest": manifest, "tasks": pd.DataFrame(tasks), "key_groups": pd.DataFrame(groups, columns=columns)}
    documents: dict[str, Any] = {"topology": topology, "stats": stats}
    nodes = [f"n{k + 1}" for k in range(int(rng.integers(1, 4)))]
    if rng.random() < 0.7:
        placed = {o["id"]: [nodes[k] for k in rng.integers(0, len(nodes), o["parallelism"])] for o in operators}
        used = {node: sum(o["cpu"] * placed[o["id"]].count(node) for o in operators) for node in nodes}
        machines = [{"id": n, "cpu": float(used[n] + rng.choice([0.5, 1.0, 1.5, 3.0]))} for n in nodes]
        documents["cluster"] = {
            "format": "ftplan/cluster", "format_version": "1.0", "nodes": machines, "placement": {"tasks": placed}
        }  # fmt: skip
    asked = {"split": str(rng.choice(["load", "hash"])), "target_utilisation": float(rng.choice([0.5, 0.7, 1.0]))}
    total = sum(o["cpu"] * o["parallelism"] for o in operators)
    limits = {"free_cpu": float(rng.choice([1.0, 2.0, 4.0])), "quota": float(total + rng.choice([1.0, 2.0, 4.0]))}
    limits |= {"max_parallelism": int(rng.integers(2, 7))}
    return documents, {**asked, **{name: limit for name, limit in limits.items() if rng.random() < 0.4}}


def best(plan: Document, documents: Document) -> tuple[float, float]:
    """Return the most load that can be sustained, and the fewest cores more than now with which it is."""
    asked, use = plan["options"], uses(documents)
    target, by_id = asked["target_utilisation"], {o["id"]: o for o in documents["topology"]["operators"]}
    states = {item["operator"]: item["state"] for item in plan["plan"]["operators"]}
    now, choices = dict[str, float](), list[list[tuple[str, int, float, bool]]]()
    for name, operator in by_id.items():
        groups, tasks = operator.get("key_groups"), operator["parallelism"]
        now[name] = share(busiest(operator, use[name], tasks, even(groups, tasks) if groups else None), target)
        if not sum(use[name]) or (states[name] == "normal" and now[name] == 1.0):
            continue
        most = min(asked["max_parallelism"] or 16, groups or 16)
        each = [(name, t, max(_shares(operator, use[name], t, asked)), now[name] == 1.0) for t in range(1, most + 1)]
        if now[name] < 1.0:
            # Fewer tasks than now only where these are no busier.
            able = [item for item in each if item[1] >= tasks or item[2] >= now[name] - 1e-12]
            choices.append([(name, 0, now[name], False), *able])
        elif states[name] == "scale-in":
            choices.append([(name, 0, 1.0, True), *(item for item in each if item[1] < tasks and item[2] == 1.0)])
    jobs, weights = jobs_of(documents["topology"]), weights_of(documents)
    tried = []
    for chosen in itertools.product(*choices):
        shares = now | {name: reached for name, _, reached, _ in chosen}
        levels = [min(shares[o] for o in job) for job in jobs]
        value = sum(weight * level for weight, level in zip(weights, levels, strict=True))
        needed = {name for job, level in zip(jobs, levels, strict=True) for name in job if now[name] < level - 1e-12}
        idle = [(name, tasks) for name, tasks, _, smaller in chosen if tasks and not smaller and name not in needed]
        if any(tasks >= by_id[name]["parallelism"] for name, tasks in idle):
            continue  # what lacks tasks grows only where its job's level needs it
        extra = sum(by_id[n]["cpu"] * (tasks - by_id[n]["parallelism"]) for n, tasks, *_ in chosen if tasks)
        tried.append((-round(value, 9), extra, [item for item in chosen if item[1]]))
    return next((-v, extra) for v, extra, items in sorted(tried, key=lambda t: t[:2]) if _fits(items, asked, documents))


def share(use: float, target: float) -> float:
    return 1.0 if use <= target * (1.0 + 1e-9) else target / use


def _shares(operator: Document, use: list[float], tasks: int, asked: Document) -> Iterator[float]:
    """Yield the share of the demand that is sustained with each of all key ranges."""
    groups = operator.get("key_groups")
    if not groups or asked["split"] == "hash":
        yield share(busiest(operator, use, tasks, even(groups, tasks) if groups else None), asked["target_utilisation"])
        return
    for cuts in itertools.combinations(range(1, groups), tasks - 1):
        ranges = [(a, b - 1) for a, b in itertools.pairwise((0, *cuts, groups))]
        yield share(busiest(operator, use, tasks, ranges), asked["target_utilisation"])


def _fits(items: list[tuple[str, int, float, bool]], asked: Document, documents: Document) -> bool:
    """Return whether new tasks find room beside the old ones, in two waves: all ways of placing them are tried."""
    by_id = {o["id"]: o for o in documents["topology"]["operators"]}
    cpu = {name: o["cpu"] for name, o in by_id.items()}
    total = sum(cpu[name] * o["parallelism"] for name, o in by_id.items())
    cores = min(asked["free_cpu"] or np.inf, (asked["quota"] or np.inf) - total)
    names, placed, ways = list[str](), {}, {()}
    if "cluster" in documents:
        names = [node["id"] for node in documents["cluster"]["nodes"]]
        placed = documents["cluster"]["placement"]["tasks"]
        taken = {n: sum(cpu[o] * at.count(n) for o, at in placed.items()) for n in names}
        ways = {tuple(round(node["cpu"] - taken[node["id"]], 6) for node in documents["cluster"]["nodes"])}
    for less in (True, False):
        wave = [(name, tasks) for name, tasks, _, smaller in items if smaller == less]
        new = sum(cpu[name] * tasks for name, tasks in wave)
        if wave and new > cores + SLACK:
            return False
        cores += sum(cpu[name] * by_id[name]["parallelism"] for name, _ in wave) - new
        for size in [cpu[name] for name, tasks in wave for _ in range(tasks) if names]:
            ways = {
                (*way[:k], round(way[k] - size, 6), *way[k + 1 :])
                for way in ways for k in range(len(names)) if way[k] >= size - SLACK
            }  # fmt: skip
        back = [sum(cpu[name] * placed[name].count(node) for name, _ in wave) for node in names]
        ways = {tuple(round(a + b, 6) for a, b in zip(way, back, strict=True)) for way in ways}
    return bool(ways)
