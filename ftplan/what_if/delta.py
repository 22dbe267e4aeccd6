"""What a case changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ftplan.io.documents import Document
from ftplan.io.validation import Loaded
from ftplan.io.what_if_cases import AddModel, TrafficModel
from ftplan.model.problem import StatsTables

#: An input that was read.
Input = Document | Loaded[StatsTables]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of what a selector names gets a value, or is multiplied by it."""

    selector: str
    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Delta:
    """What differs from the base, applied in the order of the fields; None or empty: nothing.

    ``failures`` are entries as in a failure file, which were drawn; they, and ``fail``, stand instead of what the
    command is told that fails.
    """

    inputs: Mapping[str, Input] = field(default_factory=dict)
    plan: Document | None = None
    remove: tuple[str, ...] = ()
    add: tuple[AddModel, ...] = ()
    set: tuple[FieldChange, ...] = ()
    scale: tuple[FieldChange, ...] = ()
    traffic: tuple[TrafficModel, ...] = ()
    failures: tuple[Any, ...] | None = None
    fail: tuple[str, ...] | None = None
    algorithm: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def then(self, other: Delta) -> Delta:
        """Return both deltas as one: lists are joined, and of single values the other's win."""
        return replace(
            self,
            inputs={**self.inputs, **other.inputs},
            plan=other.plan or self.plan,
            options={**self.options, **other.options},
            algorithm=other.algorithm or self.algorithm,
            fail=_joined(self.fail, other.fail),
            failures=_joined(self.failures, other.failures),
            **{name: (*getattr(self, name), *getattr(other, name)) for name in _LISTS},
        )

    def described(self) -> dict[str, Any]:
        """Return the delta as plain data, as a case of a what-if file spells it."""
        changes = {
            "inputs": {role: _name(item) for role, item in self.inputs.items()},
            "plan": None if self.plan is None else self.plan.name,
            "remove": list(self.remove),
            "add": [item.model_dump(exclude_defaults=True) | {"count": item.count} for item in self.add],
            "set": _by_selector(self.set),
            "scale": _by_selector(self.scale),
            "traffic": [item.factor if item.cpu else item.model_dump() for item in self.traffic],
            "failures": None if self.failures is None else list(self.failures),
            "fail": None if self.fail is None else list(self.fail),
            "algorithm": self.algorithm,
            "options": {name: _name(value) for name, value in self.options.items()},
        }
        kept = {"fail", "failures"}
        return {name: value for name, value in changes.items() if value or (name in kept and value is not None)}


_LISTS = ("remove", "add", "set", "scale", "traffic")


def _joined(first: tuple[Any, ...] | None, second: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    return second if first is None else (*first, *(second or ()))


def _name(value: Any) -> Any:
    if isinstance(value, Loaded):
        return value.input.path or "(given)"
    return value.name if isinstance(value, Document) else value


def _by_selector(changes: tuple[FieldChange, ...]) -> dict[str, dict[str, Any]]:
    said: dict[str, dict[str, Any]] = {}
    for change in changes:
        said.setdefault(change.selector, {})[change.field] = change.value
    return said
