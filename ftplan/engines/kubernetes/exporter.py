"""Standbys as patches for workloads of Kubernetes: where their pods may run, and how they spread.

Source: the Kubernetes API, ``Affinity`` and ``TopologySpreadConstraint`` of a pod's template.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ftplan.engines.exporting import Export, host_of, node_of, refuse_unknown, title_of, yaml_text
from ftplan.engines.registry import targets
from ftplan.errors import FtplanError
from ftplan.model.cluster import primaries
from ftplan.model.kinds import REPLICATE_TASKS
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem

HOST_LABEL, ZONE_LABEL = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
COMPONENT, ROLE = "app.kubernetes.io/component", "ftplan/role"
KINDS = ("StatefulSet", "Deployment")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


@dataclass(slots=True)
class _Standbys:
    """Standby pods of an operator by node (None: anywhere), and the nodes and zones of its active tasks."""

    pods: Counter[str | None] = field(default_factory=Counter)
    active: set[str] = field(default_factory=set)


def kubernetes(
    plan: Plan,
    problem: Problem,
    *,
    host_map: Mapping[str, str],
    workload: Mapping[str, str],
    host_label: str = HOST_LABEL,
    zone_label: str = ZONE_LABEL,
) -> Export:
    """Write a patch for the standby workload of each operator: ``kubectl patch KIND NAME --patch-file FILE``.

    A replica of a task is a pod; copies of key groups are served by one pod a node that keeps any. What is required of
    the scheduler holds for the plan's own hosts: pods stay away from those of their operator's active tasks as far as
    the plan keeps all of them apart (zones, else hosts), by preference where it does not; the skew over hosts and
    zones is that of the plan.

    Raises FtplanError if a workload's kind or name is none.

    *host_map*: host name by node id; else the node's label *host_label* says, else its id. *workload*: ``KIND/NAME`` by
    operator id; else ``StatefulSet/OPERATOR-standby``.
    """
    standbys = _standbys(plan, problem)
    known = () if problem.topology is None else problem.topology.position
    refuse_unknown("--workload", workload, {*standbys, *known}, "operator")
    refuse_unknown("--host-map", host_map, {n for s in standbys.values() for n in (*s.pods, *s.active) if n}, "node")
    warnings = [targets()["kubernetes"].limits()]
    if any(None in item.pods for item in standbys.values()):
        text = "the plan names no nodes: pods only spread, by preference; plan with a cluster to say where"
        warnings.append(Warn("NO_NODES", text))
    documents, loose = [], []
    for operator, item in sorted(standbys.items()):
        apart = _apart(item, problem)
        if item.pods and None not in item.pods and apart is None:
            loose.append(operator)
        hosts = {node: host_of(problem, node, host_map, host_label) for node in item.pods if node is not None}
        spec = _pod_spec(operator, item, problem, hosts, (host_label, zone_label), apart)
        documents.append(_patch(operator, workload.get(operator), item, spec))
    if loose:
        text = f"standbys and active tasks of {', '.join(loose)} share nodes in the plan: apart by preference only"
        warnings.append(Warn("NOT_APART", text))
    remarks = [
        f"Label the pods of active tasks {COMPONENT}: OPERATOR and {ROLE}: active.",
        "kubectl patch KIND NAME --patch-file FILE takes one document at a time; kustomize takes all of them.",
    ]
    return Export("kubernetes", plan.kind, yaml_text(title_of(plan), warnings, remarks, documents), tuple(warnings))


def _standbys(plan: Plan, problem: Problem) -> dict[str, _Standbys]:
    body = plan.plan or {}
    standbys: defaultdict[str, _Standbys] = defaultdict(_Standbys)
    placed = problem.cluster.placement if problem.cluster is not None else None
    if plan.kind == REPLICATE_TASKS.name:
        for item in body["replicas"]:
            standbys[item["operator"]].pods[item.get("node")] += 1
        for operator in standbys:
            standbys[operator].active.update(placed.tasks.get(operator, ()) if placed else ())
        return dict(standbys)
    for item in body["assignments"]:
        standbys[item["operator"]].pods.update(dict.fromkeys(item["checkpoints"], 1))
        if item.get("primary") is not None:
            standbys[item["operator"]].active.add(item["primary"])
    for operator, item in standbys.items():
        item.pods = Counter(list(item.pods))  # one pod a node
        if not item.active and placed and problem.topology is not None:
            item.active.update(primaries(operator, problem.topology, placed) or ())
    return dict(standbys)


def _zone(problem: Problem, node: str) -> str | None:
    known = node_of(problem, node)
    return None if known is None else known.zone


def _apart(item: _Standbys, problem: Problem) -> str | None:
    """Return what keeps every standby from every active task of its operator: ``zone``, ``host`` or nothing."""
    nodes = {node for node in item.pods if node is not None}
    if not nodes or not item.active or nodes & item.active:
        return None
    standby_zones, active_zones = ({_zone(problem, node) for node in group} for group in (nodes, item.active))
    zoned = None not in standby_zones | active_zones
    return "zone" if zoned and not standby_zones & active_zones else "host"


def _pod_spec(
    operator: str,
    item: _Standbys,
    problem: Problem,
    hosts: Mapping[str, str],
    labels: tuple[str, str],
    apart: str | None,
) -> dict[str, Any]:
    """Return the part of a pod's spec that says where it may run."""
    host_label, zone_label = labels
    affinity: dict[str, Any] = {}
    nodes = sorted(hosts, key=natural_key)
    if nodes and None not in item.pods:
        term = {"key": host_label, "operator": "In", "values": [hosts[node] for node in nodes]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    others = {
        "labelSelector": {"matchLabels": {COMPONENT: _label(operator), ROLE: "active"}},
        "topologyKey": zone_label if apart == "zone" else host_label,
    }
    if apart is not None:
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [others]}
    else:
        preferred = [{"weight": 100, "podAffinityTerm": others}]
        affinity["podAntiAffinity"] = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    return {"affinity": affinity, "topologySpreadConstraints": _spread(operator, item, problem, labels)}


