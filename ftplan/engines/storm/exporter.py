"""A recovery schedule as what Storm's schedulers can be told, and the supervisor of each component as a list.

A scale-out as the command that changes the executors of components.

Source: Storm's documentation of the Resource Aware Scheduler (favoured nodes, constraints) and of the Isolation
Scheduler.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ftplan.engines.exporting import Export, host_of, operator_name, refuse_unknown, scaled_of, title_of, yaml_text
from ftplan.engines.registry import targets
from ftplan.model.kinds import SCALE_OUT
from ftplan.model.names import natural_key, parse_selector
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem

STRATEGY = "org.apache.storm.scheduler.resource.strategies.scheduling.ConstraintSolverStrategy"


def storm(plan: Plan, problem: Problem, *, host_map: Mapping[str, str]) -> Export:
    """Write the hosts that a topology prefers and avoids, and the most executors of a component on one host.

    A scale-out becomes the executors of its components.

    A task that starts twice, because its new node fails too, counts where it ends. ``ftplan.component.supervisors``
    lists the tasks of each component by supervisor, ``ftplan.recovery.order`` all of them as they come back.

    *host_map*: host name of a supervisor by node id; else the node's label ``host`` says, else its id.
    """
    if plan.kind == SCALE_OUT.name:
        return _rebalanced(plan, problem)
    recovered = [item for step in (plan.plan or {})["steps"] for item in step["recover"]]
    where = {(item["operator"], item["index"]): item.get("node") for item in recovered}
    nodes = {node for node in where.values() if node is not None}
    failed = _failed(plan, problem)
    refuse_unknown("--host-map", host_map, nodes | failed, "node")
    hosts = {node: host_of(problem, node, host_map, "host") for node in sorted(nodes | failed, key=natural_key)}
    warnings = [targets()["storm"].limits(), *_unable(plan, recovered)]
    if None in where.values():
        text = "the plan does not name the nodes of all tasks: plan with a cluster to say where"
        warnings.append(Warn("NO_NODES", text))
    conf: dict[str, Any] = {}
    if nodes:
        conf["topology.scheduler.strategy"] = STRATEGY
        conf["topology.scheduler.favored.nodes"] = [hosts[node] for node in hosts if node in nodes]
    if failed - nodes:
        conf["topology.scheduler.unfavored.nodes"] = [hosts[node] for node in hosts if node in failed - nodes]
    names = {operator: operator_name(problem, operator) for operator in sorted({operator for operator, _ in where})}
    live = _live(where, failed, problem)
    together = Counter((operator, node) for (operator, _), node in {**live, **where}.items() if node is not None)
    if nodes:
        most = {operator: max((n for (o, _), n in together.items() if o == operator), default=1) for operator in names}
        conf["topology.ras.constraints"] = {
            names[operator]: {"maxNodeCoLocationCnt": count, "incompatibleComponents": []}
            for operator, count in most.items()
        }
    supervisors: dict[str, dict[str, list[int]]] = {}
    for (operator, index), node in sorted(where.items()):
        if node is not None:
            supervisors.setdefault(names[operator], {}).setdefault(hosts[node], []).append(index)
    if supervisors:
        conf["ftplan.component.supervisors"] = supervisors
    order = dict.fromkeys(f"{names[item['operator']]}/{item['index']}" for item in recovered)
    if order:
        conf["ftplan.recovery.order"] = list(order)
    remarks = []
    if nodes:
        remarks = [_isolation({**live, **where}.values())]
        if not live:
            text = "where tasks run that did not fail is not known: maxNodeCoLocationCnt counts those of the plan only"
            warnings.append(Warn("NO_PLACEMENT", text))
    return Export("storm", plan.kind, yaml_text(title_of(plan), warnings, remarks, [conf]), tuple(warnings))


def _unable(plan: Plan, recovered: Iterable[Mapping[str, Any]]) -> list[Warn]:
    """Return what the plan does with tasks that Storm cannot do."""
    warnings = []
    split = sorted({f"{i['operator']}/{i['index']}" for i in recovered if i.get("key_groups") is not None})
    if split:
        text = f"Storm cannot split a task over supervisors as the plan does with {', '.join(split)}"
        warnings.append(Warn("SPLIT_TASKS", text))
    stopped = sorted(
        {f"{i['operator']}/{i['index']}" for s in (plan.plan or {})["steps"] for i in s.get("pause") or ()}
    )
    if stopped:
        text = f"Storm cannot stop single tasks as the plan does with {', '.join(stopped)}"
        warnings.append(Warn("PAUSED_TASKS", text))
    return warnings


def _isolation(nodes: Iterable[str | None]) -> str:
    """Return what the isolation scheduler can be told: how many machines."""
    machines = len({node for node in nodes if node is not None})
    return (
        "With the isolation scheduler, which can only be told how many machines, Nimbus's storm.yaml takes "
        f"isolation.scheduler.machines: {{TOPOLOGY: {machines}}}."
    )


def _rebalanced(plan: Plan, problem: Problem) -> Export:
    """Write the executors of the components that a scale-out changes, and the command that changes them."""
    executors = {operator_name(problem, item["operator"]): item["parallelism_to"] for item in scaled_of(plan)}
    remarks = ["A component has no more executors than it has tasks (topology.tasks), which are set when it starts."]
    if executors:
        told = " ".join(f"-e {name}={count}" for name, count in executors.items())
        remarks.append(f"storm rebalance TOPOLOGY {told}")
    warnings = (targets()["storm"].limits(),)
    conf = {"ftplan.component.executors": executors} if executors else {}
    return Export("storm", plan.kind, yaml_text(title_of(plan), warnings, remarks, [conf]), warnings)


def _failed(plan: Plan, problem: Problem) -> set[str]:
    """Return the nodes that the plan's options and its failure file fail; those of zones where there is a cluster.

    A node that came back under its old id is among them.
    """
    failed: set[str] = set()
    selectors = [parse_selector(str(text)) for text in plan.options.get("fail") or ()]
    selectors += [item.select for item in (problem.failure.fail if problem.failure is not None else ())]
    for selector in selectors:
        if problem.cluster is not None:
            failed |= problem.cluster.nodes_of(selector)
        elif selector.kind == "node":
            failed.add(selector.name)
    return failed


def _live(where: Mapping[tuple[str, int], Any], failed: set[str], problem: Problem) -> dict[tuple[str, int], str]:
    """Return the node of each task that neither failed nor starts again, as far as the cluster says."""
    placement = problem.cluster.placement if problem.cluster is not None else None
    tasks = placement.tasks if placement is not None else {}
    return {
        (operator, index): node
        for operator, nodes in tasks.items()
        for index, node in enumerate(nodes)
        if node not in failed and (operator, index) not in where
    }
