"""Fuzzy inference, held to scikit-fuzzy and to plain sums over fine samples."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import skfuzzy
from hypothesis import given, settings
from hypothesis import strategies as st
from skfuzzy import control

from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import (
    INPUTS,
    FuzzyRules,
    Trapezoid,
    membership,
    reachable,
    scores,
    silent,
)
from ftplan.planners.scale_out.bottlenecks.fuzzy_rules import fuzzy_rule
from ftplan.planners.scale_out.bottlenecks.rules_file import shipped_rules
from tests.effort import examples

STEP = 0.25
UNIVERSE = np.arange(0.0, 100.0 + STEP, STEP)


def _rules(texts: list[str], score: dict[str, Trapezoid] | None = None) -> FuzzyRules:
    known = {name: tuple(labels) for name, labels in shipped_rules().inputs.items()}
    score = score or dict(shipped_rules().score)
    return FuzzyRules(shipped_rules().inputs, score, tuple(fuzzy_rule(text, known, tuple(score)) for text in texts))


def _scikit_fuzzy() -> control.ControlSystemSimulation:
    """The default rules in the words of scikit-fuzzy: counts are written out as pairs and triples."""
    cpu, memory, data = (control.Antecedent(UNIVERSE, name) for name in INPUTS)
    memory["full"] = skfuzzy.trimf(UNIVERSE, [90, 100, 100])
    score = control.Consequent(UNIVERSE, "score", defuzzify_method="centroid")
    for variable in (cpu, memory, data):
        variable["low"] = skfuzzy.trapmf(UNIVERSE, [0, 0, 30, 50])
        variable["medium"] = skfuzzy.trimf(UNIVERSE, [30, 50, 70])
        variable["high"] = skfuzzy.trapmf(UNIVERSE, [50, 70, 100, 100])
    for label, name in (("under", "low"), ("normal", "medium"), ("over", "high")):
        score[label] = cpu[name].mf
    two_high, *pairs = [a["high"] & b["high"] for a, b in combinations((cpu, memory, data), 2)]
    two_low, *low_pairs = [a["low"] & b["low"] for a, b in combinations((cpu, memory, data), 2)]
    for pair in pairs:
        two_high = two_high | pair
    for pair in low_pairs:
        two_low = two_low | pair
    over = two_high | (data["high"] & ~cpu["low"]) | memory["full"]
    under = two_low & ~(cpu["high"] | memory["high"] | data["high"])
    texts = [control.Rule(over, score["over"]), control.Rule(under, score["under"])]
    system = control.ControlSystem([*texts, control.Rule(~(over | under), score["normal"])])
    return control.ControlSystemSimulation(system, flush_after_run=10_000)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_agrees_with_scikit_fuzzy() -> None:
    """On one universe; it joins samples by lines, so that only the cuts between two samples differ."""
    system = _scikit_fuzzy()
    drawn = np.random.default_rng(16).uniform(0.0, 100.0, (examples(90), 3))
    points = np.concatenate([drawn, [[0, 0, 0], [100, 100, 100], [50, 50, 50], [90, 10, 10], [40, 20, 100]]])
    expected = []
    for point in points:
        for name, value in zip(INPUTS, point, strict=True):
            system.input[name] = value
        system.compute()
        expected.append(system.output["score"])
    np.testing.assert_allclose(scores(shipped_rules(), points), expected, atol=STEP / 100)


@st.composite
def _shapes(draw: st.DrawFn) -> Trapezoid:
    points = sorted(draw(st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(lambda p: min(p) < max(p))))
    return Trapezoid(*(5.0 * point for point in points))


@settings(max_examples=60)
@given(
    shapes=st.lists(_shapes(), min_size=2, max_size=4),
    points=st.lists(st.tuples(*[st.floats(0, 100)] * 3), min_size=1, max_size=5),
)
def test_the_centre_of_gravity_is_that_of_fine_samples(
    shapes: list[Trapezoid], points: list[tuple[float, float, float]]
) -> None:
    """Labels of any shape, with vertical sides too: the middle of each of 20,000 strips."""
    texts = ["if cpu is high then s0", "if any medium then s1", "if memory is low then s2", "otherwise s3"]
    score = {f"s{i}": shape for i, shape in enumerate(shapes)}
    last = f"s{len(shapes) - 1}"
    rules = _rules([text if text.split()[-1] in score else f"if data is high then {last}" for text in texts], score)
    fine = np.arange(20_000) * 0.005 + 0.0025
    degree = {
        name: {label: membership(shape, np.array(points)[:, i]) for label, shape in rules.inputs[name].items()}
        for i, name in enumerate(INPUTS)
    }
    conditions = [rule.condition for rule in rules.rules]
    given_levels = [np.zeros(len(points)) if c is None else c.degree(degree) for c in conditions]
    rest = 1.0 - np.max(given_levels, axis=0)
    for row, ours in enumerate(scores(rules, np.array(points))):
        outline = np.zeros_like(fine)
        for rule, level in zip(rules.rules, given_levels, strict=True):
            cut = rest[row] if rule.condition is None else level[row]
            outline = np.maximum(outline, np.minimum(cut, membership(score[rule.label], fine)))
        if outline.sum() > 1e-3:
            assert ours == pytest.approx((outline @ fine) / outline.sum(), abs=0.01)


def test_centres_by_hand() -> None:
    """All low: area 40 and moment 30 * 15 + 10 * (30 + 20 / 3); all high is its mirror image; between them, 50."""
    low = (30 * 15 + 10 * (30 + 20 / 3)) / 40
    at = np.array([[[10.0, 10.0, 10.0], [90.0, 90.0, 10.0]], [[50.0, 50.0, 50.0], [90.0, 10.0, 10.0]]])
    np.testing.assert_allclose(scores(shipped_rules(), at), [[low, 100 - low], [50, 50]])


def test_an_unknown_input_is_left_out_like_one_that_the_file_leaves_out() -> None:
    texts = ["if two or more high then over", "if all low or any medium then under", "otherwise normal"]
    whole = _rules(texts)
    without = {name: labels for name, labels in whole.inputs.items() if name != "memory"}
    names = {name: tuple(labels) for name, labels in without.items()}
    fewer = FuzzyRules(without, whole.score, tuple(fuzzy_rule(text, names, tuple(whole.score)) for text in texts))
    points = np.random.default_rng(2).uniform(0.0, 100.0, (500, 3))
    expected = scores(fewer, points)
    points[:, 1] = np.nan
    assert scores(whole, points).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("point", "score"),
    [
        ([80.0, np.nan, 40.0], 50.0),  # one of the known is high: neither two are, nor are two low
        ([90.0, np.nan, 90.0], 79.583333),
        ([np.nan, np.nan, 90.0], 50.0),  # the rule of waiting data needs the cpu
        ([np.nan, 100.0, np.nan], 79.583333),
        ([10.0, 100.0, 10.0], 79.583333),  # full memory alone is a bottleneck
        ([10.0, 90.0, 10.0], 50.0),
        ([250.0, 250.0, -3.0], 79.583333),
        ([np.nan, np.nan, np.nan], np.nan),
    ],
)
def test_scores_by_hand(point: list[float], score: float) -> None:
    assert scores(shipped_rules(), np.array(point)) == pytest.approx(score, nan_ok=True)


def test_reachable_scores_are_reached_and_never_left() -> None:
    low, high = reachable(shipped_rules())
    assert (low, high) == pytest.approx((20.416667, 79.583333))
    drawn = scores(shipped_rules(), np.random.default_rng(0).uniform(0, 100, (20_000, 3)))
    assert low - 1e-9 <= drawn.min() <= drawn.max() <= high + 1e-9


@pytest.mark.parametrize("seed", range(examples(12)))
def test_reachable_scores_of_other_rules(seed: int) -> None:
    """Rules whose extremes lie inside of the labels' slopes."""
    rng = np.random.default_rng(seed)
    words = [f"{name} is {label}" for name in INPUTS for label in ("low", "medium", "high")]
    texts = [
        f"if {' and '.join(rng.choice(words, 2, replace=False))} then {rng.choice(['under', 'normal', 'over'])}"
        for _ in range(4)
    ]
    rules = _rules([*texts, "otherwise normal"])
    low, high = reachable(rules)
    drawn = scores(rules, rng.uniform(0, 100, (10_000, 3)))
    assert low - 1e-6 <= drawn.min() <= drawn.max() <= high + 1e-6


