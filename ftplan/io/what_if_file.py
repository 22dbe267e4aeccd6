"""What-if files: inputs, a command to run on them, and what is changed from case to case."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from ftplan.errors import Mistakes
from ftplan.io.cluster_file import check_duplicates
from ftplan.io.documents import Source, read_document
from ftplan.io.fields import FileModel, Sense, Version
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.io.what_if_cases import AxisModel, CaseModel, InputSource, OneOrMany, SelectorName, text_or_mapping
from ftplan.model.plan import InputFile

FORMAT = "ftplan/what-if"

#: Id of the case in which nothing differs.
BASE = "base"
#: Mistakes that are told at once; the others are counted.
MOST_TOLD = 20


class WhatIfInputsModel(FileModel):
    """The inputs of all cases; paths are relative to the folder of the what-if file."""

    topology: InputSource | None = Field(None, description="Topology file")
    cluster: InputSource | None = Field(None, description="Cluster file")
    stats: InputSource | None = Field(None, description="Statistics folder")
    failure: InputSource | None = Field(None, description="Failure file")
    spread: bool = Field(False, description="Without a placement, place tasks round robin in file order")


class RunModel(FileModel):
    """The command that answers every case."""

    command: str = Field(description="The command of a kind of plan, its kind, or evaluate")
    algorithm: str | None = Field(None, description="Planner; default: the command's own")
    plan: InputSource | None = Field(None, description="The plan that evaluate scores")
    fail: OneOrMany[SelectorName] = Field(default=[], description="What fails, beside the failure file")
    options: dict[str, Any] = Field(
        default={}, description="Options of the command, spelled as there, with dashes or underscores, without units"
    )


class MeasureModel(FileModel):
    """A measure, with what is not known of its name."""

    name: str = Field(description="As in measures")
    sense: Sense | None = Field(None, description="Whether less or more is better")
    unit: str | None = Field(None, description="Unit of the value")


Measure = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[MeasureModel, Tag("<mapping>")], Discriminator(text_or_mapping)
]


class WhatIfModel(FileModel):
    """One question asked under changed inputs."""

    format: Literal["ftplan/what-if"]
    format_version: Version
    name: str | None = Field(None, description="What summaries call it")
    inputs: WhatIfInputsModel = Field(WhatIfInputsModel.model_validate({}), description="The inputs of all cases")
    run: RunModel = Field(description="The command that answers every case")
    measures: list[Measure] | None = Field(
        None,
        min_length=1,
        description="objective, bound, gap, a metric of `ftplan algorithms --metrics`, or a place in the plan such as "
        "summary.after.priority_time; a list counts its entries. Default: objective and bound, or all metrics",
    )
    cases: list[CaseModel] = Field(default=[], description="Cases one by one")
    grid: list[AxisModel] = Field(default=[], description="Axes; every combination of their points is a case")


def _keys(model: type[FileModel]) -> list[str]:
    return [name for name in model.model_fields if name not in ("id", "name")]


def load_what_if(source: Source, mistakes: Mistakes | None = None) -> Loaded[WhatIfModel]:
    """Read and check a what-if file from a path, standard input (``-``) or a mapping; the files it names are not read.

    Mistakes that leave its cases readable are added to *mistakes*, where that is given.

    Raises FtplanError with a sentence for each other mistake: file, place, what is wrong and what would be right.
    """
    document = read_document(source, "what-if")
    value = check_envelope(document, FORMAT)
    model = validate(WhatIfModel, value, document.name, told=MOST_TOLD)
    with nullcontext() if mistakes is None else mistakes.caught():
        _check_cases(model, document.name)
    warnings, ignored = ignored_keys(WhatIfModel, value, document.name)
    return Loaded(model, InputFile("what-if", document.path, document.sha256), warnings, ignored)


def _check_cases(model: WhatIfModel, name: str) -> None:
    """Raise FtplanError if two cases have one id, or a case or an axis changes nothing."""
    complaints = Complaints(name, MOST_TOLD)
    check_duplicates([case.id for case in model.cases], "cases", complaints)
    for i, case in enumerate(model.cases):
        if case.id == BASE:
            complaints.add(f"cases[{i}].id", f"{BASE!r} is the case in which nothing differs: call this one otherwise")
        if not case.model_fields_set - {"id"}:
            complaints.add(f"cases[{i}]", f"changes nothing; it may have {', '.join(_keys(CaseModel))}")
    for i, axis in enumerate(model.grid):
        check_duplicates([case.id for case in axis.cases or ()], f"grid[{i}].cases", complaints)
        if not axis.model_fields_set - {"name"}:
            complaints.add(f"grid[{i}]", f"varies nothing; it may have {', '.join(_keys(AxisModel))}")
    complaints.finish()
