"""Fuzzy inference of how near a task is to being a bottleneck: Mamdani's, with the centre of gravity, on 0 to 100.

The paper scores operators by cpu, memory and data size this way and leaves labels and rules open [Mudassar2019]; those
here are ours. Shapes: N points, L labels of the score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from ftplan.metrics.fuzzy_rules import FuzzyRule, fuzzy_rule
from ftplan.model.topology import FloatArray

#: What is known of a task in a window, in this order, each from 0 to 100.
INPUTS = ("cpu", "memory", "data")
#: So many points are worked on at a time.
_CHUNK = 8192
#: Where a rule of two points, exact for cubics, looks at a piece of length 2.
_GAUSS = 1.0 / np.sqrt(3.0)


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
    """Return the degree to which values have a label; a vertical edge belongs to the label."""
    start, top, last, end = shape
    rising = (at - start) / (top - start) if top > start else (at >= start).astype(float)
    falling = (end - at) / (end - last) if end > last else (at <= end).astype(float)
    degree: FloatArray = np.clip(np.minimum(rising, falling), 0.0, 1.0)
    return degree


def _default() -> FuzzyRules:
    low, medium, high = Trapezoid(0, 0, 30, 50), Trapezoid(30, 50, 50, 70), Trapezoid(50, 70, 100, 100)
    inputs = {name: {"low": low, "medium": medium, "high": high} for name in INPUTS}
    score = {"under": low, "normal": medium, "over": high}
    texts = (
        "if two or more high then over",
        "if data is high and cpu is not low then over",
        "if two or more low and none high then under",
        "otherwise normal",
    )
    known = {name: tuple(labels) for name, labels in inputs.items()}
    return FuzzyRules(inputs, score, tuple(fuzzy_rule(text, known, tuple(score)) for text in texts))


#: Ours, since the paper gives none; ``bottleneck_rules.yaml`` beside the reader of such files says the same.
DEFAULT_RULES = _default()


def scores(rules: FuzzyRules, inputs: FloatArray) -> FloatArray:
    """Return the score of each task and window, (...), of what is known of it, (..., 3), in percent.

    An input that is NaN counts as the mean of the known ones; the score is NaN where none is known, or no rule says
    anything. The centre of gravity is that of the piecewise linear outline itself, not of samples of it: exact but for
    rounding. Cost: a few hundred operations for each point that differs from the others in the degrees of its labels.
    """
    given = np.clip(np.asarray(inputs, dtype=float), 0.0, 100.0)
    known = np.isfinite(given)
    count = known.sum(axis=-1)
    mean = np.where(known, given, 0.0).sum(axis=-1) / np.maximum(count, 1)
    points = np.where(known, given, mean[..., None]).reshape(-1, len(INPUTS))
    distinct, which = np.unique(_levels(rules, points), axis=0, return_inverse=True)
    shapes = np.array(list(rules.score.values()))
    centres = np.concatenate(
        [_centres(distinct[at : at + _CHUNK], shapes) for at in range(0, len(distinct), _CHUNK)] or [np.zeros(0)]
    )
    return np.where(count > 0, centres[which.reshape(-1)].reshape(count.shape), np.nan)


def _levels(rules: FuzzyRules, points: FloatArray) -> FloatArray:
    """Return the degree to which the rules say each label of the score, (N, L): the largest of its rules."""
    degrees = {
        name: {label: membership(shape, points[:, INPUTS.index(name)]) for label, shape in labels.items()}
        for name, labels in rules.inputs.items()
    }
    levels = {label: np.zeros(len(points)) for label in rules.score}
    for condition, label in rules.rules:
        if condition is not None:
            levels[label] = np.maximum(levels[label], condition.degree(degrees))
    rest = 1.0 - np.maximum.reduce(list(levels.values()))
    for condition, label in rules.rules:
        if condition is None:
            levels[label] = np.maximum(levels[label], rest)
    return np.stack(list(levels.values()), axis=1)


def _centres(levels: FloatArray, shapes: FloatArray) -> FloatArray:
    """Return the centre of gravity of the labels' outlines, each cut at its level, (N, L) -> (N,); NaN without area.

    Between two of its corners the outline is a line: corners of the labels, crossings of their sides, and where a level
    cuts a side.
    """
    start, top, last, end = shapes.T
    cuts = [start + levels[:, :, None] * (top - start), end - levels[:, :, None] * (end - last)]
    fixed = np.unique(np.concatenate([shapes.ravel(), _crossings(shapes)]))
    corners = np.concatenate(
        [np.broadcast_to(fixed, (len(levels), len(fixed))), *(cut.reshape(len(levels), -1) for cut in cuts)], axis=1
    )
    corners.sort(axis=1)
    half = np.diff(corners, axis=1) / 2.0
    middle = corners[:, :-1] + half
    area, moment = np.zeros(len(levels)), np.zeros(len(levels))
    for at in (middle - _GAUSS * half, middle + _GAUSS * half):
        height = np.zeros_like(at)
        for label, shape in enumerate(shapes.tolist()):
            height = np.maximum(height, np.minimum(levels[:, label, None], membership(Trapezoid(*shape), at)))
        area += (height * half).sum(axis=1)
        moment += (height * half * at).sum(axis=1)
    centres: FloatArray = np.divide(moment, area, out=np.full(len(levels), np.nan), where=area > 0.0)
    return centres


def _crossings(shapes: FloatArray) -> FloatArray:
    """Return where a side of one label may cross a side of another."""
    sides = [(start, 1.0 / (top - start)) for start, top, _, _ in shapes.tolist() if top > start]
    sides += [(end, -1.0 / (end - last)) for _, _, last, end in shapes.tolist() if end > last]
    at = [
        (slope * foot - other_slope * other_foot) / (slope - other_slope)
        for foot, slope in sides
        for other_foot, other_slope in sides
        if slope != other_slope
    ]
    crossings: FloatArray = np.clip(np.array(at), 0.0, 100.0)
    return crossings


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
