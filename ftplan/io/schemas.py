"""JSON Schemas of all kinds of files, made from the models of the readers when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any

from ftplan.errors import FtplanError, suggestion

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: Kind of file, and the model of its documents as "module:class".
MODELS: Mapping[str, str] = {
    "topology": "ftplan.io.topology_model:TopologyModel",
    "cluster": "ftplan.io.cluster_file:ClusterModel",
    "failure": "ftplan.io.failure_file:FailureModel",
    "stats": "ftplan.io.manifest_file:ManifestModel",
    "plan": "ftplan.io.plan_file:PlanModel",
    "evaluation": "ftplan.io.evaluation_file:EvaluationModel",
    "what-if": "ftplan.io.what_if_file:WhatIfModel",
    "recovery-costs": "ftplan.io.recovery_costs_file:RecoveryCostsModel",
    "bottleneck-rules": "ftplan.planners.scale_out.bottlenecks.rules_file:BottleneckRulesModel",
    "checkpoint-interval": "ftplan.io.checkpoint_interval_file:CheckpointIntervalModel",
    "collection": "ftplan.engines.collecting.collection:CollectionModel",
    "prometheus-mapping": "ftplan.engines.prometheus.mapping:PrometheusMappingModel",
    "what-if-result": "ftplan.io.what_if_result:WhatIfResultModel",
    "simulation": "ftplan.simulation.document:SimulationModel",
}

KINDS = tuple(MODELS)


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of file, its fields in the order of the model.

    Raises FtplanError if there is no such kind.
    """
    if kind not in MODELS:
        raise FtplanError(f"unknown kind of file {kind!r}{suggestion(kind, KINDS)}: one of {', '.join(KINDS)}")
    made: dict[str, Any] = _tidy(resolve_name(MODELS[kind]).model_json_schema(by_alias=True))
    if kind == "plan":
        _add_bodies(made)
    if kind == "simulation":
        _add_simulations(made)
    return {"$schema": DIALECT, "title": f"ftplan/{kind}", **made}


def _add_bodies(generated: dict[str, Any]) -> None:
    """Say what ``plan`` holds, for the kinds that are checked."""
    from ftplan.io.plan_file import body_of
    from ftplan.model.kinds import names

    bodies = {kind: body_of(kind) for kind in names()}
    _add_by_kind(
        generated,
        {kind: body for kind, body in bodies.items() if body is not None},
        lambda inner: {"properties": {"plan": {"anyOf": [inner, {"type": "null"}]}}},
    )


def _add_simulations(generated: dict[str, Any]) -> None:
    """Say what a simulation of each kind holds besides."""
    models = resolve_name("ftplan.simulation.registry:document_models")()
    _add_by_kind(generated, dict(sorted(models.items())), lambda inner: inner)


def _add_by_kind(
    generated: dict[str, Any], models: Mapping[str, Any], then: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Say what holds for each kind; *then* makes it of a reference to the kind's own schema."""
    rules = []
    for kind, model in models.items():
        inner = _tidy(model.model_json_schema(by_alias=True))
        generated.setdefault("$defs", {}).update(inner.pop("$defs", {}))
        generated["$defs"][kind] = inner
        condition = {"properties": {"kind": {"const": kind}}, "required": ["kind"]}
        rules.append({"if": condition, "then": then({"$ref": f"#/$defs/{kind}"})})
    generated["allOf"] = rules


def _tidy(value: Any, names: bool = False) -> Any:
    """Return a generated schema without titles; *names* marks a level whose keys are names of properties."""
    if isinstance(value, dict):
        return {
            key: _tidy(item, names=not names and key in ("properties", "$defs"))
            for key, item in value.items()
            if names or key not in ("title", "discriminator")
        }
    return [_tidy(item) for item in value] if isinstance(value, list) else value