def _spread(operator: str, item: _Standbys, problem: Problem, labels: tuple[str, str]) -> list[dict[str, Any]]:
    """Return how unevenly pods may lie over zones and hosts: as the plan's do, at least by one."""
    host_label, zone_label = labels
    known = None not in item.pods
    by_zone: Counter[str | None] = Counter()
    for node, pods in item.pods.items():
        by_zone[_zone(problem, node) if node is not None else None] += pods
    constraints = [] if known and None in by_zone else [(zone_label, by_zone)]
    selector = {"matchLabels": {COMPONENT: _label(operator), ROLE: "standby"}}
    return [
        {
            "maxSkew": max(1, max(counts.values()) - min(counts.values())) if known else 1,
            "topologyKey": label,
            "whenUnsatisfiable": "DoNotSchedule" if known else "ScheduleAnyway",
            "labelSelector": selector,
        }
        for label, counts in [*constraints, (host_label, item.pods)]
    ]


def _patch(operator: str, workload: str | None, item: _Standbys, spec: Mapping[str, Any]) -> dict[str, Any]:
    kind, slash, name = (workload or f"StatefulSet/{_dns(operator)}-standby").partition("/")
    if not slash or kind not in KINDS or not _NAME.fullmatch(name):
        right = f"{' or '.join(KINDS)}, a slash and a name of lower case letters, digits, '-' and '.'"
        raise FtplanError(f"--workload {operator}={workload}: expected {right}")
    labels = {COMPONENT: _label(operator), ROLE: "standby"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"replicas": item.pods.total(), "template": {"metadata": {"labels": labels}, "spec": dict(spec)}},
    }


def _dns(operator: str) -> str:
    """Return an operator's id as part of a name: lower case, cut to 40 characters with a hash where that is not all."""
    name = re.sub(r"[^a-z0-9.-]", "-", operator.lower()).strip("-.") or "operator"
    return name if name == operator and len(name) <= 40 else f"{name[:40].rstrip('-.')}-{_hash(operator)}"


def _label(operator: str) -> str:
    """Return an operator's id as the value of a label: at most 63 characters, letters or digits at both ends."""
    name = operator.strip("-._") or "operator"
    return name if name == operator and len(name) <= 63 else f"{name[:54].rstrip('-._')}-{_hash(operator)}"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
