"""What verify, evaluate, explain and diff answer, whatever the kind of plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.model.kinds import metrics_of
from ftplan.model.names import Selector
from ftplan.model.plan import InputFile, Plan, Warn, canonical_json
from ftplan.model.violation import Violation
from ftplan.planners.judging import Unchecked
from ftplan.version import __version__


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a plan holds.

    Attributes
    ----------
    violations
        What is broken, each with a ``code`` and a ``message``.
    rules
        What the plan was held to.
    warnings
        What deserves a second look.
    not_recomputed
        What the plan states and nobody recomputed.
    unchecked
        Rules that it names and that could not be recomputed, each with the input that is missing.
    taken_as_stated
        What the plan states and nothing can contradict.
    not_stated
        What plans of ftplan state and this one does not.
    """

    violations: tuple[Violation, ...]
    rules: tuple[str, ...]
    warnings: tuple[Warn, ...]
    not_recomputed: tuple[str, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    taken_as_stated: tuple[str, ...] = ()
    not_stated: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether nothing is violated."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "valid": self.valid,
            "rules": self.rules,
            "unchecked": [item._asdict() for item in self.unchecked],
            "not_recomputed": self.not_recomputed,
            "taken_as_stated": self.taken_as_stated,
            "not_stated": self.not_stated,
            "violations": [asdict(violation) for violation in self.violations],
            "warnings": [warning.to_dict() for warning in self.warnings],
        }

    def to_json(self) -> str:
        """Return the verdict as JSON text."""
        return canonical_json(self.to_dict())


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric's value; None where it is undefined, for instance a deviation from a fair share of nothing."""

    name: str
    value: float | None
    sense: str
    unit: str


def scored(kind: str, values: Mapping[str, float | None]) -> tuple[MetricValue, ...]:
    """Return the values of all metrics of a kind of plan, in their order."""
    named = [(m, values[m.name]) for m in metrics_of(kind)]
    return tuple(MetricValue(m.name, None if v is None else float(v), m.sense, m.unit) for m, v in named)


