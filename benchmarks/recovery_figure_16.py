"""Figure 16 of Su & Zhou: best density beside the optimum and operator-centric recovery, on random topologies.

Run: ``python benchmarks/recovery_figure_16.py [--topologies 100]`` (needs the extra ``report`` for the plot). Prints
Markdown tables and whether the paper's findings hold, and writes ``figures/recovery-figure-16.svg`` beside this script.

What the paper does not say is assumed: 5 to 10 tasks a query, one of them its own output task; costs uniform 1 to 10;
everything has failed; capacities of 10 to 90 % of all costs; shares uniform from 1 to their maximum unless they are
Zipf, the maximum 6 unless it is varied; priorities uniform 1 to 10 unless they follow the load. "Share frequencies
follow a Zipfian distribution" can mean the chance of a share, as drawn in (b), or that the k-th task is shared in
proportion to k^-s: the findings are checked for both.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from reproduce.drawing import save

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.presets import TOPOLOGIES
from ftplan.generators.topology import topology as generated
from ftplan.model.failed_queries import failed_queries
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.dynamic_programming import dynamic_programming_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.operator_centric import operator_centric
from ftplan.planners.recovery_schedule.problem import Host, RecoveryOptions, RecoveryProblem

FIGURE = Path(__file__).resolve().parent / "figures" / "recovery-figure-16.svg"
QUERIES = 18
SHARES = tuple(percent / 100 for percent in range(10, 100, 10))
ALGORITHMS = ("BestDensity", "DP", "OC")
#: Seconds that no run comes near: what is compared is the algorithms, not the clock.
TIME_LIMIT_S = 600.0


@dataclass(frozen=True)
class Setting:
    """One curve. ``skew`` is Zipf's s, None for uniform shares; of the shares by ``rank``, or of their chances."""

    name: str
    largest_share: int = 6
    skew: float | None = None
    rank: bool = False
    by_load: bool = False


#: Title of each sub-figure and its two curves.
FIGURES: Mapping[str, tuple[str, tuple[Setting, Setting]]] = {
    "a": ("largest share of a task", (Setting("largest share 3", largest_share=3), Setting("largest share 6"))),
    "b": ("skew of the shares", (Setting("Zipf 0.2", skew=0.2), Setting("Zipf 0.5", skew=0.5))),
    "c": ("priority of the queries", (Setting("priority random"), Setting("priority by load", by_load=True))),
}
#: Other readings of (b).
BY_RANK: Mapping[str, tuple[Setting, Setting]] = {
    f"shares by rank, largest {largest}": (
        Setting("Zipf 0.2", largest, skew=0.2, rank=True),
        Setting("Zipf 0.5", largest, skew=0.5, rank=True),
    )
    for largest in (6, 10, 18)
}

Recovered = Mapping[str, np.ndarray]  # share of the priority by algorithm, (topologies, shares)
Curves = tuple[tuple[Setting, Recovered], tuple[Setting, Recovered]]


def topology(setting: Setting, seed: int) -> TaskGraph:
    """Return operators of one task each: one feeds another if it is in all queries of that one, or by its place."""
    knobs = TopologyKnobs(**TOPOLOGIES["recovery-figure-16"].knobs)
    shared = {"share_zipf": setting.skew or 0.0, "shared_by": "rank" if setting.rank else "chance"}
    priority = "load" if setting.by_load else "uniform"
    return TaskGraph(
        generated(replace(knobs, seed=seed, largest_share=setting.largest_share, priority=priority, **shared))
    )


def problem(graph: TaskGraph, share: float) -> RecoveryProblem:
    """Return the failure of everything with room for this share of all costs."""
    cost, none = graph.per_task("cpu"), np.full(graph.tasks, -1)
    host = Host(None, share * float(cost.sum()))
    return RecoveryProblem(graph, cost, none < 0, none, none, (host,), 1, failed_nodes=2)


def knapsack(graph: TaskGraph, share: float) -> SetUnionKnapsack:
    """Return the same as one step."""
    cost = graph.per_task("cpu")
    queries = failed_queries(graph, np.ones(graph.tasks, dtype=np.bool_))
    priority = graph.per_task("priority")[queries.query]
    return SetUnionKnapsack(priority, queries.weight(cost), queries.start, queries.member, share * float(cost.sum()))


def recovered_by(name: str, graph: TaskGraph, share: float) -> float:
    """Return the summed priority of the queries that an algorithm recovers."""
    if name == "OC":
        result = operator_centric(problem(graph, share), RecoveryOptions(prefetch=False, time_limit_s=TIME_LIMIT_S))
        steps = result.answer.steps if result.answer else ()
        return float(sum(graph.per_task("priority")[query] for step in steps for query, _ in step.restored))
    step = knapsack(graph, share)
    solver = best_density_step if name == "BestDensity" else dynamic_programming_step
    return step.value(solver(step, Budget(TIME_LIMIT_S)).queries)


def measured(
    setting: Setting, topologies: int, seconds: dict[str, float], shares: tuple[float, ...] = SHARES
) -> Recovered:
    """Return what each algorithm recovers of the summed priority; add up the seconds each takes."""
    recovered = {name: np.zeros((topologies, len(shares))) for name in ALGORITHMS}
    for i in range(topologies):
        graph = topology(setting, i)
        total = graph.per_task("priority")[graph.output].sum()
        for (j, share), name in itertools.product(enumerate(shares), ALGORITHMS):
            begun = time.perf_counter()
            recovered[name][i, j] = recovered_by(name, graph, share) / total
            seconds[name] += time.perf_counter() - begun
    return recovered


