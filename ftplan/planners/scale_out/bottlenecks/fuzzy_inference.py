"""Fuzzy inference of how near a task is to being a bottleneck: Mamdani's, with the centre of gravity, on 0 to 100.

The paper scores operators by cpu, memory and data size this way and leaves labels and rules open [Mudassar2019]; those
here are ours. Shapes: N points, L labels of the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, pairwise, product
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.bottlenecks.fuzzy_rules import FuzzyRule

#: What is known of a task in a window, in this order, each from 0 to 100.
INPUTS = ("cpu", "memory", "data")
#: So many points are worked on at a time.
_CHUNK = 8192


class Trapezoid(NamedTuple):
    """A membership function: 0 up to *start*, 1 from *top* to *last*, 0 from *end* on, and lines between."""

    start: float
    top: float
    last: float
    end: float


@dataclass(frozen=True)
class FuzzyRules:
    """Labels of the inputs and of the score, by name, and the rules from the former to the latter."""

    inputs: Mapping[str, Mapping[str, Trapezoid]]
    score: Mapping[str, Trapezoid]
    rules: tuple[FuzzyRule, ...]

    def __hash__(self) -> int:
        """Return a hash of the rules alone, which tells most of them apart: mappings have none."""
        return hash(self.rules)


def membership(shape: Trapezoid, at: FloatArray) -> FloatArray:
    """Return the degree to which values have a label, NaN where unknown; a vertical edge belongs to the label."""
    start, top, last, end = shape
    rising = (at - start) / (top - start) if top > start else (at >= start).astype(float)
    falling = (end - at) / (end - last) if end > last else (at <= end).astype(float)
    degree: FloatArray = np.clip(np.minimum(rising, falling), 0.0, 1.0)
    return np.where(np.isnan(at), np.nan, degree)


def scores(rules: FuzzyRules, inputs: FloatArray) -> FloatArray:
    """Return the score of each task and window, (...), of what is known of it, (..., 3), in percent.

    An input that is NaN is left out, and with it the rules that need it; the score is NaN where none is known, or no
    rule says anything. The centre of gravity is that of the piecewise linear outline itself, not of samples of it:
    exact but for rounding. Cost: a hundred operations a point or two, ten million points in seconds.
    """
    given = np.asarray(inputs, dtype=float)
    points = given.reshape(-1, len(INPUTS))
    cuts = _cuts(tuple(rules.score.values()))
    centres = np.empty(len(points))
    for at in range(0, len(points), _CHUNK):
        some = np.clip(points[at : at + _CHUNK], 0.0, 100.0)
        known = np.isfinite(some).any(axis=1)
        centres[at : at + _CHUNK] = np.where(known, _centres(_levels(rules, some), cuts), np.nan)
    return centres.reshape(given.shape[:-1])


def _levels(rules: FuzzyRules, points: FloatArray) -> FloatArray:
    """Return the degree to which the rules say each label of the score, (L, N): the largest of its rules."""
    degrees = {
        name: {label: membership(shape, points[:, INPUTS.index(name)]) for label, shape in labels.items()}
        for name, labels in rules.inputs.items()
    }
    levels = {label: np.zeros(len(points)) for label in rules.score}
    for condition, label in rules.rules:
        if condition is not None:
            levels[label] = np.fmax(levels[label], condition.degree(degrees))
    rest = 1.0 - np.maximum.reduce(list(levels.values()))
    for condition, label in rules.rules:
        if condition is None:
            levels[label] = np.maximum(levels[label], rest)
    return np.stack(list(levels.values()))


class _Cut(NamedTuple):
    """What some labels have in common between two levels: antiderivatives of its width, and of its moment, by level.

    ``sign`` is that of the inclusion-exclusion, ``members`` are numbers of labels.
    """

    sign: float
    members: tuple[int, ...]
    low: float
    high: float
    width: tuple[float, float]  # of t and t^2
    moment: tuple[float, float, float]  # of t, t^2 and t^3


def _cuts(shapes: Sequence[Trapezoid]) -> tuple[_Cut, ...]:
    """Return the parts that the area under labels, each cut at its level, is made of.

    The outline is the largest of the labels, so that by inclusion and exclusion its area is a sum over sets of labels,
    each of what they have in common up to the least of their levels. What trapezoids have in common at a level t is an
    interval whose ends are lines in t, between the t where another label's side takes over.
    """
    made: list[_Cut] = []
    sets: list[tuple[int, ...]] = [(i,) for i in range(len(shapes))]
    while sets:
        common = {members: tuple(_cuts_of(members, [shapes[i] for i in members])) for members in sets}
        made += chain.from_iterable(common.values())
        sets = [(*some, i) for some, parts in common.items() if parts for i in range(some[-1] + 1, len(shapes))]
    return tuple(made)


def _cuts_of(members: tuple[int, ...], shapes: Sequence[Trapezoid]) -> Iterator[_Cut]:
    """Yield the parts of what some labels have in common, level by level."""
    left = [(shape.start, shape.top - shape.start) for shape in shapes]
    right = [(shape.end, shape.last - shape.end) for shape in shapes]
    meet = [(c - a) / (b - d) for (a, b), (c, d) in combinations([*left, *right], 2) if b != d]
    levels = sorted({0.0, 1.0, *(t for t in meet if 0.0 < t < 1.0)})
    for low, high in pairwise(levels):
        middle = (low + high) / 2.0
        a, b = max(left, key=lambda line: line[0] + line[1] * middle)
        c, d = min(right, key=lambda line: line[0] + line[1] * middle)
        if c + d * middle > a + b * middle:
            width = (c - a, (d - b) / 2.0)
            moment = ((c * c - a * a) / 2.0, (c * d - a * b) / 2.0, (d * d - b * b) / 6.0)
            yield _Cut(-1.0 if len(members) % 2 == 0 else 1.0, members, low, high, width, moment)


def _centres(levels: FloatArray, cuts: Sequence[_Cut]) -> FloatArray:
    """Return the centre of gravity of the labels' outlines, each cut at its level, (L, N) -> (N,); NaN without area."""
    area, moment = np.zeros(levels.shape[1]), np.zeros(levels.shape[1])
    for cut in cuts:
        least = levels[cut.members[0]] if len(cut.members) == 1 else levels[list(cut.members)].min(axis=0)
        for sign, t in ((cut.sign, np.clip(least, cut.low, cut.high)), (-cut.sign, cut.low)):
            area += sign * (t * (cut.width[0] + t * cut.width[1]))
            moment += sign * (t * (cut.moment[0] + t * (cut.moment[1] + t * cut.moment[2])))
    centres: FloatArray = np.divide(moment, area, out=np.full(len(area), np.nan), where=area > 0.0)
    return centres


