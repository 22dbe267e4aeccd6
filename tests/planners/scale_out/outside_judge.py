"""A judge of scale-outs that reads JSON and tables alone, in plain Python: nothing of ftplan is imported."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]
SLACK = 1e-6


def true_rate(operator: Document, tasks: Any) -> float:
    """Return the mean over tasks of records by the seconds in which they were busy."""
    rows = tasks[tasks["operator"] == operator["id"]]
    sums = rows.groupby("task")[["records_in", "busy_ms"]].sum()
    rates = [1000.0 * row.records_in / row.busy_ms for row in sums.itertuples() if row.busy_ms > 0.0]
    return sum(rates) / len(rates) if rates else 0.0


def demands(topology: Document, tasks: Any, window_s: float) -> dict[str, list[float]]:
    """Return what sources offer each operator in each window, in records/s: what each passes on follows its inputs."""
    by_window = tasks.groupby(["operator", "window_start"])[["records_in", "records_out"]].sum()
    senders: dict[str, list[str]] = {operator["id"]: [] for operator in topology["operators"]}
    for edge in topology["edges"]:
        senders[edge["to"]].append(edge["from"])
    known: dict[str, list[float]] = {}
    passed: dict[str, list[float]] = {}
    while len(known) < len(senders):
        for name, before in senders.items():
            if name in known or any(sender not in passed for sender in before):
                continue
            rows = by_window.loc[name]
            wrote = [value / window_s for value in rows["records_out"]]
            if not before:
                known[name] = passed[name] = wrote
                continue
            known[name] = [sum(values) for values in zip(*(passed[sender] for sender in before), strict=True)]
            selectivity = rows["records_out"].sum() / rows["records_in"].sum()
            passed[name] = [value * selectivity for value in known[name]]
    return known


def uses(documents: Document) -> dict[str, list[float]]:
    """Return what the peak demand keeps busy: of each key group, or of the whole operator where it has none."""
    topology, stats = documents["topology"], documents["stats"]
    needed = demands(topology, stats["tasks"], stats["manifest"]["window_s"])
    found = {}
    for operator in topology["operators"]:
        rate = true_rate(operator, stats["tasks"])
        use = max(needed[operator["id"]]) / rate if rate else 0.0
        groups = operator.get("key_groups")
        if not groups:
            found[operator["id"]] = [use]
            continue
        rows = stats["key_groups"][stats["key_groups"]["operator"] == operator["id"]]
        records = rows.groupby("key_group")["records"].sum()
        total = records.sum()
        found[operator["id"]] = [use * float(records.get(group, 0.0)) / total for group in range(groups)]
    return found


def busiest(operator: Document, use: list[float], tasks: int, ranges: Any) -> float:
    if not operator.get("key_groups"):
        return use[0] / tasks
    return max(math.fsum(use[first : last + 1]) for first, last in ranges)


def even(groups: int, tasks: int) -> list[list[int]]:
    held: list[list[int]] = [[] for _ in range(tasks)]
    for group in range(groups):
        held[group * tasks // groups].append(group)
    return [[some[0], some[-1]] for some in held]


def wrong(plan: Document, documents: Document) -> Iterator[str]:
    """Yield what is false of a plan."""
    topology, target = documents["topology"], plan["options"]["target_utilisation"]
    by_id = {operator["id"]: operator for operator in topology["operators"]}
    use, highest = uses(documents), {}
    for item in plan["plan"]["operators"]:
        operator = by_id[item["operator"]]
        if item["parallelism_from"] != operator["parallelism"]:
            yield f"{item['operator']}: parallelism_from"
        groups, ranges = operator.get("key_groups"), item["key_ranges"]
        if groups:
            covered = [group for first, last in ranges for group in range(first, last + 1)]
            if covered != list(range(groups)) or len(ranges) != item["parallelism_to"]:
                yield f"{item['operator']}: key_ranges"
        now = even(groups, item["parallelism_from"]) if groups else None
        before = busiest(operator, use[item["operator"]], item["parallelism_from"], now)
        after = busiest(operator, use[item["operator"]], item["parallelism_to"], ranges)
        highest[item["operator"]] = after
        for name, value in (("utilisation_from", before), ("utilisation_to", after)):
            if item[name] is None:
                if value:
                    yield f"{item['operator']}: {name} is known"
            elif not math.isclose(item[name], value, rel_tol=SLACK, abs_tol=SLACK):
                yield f"{item['operator']}: {name} {item[name]} is {value}"
    jobs, weights = jobs_of(topology), weights_of(documents)
    value = sum(weights[k] * min(min(1.0, target / max(highest[o], SLACK)) for o in job) for k, job in enumerate(jobs))
    if not math.isclose(plan["objective"]["value"], value, rel_tol=SLACK):
        yield f"objective {plan['objective']['value']} is {value}"
    if "cluster" in documents:
        yield from _full(plan, documents, by_id)


def jobs_of(topology: Document) -> list[set[str]]:
    jobs = [{operator["id"]} for operator in topology["operators"]]
    for edge in topology["edges"]:
        ends = [job for job in jobs if edge["from"] in job or edge["to"] in job]
        jobs = [job for job in jobs if job not in ends] + [set().union(*ends)]
    return jobs


def weights_of(documents: Document) -> list[float]:
    """Return the share of each job in all output, at the demand: what its last operators write."""
    topology, tasks = documents["topology"], documents["stats"]["tasks"]
    needed = demands(topology, tasks, documents["stats"]["manifest"]["window_s"])
    senders = {edge["from"] for edge in topology["edges"]}
    sums = tasks.groupby("operator")[["records_in", "records_out"]].sum()
    worth = [
        sum(
            max(needed[name]) * sums.loc[name, "records_out"] / sums.loc[name, "records_in"]
            for name in job
            if name not in senders
        )
        for job in jobs_of(topology)
    ]
    return [value / sum(worth) for value in worth]


def _full(plan: Document, documents: Document, by_id: Document) -> Iterator[str]:
    """Yield the nodes that are too full: with what is scaled in beside what runs, then with all others beside that."""
    cluster = documents["cluster"]
    room = {node["id"]: node["cpu"] - node.get("used_cpu", 0.0) for node in cluster["nodes"]}
    for name, nodes in cluster["placement"]["tasks"].items():
        for node in nodes:
            room[node] -= by_id[name]["cpu"]
    changed = [o for o in plan["plan"]["operators"] if o["parallelism_to"] != o["parallelism_from"]]
    for first in (True, False):
        wave = [item for item in changed if (item["state"] == "scale-in") == first]
        for item in wave:
            for node in item["nodes"]:
                room[node] -= by_id[item["operator"]]["cpu"]
        yield from (f"{node} is too full" for node, left in room.items() if left < -SLACK)
        for item in wave:
            for node in cluster["placement"]["tasks"][item["operator"]]:
                room[node] += by_id[item["operator"]]["cpu"]
