"""Plan documents, written by ftplan or by hand; ``body.py`` of a question says what its plans hold."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticKnownError

from ftplan.errors import FtplanError
from ftplan.io.documents import Source, read_document, refuse_not_finite
from ftplan.io.fields import FileModel, ObjectiveModel, Version
from ftplan.io.validation import Loaded, check_envelope, ignored_keys, validate
from ftplan.model import kinds
from ftplan.model.plan import FORMAT, Assumption, Infeasible, InputFile, Objective, Plan, Status, Warn

#: Whether JSON without spaces may hold a whole number with a point; looking is ten times as fast as going through it.
_WHOLE_FLOAT = re.compile(r"\d\.0[],}]")


def _known(value: Any) -> str:
    """Return the name of a kind; looked up when a file is read, as a field of type Literal could not."""
    if isinstance(value, str) and value in kinds.names():
        return value
    renamed = kinds.renamed(value)
    if renamed is not None:
        raise ValueError(f"{renamed}; the rest of the plan is as it was")
    *quoted, last = map(repr, kinds.in_files())
    raise PydanticKnownError("literal_error", {"expected": f"{', '.join(quoted)} or {last}"})


#: A kind of plan, as files name it.
Kind = Annotated[str, PlainValidator(_known), WithJsonSchema({"enum": list(kinds.in_files()), "type": "string"})]


def body_of(kind: str) -> type[FileModel] | None:
    """Import and return the model of a kind's body, None for a kind that is not checked beyond the envelope."""
    name = f"{kinds.row(kind).folder}.body"
    if find_spec(name) is None:
        return None
    model: type[FileModel] = importlib.import_module(name).BODY
    return model


class InputFileModel(FileModel):
    """Fingerprint of an input."""

    role: str = Field(description="topology, cluster, stats, failure, plan")
    path: str | None = Field(None, description="Relative to the working folder; null for data in memory")
    sha256: str = Field(description="Hash of the file; of a statistics folder that of its manifest")


class WarnModel(FileModel):
    """A warning."""

    code: str = Field(description="For machines")
    message: str = Field(description="For people")


class AssumptionModel(FileModel):
    """What no input says, and the objective depends on."""

    code: str = Field(description="For machines")
    text: str = Field(description="For people")
    value: float | None = Field(None, description="What was taken; null where no number says it")


class InfeasibleModel(FileModel):
    """Which limit cannot be met, and the smallest change that helps."""

    reason: str = Field(description="In words")
    limit: str = Field(description="The limit that binds")
    current: Any = Field(None, description="What it is")
    needed: Any = Field(None, description="What it would have to be")
    smallest_fix: str = Field(description="Applying this makes it feasible")


class PlanModel(FileModel):
    """A plan; one made by hand needs only format, format_version, kind and plan."""

    format: Literal["ftplan/plan"]
    format_version: Version
    kind: Kind = Field(description="Which question the plan answers")
    tool_version: str | None = Field(None, description="Version of ftplan that made it")
    algorithm: str | None = Field(None, description="Planner")
    options: dict[str, Any] | None = Field(None, description="Options of the planner")
    seed: int | None = Field(None, description="Seed of all random choices")
    inputs: list[InputFileModel] | None = Field(None, description="What it was made from")
    status: Status | None = Field(None, description="What came out")
    reason: str | None = Field(None, description="Why, where the answer is no")
    objective: ObjectiveModel | None = Field(None, description="How good the plan is")
    rules: list[str] | None = Field(None, description="What the plan enforces")
    summary: dict[str, Any] | None = Field(None, description="Before, after, and the expected value at random")
    warnings: list[WarnModel] | None = Field(None, description="What deserves a second look")
    assumptions: list[AssumptionModel] | None = Field(
        None, description="What was assumed, and the objective depends on"
    )
    infeasible: InfeasibleModel | None = Field(None, description="The limit that cannot be met")
    plan: dict[str, Any] | None = Field(description="What the kind prescribes; null without an answer")


def load_plan(source: Source) -> Loaded[Plan]:
    """Read and check a plan from a path, standard input (``-``) or a mapping.

    Values are kept as the file has them, so that a plan written again has the same bytes. Whether the plan fits its
    inputs is for ``verify`` to say.

    Raises
    ------
    FtplanError
        One sentence with file, place, what is wrong and what would be right.
    """
    document = read_document(source, "plan")
    value = check_envelope(document, FORMAT)
    refuse_not_finite(value, document.name)
    model = validate(PlanModel, value, document.name)
    warnings, ignored = ignored_keys(PlanModel, value, document.name)
    body = body_of(model.kind)
    if model.plan is None:
        if model.status not in ("infeasible", "no-plan-in-time"):
            raise FtplanError(f"{document.name}: plan: is null, but the status is not infeasible or no-plan-in-time")
    elif body is not None:
        read = validate(body, model.plan, document.name, below="plan")
        body_warnings, body_ignored = ignored_keys(body, model.plan, document.name, below="plan")
        warnings, ignored = warnings + body_warnings, ignored + body_ignored
        if _WHOLE_FLOAT.search(json.dumps(model.plan, separators=(",", ":"))):
            value = {**value, "plan": _whole(model.plan, read)}
    try:
        options = kinds.question(model.kind).options.as_recorded(model.options or {})
    except FtplanError as error:
        raise FtplanError(f"{document.name}: {error}") from None
    input_file = InputFile("plan", document.path, document.sha256)
    return Loaded(_built(value, model, options), input_file, warnings, ignored)


def _whole(value: Any, read: Any) -> Any:
    """Return a body with 4.0 as 4 wherever the model that *read* it takes whole numbers."""
    if isinstance(value, float):
        return read if type(read) is int else value
    if isinstance(value, dict):
        fields = type(read).model_fields if isinstance(read, BaseModel) else {}
        known = {field.alias or name: getattr(read, name) for name, field in fields.items()} if fields else read
        return {key: _whole(item, known[key]) if key in known else item for key, item in value.items()}
    return [_whole(*pair) for pair in zip(value, read, strict=True)] if isinstance(value, list) else value


def _built(value: Mapping[str, Any], model: PlanModel, options: Mapping[str, Any]) -> Plan:
    """Return the plan with the numbers of the document, not those of the models: 1 stays 1, 1.0 stays 1.0."""
    objective, infeasible = value.get("objective"), value.get("infeasible")
    return Plan(
        kind=model.kind,
        plan=value["plan"],
        algorithm=model.algorithm,
        status=model.status,
        objective=Objective(**{k: objective.get(k) for k in ObjectiveModel.model_fields}) if objective else None,
        options=options,
        seed=model.seed or 0,
        inputs=tuple(InputFile(item.role, item.path, item.sha256) for item in model.inputs or ()),
        reason=model.reason,
        rules=None if model.rules is None else tuple(model.rules),
        summary=value.get("summary") or {},
        warnings=tuple(Warn(item.code, item.message) for item in model.warnings or ()),
        infeasible=Infeasible(**{k: infeasible.get(k) for k in InfeasibleModel.model_fields}) if infeasible else None,
        assumptions=None
        if model.assumptions is None
        else tuple(Assumption(item.code, item.text, item.value) for item in model.assumptions),
        tool_version=model.tool_version,
    )
