"""YAML and JSON to plain data: duplicate keys and deep nesting are refused.

YAML is read from libyaml's events: fast, no tags, no surprises. Plain scalars are read as the versions 1.1 and 1.2 of
YAML agree to read them. Where they do not agree (``017``, ``1:30``, a date) the scalar stays text; ``yes``, ``no``,
``on`` and ``off`` are booleans, as most tools read them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import yaml

from ftplan.errors import FtplanError

MAX_DEPTH = 100  # levels of lists and mappings
MAX_ALIASED = 1_000_000  # values that aliases may stand for, all together

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TAGS = {_TAG + name for name in ("str", "int", "float", "bool", "null", "map", "seq")}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
_OTHER_BASE = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?([0-9][0-9_]*\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)")
_WORDS: dict[str, bool | None] = {"": None, "~": None}
for _words, _meaning in (("null", None), ("true yes on", True), ("false no off", False)):
    for _word in _words.split():
        _WORDS.update({_word: _meaning, _word.capitalize(): _meaning, _word.upper(): _meaning})


def plain_scalar(text: str) -> Any:
    """Return what an unquoted scalar means: None, a boolean, a number or text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        digits = text.replace("_", "")
        return int(digits) if len(digits) < 1000 else math.inf
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return float(text.replace("_", ""))
    if infinite := _INFINITE.fullmatch(text):
        return -math.inf if infinite[1] == "-" else math.inf
    return math.nan if text in (".nan", ".NaN", ".NAN") else text


#: A line that states a format of ftplan. Nothing of a file without one is repeated: it may be anybody's secret.
_OURS = re.compile(r"""^\s*[{,]?\s*["']?format["']?\s*:\s*["']?ftplan/""", re.MULTILINE)
_OURS_IN_JSON = re.compile(r'"format"\s*:\s*"ftplan/')


def states_a_format(text: str) -> bool:
    """Return whether a text says, somewhere, that it is a file of ftplan."""
    return "ftplan/" in text and bool(_OURS.search(text) or _OURS_IN_JSON.search(text))


class _Unquoted(str):
    """The name of a file of which nothing is repeated."""


def _named(name: str, text: str) -> str:
    return name if states_a_format(text) else _Unquoted(name)


def _quote(name: str, value: str, before: str = " ") -> str:
    """Return a part of a file as a message repeats it, nothing where it states no format of ftplan."""
    return "" if isinstance(name, _Unquoted) else f"{before}{value}"


def parse_yaml(text: str, name: str) -> Any:
    """Return the one document in *text* as plain data; *name* stands in messages.

    Raises FtplanError (with the line) for a syntax error, a duplicate key, a key that is no text, a tag, a second
    document, more than 100 levels, an alias inside its own anchor, or aliases that stand for a million values.
    """
    name = _named(name, text)
    try:
        return _build(yaml.parse(text, Loader=_LOADER), name)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = (error.problem or "not YAML").replace("%", "'%'")
        context = f" {error.context}" if error.context else ""
        lines = text.splitlines()
        tab = "; YAML indents with spaces, not tabs" if mark and "\t" in "".join(lines[line - 1 : line]) else ""
        raise FtplanError(f"{name}: line {line}: {problem}{context}{tab}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else 1
        raise FtplanError(f"{name}: line {line}: a character that YAML does not allow ({error.reason})") from None


def _build(events: Iterator[Any], name: str) -> Any:
    """Return the document that the events describe; no recursion, one dictionary look-up per plain scalar."""
    no_key = object()
    root: list[Any] = []
    containers: list[Any] = [root]  # the open lists and mappings
    keys: list[Any] = [no_key]  # beside each open mapping the key that waits for its value
    opened: list[tuple[str, int] | None] = [None]  # beside each: its anchor and the value count when it began
    anchors: dict[str, tuple[Any, int]] = {}
    seen: dict[str, Any] = {}  # plain scalars met so far
    values = aliased = 0
    # What is rare is a function of its own; a call for each of a million events would cost more than what it does.
    for event in events:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            values += 1
            text = event.value
            if event.implicit[0] and event.tag is None:
                value = seen[text] if text in seen else seen.setdefault(text, plain_scalar(text))
            else:
                value = text if event.tag is None else _tagged(event, name)
            if event.anchor is not None:
                anchors[event.anchor] = (value, 1)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            values += 1
            _check_start(event, len(containers), isinstance(containers[-1], dict) and keys[-1] is no_key, name)
            containers.append({} if kind is yaml.MappingStartEvent else [])
            keys.append(no_key)
            opened.append(None if event.anchor is None else (event.anchor, values + aliased))
            if event.anchor is not None:
                anchors.pop(event.anchor, None)
            continue
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            value = containers.pop()
            keys.pop()
            begun = opened.pop()
            if kind is yaml.MappingEndEvent and "<<" in value:
                value = _merged(value, event, name)
            if begun is not None:
                anchors[begun[0]] = (value, values + aliased - begun[1] + 1)
        elif kind is yaml.AliasEvent:
            value, aliased = _aliased(event, anchors, aliased, name)
        elif kind is yaml.DocumentStartEvent and root:
            raise _wrong(event, "a second document begins; expected one", name)
        else:
            continue
        top = containers[-1]
        if type(top) is list:
            top.append(value)
        elif keys[-1] is no_key:
            if type(value) is not str:
                raise _wrong(event, f"the key{_quote(name, _shown(value))} is not text: quote it", name)
            if value in top:
                raise _wrong(event, f"duplicate key{_quote(name, repr(value))}", name)
            keys[-1] = value
        else:
            top[keys[-1]] = value
            keys[-1] = no_key
    return root[0] if root else None


def _wrong(event: Any, text: str, name: str) -> FtplanError:
    return FtplanError(f"{name}: line {event.start_mark.line + 1}: {text}")


def _tagged(event: Any, name: str) -> Any:
    """Return the value of a scalar with a tag."""
    if event.tag == _TAG + "str" or event.tag == "!":
        return event.value
    if event.tag in _TAGS:
        return plain_scalar(event.value)
    raise _wrong(event, f"the tag{_quote(name, repr(event.tag))} is not allowed; write plain values", name)


def _check_start(event: Any, depth: int, is_key: bool, name: str) -> None:
    """Refuse a list or mapping that begins too deep, with a tag of its own, or where a key is due."""
    if depth > MAX_DEPTH:
        raise _wrong(event, f"nested deeper than {MAX_DEPTH} levels", name)
    if event.tag is not None and event.tag not in _TAGS:
        raise _wrong(event, f"the tag{_quote(name, repr(event.tag))} is not allowed; write plain values", name)
    if is_key:
        raise _wrong(event, "a key must be text, not a list or a mapping", name)


def _aliased(event: Any, anchors: dict[str, tuple[Any, int]], aliased: int, name: str) -> tuple[Any, int]:
    """Return the value behind an alias, and how many values aliases stand for by now."""
    if event.anchor not in anchors:
        raise _wrong(event, f"the alias{_quote(name, event.anchor, ' *')} has no anchor before it", name)
    value, size = anchors[event.anchor]
    if aliased + size > MAX_ALIASED:
        raise _wrong(event, f"aliases stand for more than {MAX_ALIASED:,} values; write them out", name)
    return value, aliased + size


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    return str(value) if isinstance(value, (int, float)) else "behind the alias"


def _merged(mapping: dict[str, Any], event: Any, name: str) -> dict[str, Any]:
    """Return *mapping* with the mappings under its merge key ``<<`` folded in; keys of its own win."""
    merge = mapping.pop("<<")
    for other in merge if isinstance(merge, list) else [merge]:
        if not isinstance(other, dict):
            raise _wrong(event, "the merge key << needs a mapping", name)
        for key, value in other.items():
            mapping.setdefault(key, value)
    return mapping


_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)', re.DOTALL)


