"""A checkpoint allocation: how many copies lie on each node, and what moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ftplan.model.cluster import Cluster
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.reports.charts import ROWS, Bar, bars
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import count, figures_in, number, share, size
from ftplan.reports.plan_figures import DrawnState, Highlight, States

BEFORE = "copies in place"


def lead(plan: Plan) -> Sequence[str]:
    """Return how many copies lie on how many nodes, what moves, and what they are good for."""
    body, after = plan.plan or {}, figures_in(plan.summary.get("after"))
    assignments = body["assignments"]
    copies = sum(len(item["checkpoints"]) for item in assignments)
    nodes = {node for item in assignments for node in item["checkpoints"]}
    groups = count(len(assignments), "key group")
    said = [f"{count(copies, 'checkpoint copy')} of {groups} lie on {count(len(nodes), 'node')}."]
    moves = body.get("moves")
    if moves:
        known = [move["bytes"] for move in moves if move.get("bytes") is not None]
        state = f", {size(sum(known))} of state" if known else ""
        said.append(f"{count(len(moves), 'copy')} {'has' if len(moves) == 1 else 'have'} to move{state}.")
    usable = after.get("usable_share")
    if usable is not None:
        random = figures_in(plan.summary.get("random")).get("usable_share")
        chance = f", against {share(random)} of a random plan" if random is not None else ""
        said.append(f"Where a node is overloaded, {share(usable)} of the copies could take over{chance}.")
    return said


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return the usable share, the imbalance, and the worst loss of a node or zone."""
    after = figures_in(plan.summary.get("after"))
    even, random = figures_in(plan.summary.get("even")), figures_in(plan.summary.get("random"))
    listed = []
    if after.get("usable_share") is not None:
        others = [
            f"{name}: {share(figures['usable_share'])}"
            for name, figures in (("evenly spread", even), ("at random", random))
            if figures.get("usable_share") is not None
        ]
        listed.append(Highlight("Usable copies", share(after["usable_share"]), ", ".join(others)))
    if after.get("imbalance") is not None:
        listed.append(Highlight("Largest imbalance", share(after["imbalance"]), "of a node's fair share of load"))
    if after.get("failover_load_ratio") is not None:
        value = f"{after['failover_load_ratio']:.3g} ×"
        told = plan.summary["after"]
        beside = f"its fair share, on {told.get('failover_survivor')} after the loss of {told.get('failover_loss')}"
        listed.append(Highlight("Most load on a survivor", value, beside))
    moves = (plan.plan or {}).get("moves")
    if moves is not None:
        listed.append(Highlight("Copies that move", number(len(moves))))
    return listed


def states(plan: Plan, topology: Topology, cluster: Cluster | None) -> States:
    """Return which tasks have key groups whose copies move, or lie where they should."""
    body = plan.plan or {}
    task_of = {operator.id: operator.task_of_key_groups() for operator in topology.operators}

    def task(operator_id: str, group: int) -> tuple[str, int] | None:
        tasks = task_of.get(operator_id)
        return (operator_id, int(tasks[int(group)])) if tasks is not None and group < len(tasks) else None

    known: dict[tuple[str, int], DrawnState] = {}
    for item in body["assignments"]:
        where = task(item["operator"], item["key_group"])
        if where is not None and item["checkpoints"]:
            known[where] = DrawnState("has checkpoint copies", "chosen", "C", 2, "with copies")
    for move in body.get("moves") or []:
        where = task(move["operator"], move["key_group"])
        if where is not None:
            known[where] = DrawnState("some of its copies move", "s4", "→", 1, "move copies")
    return known


def figures(plan: Plan) -> Sequence[Figure]:
    """Return copies by node beside the key groups that it owns."""
    body = plan.plan or {}
    copies: Counter[str] = Counter()
    owned: Counter[str] = Counter()
    for item in body["assignments"]:
        copies.update(item["checkpoints"])
        owned.update([item["primary"]] if item.get("primary") is not None else [])
    nodes = sorted({*copies, *owned}, key=natural_key)
    if not nodes:
        return []
    shown = nodes
    note = "in the order of their names"
    if len(nodes) > ROWS:
        shown, note = sorted(nodes, key=lambda n: (-copies[n], natural_key(n)))[:ROWS], f"the {ROWS} with most of them"
    rows = [Bar(node, float(copies[node]), f"{copies[node]:,} / {owned[node]:,}") for node in shown]
    said = f"Copies on each of {count(len(nodes), 'node')}, {note}."
    key = (("value", "", "copies held; the numbers are copies held / key groups owned"),)
    return [figure("Checkpoint copies by node", said, lambda width: bars(rows, width), key=key)]
