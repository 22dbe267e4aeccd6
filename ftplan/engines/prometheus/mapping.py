"""Mapping files: which queries to ask Prometheus, and what their answers mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, StringConstraints, Tag, WithJsonSchema

from ftplan.engines.collecting.collection import CollectionHead
from ftplan.engines.prometheus.queries import ROLES, LabelRule, QueryMapping, RangeQuery, misuse, query_of
from ftplan.errors import FtplanError
from ftplan.io.documents import Document, Source, parse_text, read_document
from ftplan.io.fields import FileModel, Id, Positive, Version
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile

FORMAT = "ftplan/prometheus-mapping"
#: The mapping that comes with ftplan.
SHIPPED = Path(__file__).with_name("prometheus.yaml")


def _expression(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if not groups:
        raise ValueError("has no pair of parentheses, which say what of the label is meant")
    return text


def _branch(value: Any) -> str:
    return "<rule>" if isinstance(value, (Mapping, FileModel)) else "<name>"


#: Of a section, and of a query within it.
Part = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")]
LabelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Expression = Annotated[str, AfterValidator(_expression), WithJsonSchema({"type": "string", "pattern": r"\("})]
Text = Annotated[str, StringConstraints(min_length=1)]


class LabelModel(FileModel):
    """A label of which a part is meant."""

    label: LabelName = Field(description="Name of the label")
    pattern: Expression = Field(
        description="Regular expression that matches the whole value; its first pair of parentheses is what is meant"
    )
    prefix: str = Field("", description="What is put before it")


Label = Annotated[Annotated[LabelName, Tag("<name>")] | Annotated[LabelModel, Tag("<rule>")], Discriminator(_branch)]


class LabelsModel(FileModel):
    """Which labels say of whom a series is."""

    job: Label | None = Field(None, description="The job")
    operator: Label | None = Field(None, description="The operator")
    task: Label | None = Field(None, description="Number of the task, from 0")
    host: Label | None = Field(None, description="The host")
    parts: list[LabelName] | None = Field(None, description="Labels that tell the parts of a task apart")


class QueryModel(FileModel):
    """A query, and what its answers mean."""

    promql: Text = Field(description="What is asked; $match stands for the label matchers of --match")
    kind: Literal["counter", "rate", "gauge"] = Field(
        description="A running total, so much a second, or so much at that time"
    )
    measure: Id | None = Field(None, description="What it measures; the name of the query if left out")
    factor: Positive = Field(1.0, description="What values are multiplied by")
    combine: Literal["sum", "max"] = Field("sum", description="How gauges of the parts of a task become one")
    unit: str | None = Field(None, description="Unit of the values in Prometheus, for readers")
    labels: LabelsModel | None = Field(None, description="What stands instead of in the labels of the section")


class SectionModel(FileModel):
    """The queries about one engine."""

    labels: LabelsModel | None = Field(None, description="Labels of every query that does not say otherwise")
    queries: dict[Part, QueryModel | None] = Field({}, description="Queries by name; null leaves out the shipped one")


class PrometheusMappingModel(FileModel):
    """What to ask Prometheus."""

    format: Literal["ftplan/prometheus-mapping"]
    format_version: Version
    base: Literal["shipped", "none"] = Field(
        "shipped", description="shipped: sections and queries beside these are those that come with ftplan"
    )
    sections: dict[Part, SectionModel] = Field(description="Sections by name, one for each engine")


def load_mapping(source: Source | Document) -> Loaded[QueryMapping]:
    """Read and check a mapping file, with what it stands on.

    Raises FtplanError if the file cannot be read, is no mapping, or a query cannot mean what it says.
    """
    document = read_document(source, "mapping")
    value = check_envelope(document, FORMAT)
    model = validate(PrometheusMappingModel, value, document.name)
    warnings, ignored = ignored_keys(PrometheusMappingModel, value, document.name)
    base = _shipped().sections if model.base == "shipped" else {}
    sections = dict(base)
    for name, section in model.sections.items():
        below = base.get(name) or SectionModel.model_validate({})
        queries = {**below.queries, **section.queries}
        sections[name] = below.model_copy(update={"labels": _joined(below.labels, section.labels), "queries": queries})
    mapping = _queries(model.model_copy(update={"sections": sections}), document.name)
    return Loaded(mapping, InputFile("mapping", document.path, document.sha256), warnings, ignored)


def shipped_mapping() -> QueryMapping:
    """Return the mapping that comes with ftplan."""
    return _queries(_shipped(), SHIPPED.name)


@cache
def _shipped() -> PrometheusMappingModel:
    value = parse_text(SHIPPED.read_text("utf-8"), SHIPPED.name, SHIPPED)
    return validate(PrometheusMappingModel, value, SHIPPED.name)


def _joined(below: LabelsModel | None, above: LabelsModel | None) -> LabelsModel | None:
    if below is None or above is None:
        return above or below
    return below.model_copy(update={name: getattr(above, name) for name in above.model_fields_set})


def _queries(model: PrometheusMappingModel, name: str) -> QueryMapping:
    complaints = Complaints(name)
    sections: dict[str, list[RangeQuery]] = {}
    for title, section in model.sections.items():
        queries = sections.setdefault(title, [])
        for key, query in section.queries.items():
            if query is None:
                continue
            measure = query.measure or key
            if problem := misuse(measure, query.kind):
                complaints.add(f"sections.{title}.queries.{key}", problem)
            labels = _joined(section.labels, query.labels) or LabelsModel.model_validate({})
            rules = {role: _rule(given) for role in ROLES if (given := getattr(labels, role)) is not None}
            queries.append(
                RangeQuery(
                    f"{title}.{key}", query.promql, measure, query.kind, query.factor, query.combine, rules,
                    tuple(labels.parts or ()),
                )
            )  # fmt: skip
    complaints.finish()
    return QueryMapping({title: queries for title, queries in sections.items() if queries})


def _rule(label: str | LabelModel) -> LabelRule:
    return LabelRule(label) if isinstance(label, str) else LabelRule(label.label, label.pattern, label.prefix)


def options_of(queries: Sequence[RangeQuery], match: Sequence[str], every_s: float, old: CollectionHead | None) -> Any:
    """Return what ``collection.json`` says of the queries, together with those of earlier commands.

    Raises FtplanError if earlier commands asked otherwise.
    """
    said = {} if old is None else old.options
    if old is not None and (old.every_s != every_s or said.get("match", []) != list(match)):
        before = said.get("match", [])
        what = f"with --match {' '.join(map(str, before))}" if before else "without --match"
        what = what if old.every_s == every_s else f"with --every {old.every_s:g}s"
        raise FtplanError(f"the folder was collected {what}; give the same, or another folder")
    by_name = {query.name: query for query in stored_queries(said)}
    for query in queries:
        if by_name.setdefault(query.name, query) != query:
            raise FtplanError(f"--mapping: query {query.name} is another than in the folder; give another folder")
    return {"match": list(match), "queries": [query.to_dict() for query in by_name.values()]}


def stored_queries(options: Mapping[str, Any]) -> list[RangeQuery]:
    """Return the queries that ``collection.json`` names.

    Raises FtplanError if it holds something else.
    """
    stored = options.get("queries", [])
    if not isinstance(stored, list):
        raise FtplanError("collection.json: options.queries: expected a list")
    return [query_of(value, f"collection.json: options.queries[{i}]") for i, value in enumerate(stored)]


def mapping_text(source: Source | None = None) -> str:
    """Return a mapping as text: the shipped one with its remarks, or a file's with what it stands on."""
    shipped = SHIPPED.read_text("utf-8")
    if source is None:
        return shipped
    import yaml

    sections: dict[str, Any] = {}
    for title, queries in load_mapping(source).value.sections.items():
        sections[title] = {"queries": {query.name.partition(".")[2]: _plain(query) for query in queries}}
    head = {"format": FORMAT, "format_version": "1.0", "base": "none"}
    return yaml.safe_dump({**head, "sections": sections}, sort_keys=False, allow_unicode=True, width=1000)


def _plain(query: RangeQuery) -> dict[str, Any]:
    labels: dict[str, Any] = {
        role: rule.label if rule.pattern is None else rule._asdict() for role, rule in (query.labels or {}).items()
    }
    plain = {name: value for name, value in query.to_dict().items() if name not in ("name", "parts")}
    return {**plain, "labels": {**labels, "parts": list(query.parts)}}
