"""What a JSON Schema allows for one field, in words: type, unit, range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Schema = Mapping[str, Any]
#: How a field's name ends, and the unit of its numbers.
UNITS = {
    "records_s": "records/s", "mb_s": "MB/s", "bytes_s": "bytes/s", "cpu": "cores", "core_s": "core-seconds",
    "bytes": "bytes", "mb": "MB", "ms": "ms", "s": "seconds",
}  # fmt: skip
#: Patterns of texts that have a name.
TEXTS = {
    "^[A-Za-z0-9._-]+$": "id",
    "^((node|zone|operator):[A-Za-z0-9._-]+|(task|query|key-group):[A-Za-z0-9._-]+/[0-9]+)$": "selector",
    "^1(\\.[0-9]+)*$": '`"1.0"`',
}
#: More than this is no limit that anybody meets.
ENDLESS = 9e18
_KNOWN = {
    "type", "anyOf", "oneOf", "not", "enum", "const", "examples", "pattern", "format", "minLength", "maxLength",
    "default", "description", "items", "minItems", "maxItems", "prefixItems", "additionalProperties",
    "patternProperties", "minProperties", "maxProperties", "properties", "required", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "$ref",
}  # fmt: skip


def shape(schema: Schema, name: str, refer: Callable[[str, bool], str]) -> str:
    """Return what a field of *name* holds; *refer* makes a link of a reference, for one object or many.

    Raises
    ------
    ValueError
        If the schema says something that is not told here.
    """
    if unknown := set(schema) - _KNOWN:
        raise ValueError(f"{name}: nothing is said of {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        return refer(schema["$ref"], False)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _either([part for part in schema[key] if part != {"type": "null"}], name, refer)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return _or([f"`{value}`" for value in schema["enum"]])
    if schema.get("pattern") in TEXTS:
        return TEXTS[schema["pattern"]]
    kind = schema.get("type")
    if kind == "array":
        return _array(schema, name, refer)
    if kind == "object":
        return _object(schema, name, refer)
    if kind in ("number", "integer"):
        return _number(schema, name)
    if kind == "string":
        return "UTC time" if schema.get("format") == "date-time" else "text"
    return {"boolean": "true or false", None: "anything"}[kind]


def many(schema: Schema, name: str, refer: Callable[[str, bool], str]) -> str:
    """Return what a list of such values holds."""
    if "$ref" in schema:
        return refer(schema["$ref"], True)
    words = shape(schema, name, refer)
    for one in ("number", "integer", "text", "selector", "id", "object", "list", "UTC time"):
        if words == one or words.startswith((f"{one} ", f"{one},")):
            return f"{one}s" + words.removeprefix(one)
    return words


def plain(number: float) -> str:
    """Return a number as people write it: ``1,000``, ``1e-6``."""
    if number == int(number) and (abs(number) <= 1e7 or float(f"{number:g}") != number):
        return f"{int(number):,}"
    return f"{number:g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _either(parts: list[Schema], name: str, refer: Callable[[str, bool], str]) -> str:
    if len(parts) == 2 and parts[1].get("items") == parts[0]:
        return f"{shape(parts[0], name, refer)}; or a list of these"
    return _or([shape(part, name, refer) for part in parts])


def _or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" or {words[-1]}"


def _array(schema: Schema, name: str, refer: Callable[[str, bool], str]) -> str:
    if "prefixItems" in schema:
        return f"list of {len(schema['prefixItems'])}: {many(schema['prefixItems'][-1], name, refer)}"
    low, high = schema.get("minItems"), schema.get("maxItems")
    count = "" if low is None and high is None else f"{low or 0} to {high} " if high else f"at least {low} "
    return f"list of {count.replace(f'{low} to {low} ', f'{low} ')}{many(schema.get('items', {}), name, refer)}"


def _object(schema: Schema, name: str, refer: Callable[[str, bool], str]) -> str:
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return f"by name: {shape(values, name, refer)}"
    for pattern, inner in schema.get("patternProperties", {}).items():
        return f"by {TEXTS.get(pattern, 'name')}: {shape(inner, name, refer)}"
    return "object"


def _number(schema: Schema, name: str) -> str:
    unit = next((unit for end, unit in UNITS.items() if name == end or name.endswith(f"_{end}")), "")
    gap = schema.get("not", {}).get("exclusiveMaximum")
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    low = None if low is not None and low <= -ENDLESS else low
    high, below = (None if limit is not None and limit >= ENDLESS else limit for limit in (high, below))
    words = [f"{schema['type']} ({unit})" if unit else schema["type"]]
    if gap is not None:
        words.append(f"0 or {plain(gap)} to {plain(high)}" if high is not None else "0 or more")
    elif low is not None and high is not None:
        words.append(f"{plain(low)} to {plain(high)}")
    else:
        words += (
            [f"at least {plain(low)}"] if low is not None else [f"above {plain(above)}"] if above is not None else []
        )
        words += [f"at most {plain(high)}"] if high is not None else []
    words += [f"below {plain(below)}"] if below is not None else []
    return ", ".join(words)
