"""The pictures of README and the first page, drawn from a real plan: ``python -m docs.generate.picture``."""

from __future__ import annotations

from dataclasses import replace

import ftplan
from docs.generate.pages import ROOT
from ftplan.model.plan import Plan
from ftplan.planners.recovery_schedule import figure as recovery_schedule
from ftplan.reports.drawing import Figure
from ftplan.reports.page import svg
from ftplan.reports.palette import DARK
from ftplan.reports.topology_drawing import topology_figure

ASSETS = ROOT / "docs" / "assets"
EXAMPLE = ROOT / "examples" / "storm-recovery"
#: As ``ftplan recovery-schedule --objective priority-time --iterations 2`` has it in the folder: by work, not by time.
OPTIONS = {"objective": "priority-time", "iterations": 2, "time_limit_s": 3600.0, "samples": 0}


def figures() -> tuple[Plan, dict[str, Figure]]:
    """Return the plan, and what is drawn of it by name: queries over time, and tasks by the step they come back in."""
    problem = ftplan.load(**{role: EXAMPLE / f"{role}.yaml" for role in ("topology", "cluster", "failure")})
    plan = ftplan.plan("recovery-schedule", problem, **OPTIONS)
    assert problem.topology is not None
    states = recovery_schedule.states(plan, problem.topology, problem.cluster)
    return plan, {
        "recovery-over-time": recovery_schedule.figures(plan)[0],
        "recovery-on-topology": topology_figure(problem.topology, states, max_tasks=600),
    }


def pictures(drawn: dict[str, Figure]) -> dict[str, str]:
    """Return SVG by the name of its file: each figure for a desk and for a phone."""
    return {
        f"{name}{suffix}.svg": in_both_lights(svg(replace(figure, wide=drawing)))
        for name, figure in drawn.items()
        for suffix, drawing in (("", figure.wide), ("-narrow", figure.narrow))
    }


def in_both_lights(text: str) -> str:
    """Return SVG that is dark where the reader's system is: a plot of the command line is always light."""
    dark = "".join(f"--{name}:{colour};" for name, colour in DARK.items())
    return text.replace("</style>", f"@media (prefers-color-scheme:dark){{svg{{{dark}}}}}\n</style>", 1)


def main() -> None:
    """Write the pictures."""
    for name, text in pictures(figures()[1]).items():
        (ASSETS / name).write_text(text, "utf-8")
        print(f"docs/assets/{name}")


if __name__ == "__main__":
    main()
