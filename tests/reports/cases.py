"""Documents of every kind for pages: those that planners make from the examples, and some made by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ftplan
from ftplan.model.plan import Infeasible, InputFile, Objective, Plan, Warn
from tests.places import ROOT

EXAMPLES, SMALL = ROOT / "examples", ROOT / "tests" / "data" / "small"

#: Texts that would be markup if they were not escaped.
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]>",
    "'-->{{ 7*7 }}</style><svg onload=alert(1)>",
)


def _inputs(folder: Path, *roles: str) -> dict[str, str]:
    return {role: str(folder / f"{role}.yaml") for role in roles}


@cache
def recovery() -> Plan:
    problem = ftplan.load(**_inputs(EXAMPLES / "figure-2", "topology", "cluster", "failure"))
    return ftplan.plan("recovery-schedule", problem, iterations=10)


@cache
def recovery_with_events() -> Plan:
    problem = ftplan.load(**_inputs(EXAMPLES / "storm-recovery", "topology", "cluster", "failure"))
    return ftplan.plan("recovery-schedule", problem, algorithm="best-density", iterations=1)


@cache
def replication() -> Plan:
    problem = ftplan.load(**_inputs(EXAMPLES / "storm-recovery", "topology", "cluster"))
    return ftplan.plan("replicate-tasks", problem, budget="20%", algorithm="greedy", curve=True, iterations=1)


@cache
def allocation() -> Plan:
    problem = ftplan.load(**_inputs(SMALL, "topology", "cluster"), stats=str(SMALL / "stats"))
    return ftplan.plan("allocate-checkpoints", problem, bound=True, iterations=5)


@cache
def rebalance() -> Plan:
    problem = ftplan.load(**_inputs(SMALL, "topology", "cluster"), stats=str(SMALL / "stats"))
    return ftplan.plan("rebalance", problem, remove=("n1",), bandwidth=0.01, iterations=10)


@cache
def scale_out() -> Plan:
    folder = EXAMPLES / "surge"
    problem = ftplan.load(**_inputs(folder, "topology", "cluster"), stats=str(folder / "measured"))
    return ftplan.plan("scale-out", problem, horizon_s=120.0, iterations=10)


@cache
def ring() -> Plan:
    problem = ftplan.load(**_inputs(SMALL, "topology", "cluster"), stats=str(SMALL / "stats"))
    return ftplan.plan("peer-ring", problem, replication=2, fail=("node:n1", "node:n2"), iterations=10)


@cache
def evaluation() -> Any:
    problem = ftplan.load(**_inputs(EXAMPLES / "storm-recovery", "topology", "cluster"))
    failure = str(EXAMPLES / "storm-recovery" / "racks.yaml")
    scored = ftplan.load(**_inputs(EXAMPLES / "storm-recovery", "topology", "cluster"), failure=failure)
    assert problem.topology is not None
    return ftplan.evaluate(replication(), scored)


def refused() -> Plan:
    """A plan that holds no answer."""
    why = Infeasible("4 tasks find no node", "room on a node", 0, 4, "add to the nodes: {id: extra-1, cpu: 5}")
    return Plan("recovery-schedule", None, algorithm="exact", status="infeasible", reason="no room", infeasible=why)


def by_hand(kind: str) -> Plan:
    """A plan with nothing but a body, for kinds that have a module and kinds that have none."""
    bodies: dict[str, Any] = {
        "recovery-schedule": {"steps": [{"at_s": 0.0, "recover": [{"operator": "p03", "index": 0}]}]},
        "replicate-tasks": {"replicas": [{"operator": "p03", "index": 0}]},
        "allocate-checkpoints": {"assignments": [{"operator": "p03", "key_group": 0, "checkpoints": ["n1"]}]},
        "drain-schedule": {"rounds": [{"nodes": ["n1", "n2"]}, {"nodes": ["n3"]}]},
        "rebalance": {
            "moves": [{"phase": 0, "operator": "p03", "key_group": 3, "from": "n1", "to": "n2", "bytes": 5_000_000}],
            "add_nodes": ["n9"],
            "rollback": None,
        },
        "peer-ring": {"ring": [{"node": "n1", "zone": "a", "token": 5, "load": 0.25}], "tolerance": {"nodes": 1}},
        "scale-out": {
            "operators": [
                {
                    "operator": "p03",
                    "score": 70.0,
                    "state": "promoted",
                    "parallelism_from": 1,
                    "parallelism_to": 2,
                    "key_ranges": [[0, 3], [4, 7]],
                }
            ]
        },
    }
    return Plan(kind, bodies[kind])


def drain() -> Plan:
    """A drain schedule with all that its rounds may hold."""
    rounds = [
        {
            "round": k,
            "nodes": [f"n{2 * k + 1}", f"n{2 * k + 2}"],
            "duration_s": 90.0 + 30.0 * k,
            "queries_down": [{"operator": "p09", "index": 0}],
            "fidelity": 1.0 - 0.05 * k,
            "moves": [{"operator": "p03", "index": 0, "from": "n1", "to": "n5"}],
        }
        for k in range(3)
    ]
    body = {"rounds": rounds, "unplaced": [{"node": "n7", "reason": "its queries may not be down"}]}
    named = tuple(
        InputFile(role, str(EXAMPLES / "figure-2" / f"{role}.yaml"), "0" * 64) for role in ("topology", "cluster")
    )
    objective = Objective("rounds", "min", 3.0, 2.0, 3.0, 1 / 3)
    options = {"min_fidelity": 0.85, "max_per_zone": 2}
    return Plan("drain-schedule", body, "greedy", "feasible", objective, options, inputs=named, rules=("min-fidelity",))


def what_if() -> dict[str, Any]:
    """The document of a what-if over spare nodes and racks."""
    names = ("case", "spare", "rack", "status", "last_back_s", "priority_time", "delta_last_back_s")
    types = ("text", "whole", "text", "text", "number", "number", "number")
    units = (None, None, None, None, "s", "s", "s")
    columns = [
        {"name": name, "type": kind, "sense": "min" if unit else None, "unit": unit}
        for name, kind, unit in zip(names, types, units, strict=True)
    ]
    rows: list[dict[str, Any]] = [dict(zip(names, ("base", None, None, "optimal", 600.0, 9000.0, None), strict=True))]
    for k in range(12):
        last = 600.0 - 40.0 * k
        values = (f"spare={k}", k, f"rack-{k % 3}", "optimal", last, 9000.0 - 300.0 * k, last - 600.0)
        rows.append(dict(zip(names, values, strict=True)))
    rows.append(dict.fromkeys(names) | {"case": "broken", "spare": 99, "status": "error"})
    spread = {"min": 160.0, "p10": 200.0, "p25": 270.0, "median": 380.0, "p75": 490.0, "p90": 560.0, "max": 600.0}
    return {
        "format": "ftplan/what-if-result",
        "format_version": "1.0",
        "name": "spare-nodes",
        "command": "recovery-schedule",
        "kind": "recovery-schedule",
        "fingerprint": "ab" * 32,
        "base": "base",
        "measures": ["last_back_s", "priority_time"],
        "swept": ["spare", "rack"],
        "columns": columns,
        "rows": rows,
        "missing": ["spare=12"],
        "summary": {
            "cases": 15,
            "statuses": {"error": 1, "optimal": 13},
            "failed": 1,
            "measure": "last_back_s",
            "best": {"case": "spare=11", "value": 160.0},
            "worst": {"case": "spare=0", "value": 600.0},
            "quantiles": [{"measure": "last_back_s", "values": 12, **spread, "mean": 380.0}],
            "pareto": {
                "measures": ["last_back_s", "priority_time"],
                "cases": [{"case": "spare=11", "values": [160.0, 5700.0]}],
            },
        },
        "unmet": ["last_back_s of case spare=0 is 600, above the limit 300"],
        "warnings": [],
    }


KINDS = (
    *("recovery-schedule", "replicate-tasks", "allocate-checkpoints", "drain-schedule"),
    *("rebalance", "peer-ring", "scale-out"),
)
#: What makes one document of each kind that a page can be about.
DOCUMENTS: dict[str, Callable[[], Any]] = {
    "recovery": recovery,
    "events": recovery_with_events,
    "replication": replication,
    "allocation": allocation,
    "drain": drain,
    "rebalance": rebalance,
    "ring": ring,
    "scale-out": scale_out,
    "evaluation": evaluation,
    "what-if": what_if,
    "refused": refused,
    **{f"{kind} by hand": partial(by_hand, kind) for kind in KINDS},
}


@cache
def document(name: str) -> Any:
    """One of them, made once."""
    return DOCUMENTS[name]()


def documents() -> dict[str, Any]:
    return {name: document(name) for name in DOCUMENTS}


def hostile(text: str) -> tuple[Plan, dict[str, Any]]:
    """A plan that holds a text wherever a plan may hold one, and a topology that does."""
    body = {
        "moves": [{"operator": text, "key_group": 1, "from": text, "to": text, "protocol": text, text: text}],
        "add_nodes": [text],
        text: text,
    }
    plan = Plan(
        "rebalance",
        body,
        algorithm=text,
        status="feasible",
        objective=Objective(text, "min", 2.0, 1.0, 2.0, 0.5),
        options={text: text, "asked": [text]},
        inputs=(InputFile(text, text, text),),
        reason=text,
        rules=(text,),
        summary={"after": {text: 1.0, "by_operator": {text: 2.0}}, text: text},
        warnings=(Warn(text, text),),
        tool_version=text,
    )
    operators = [{"id": "source", "name": text, "labels": {"of": text}}, {"id": "sink", "parallelism": 3}]
    edges = [{"from": "source", "to": "sink", "partitioning": "full"}]
    topology = {"format": "ftplan/topology", "format_version": "1.0", "name": text}
    return plan, {**topology, "operators": operators, "edges": edges}


class Parsed(HTMLParser):
    """The elements, attributes and text of a page, as the standard library reads it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self.headings: list[int] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.text.append(" ")
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def words(self) -> str:
        """All text, with single spaces."""
        return " ".join("".join(self.text).split())


#: The elements that pages are made of.
TAGS = frozenset(
    (
        *("html", "head", "meta", "title", "link", "style", "body", "header", "main", "nav", "article", "section"),
        *("footer", "div", "span", "p", "a", "b", "h1", "h2", "h3", "h4", "ol", "ul", "li", "dl", "dt", "dd"),
        *("fieldset", "legend", "label", "input", "figure", "figcaption", "details", "summary"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td"),
        *("svg", "defs", "pattern", "marker", "path", "rect", "text", "desc"),
    )
)