def test_silence_is_noticed() -> None:
    assert silent(shipped_rules()) is None
    nothing = silent(_rules(["if two or more high then over", "if cpu is low then under"]))
    assert nothing is not None
    assert np.isnan(scores(_rules(["if cpu is low then under"]), np.array([60.0, 0.0, 0.0])))


def _degrees() -> dict[str, dict[str, Any]]:
    given = {"cpu": 0.9, "memory": 0.4, "data": 0.7}
    return {name: {"high": np.array([value]), "low": np.array([1 - value])} for name, value in given.items()}


@pytest.mark.parametrize(
    ("condition", "degree"),
    [
        ("cpu is high", 0.9),
        ("cpu is not high", 0.1),
        ("not cpu is high", 0.1),
        ("cpu is high and memory is high or data is high", 0.7),
        ("cpu is high and (memory is high or data is high)", 0.7),
        ("memory is high and (cpu is high or data is high)", 0.4),
        ("not (cpu is high and data is high)", 0.3),
        ("all high", 0.4),
        ("any high", 0.9),
        ("none high", 0.1),
        ("two or more high", 0.7),
        ("2 or more high or memory is low", 0.7),
        ("exactly two high", 0.6),
        ("exactly one high", 0.3),
        ("exactly 3 high", 0.4),
        ("ALL High", 0.4),
    ],
)
def test_conditions(condition: str, degree: float) -> None:
    known = dict.fromkeys(INPUTS, ("high", "low"))
    rule = fuzzy_rule(f"if {condition} then over", known, ("over",))
    assert rule.condition is not None
    assert rule.condition.degree(_degrees()).tolist() == pytest.approx([degree])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu is high then over", "expected 'if' or 'otherwise', got 'cpu'"),
        ("if cpu is hihg then over", "'hihg' is no label of cpu (did you mean 'high'?)"),
        ("if disk is high then over", "'disk' is no input: one of cpu, memory, data"),
        ("if cpu high then over", "expected 'is' after 'cpu', got 'high'"),
        ("if cpu is high", "expected 'then' after 'high', got the end"),
        ("if cpu is high then", "a label of the score is missing at the end"),
        ("if cpu is high then busy", "'busy' is no label of the score: one of under, over"),
        ("if (cpu is high then over", "expected ')' after 'high', got 'then'"),
        ("if two high then over", "'two high': write 'two or more' or 'exactly two'"),
        ("if exactly high then over", "expected a number from 1 to 3 (inputs) after 'exactly', got 'high'"),
        ("if 4 or more high then over", "expected a number from 1 to 3 (inputs) after 'if', got '4'"),
        ("if all odd then over", "'odd' is no label of all inputs: one of high, low"),
        ("if cpu is high then over then under", "expected 'and', 'or', or nothing after it after 'over', got 'then'"),
        ("otherwise over under", "expected nothing more after 'over', got 'under'"),
        ("if cpu > 80 then over", "expected 'is' after 'cpu', got '>'"),
        ("", "expected 'if' or 'otherwise', got the end"),
    ],
)  # fmt: skip
def test_mistakes_in_rules(text: str, message: str) -> None:
    known = dict.fromkeys(INPUTS, ("high", "low"))
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        fuzzy_rule(text, known, ("under", "over"))
    assert str(raised.value) == message
