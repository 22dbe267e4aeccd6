"""What a what-if file may say of a case, and of an axis along which cases vary."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator, Field, Tag, WithJsonSchema
from pydantic.functional_validators import AfterValidator, BeforeValidator

from ftplan.io.failure_file import SELECTOR_PATTERN, selector_of
from ftplan.io.fields import Count, FileModel, Id, Index, Interval
from ftplan.model.ranges import Range

#: What stands for one failure, or one removal, of each of its kind.
EACH = ("each zone", "each node", "each operator", "each task")
#: ``from`` of failures that are drawn from the cluster's probabilities.
PROBABILITIES = "probabilities"
TRAFFIC = Range(1e-6, 1e6, zero=False)

Item = TypeVar("Item")


def _one_or_many(value: Any) -> str:
    return "<many>" if isinstance(value, list) else "<one>"


def text_or_mapping(value: Any) -> str:
    """Return the tag of what may be a mapping instead of something short."""
    return "<mapping>" if isinstance(value, dict) else "<text>"


def _number_or_mapping(value: Any) -> str:
    return "<mapping>" if isinstance(value, dict) else "<factor>"


def _selector(value: Any) -> Any:
    return str(selector_of(value)) if isinstance(value, str) else value


def _alternative(value: Any) -> Any:
    return value if value in EACH else _selector(value)


#: One of something, or a list of them.
OneOrMany = Annotated[Annotated[Item, Tag("<one>")] | Annotated[list[Item], Tag("<many>")], Discriminator(_one_or_many)]

_SELECTOR_SCHEMA = {"type": "string", "pattern": SELECTOR_PATTERN, "examples": ["zone:rack-a", "task:join/3"]}
SelectorName = Annotated[str, BeforeValidator(_selector), WithJsonSchema(_SELECTOR_SCHEMA)]
SelectorOrEach = Annotated[
    str,
    BeforeValidator(_alternative),
    WithJsonSchema({"anyOf": [_SELECTOR_SCHEMA, {"enum": list(EACH)}]}),
]
#: The alternatives of an axis: selectors, lists of those that go together, or one for each of a kind.
Alternatives = Annotated[
    Annotated[SelectorOrEach, Tag("<one>")] | Annotated[list[OneOrMany[SelectorOrEach]], Tag("<many>")],
    Discriminator(_one_or_many),
]
Path = Annotated[str, Field(min_length=1)]
InputSource = Annotated[
    Annotated[Path, Tag("<text>")] | Annotated[dict[str, Any], Tag("<mapping>")], Discriminator(text_or_mapping)
]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]
Factor = Annotated[
    float,
    AfterValidator(TRAFFIC.checked),
    WithJsonSchema({"type": "number", "minimum": TRAFFIC.low, "maximum": TRAFFIC.high}),
]
#: By selector and field.
Changes = dict[str, dict[str, Any]]


class CaseInputsModel(FileModel):
    """Files instead of those of all cases."""

    topology: InputSource | None = Field(None, description="Topology file")
    cluster: InputSource | None = Field(None, description="Cluster file")
    stats: InputSource | None = Field(None, description="Statistics folder")
    failure: InputSource | None = Field(None, description="Failure file")


class AddedNodesModel(FileModel):
    """Nodes that are added to the cluster, all alike."""

    node: dict[str, Any] = Field(description="Fields of each node as in a cluster file, without id")
    id: Id = Field("added", description="Their ids are this, a dash and a number from 1")
    zones: Literal["all"] | list[Id] | None = Field(
        None, description="Zones that they go to in turn; all: those of the cluster; default: the zone of node"
    )


class AddModel(AddedNodesModel):
    """So many nodes."""

    count: Index = Field(1, description="How many")


class AddAxisModel(AddedNodesModel):
    """Different numbers of nodes."""

    count: list[Index] = Field(min_length=1, description="How many, for each point of the axis")


class TrafficModel(FileModel):
    """More or less traffic."""

    factor: Factor = Field(description="Everything that is per second times this")
    cpu: bool = Field(True, description="false: tasks take the cores that they take now")


Traffic = Annotated[
    Annotated[Factor, Tag("<factor>")] | Annotated[TrafficModel, Tag("<mapping>")], Discriminator(_number_or_mapping)
]


class LogColumnsModel(FileModel):
    """What the columns of a failure log are called."""

    time: str = Field("time", description="When something failed: a time, or seconds")
    node: str = Field("node", description="The node")
    zone: str | None = Field(None, description="What nodes share that fail together, such as a rack")


class FailureSourceModel(FileModel):
    """Where failures are drawn from."""

    source: Path = Field(
        alias="from", description="A failure log, CSV or Parquet, or the word probabilities: those of the cluster"
    )
    columns: LogColumnsModel = Field(LogColumnsModel.model_validate({}), description="Columns of the log")
    window_s: Interval = Field(
        1800.0, description="Failures of one zone in one window, aligned to the epoch, are one burst"
    )
    at_least: Count = Field(1, description="Leave out bursts of fewer nodes")
    timing: Literal["log", "together"] = Field(
        "log", description="log: as long after the first as in the log; together: all at once"
    )
    may_be_none: bool = Field(
        False, description="With probabilities: also draws in which nothing fails; default: at least one node or zone"
    )
    seed: Seed = Field(0, description="Seed of the draws")


class DrawModel(FailureSourceModel):
    """One of the failures that are drawn."""

    draw: Index = Field(0, description="Number of the draw")


class DrawsModel(FailureSourceModel):
    """Failures that are drawn."""

    draws: Count = Field(description="How many")


class CaseModel(FileModel):
    """A case: what differs from the inputs and the command of all cases, in the order in which it is applied."""

    id: Id = Field(description="Unique name; base is the case in which nothing differs")
    inputs: CaseInputsModel | None = Field(None, description="Other files")
    plan: InputSource | None = Field(None, description="The plan that evaluate scores")
    remove: OneOrMany[SelectorName] | None = Field(None, description="Nodes, zones or operators that are not there")
    add: OneOrMany[AddModel] | None = Field(None, description="Nodes that are there besides")
    set: Changes | None = Field(None, description="New values, by selector and field")
    scale: Changes | None = Field(None, description="Factors of what is there, by selector and field")
    traffic: Traffic | None = Field(None, description="Factor of everything that is per second")
    failures: DrawModel | None = Field(None, description="A failure that is drawn, instead of fail under run")
    fail: OneOrMany[SelectorName] | None = Field(None, description="What fails, instead of fail under run")
    algorithm: str | None = Field(None, description="Planner")
    options: dict[str, Any] | None = Field(None, description="Options of the command, over those under run")
    seed: Seed | None = Field(None, description="The option seed")


class SeedsModel(FileModel):
    """Consecutive seeds."""

    count: Count = Field(description="How many")
    first: Seed = Field(0, description="The first of them")


class AxisInputsModel(FileModel):
    """Lists of files."""

    topology: list[InputSource] | None = Field(None, description="Topology files")
    cluster: list[InputSource] | None = Field(None, description="Cluster files")
    stats: list[InputSource] | None = Field(None, description="Statistics folders")
    failure: list[InputSource] | None = Field(None, description="Failure files")


class AxisModel(FileModel):
    """What varies along an axis: a key of a case, with a list of its values. Several keys vary in step."""

    name: str | None = Field(None, min_length=1, description="What the column of the (first) key is called")
    cases: list[CaseModel] | None = Field(None, min_length=1, description="Points of any kind, each with an id")
    inputs: AxisInputsModel | None = Field(None, description="Other files")
    plan: list[InputSource] | None = Field(None, min_length=1, description="Plans that evaluate scores")
    remove: Alternatives | None = Field(None, description="What is not there")
    add: AddAxisModel | None = Field(None, description="Nodes that are there besides")
    set: dict[str, dict[str, list[Any]]] | None = Field(None, description="New values, by selector and field")
    scale: dict[str, dict[str, list[Any]]] | None = Field(None, description="Factors, by selector and field")
    traffic: list[Traffic] | None = Field(None, min_length=1, description="Factors of all that is per second")
    failures: DrawsModel | None = Field(None, description="Failures that are drawn, instead of fail under run")
    fail: Alternatives | None = Field(
        None, description="What fails, instead of fail under run; a list in the list fails together"
    )
    algorithm: list[str] | None = Field(None, min_length=1, description="Planners")
    options: dict[str, list[Any]] | None = Field(None, description="Options of the command")
    seed: (
        Annotated[
            Annotated[list[Seed], Tag("<text>")] | Annotated[SeedsModel, Tag("<mapping>")],
            Discriminator(text_or_mapping),
        ]
        | None
    ) = Field(None, description="Seeds: a list, or how many")