@lru_cache(maxsize=16)
def reachable(rules: FuzzyRules) -> tuple[float, float]:
    """Return the least and the largest score that rules give to any inputs; both are reached.

    The labels at both ends pull the centre of gravity inwards, so that neither 0 nor 100 is reached. Looks at a lattice
    of inputs with all corners of their labels, and from its ends on in steps that are halved 20 times.
    """
    lattice = _lattice(rules)
    all_scores = scores(rules, lattice)
    ends = []
    for sign in (1.0, -1.0):
        best = lattice[np.nanargmin(sign * all_scores)]
        step = 5.0
        around = np.array(list(product((-1.0, 0.0, 1.0), repeat=len(INPUTS))))
        for _ in range(20):
            near = best + step * around
            best = np.clip(near[np.nanargmin(sign * scores(rules, near))], 0.0, 100.0)
            step /= 2.0
        ends.append(float(scores(rules, best)))
    return ends[0], ends[1]


def silent(rules: FuzzyRules) -> tuple[float, ...] | None:
    """Return inputs of which the rules say nothing, one for each of cpu, memory and data; None without such."""
    lattice = _lattice(rules)
    nothing = np.isnan(scores(rules, lattice))
    return tuple(lattice[np.argmax(nothing)].tolist()) if nothing.any() else None


def _lattice(rules: FuzzyRules) -> FloatArray:
    """Return inputs at every tenth, at every corner of their labels, and half way between."""
    axes = []
    for name in INPUTS:
        corners = [point for shape in rules.inputs.get(name, {}).values() for point in shape]
        axis = np.unique([*np.arange(0.0, 101.0, 10.0), *corners]) if corners else np.zeros(1)
        axes.append(np.unique(np.concatenate([axis, (axis[1:] + axis[:-1]) / 2.0])))
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(INPUTS))