@dataclass(frozen=True, slots=True)
class ScenarioScores:
    """Scores of a plan in one of several weighted alternatives; ``failures`` are all that fails in it."""

    id: str
    probability: float
    failures: tuple[str, ...]
    metrics: tuple[MetricValue, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Scores of a plan; ``evaluation["METRIC"]`` is one of them.

    Where the failure has ``scenarios``, ``metrics`` are their means, weighted by probability.

    Attributes
    ----------
    kind
        The kind of the plan.
    metrics
        Each with ``name``, ``value``, ``sense`` (``max`` or ``min`` is better) and ``unit``.
    failures
        What fails in all scenarios.
    inputs
        Role, path and hash of each input.
    unmet
        Limits of ``fail_under`` that are not met.
    warnings
        What deserves a second look.
    scenarios
        The scores in each scenario.
    """

    kind: str
    metrics: tuple[MetricValue, ...]
    failures: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    unmet: tuple[str, ...]
    warnings: tuple[Warn, ...]
    scenarios: tuple[ScenarioScores, ...] = ()

    def __getitem__(self, name: str) -> float | None:
        """Return the value of a metric."""
        for item in self.metrics:
            if item.name == name:
                return item.value
        raise FtplanError(f"unknown metric {name!r}{suggestion(name, [m.name for m in self.metrics])}")

    def to_dict(self) -> dict[str, Any]:
        """Return the document of format ``ftplan/evaluation``."""
        return {
            "format": "ftplan/evaluation",
            "format_version": "1.0",
            "tool_version": __version__,
            "kind": self.kind,
            "inputs": [item.to_dict() for item in self.inputs],
            "failures": list(self.failures),
            "scenarios": [asdict(scenario) for scenario in self.scenarios],
            "metrics": [asdict(metric) for metric in self.metrics],
            "unmet": list(self.unmet),
            "warnings": [w.to_dict() for w in self.warnings],
        }

    def to_json(self) -> str:
        """Return the evaluation as JSON text."""
        return canonical_json(self.to_dict())


@dataclass(frozen=True, slots=True)
class Explanation:
    """A table that explains one part of a plan.

    Attributes
    ----------
    selector, title
        Which part, and what is said of it.
    columns, rows
        The table: each row maps each column to a value.
    notes
        What else there is to say.
    warnings
        What deserves a second look.
    candidate_columns, candidates
        Likewise the other places that it could have gone to.
    """

    selector: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    warnings: tuple[Warn, ...]
    candidate_columns: tuple[str, ...] = ()
    candidates: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> str:
        """Return the explanation as JSON text."""
        document = {"selector": self.selector, "title": self.title, "rows": self.rows, "notes": self.notes}
        return canonical_json({**document, "candidates": self.candidates} if self.candidate_columns else document)


#: How selectors of a kind go on; others with an ID.
_FORMS = {"task": "OPERATOR/INDEX", "query": "OPERATOR/INDEX", "key-group": "OPERATOR/NUMBER"}


def explained(what: Selector, plan: str, parts: Mapping[str, Callable[[], Explanation]]) -> Explanation:
    """Return the explanation of a selector, by its kind; *plan* is what messages call the plan.

    Raises FtplanError if selectors of this kind are not explained.
    """
    if what.kind in parts:
        return parts[what.kind]()
    *others, last = (f"{kind}:{_FORMS.get(kind, 'ID')}" for kind in parts)
    raise FtplanError(f"{what}: {plan} explains {', '.join(others)} and {last}")


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``evaluate`` is asked beside plan and problem; None leaves it to the plan."""

    fail: tuple[str, ...] = ()
    load: str | None = None
    capacity_per_core: float | None = None
    overload: float | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """Values of all metrics of a kind by name, what failed for them, and what to say about them."""

    values: Mapping[str, float | None]
    failures: tuple[str, ...] = ()
    warnings: tuple[Warn, ...] = ()


@dataclass(frozen=True)
class Difference:
    """What changes between two plans of one kind; each kind has a class of its own.

    Attributes
    ----------
    before, after
        The plans.
    changes
        What carrying out the second plan instead of the first changes in the cluster.
    """

    before: Plan
    after: Plan
    changes: tuple[Mapping[str, Any], ...]

    @property
    def kind(self) -> str:
        """The kind of both plans."""
        return self.before.kind

    @property
    def changed(self) -> bool:
        """Whether carrying out the second plan instead of the first changes anything in the cluster."""
        return bool(self.changes)

    @property
    def options(self) -> tuple[Mapping[str, Any], ...]:
        """The options that differ, as ``{name, from, to}``, by name."""
        old, new = self.before.options, self.after.options
        return tuple(
            {"name": name, "from": old.get(name), "to": new.get(name)}
            for name in sorted(set(old) | set(new))
            if old.get(name) != new.get(name)
        )

    @property
    def objective(self) -> Mapping[str, Any]:
        """The two values of the objective, as ``{name, from, to}``."""
        stated = self.after.objective or self.before.objective
        was, becomes = (plan.objective.value if plan.objective else None for plan in (self.before, self.after))
        return {"name": stated.name if stated else None, "from": was, "to": becomes}

    @property
    def details(self) -> Mapping[str, Any]:
        """What the JSON says beside what all kinds say."""
        return {}

    def to_json(self) -> str:
        """Return the difference as JSON text."""
        common = {name: getattr(self, name) for name in ("kind", "changed", "changes", "options", "objective")}
        return canonical_json({**common, **self.details})


def with_failures(plan: Plan, fail: tuple[str, ...]) -> Plan:
    """Return a plan with more of what fails among its own options, so that it is judged under that too."""
    own = plan.options.get("fail") or ()
    listed = (own,) if isinstance(own, str) else tuple(own)
    return replace(plan, options={**plan.options, "fail": list(dict.fromkeys((*listed, *fail)))})
