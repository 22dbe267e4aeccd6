"""GitHub's expressions, as far as the action and the examples use them; anything else is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(==|!=|&&|\|\||[!().])|([A-Za-z_][\w-]*))")
_PLACE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
STATES = ("always", "cancelled", "failure", "success")


@dataclass
class Expressions:
    """Values of contexts such as ``inputs`` and ``steps``, and whether a step before has failed."""

    contexts: Mapping[str, Any]
    failed: bool = False

    def text(self, template: str) -> str:
        """Return a text with the values of its ``${{ }}``."""
        return _PLACE.sub(lambda found: _shown(self.value(found[1])), template)

    def holds(self, condition: str | None) -> bool:
        """Return whether a step runs: without a word on the state, only where none before has failed."""
        text = (condition or "success()").strip()
        whole = _PLACE.fullmatch(text)
        text = whole[1] if whole else text
        told = any(re.search(rf"\b{state}\(", text) for state in STATES)
        return bool(self.value(text)) and (told or not self.failed)

    def value(self, text: str) -> Any:
        """Return the value of one expression."""
        reader = _Reader(_tokens(text), self)
        value = reader.either()
        if reader.rest:
            raise ValueError(f"not understood: {text!r} from {reader.rest[0]!r}")
        return value

    def state(self, name: str) -> bool:
        """Return what a function of the state says; nothing is ever cancelled here."""
        if name not in STATES:
            raise ValueError(f"no function {name!r} in this test")
        return {"always": True, "cancelled": False, "failure": self.failed, "success": not self.failed}[name]


class _Reader:
    def __init__(self, tokens: list[str], known: Expressions) -> None:
        self.rest, self.known = tokens, known

    def either(self) -> Any:
        return self._joined(self._both, "||", lambda a, b: a or b)

    def _both(self) -> Any:
        return self._joined(self._compared, "&&", lambda a, b: a and b)

    def _compared(self) -> Any:
        left = self._one()
        if self._next_is("==", "!="):
            equal = self.rest.pop(0) == "=="
            return (_shown(left).lower() == _shown(self._one()).lower()) is equal
        return left

    def _one(self) -> Any:
        token = self.rest.pop(0) if self.rest else ""
        if token == "!":
            return not self._one()
        if token == "(":
            value = self.either()
            assert self.rest.pop(0) == ")"
            return value
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if self._next_is("("):
            state = self.known.state(token)
            assert [self.rest.pop(0), self.rest.pop(0)] == ["(", ")"]
            return state
        return self._context(token)

    def _context(self, name: str) -> Any:
        if name not in self.known.contexts:
            raise ValueError(f"no context {name!r} in this test")
        value = self.known.contexts[name]
        while self._next_is("."):
            self.rest.pop(0)
            value = value.get(self.rest.pop(0)) if isinstance(value, Mapping) else None
        return value

    def _joined(self, part: Callable[[], Any], mark: str, join: Callable[[Any, Any], Any]) -> Any:
        value = part()
        while self._next_is(mark):
            self.rest.pop(0)
            value = join(value, part())
        return value

    def _next_is(self, *tokens: str) -> bool:
        return bool(self.rest) and self.rest[0] in tokens


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"not understood: {text!r} from {text[at:]!r}")
        tokens.append(found[0].strip())
        at = found.end()
    return tokens


def _shown(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
