"""From a document to checked data: the envelope, one sentence for every mistake, and a word on ignored keys."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from ftplan.errors import FtplanError, and_more, shortened, suggestion
from ftplan.io.documents import Document, Source, read_document, refuse_not_finite
from ftplan.io.sentences import described, explained
from ftplan.model.plan import InputFile, Warn

Value = TypeVar("Value")
Model = TypeVar("Model", bound=BaseModel)

MAJOR_VERSION = 1

#: Every kind of file, by its ``format``.
FORMATS: Mapping[str, str] = {
    "ftplan/topology": "topology",
    "ftplan/cluster": "cluster",
    "ftplan/failure": "failure",
    "ftplan/stats": "statistics manifest",
    "ftplan/placement": "placement",
    "ftplan/plan": "plan",
    "ftplan/evaluation": "evaluation",
    "ftplan/recovery-costs": "recovery cost table",
    "ftplan/bottleneck-rules": "bottleneck rule set",
    "ftplan/checkpoint-interval": "checkpoint interval",
    "ftplan/collection": "collection",
    "ftplan/prometheus-mapping": "mapping of queries to Prometheus",
    "ftplan/what-if": "what-if",
    "ftplan/what-if-result": "what-if result",
    "ftplan/simulation": "simulation",
}


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Value]):
    """Something read from a file: the value, the file's fingerprint, and what deserves a warning.

    ``ignored`` holds the warnings of unknown keys that are like no known one: only ``check`` tells them.
    """

    value: Value
    input: InputFile
    warnings: tuple[Warn, ...] = ()
    ignored: tuple[Warn, ...] = ()


class Complaints:
    """Mistakes of one file: the first *told* of them are told, the others are counted."""

    def __init__(self, name: str, told: int = 1) -> None:
        self.name, self._told = name, told
        self._first: list[tuple[str, str | Callable[[], str]]] = []
        self._count = 0

    def add(self, place: str, text: str | Callable[[], str]) -> None:
        """Note a mistake; a function is called only if its mistake is told (suggestions take time)."""
        self._count += 1
        if len(self._first) < self._told:
            self._first.append((place, text))

    def finish(self) -> None:
        """Raise :class:`FtplanError` if there was a mistake."""
        if self._first:
            said = [f"{self.name}: {place}: {text() if callable(text) else text}" for place, text in self._first]
            said[-1] += and_more(1 + self._count - len(said))
            raise FtplanError(said[0], said[1:])


def unknown(what: str, name: str, known: typing.Iterable[str]) -> Callable[[], str]:
    """Return a function that says that *name* is no *what*, with the nearest known name or all of a few."""

    def text() -> str:
        names = list(known)
        near = suggestion(name, names)
        few = f"; there are {', '.join(names)}" if not near and 0 < len(names) <= 8 else ""
        return f"unknown {what} {name!r}{near}{few}"

    return text


def check_envelope(document: Document, expected: str) -> Mapping[str, Any]:
    """Return the document as a mapping whose ``format`` is *expected* and whose version can be read.

    Raises FtplanError if it is no mapping, of another format, or of a newer major version.
    """
    value, name = document.value, document.name
    if not isinstance(value, Mapping):
        raise FtplanError(f"{name}: expected a mapping that begins with 'format: {expected}', got {_kind_of(value)}")
    kind = value.get("format")
    if "format" not in value:
        raise FtplanError(f"{name}: format: is missing; expected 'format: {expected}'")
    if kind != expected:
        if isinstance(kind, str) and kind in FORMATS:
            raise FtplanError(
                f"{name}: format: this is a {FORMATS[kind]} file ({kind}); expected a {FORMATS[expected]} ({expected})"
            )
        what = "is none of ftplan's formats"
        if isinstance(kind, str) and kind.startswith("ftplan/"):  # of another file nothing is repeated
            what = f"unknown format {described(kind)}{suggestion(kind, FORMATS)}"
        raise FtplanError(f"{name}: format: {what}; expected '{expected}'")
    check_version(value, name)
    return value


def _kind_of(value: Any) -> str:
    """Return what a document is that is no mapping, without a word of what it holds."""
    known = {str: "text", bool: "true or false", int: "a number", float: "a number"}
    return known.get(type(value)) or described(value)


def check_version(value: Mapping[str, Any], name: str) -> None:
    """Raise :class:`FtplanError` unless the version is 1.x; ``1.0`` without quotes will do."""
    if "format_version" not in value:
        raise FtplanError(f"{name}: format_version: is missing; expected '{MAJOR_VERSION}.0'")
    version = value["format_version"]
    text = str(version) if isinstance(version, (str, int, float)) and not isinstance(version, bool) else ""
    match = re.fullmatch(r"([0-9]{1,9})(\.[0-9]+)*", text)
    if match is None:
        raise FtplanError(f"{name}: format_version: expected '{MAJOR_VERSION}.0', got {described(version)}")
    if int(match[1]) > MAJOR_VERSION:
        raise FtplanError(
            f"{name}: format_version: {text} is newer than this ftplan reads ({MAJOR_VERSION}.x); upgrade ftplan"
        )
    if int(match[1]) < MAJOR_VERSION:
        raise FtplanError(f"{name}: format_version: there is no version {text}; expected '{MAJOR_VERSION}.0'")


def validate(model: type[Model], value: Any, name: str, below: str = "", told: int = 1) -> Model:
    """Return *value* as *model*; *below* is where in the document it stands.

    Raises FtplanError for the first *told* mistakes in the order of the file, with the number of further ones.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=True)
        complaints = Complaints(name, told)
        for mistake in mistakes:
            place = place_of((below, *mistake["loc"]) if below else mistake["loc"])
            complaints.add(place, partial(explained, mistake))
        complaints.finish()
        raise AssertionError("a validation error without errors") from error
    except (RecursionError, OverflowError):
        raise FtplanError(f"{name}: a value is too large or nested too deeply") from None


