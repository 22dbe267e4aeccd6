"""How likely a ring with three copies loses something: all on workers, or the last one on a tier of other nodes.

Run from the project's root: ``python benchmarks/ring_tiers.py``. Prints a Markdown table.

12 or 60 workers in four zones by turns, two backups. *Neighbours*: both on the next workers clockwise, in the order of
zones that ``exact`` gives. *Tier*: one there, and the last copy on one of three other nodes in a zone of their own.
*Virtual nodes*: 100 tokens a worker, both backups on the next other workers, close to replication at random. Nodes and
zones fail independently of each other within one repair window with the probabilities of the first columns. Losses are
probabilities that anything is lost within it. The mean time to a loss is in proportion to one over them: *longer* is
how many times as long it is with a tier, below 1 the tier hurts. Bytes are those lost on average.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from ring_questions import ZONES, ring_question

from ftplan.planners.budget import SearchOptions
from ftplan.planners.peer_ring.algorithms.baselines import hashed_ring
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.survival import survival

GROUPS, BACKUPS, VAULT = 3_840, 2, 3


class Risk(NamedTuple):
    """Probabilities of failure within one repair window: of a worker and its zone, of a tier's node and its zone."""

    name: str
    node: float
    zone: float
    tier_node: float
    tier_zone: float


#: The two of the ring example are a day's, from a log of real failures; the tier of the example fails as its racks do.
RISKS = (
    Risk("ring example, tier alike", 1.9e-3, 1.7e-4, 1.9e-3, 1.7e-4),
    Risk("zones as often as nodes, tier alike", 1e-3, 1e-3, 1e-3, 1e-3),
    Risk("zones ten times as often, tier alike", 1e-3, 1e-2, 1e-3, 1e-2),
    Risk("no zones, tier alike", 1e-3, 0.0, 1e-3, 0.0),
    Risk("ring example, tier a tenth", 1.9e-3, 1.7e-4, 1.9e-4, 1.7e-5),
    Risk("ring example, tier a thousandth", 1.9e-3, 1.7e-4, 1.9e-6, 1.7e-7),
    Risk("ring example, tier ten times", 1.9e-3, 1.7e-4, 1.9e-2, 1.7e-3),
    Risk("outage: 1 % do not come back, tier alike", 1e-2, 0.0, 1e-2, 0.0),
    Risk("outage of workers only, tier as any day", 1e-2, 0.0, 1e-4, 1e-5),
)


def main() -> None:
    print(
        "| workers | risk | node, zone | tier | loss: neighbours | tier | virtual nodes | longer than neighbours | "
        "than virtual nodes | bytes lost, neighbours over tier |"
    )
    print("|" + "---|" * 10)
    for workers in (12, 60):
        alone = question(workers, 0)
        with_tier = question(workers, VAULT)
        rings = planned(alone), planned(with_tier), hashed_ring(alone, 0)
        for risk in RISKS:
            print(row(workers, risk, alone, with_tier, rings), flush=True)


def question(workers: int, vault: int) -> RingProblem:
    """Return the question of workers in four zones, with equal loads, and so many nodes of a tier in a fifth."""
    problem = ring_question(np.ones(GROUPS), np.full(workers + vault, 4.0), BACKUPS)
    tier = np.arange(workers + vault) >= workers
    return replace(problem, members=~tier, tier=tier, zone=np.where(tier, ZONES, problem.zone),
                   zones=(*problem.zones, "vault"))  # fmt: skip


def planned(problem: RingProblem) -> Ring:
    """Return the ring that exact gives, with no two copies in one zone."""
    answer = exact(problem, SearchOptions()).answer
    assert answer is not None
    assert problem.violations(answer.ring) == 0
    return answer.ring


def row(workers: int, risk: Risk, alone: RingProblem, with_tier: RingProblem, rings: tuple[Ring, Ring, Ring]) -> str:
    """Return the row of a risk."""
    neighbours, tier, hashed = rings
    beside, bytes_beside, _ = lost(alone, neighbours, risk)
    tiered, bytes_tiered, _ = lost(with_tier, tier, risk)
    virtual, _, method = lost(alone, hashed, risk)
    cells = (
        str(workers), risk.name, f"{risk.node:.2g}, {risk.zone:.2g}", f"{risk.tier_node:.2g}, {risk.tier_zone:.2g}",
        f"{beside:.2e}", f"{tiered:.2e}", f"{virtual:.2e}{'' if method == 'exact' else f' ({method})'}",
        times(beside, tiered), times(virtual, tiered), times(bytes_beside, bytes_tiered),
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def lost(problem: RingProblem, ring: Ring, risk: Risk) -> tuple[float, float, str]:
    """Return the probability of a loss, the bytes lost on average, and how the former was found."""
    down = np.where(problem.tier, risk.tier_node, risk.node)
    zone_down = np.where(np.arange(ZONES + 1) == ZONES, risk.tier_zone, risk.zone)
    found = survival(replace(problem, down=down, zone_down=zone_down), ring)
    assert found is not None
    return found["loss_probability"], found["expected_lost_bytes"], found["method"]


def times(without: float, tiered: float) -> str:
    """Return how many times as long a tier lasts, or how few bytes it loses."""
    ratio = without / tiered
    return f"× {ratio:,.0f}" if ratio >= 100.0 else f"× {ratio:.3g}"


if __name__ == "__main__":
    main()
