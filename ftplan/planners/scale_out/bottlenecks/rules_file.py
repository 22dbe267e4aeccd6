"""Rules by which operators are scored: labels of what is known of a task, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from ftplan.io.documents import Source, read_document
from ftplan.io.fields import FileModel, Version
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import INPUTS, FuzzyRules, Trapezoid, silent
from ftplan.planners.scale_out.bottlenecks.fuzzy_rules import KEYWORDS, NAME_PATTERN, FuzzyRule, fuzzy_rule

FORMAT = "ftplan/bottleneck-rules"
#: The rules that come with ftplan, with remarks.
SHIPPED = Path(__file__).with_name("bottleneck_rules.yaml")


def _rising(value: list[float]) -> list[float]:
    if value != sorted(value) or value[0] == value[-1]:
        raise ValueError(f"points must rise, got {', '.join(f'{point:g}' for point in value)}")
    return value


Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Shape = Annotated[list[Percent], Field(min_length=3, max_length=4), AfterValidator(_rising)]
Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
Labels = Annotated[dict[Name, Shape], Field(min_length=1, max_length=10)]
#: What an editor can hold a rule to.
_RULE_PATTERN = r"^\s*([Ii][Ff]\b|[Oo][Tt][Hh][Ee][Rr][Ww][Ii][Ss][Ee]\b)"
RuleText = Annotated[str, Field(max_length=1000, json_schema_extra={"pattern": _RULE_PATTERN})]


class RuleInputsModel(FileModel):
    """Labels of what is known of a task, by name: [start, top, last, end] or [start, top, end], in percent."""

    cpu: Labels | None = Field(None, description="Of the time of a window in which the task was at work")
    memory: Labels | None = Field(None, description="Of the memory that the task may hold")
    data: Labels | None = Field(
        None, description="Records that it processed or that wait for it, of those that it can process"
    )


class BottleneckRulesModel(FileModel):
    """How near a task is to being a bottleneck, by rules."""

    format: Literal["ftplan/bottleneck-rules"]
    format_version: Version
    inputs: RuleInputsModel = Field(description="What is known of a task in a window")
    score: Labels = Field(description="Labels of the score, from 0 to 100, likewise")
    rules: Annotated[list[RuleText], Field(min_length=1, max_length=1000)] = Field(
        description="'if CONDITION then LABEL' or 'otherwise LABEL'; conditions are such as 'cpu is high', 'data is "
        "not low', 'two or more high', 'none high', joined by and, or, not and parentheses"
    )


@lru_cache
def shipped_rules() -> FuzzyRules:
    """Return the rules that come with ftplan: ours, since the paper gives none."""
    return load_bottleneck_rules(SHIPPED).value


def load_bottleneck_rules(source: Source) -> Loaded[FuzzyRules]:
    """Read and check rules from a path, standard input (``-``) or a mapping.

    Raises FtplanError if the file cannot be read, a line is no rule, or the rules say nothing of some task.
    """
    document = read_document(source, "bottleneck rules")
    value = check_envelope(document, FORMAT)
    model = validate(BottleneckRulesModel, value, document.name)
    complaints = Complaints(document.name)
    given = {name: labels for name in INPUTS if (labels := getattr(model.inputs, name)) is not None}
    if not given:
        complaints.add("inputs", f"needs at least one of {', '.join(INPUTS)}")
    for place, labels in (
        {f"inputs.{name}": labels for name, labels in given.items()} | {"score": model.score}
    ).items():
        for label in KEYWORDS & labels.keys():
            complaints.add(f"{place}.{label}", f"'{label}' is a word of the rules: give the label another name")
    complaints.finish()
    inputs = {name: _shapes(labels) for name, labels in given.items()}
    rules = FuzzyRules(inputs, _shapes(model.score), _rules(model, inputs, complaints))
    if (nothing := silent(rules)) is not None:
        task = ", ".join(f"{name} {nothing[i]:g} %" for i, name in enumerate(INPUTS) if name in inputs)
        complaints.add("rules", f"say nothing of a task with {task}: add 'otherwise LABEL'")
        complaints.finish()
    warnings, ignored = ignored_keys(BottleneckRulesModel, value, document.name)
    return Loaded(rules, InputFile("rules", document.path, document.sha256), warnings, ignored)


def _shapes(labels: Mapping[str, list[float]]) -> dict[str, Trapezoid]:
    """Return labels as trapezoids: a triangle is one whose top is a point."""
    return {name: Trapezoid(points[0], points[1], points[-2], points[-1]) for name, points in labels.items()}


def _rules(
    model: BottleneckRulesModel, inputs: Mapping[str, Mapping[str, Trapezoid]], complaints: Complaints
) -> tuple[FuzzyRule, ...]:
    """Return the rules of a file; raises FtplanError for the first line that is none."""
    rules = []
    known = {name: tuple(labels) for name, labels in inputs.items()}
    for i, text in enumerate(model.rules):
        try:
            rules.append(fuzzy_rule(text, known, tuple(model.score)))
        except ValueError as error:
            complaints.add(f"rules[{i}]", str(error))
    if sum(rule.condition is None for rule in rules) > 1:
        complaints.add("rules", "only one may begin with 'otherwise'")
    complaints.finish()
    return tuple(rules)