class _DuplicateKeyError(ValueError):
    """Carries the key that occurs twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        met: set[str] = set()
        for key, _ in pairs:
            if key in met:
                raise _DuplicateKeyError(key)
            met.add(key)
    return result


def parse_json(text: str, name: str) -> Any:
    """Return the JSON value in *text* as plain data; *name* stands in messages. NaN and Infinity come through.

    Raises FtplanError (with the line where it is known) for a syntax error, a duplicate key, or more than 100 levels.
    """
    _refuse_depth(text, name)
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise FtplanError(f"{name}: line {error.lineno}: not JSON: {error.msg} (column {error.colno})") from None
    except _DuplicateKeyError as error:
        _duplicate_with_line(text, name)
        raise FtplanError(f"{name}: duplicate key{_quote(_named(name, text), repr(error.args[0]))}") from None
    except ValueError:
        raise FtplanError(f"{name}: a number with too many digits") from None
    if _HALF.search(text):
        _refuse_halves(value, name)
    return value


#: Where half of a surrogate pair may be escaped.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _refuse_halves(value: Any, name: str) -> None:
    """Raise if a text is none in UTF-8: half of a surrogate pair would pass here, and fail where it is written."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise FtplanError(f"{name}: a text holds half of a surrogate pair (\\ud800 to \\udfff)") from None


def _duplicate_with_line(text: str, name: str) -> None:
    """Raise the complaint about a duplicate key with its line: JSON is YAML, and YAML's reader knows lines."""
    try:
        parse_yaml(text, name)
    except FtplanError as error:
        if "duplicate key" in str(error):
            raise


def _refuse_depth(text: str, name: str) -> None:
    """Raise if the nesting outside of strings is too deep."""
    if _deep_at(text) is None:  # strings included: almost every document passes here
        return
    bare = _STRING.sub('""', text)
    if (place := _deep_at(bare)) is not None:
        line = bare.encode("utf-8", "replace").count(b"\n", 0, place) + 1
        raise FtplanError(f"{name}: line {line}: nested deeper than {MAX_DEPTH} levels")


def _deep_at(text: str) -> int | None:
    """Return the position of the first byte at which more brackets than the allowed levels are open."""
    data = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8) | 0x20  # [ ] become { }
    step = (data == ord("{")).astype(np.int8) - (data == ord("}")).astype(np.int8)
    deep = np.cumsum(step, dtype=np.int32) > MAX_DEPTH
    return int(np.argmax(deep)) if deep.any() else None
