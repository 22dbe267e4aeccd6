"""The language of fuzzy rules: what a line such as ``if cpu is high and data is not low then over`` means.

::

    rule       if CONDITION then LABEL | otherwise LABEL
    condition  terms joined by ``and`` (binds closer) and ``or``, with ``not`` and parentheses
    term       INPUT is [not] LABEL
               all LABEL | any LABEL | none LABEL | exactly NUMBER LABEL | NUMBER or more LABEL

The second form of a term counts inputs with that label; numbers are digits, or one, two, three. ``otherwise`` holds as
far as no other rule does. As in Mamdani's inference, ``and`` is the least degree, ``or`` the largest, ``not`` what is
missing to 1. "N or more" is the N-th largest degree, which is what the disjunction of all conjunctions of N inputs
comes to.

An unknown input (NaN) is left out: counts are of the known inputs, and what names an unknown one is unknown itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.topology import FloatArray

#: Degree to which each input, by name, has each label, by name: arrays of one shape, 0 to 1.
Degrees: TypeAlias = Mapping[str, Mapping[str, FloatArray]]
_NUMBERS = {"one": 1, "two": 2, "three": 3}
KEYWORDS = frozenset(
    {"if", "then", "and", "or", "not", "is", "all", "any", "none", "exactly", "more", "otherwise", *_NUMBERS}
)
#: What labels and inputs may be called.
NAME_PATTERN = "^[a-z][a-z0-9_-]*$"
_TOKEN = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*|[0-9]+|[()]|\S)")


class Is(NamedTuple):
    """The degree to which an input has a label, NaN where the input is unknown."""

    input: str
    label: str

    def degree(self, degrees: Degrees) -> FloatArray:
        """Return it."""
        return degrees[self.input][self.label]


class Counted(NamedTuple):
    """The degree to which at least *least* known inputs have a label (None: all), and no more than *most* (or None)."""

    label: str
    least: int | None
    most: int | None

    def degree(self, degrees: Degrees) -> FloatArray:
        """Return it: by size, the degree of the *least*-th input, and what the one after the *most*-th leaves."""
        known = np.array([labels[self.label] for labels in degrees.values()])
        if self.least is None:
            every: FloatArray = np.fmin.reduce(known)
            return every
        each = np.sort(np.nan_to_num(known), axis=0)[::-1]
        enough: FloatArray = each[self.least - 1] if self.least else np.ones_like(each[0])
        if self.most is None or self.most >= len(each):
            return enough
        few: FloatArray = np.minimum(enough, 1.0 - each[self.most])
        return few


class Not(NamedTuple):
    """The opposite of a condition."""

    condition: Condition

    def degree(self, degrees: Degrees) -> FloatArray:
        """Return what its degree leaves of 1."""
        rest: FloatArray = 1.0 - self.condition.degree(degrees)
        return rest


class Both(NamedTuple):
    """All of several conditions."""

    conditions: tuple[Condition, ...]

    def degree(self, degrees: Degrees) -> FloatArray:
        """Return the least of their degrees."""
        least: FloatArray = np.minimum.reduce([condition.degree(degrees) for condition in self.conditions])
        return least


class Either(NamedTuple):
    """Any of several conditions."""

    conditions: tuple[Condition, ...]

    def degree(self, degrees: Degrees) -> FloatArray:
        """Return the largest of their degrees that are known."""
        largest: FloatArray = np.fmax.reduce([condition.degree(degrees) for condition in self.conditions])
        return largest


Condition: TypeAlias = Is | Counted | Not | Both | Either


class FuzzyRule(NamedTuple):
    """A condition (None: otherwise) and the label of the score that follows from it."""

    condition: Condition | None
    label: str


def fuzzy_rule(text: str, inputs: Mapping[str, Sequence[str]], labels: Sequence[str]) -> FuzzyRule:
    """Return what a line says; *inputs* are the labels of each input, *labels* those of the score.

    Raises ValueError with what is wrong and what would be right.
    """
    return _Reader(text, inputs, labels).rule()


class _Reader:
    """Reads one rule, word by word; words are read in any case."""

    def __init__(self, text: str, inputs: Mapping[str, Sequence[str]], labels: Sequence[str]) -> None:
        self._words = [word.lower() for word in _TOKEN.findall(text)]
        self._at = 0
        self._inputs, self._labels = inputs, labels

    def rule(self) -> FuzzyRule:
        first = self._take()
        if first not in ("if", "otherwise"):
            self._expected("'if' or 'otherwise'", first)
        condition = self._either() if first == "if" else None
        if condition is not None:
            self._word("then")
        rule = FuzzyRule(condition, self._known("label of the score", self._labels))
        if self._at < len(self._words):
            self._expected("nothing more" if condition is None else "'and', 'or', or nothing after it", self._take())
        return rule

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._skip("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self) -> Condition:
        parts = [self._term()]
        while self._skip("and"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _term(self) -> Condition:
        if self._skip("not"):
            return Not(self._term())
        if self._skip("("):
            inner = self._either()
            self._word(")")
            return inner
        word = self._peek()
        if word in ("all", "any", "none", "exactly") or word in _NUMBERS or word.isdigit():
            return self._counted()
        name = self._known("input", tuple(self._inputs))
        self._word("is")
        opposite = self._skip("not")
        term = Is(name, self._known(f"label of {name}", self._inputs[name]))
        return Not(term) if opposite else term

    def _counted(self) -> Condition:
        word = self._peek()
        least: int | None
        most: int | None
        if word in ("all", "any", "none"):
            self._take()
            least, most = {"all": (None, None), "any": (1, None), "none": (0, 0)}[word]
        elif self._skip("exactly"):
            least = self._number()
            most = least
        else:
            least, most = self._number(), None
            if not self._skip("or"):
                raise ValueError(f"'{word} {self._peek()}': write '{word} or more' or 'exactly {word}'")
            self._word("more")
        common = [label for label in next(iter(self._inputs.values())) if self._everywhere(label)]
        return Counted(self._known("label of all inputs", common), least, most)

    def _everywhere(self, label: str) -> bool:
        return all(label in labels for labels in self._inputs.values())

    def _number(self) -> int:
        word = self._take()
        number = _NUMBERS.get(word, int(word) if word.isdigit() and len(word) < 10 else None)
        if number is None or not 1 <= number <= len(self._inputs):
            self._expected(f"a number from 1 to {len(self._inputs)} (inputs)", word)
        return number

    def _known(self, what: str, known: Sequence[str]) -> str:
        word = self._take()
        if word not in known:
            near = suggestion(word, known) or f": one of {', '.join(known)}"
            raise ValueError(f"'{word}' is no {what}{near}" if word else f"a {what} is missing at the end")
        return word

    def _word(self, word: str) -> None:
        given = self._take()
        if given != word:
            self._expected(f"'{word}'", given)

    def _skip(self, word: str) -> bool:
        self._at += (there := self._peek() == word)
        return there

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _take(self) -> str:
        word = self._peek()
        self._at += 1
        return word

    def _expected(self, what: str, given: str) -> NoReturn:
        before = self._words[: self._at - 1]
        place = f" after '{before[-1]}'" if before else ""
        raise ValueError(f"expected {what}{place}, got {repr(given) if given else 'the end'}")