def load_document(source: Source, what: str, expected: str, model: type[BaseModel]) -> Loaded[Mapping[str, Any]]:
    """Read and check a document that stays one, from a path, standard input (``-``) or a mapping.

    Raises FtplanError if it cannot be read, or is not what *model* says that documents of format *expected* are.
    """
    document = read_document(source, what)
    value = check_envelope(document, expected)
    refuse_not_finite(value, document.name)
    validate(model, value, document.name)
    warnings, ignored = ignored_keys(model, value, document.name)
    input_file = InputFile(expected.removeprefix("ftplan/"), document.path, document.sha256)
    return Loaded(value, input_file, warnings, ignored)


def place_of(location: Sequence[str | int]) -> str:
    """Return a place as people write it: ``edges[3].to``. Tags of union branches are left out."""
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part != "[key]" and not (part.startswith("<") and part.endswith(">")):
            place += f".{part}" if place else part
    return place or "the document"


@cache
def _fields(model: type[BaseModel]) -> tuple[frozenset[str], dict[str, tuple[type[BaseModel], bool]]]:
    """Return the keys that a model knows, and the models below them; True where names lead to the models."""
    keys: set[str] = set()
    below: dict[str, tuple[type[BaseModel], bool]] = {}
    for field_name, field in model.model_fields.items():
        key = field.alias or field_name
        keys.add(key)
        below.update((key, inner) for inner in _models(field.annotation, False))
    return frozenset(keys), below


def _models(annotation: Any, named: bool) -> Iterator[tuple[type[BaseModel], bool]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, named
    for argument in typing.get_args(annotation):
        yield from _models(argument, named or typing.get_origin(annotation) is dict)


def unknown_keys(model: type[BaseModel], value: Any, place: str = "") -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield (place, key, known keys) of every key that *model* does not know."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from unknown_keys(model, item, f"{place}[{i}]")
    if not isinstance(value, Mapping):
        return
    keys, below = _fields(model)
    if not value.keys() <= keys:
        for key in value:
            if key not in keys:
                yield place, key, keys
    for key, (inner, named) in below.items():
        item = value.get(key)
        full = f"{place}.{key}" if place else key
        if named and isinstance(item, Mapping):
            for name, named_item in item.items():
                yield from unknown_keys(inner, named_item, f"{full}.{name}")
        elif isinstance(item, (Mapping, list)):
            yield from unknown_keys(inner, item, full)


def require_field(model: type[BaseModel], name: str) -> None:
    """Raise :class:`FtplanError` unless *name*, with dots between levels, is a field of *model*."""
    key, dot, rest = name.partition(".")
    keys, below = _fields(model)
    if key not in keys:
        raise FtplanError(f"unknown field {key!r}{suggestion(key, sorted(keys))}; there are {', '.join(sorted(keys))}")
    if dot and (key not in below or below[key][1]):
        raise FtplanError(f"{key} has no fields: leave out {dot + rest!r}")
    if dot:
        require_field(below[key][0], rest)


def default_of(model: type[BaseModel], name: str) -> Any:
    """Return the default of a field as a file holds it; None where there is none, or below another field."""
    for field_name, field in model.model_fields.items():
        if name == (field.alias or field_name):
            return None if field.is_required() else field.default
    return None


def ignored_keys(
    model: type[BaseModel], value: Any, name: str, below: str = ""
) -> tuple[tuple[Warn, ...], tuple[Warn, ...]]:
    """Return a warning for each ignored key that looks like a misspelt one, and one for each of the others."""
    misspelt: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for place, key, known in unknown_keys(model, value, below):
        near = _near_key(key, known)
        text = f"{name}: {f'{place}.{key}' if place else key}: unknown key is ignored{near}"
        (misspelt if near else others).setdefault(key, []).append(text)
    return _once(misspelt), _once(others)


@lru_cache(maxsize=1000)
def _near_key(key: str, known: frozenset[str]) -> str:
    return suggestion(key, sorted(known - {"format", "format_version"}))


def _once(texts: Mapping[str, Sequence[str]]) -> tuple[Warn, ...]:
    """Return one warning for each key: the first text, and how many more there are."""
    return tuple(Warn("UNKNOWN_KEY", shortened(said[0] + and_more(len(said)))) for said in texts.values())
