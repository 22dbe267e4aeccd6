"""The envelope of every plan: what was asked, what came out, and the proof of how good it is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ftplan.errors import FtplanError
from ftplan.model.kinds import row
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "ftplan/plan"
FORMAT_VERSION = "1.0"

Status = Literal["optimal", "feasible", "infeasible", "no-plan-in-time"]


def canonical_number(value: float) -> float:
    """Round to 12 significant digits, the precision that plans promise; negative zero becomes zero."""
    return float(f"{value:.12g}") + 0.0


def finite(value: float) -> float | None:
    """Return a number as plans hold it: null where it is infinite or unknown."""
    return float(value) if math.isfinite(value) else None


def canonical(value: Any) -> Any:
    """Return *value* as plain JSON data: floats rounded, mappings and sequences copied, NaN and infinity refused.

    Raises
    ------
    ValueError
        If a float is not finite: JSON has no such number.
    """
    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"not a JSON number: {value}")
        return canonical_number(value)
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    if hasattr(value, "tolist"):
        return canonical(value.tolist())
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def canonical_json(document: Mapping[str, Any]) -> str:
    """Return *document* as JSON text with sorted keys, rounded floats and a final newline: equal data, equal bytes."""
    return json.dumps(canonical(document), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sound_bound(sense: Literal["min", "max"], value: float, bound: float, size: float = 0.0) -> float:
    """Return a bound that a value was found under; one that the value beats by rounding only becomes the value.

    Parameters
    ----------
    sense
        ``max``: nothing is worth more than the bound; ``min``: nothing less.
    size
        What rounding errors are relative to where that is more than value and bound, for sums that cancel out.

    Raises
    ------
    RuntimeError
        If the value beats the bound by more than rounding: then the bound was never one, a fault of whoever proved it.
    """
    beyond = value - bound if sense == "max" else bound - value
    if beyond <= 0.0:
        return bound
    if not beyond <= ROUNDING * max(abs(value), abs(bound), abs(size), LEAST_SCALE):
        raise RuntimeError(f"a bound of {bound!r} was reported as proven, and a plan is worth {value!r} ({sense})")
    return value


@dataclass(frozen=True, slots=True)
class Objective:
    """Value and proven bound of the optimised quantity.

    ``gap = |bound - value| / scale``. Without a bound, ``bound``, ``scale`` and ``gap`` are None.
    """

    name: str
    sense: Literal["min", "max"]
    value: float | None
    bound: float | None = None
    scale: float | None = None
    gap: float | None = None

    @staticmethod
    def of(
        name: str,
        sense: Literal["min", "max"],
        value: float | None,
        bound: float | None,
        random: float | None = None,
    ) -> Objective:
        """Return an objective with its gap.

        The scale is ``max(|value|, 1e-9)``, or ``|random - bound|`` for objectives that cross zero, where *random*
        is the expected value of a random plan.

        Raises
        ------
        RuntimeError
            If the value beats the bound (:func:`sound_bound`).
        """
        if value is None or bound is None:
            return Objective(name, sense, value, bound)
        bound = sound_bound(sense, value, bound, random or 0.0)
        scale = max(abs(value) if random is None else abs(random - bound), LEAST_SCALE)
        return Objective(name, sense, value, bound, scale, abs(bound - value) / scale)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as the plan file names them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Which limit cannot be met, what it is now, what it would have to be, and the smallest change that helps."""

    reason: str
    limit: str
    current: Any
    needed: Any
    smallest_fix: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as the plan file names them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Warn:
    """A warning in a plan: a code for machines, a sentence for people."""

    code: str
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as the plan file names them among warnings."""
        return {"code": self.code, "message": self.message}


@dataclass(frozen=True, slots=True)
class Assumption(Warn):
    """What was assumed for the user, and an objective depends on.

    Attributes
    ----------
    value
        What was taken, in the unit that the message names; None where no number says it.
    of_time
        Whether only what is counted over time depends on it.
    """

    value: float | None = None
    of_time: bool = field(default=False, compare=False)

    def assumed(self) -> dict[str, Any]:
        """Return the fields as the plan file names them among assumptions."""
        return {"code": self.code, "text": self.message, "value": self.value}


@dataclass(frozen=True, slots=True)
class InputFile:
    """Fingerprint of an input. A statistics folder's hash is that of its manifest."""

    role: str
    path: str | None
    sha256: str

    def to_dict(self) -> dict[str, str | None]:
        """Return the fields as the plan file names them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan with everything needed to judge it.

    Attributes
    ----------
    kind
        Which question it answers: a name of :mod:`ftplan.model.kinds`.
    plan
        What the kind prescribes; None without an answer.
    algorithm
        The planner that made it.
    status
        ``optimal``, ``feasible``, ``infeasible`` or ``no-plan-in-time``; None where nobody says.
    objective
        ``name``, ``sense``, ``value``, the proven ``bound`` and the ``gap`` between them.
    options
        What the planner was asked with.
    seed
        Of all random choices.
    inputs
        Role, path and hash of each input.
    reason
        Why, where the answer is no.
    rules
        What the plan keeps.
    summary
        Figures ``before`` and ``after``, and those of a ``random`` plan.
    warnings
        Each with a ``code`` and a ``message``.
    assumptions
        What was assumed for the user and the objective depends on; None where nobody says.
    infeasible
        The limit that cannot be met, and the smallest change that helps.
    tool_version
        The version of ftplan that made it.
    """

    kind: str
    plan: Mapping[str, Any] | None
    algorithm: str | None = None
    status: Status | None = None
    objective: Objective | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    inputs: tuple[InputFile, ...] = ()
    reason: str | None = None
    rules: tuple[str, ...] | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Warn, ...] = ()
    infeasible: Infeasible | None = None
    assumptions: tuple[Assumption, ...] | None = None
    tool_version: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the document that is written to a file."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "kind": self.kind,
            "tool_version": self.tool_version,
            "algorithm": self.algorithm,
            "options": dict(self.options),
            "seed": self.seed,
            "inputs": [item.to_dict() for item in self.inputs],
            "status": self.status,
            "reason": self.reason,
            "objective": self.objective.to_dict() if self.objective else None,
            "rules": list(self.rules) if self.rules is not None else None,
            "summary": dict(self.summary),
            "warnings": [item.to_dict() for item in self.warnings],
            "assumptions": None if self.assumptions is None else [item.assumed() for item in self.assumptions],
            "infeasible": self.infeasible.to_dict() if self.infeasible else None,
            "plan": self.plan,
        }

    def to_json(self) -> str:
        """Return the bytes that the command line writes, as text: same inputs, options and seed, same text."""
        return canonical_json(self.to_dict())

    def to_frame(self) -> pd.DataFrame:
        """Return the plan's main table as a pandas frame, for a checkpoint allocation its assignments.

        Raises
        ------
        FtplanError
            If there is no plan to show (infeasible, or none in time).
        """
        import pandas as pd

        if self.plan is None:
            raise FtplanError(f"there is no plan to show: status is {self.status} ({self.reason})")
        return pd.DataFrame(list(self.plan[row(self.kind).table]))