def of_optimum(recovered: Recovered) -> np.ndarray:
    """Return which part of the optimum best density reaches, 1 where nothing can be recovered."""
    optimum = recovered["DP"]
    return np.divide(recovered["BestDensity"], optimum, out=np.ones_like(optimum), where=optimum > 0.0)


def table(figure: str, curves: Curves) -> None:
    """Print one sub-figure as a table."""
    print(f"\n### Figure 16 ({figure}): {FIGURES[figure][0]}\n")
    print("Priority recovered; BestDensity against the optimum (DP) on average and at worst.\n")
    print("| setting | capacity | BestDensity | DP | OC | of optimum | worst | optimal |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for setting, recovered in curves:
        part = of_optimum(recovered)
        for j, share in enumerate(SHARES):
            means = " | ".join(f"{recovered[name][:, j].mean():.1%}" for name in ALGORITHMS)
            reached = f"{part[:, j].mean():.2%} | {part[:, j].min():.1%} | {(part[:, j] > 1 - 1e-9).mean():.0%}"
            print(f"| {setting.name} | {share:.0%} | {means} | {reached} |")


def finding(claim: str, curves: Curves, signs: Mapping[str, int]) -> None:
    """Print whether the second curve is above (1) or below (-1) the first: means over capacities and topologies."""
    (_, first), (_, second) = curves
    for name, sign in signs.items():
        a, b = float(first[name].mean()), float(second[name].mean())
        raised = "raises" if sign > 0 else "lowers"
        print(f"| {claim} {raised} {name} | {a:.1%} → {b:.1%} | {'yes' if sign * (b - a) > 0 else 'no'} |")


def findings(figures: Mapping[str, Curves], by_rank: Mapping[str, Curves]) -> None:
    """Print what the paper finds, and whether it is so here."""
    print("\n### What the paper finds\n")
    print("| finding | here, mean of the first → second setting | holds |")
    print("|---|---|---|")
    every = [recovered for curves in figures.values() for _, recovered in curves]
    part = np.concatenate([of_optimum(recovered) for recovered in every])
    close = f"{part.mean():.2%} of it, {part.min():.1%} at worst"
    print(f"| BestDensity approximates DP | {close} | {'yes' if part.mean() > 0.95 else 'no'} |")
    worst = all((r["OC"].mean(axis=0) <= r["BestDensity"].mean(axis=0)).all() for r in every)
    print(f"| OC is worst in all settings | at each capacity | {'yes' if worst else 'no'} |")
    finding("(a) a larger share", figures["a"], {"BestDensity": -1, "DP": -1, "OC": -1})
    finding("(b) more skew", figures["b"], {"BestDensity": 1, "OC": -1})
    for reading, curves in by_rank.items():
        finding(f"(b), {reading}: more skew", curves, {"BestDensity": 1, "OC": -1})
    finding("(c) priority by load slightly", figures["c"], {"BestDensity": -1, "DP": -1})


def plot(figures: Mapping[str, Curves], file: Path = FIGURE, shares: tuple[float, ...] = SHARES) -> None:
    """Draw the sub-figures side by side: one colour an algorithm, one line style a setting."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "figure-16"  # the same figure is the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text, not outlines
    from matplotlib import pyplot

    drawing, panels = pyplot.subplots(1, len(figures), figsize=(13, 4.2), sharey=True, layout="constrained")
    for panel, (figure, curves) in zip(panels, figures.items(), strict=True):
        for (setting, recovered), style in zip(curves, ("-", "--"), strict=True):
            for name, colour, mark, size in zip(ALGORITHMS, ("C0", "C2", "C3"), "osx", (4, 9, 5), strict=True):
                mean = 100 * recovered[name].mean(axis=0)
                look = {"color": colour, "markersize": size, "markerfacecolor": "none" if name == "DP" else colour}
                panel.plot(100 * np.array(shares), mean, style + mark, label=f"{name}, {setting.name}", **look)
        panel.set(title=f"({figure}) {FIGURES[figure][0]}", xlabel="capacity, % of all failed tasks", ylim=(-2, 102))
        panel.grid(alpha=0.3)
        panel.legend(fontsize="x-small", handlelength=4)
    panels[0].set_ylabel("priority recovered, %")
    save(drawing, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topologies", type=int, default=100)
    topologies = parser.parse_args().topologies
    recovered_by("BestDensity", topology(Setting("warm"), 0), 0.5)  # compiles
    seconds = dict.fromkeys(ALGORITHMS, 0.0)

    def both(settings: tuple[Setting, Setting]) -> Curves:
        first, second = settings
        return (first, measured(first, topologies, seconds)), (second, measured(second, topologies, seconds))

    figures = {figure: both(settings) for figure, (_, settings) in FIGURES.items()}
    by_rank = {reading: both(settings) for reading, settings in BY_RANK.items()}
    for figure, curves in figures.items():
        table(figure, curves)
    findings(figures, by_rank)
    plans = topologies * len(SHARES) * 2 * (len(figures) + len(by_rank))
    each = ", ".join(f"{name} {1000 * took / plans:.1f} ms" for name, took in seconds.items())
    print(f"\n{topologies} topologies of {QUERIES} queries a point; on average a plan takes {each}.")
    plot(figures)


if __name__ == "__main__":
    main()
