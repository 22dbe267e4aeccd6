"""What can be asked of simulated migrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ftplan.api.option_fields import MOST, Options, number, one_of, option, optional, whole

MESSAGES, TRACE = "messages", "trace"
LEVELS = (MESSAGES, TRACE)


@dataclass(frozen=True, kw_only=True)
class MigrationSimulationOptions(Options):
    """The options of ``ftplan simulate migration``."""

    level: str = option(
        MESSAGES,
        one_of(*LEVELS),
        "messages = the moves of PLAN, message by message; trace = adaptation over the load of the statistics, without "
        "a plan.",
    )
    runs: int = option(
        1,
        whole(1, 100_000),
        "messages: simulate so often, each time with other arrivals, delays and ages of checkpoints. One run has the "
        "expected ones.",
        metavar="N",
    )
    messages: int = option(
        2_000,
        whole(10, 10_000_000),
        "messages: about so many for each move; records are bundled where there are more.",
        metavar="N",
    )
    seed: int = option(0, whole(0, MOST), "Seed of every random choice.")
    time_limit_s: float | None = option(
        None,
        optional(number(0.0, 1e9, above=True)),
        "Stop after this time; the runs that are done by then count.",
        metavar="TIME",
        unit="time",
    )

    def recorded(self) -> dict[str, Any]:
        """Return the options as the answer keeps them: without the seed, which stands beside them."""
        values = {name: getattr(self, name) for name in self.options() if name != "seed"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
