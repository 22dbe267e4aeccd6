"""Set-union knapsacks of the published shapes, by seed, and the best values that were found for some of them.

Profits and weights are whole and uniform in the ranges of He et al. (2018) and Wei & Hao, entries of the matrix are
independent, the capacity is a share of all weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack


class Shape(NamedTuple):
    """Shape and seed of an instance."""

    items: int
    elements: int
    density: float
    capacity: float  # share of all weights
    seed: int

    @property
    def name(self) -> str:
        return f"{self.items}_{self.elements}_{self.density:.2f}_{self.capacity:.2f}_{self.seed}"


#: Best values of many runs of some seconds each with differing settings: no proof.
BEST_FOUND = {
    Shape(500, 1000, 0.10, 0.75, 1): 9_095,
    Shape(600, 500, 0.10, 0.75, 1): 11_200,
    Shape(600, 500, 0.10, 0.75, 2): 11_106,
    Shape(600, 500, 0.10, 0.75, 11): 11_392,
    Shape(600, 500, 0.10, 0.75, 12): 11_203,
    Shape(600, 500, 0.10, 0.75, 13): 11_940,
    Shape(600, 500, 0.10, 0.75, 14): 11_832,
    Shape(600, 500, 0.10, 0.75, 15): 10_926,
    Shape(600, 500, 0.10, 0.75, 16): 11_753,
    Shape(600, 500, 0.10, 0.80, 1): 13_949,
    Shape(600, 500, 0.10, 0.80, 2): 14_038,
    Shape(600, 500, 0.10, 0.80, 11): 13_917,
    Shape(600, 500, 0.10, 0.80, 12): 14_329,
    Shape(600, 500, 0.10, 0.80, 13): 13_394,
    Shape(600, 500, 0.10, 0.80, 14): 14_779,
    Shape(600, 500, 0.10, 0.80, 15): 14_017,
    Shape(600, 500, 0.10, 0.80, 16): 14_748,
    Shape(600, 500, 0.15, 0.75, 1): 6_421,
    Shape(600, 500, 0.15, 0.75, 2): 6_806,
    Shape(600, 500, 0.15, 0.80, 1): 8_254,
    Shape(600, 500, 0.15, 0.80, 2): 7_969,
    Shape(600, 500, 0.15, 0.85, 11): 10_251,
    Shape(600, 500, 0.15, 0.85, 12): 10_791,
    Shape(600, 500, 0.15, 0.85, 13): 10_064,
    Shape(600, 500, 0.15, 0.85, 14): 10_415,
    Shape(600, 500, 0.15, 0.85, 15): 10_362,
    Shape(600, 500, 0.15, 0.85, 16): 10_441,
    Shape(600, 600, 0.10, 0.75, 1): 10_990,
    Shape(700, 685, 0.10, 0.75, 1): 10_489,
    Shape(800, 785, 0.10, 0.75, 11): 10_423,
    Shape(800, 785, 0.10, 0.75, 12): 10_026,
    Shape(800, 785, 0.10, 0.75, 13): 10_216,
    Shape(800, 785, 0.10, 0.75, 14): 9_955,
    Shape(800, 785, 0.10, 0.75, 15): 10_036,
    Shape(800, 785, 0.10, 0.75, 16): 10_138,
    Shape(800, 800, 0.10, 0.75, 1): 10_025,
    Shape(800, 800, 0.15, 0.85, 1): 9_104,
    Shape(885, 900, 0.10, 0.75, 1): 9_876,
    Shape(900, 885, 0.10, 0.75, 1): 9_915,
    Shape(900, 885, 0.10, 0.75, 11): 9_988,
    Shape(900, 885, 0.10, 0.75, 12): 9_937,
    Shape(900, 885, 0.10, 0.75, 13): 9_808,
    Shape(900, 885, 0.10, 0.75, 14): 9_815,
    Shape(900, 885, 0.10, 0.75, 15): 9_785,
    Shape(900, 885, 0.10, 0.75, 16): 9_579,
    Shape(900, 885, 0.15, 0.85, 1): 8_960,
    Shape(900, 885, 0.15, 0.85, 11): 8_887,
    Shape(900, 885, 0.15, 0.85, 12): 9_151,
    Shape(900, 885, 0.15, 0.85, 13): 9_087,
    Shape(900, 885, 0.15, 0.85, 14): 9_156,
    Shape(900, 885, 0.15, 0.85, 15): 9_118,
    Shape(900, 885, 0.15, 0.85, 16): 8_777,
    Shape(1000, 500, 0.10, 0.75, 1): 12_622,
    Shape(1000, 500, 0.10, 0.75, 2): 12_873,
    Shape(1000, 500, 0.10, 0.75, 11): 13_252,
    Shape(1000, 500, 0.10, 0.75, 12): 12_598,
    Shape(1000, 500, 0.10, 0.75, 13): 12_725,
    Shape(1000, 500, 0.10, 0.75, 14): 13_054,
    Shape(1000, 500, 0.10, 0.75, 15): 12_907,
    Shape(1000, 500, 0.10, 0.75, 16): 12_925,
    Shape(1000, 500, 0.10, 0.80, 1): 16_347,
    Shape(1000, 500, 0.10, 0.80, 2): 16_209,
    Shape(1000, 500, 0.10, 0.80, 11): 16_049,
    Shape(1000, 500, 0.10, 0.80, 12): 17_073,
    Shape(1000, 500, 0.10, 0.80, 13): 16_260,
    Shape(1000, 500, 0.10, 0.80, 14): 16_508,
    Shape(1000, 500, 0.10, 0.80, 15): 16_332,
    Shape(1000, 500, 0.10, 0.80, 16): 15_620,
    Shape(1000, 500, 0.15, 0.75, 1): 7_109,
    Shape(1000, 500, 0.15, 0.75, 2): 7_214,
    Shape(1000, 500, 0.15, 0.80, 1): 9_138,
    Shape(1000, 500, 0.15, 0.80, 2): 8_452,
    Shape(1000, 500, 0.15, 0.80, 11): 8_990,
    Shape(1000, 500, 0.15, 0.80, 12): 8_974,
    Shape(1000, 500, 0.15, 0.80, 13): 8_467,
    Shape(1000, 500, 0.15, 0.80, 14): 8_914,
    Shape(1000, 500, 0.15, 0.80, 15): 8_960,
    Shape(1000, 500, 0.15, 0.80, 16): 8_552,
    Shape(1000, 500, 0.15, 0.85, 11): 12_029,
    Shape(1000, 500, 0.15, 0.85, 12): 11_529,
    Shape(1000, 500, 0.15, 0.85, 13): 11_727,
    Shape(1000, 500, 0.15, 0.85, 14): 11_403,
    Shape(1000, 500, 0.15, 0.85, 15): 11_725,
    Shape(1000, 500, 0.15, 0.85, 16): 12_055,
    Shape(1000, 985, 0.10, 0.75, 11): 9_545,
    Shape(1000, 985, 0.10, 0.75, 12): 9_836,
    Shape(1000, 985, 0.10, 0.75, 13): 9_998,
    Shape(1000, 985, 0.10, 0.75, 14): 10_081,
    Shape(1000, 985, 0.10, 0.75, 15): 10_079,
    Shape(1000, 985, 0.10, 0.75, 16): 10_084,
    Shape(1000, 1000, 0.10, 0.75, 1): 9_484,
    Shape(1000, 1000, 0.10, 0.75, 11): 9_612,
    Shape(1000, 1000, 0.10, 0.75, 12): 9_657,
    Shape(1000, 1000, 0.10, 0.75, 13): 9_843,
    Shape(1000, 1000, 0.10, 0.75, 14): 9_478,
    Shape(1000, 1000, 0.10, 0.75, 15): 9_777,
    Shape(1000, 1000, 0.10, 0.75, 16): 9_674,
    Shape(1000, 1000, 0.15, 0.85, 1): 8_689,
    Shape(1000, 1000, 0.15, 0.85, 11): 8_682,
    Shape(1000, 1000, 0.15, 0.85, 12): 9_239,
    Shape(1000, 1000, 0.15, 0.85, 13): 8_692,
    Shape(1000, 1000, 0.15, 0.85, 14): 8_744,
    Shape(1000, 1000, 0.15, 0.85, 15): 8_956,
    Shape(1000, 1000, 0.15, 0.85, 16): 8_828,
}


def generated(shape: Shape) -> SetUnionKnapsack:
    """Return the knapsack of a shape and seed: items are queries."""
    items, elements, density, capacity, seed = shape
    seeds = [items, elements, round(100 * density), round(100 * capacity), seed]
    random = np.random.default_rng(np.random.SeedSequence(seeds))
    profit, weight = random.integers(21, 522, items), random.integers(11, 332, elements)
    needs = random.random((items, elements)) < density
    needs[np.arange(items), random.integers(0, elements, items)] |= ~needs.any(axis=1)
    return SetUnionKnapsack(
        priority=profit.astype(np.float64),
        weight=weight.astype(np.float64),
        start=np.concatenate(([0], np.cumsum(needs.sum(axis=1)))),
        member=np.nonzero(needs)[1],
        capacity=float(np.floor(capacity * weight.sum())),
    )
