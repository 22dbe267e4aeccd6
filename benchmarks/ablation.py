"""What each part of the planners is worth: value and gap with and without it, on the same cases in the same time.

Run from the project's root: ``python benchmarks/ablation.py [QUESTION ...] [--seconds 5] [--part TEXT]``. Prints a
Markdown table. The cases and parts of a question are in ``benchmarks/ablations/QUESTION.py``. A part is left out by
putting something idle in its place; a part that the planners no longer have is passed over, so that the rows of what
went are made again at the commit that the table names.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import numpy as np

HERE = Path(__file__).resolve().parent
#: Relative differences of values, and absolute ones of gaps, that count as none.
SAME_VALUE, SAME_GAP = 1e-6, 1e-4


@dataclass(frozen=True)
class Answer:
    """What a planner reached: a value, the proven bound or None, and what a gap is relative to (None: the value)."""

    sense: str
    value: float
    bound: float | None = None
    scale: float | None = None

    @property
    def gap(self) -> float:
        """Distance of value and bound, relative; 1 without a bound."""
        if self.bound is None:
            return 1.0
        return abs(self.bound - self.value) / max(abs(self.value) if self.scale is None else self.scale, 1e-9)

    def worse_than(self, other: Answer) -> float:
        """Return by how much this value is worse than another, relative to it; negative where it is better."""
        worse = self.value - other.value if self.sense == "min" else other.value - self.value
        return worse / max(abs(other.value), 1e-9)


@dataclass(frozen=True)
class Part:
    """A part of a planner and how it is left out: what stands at ``module:name`` is replaced.

    A stand-in is called instead of the original, if it is callable; a number replaces a constant.
    """

    name: str
    stand_ins: Mapping[str, Any]

    def there(self) -> bool:
        """Return whether the planners have the part."""
        try:
            for place in self.stand_ins:
                resolve_name(place)
        except (ImportError, AttributeError):
            return False
        return True

    def left_out(self, stack: ExitStack) -> None:
        """Replace it until the stack closes."""
        for place, stand_in in self.stand_ins.items():
            module, name = place.split(":")
            owner, _, last = name.rpartition(".")
            stack.enter_context(patch.object(resolve_name(f"{module}:{owner}" if owner else module), last, stand_in))


Case = Callable[[float], Answer]


def row(question: str, part: Part, cases: Mapping[str, Case], whole: Mapping[str, Answer], seconds: float) -> str:
    """Return the row of a part: how the cases fare without it."""
    without = {}
    started = time.perf_counter()
    with ExitStack() as stack:
        part.left_out(stack)
        for name, case in cases.items():
            without[name] = case(seconds)
    spent = (time.perf_counter() - started) / len(cases)
    loss = np.array([without[name].worse_than(whole[name]) for name in cases])
    gap = np.array([without[name].gap - whole[name].gap for name in cases])
    figures = [f"{int((loss > SAME_VALUE).sum())} / {int((loss < -SAME_VALUE).sum())}", f"{loss.mean():+.3%}"]
    figures += [f"{loss.max():+.3%}", f"{int((gap > SAME_GAP).sum())} / {int((gap < -SAME_GAP).sum())}"]
    figures += [f"{gap.mean():+.3%}", f"{spent:.2f}"]
    return "| " + " | ".join([question, part.name, str(len(cases)), *figures]) + " |"


def main() -> None:
    known = sorted(path.stem for path in (HERE / "ablations").glob("[a-z]*.py"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=f"of {', '.join(known)}")
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit of each plan")
    parser.add_argument("--part", default="", help="only parts whose name holds this text")
    parser.add_argument("--case", default="", help="only cases whose name holds this text")
    asked = parser.parse_args()
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    print(f"{asked.seconds:g} s a plan. Values: cases worse / better without the part, mean and largest loss. Gaps:")
    print("cases wider / narrower without it, and the mean change of the gap in points.\n")
    print("| question | part left out | cases | worse / better | mean | largest | wider / narrower | mean | s a case |")
    print("|---|---|---|---|---|---|---|---|---|")
    for question in asked.questions or known:
        module = import_module(f"ablations.{question}")
        cases = {name: case for name, case in module.cases().items() if asked.case in name}
        for case in cases.values():  # compiles what is compiled
            case(min(1.0, asked.seconds))
        whole = {name: case(asked.seconds) for name, case in cases.items()}
        again = Part("nothing (a second run)", {})
        for part in (again, *module.PARTS):
            if asked.part in part.name and part.there():
                print(row(question, part, cases, whole, asked.seconds), flush=True)


if __name__ == "__main__":
    main()
