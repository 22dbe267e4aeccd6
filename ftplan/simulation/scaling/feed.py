"""The sources' log: what has come is sent as it comes, and again from where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import data_timeout
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.setting import BatchedLoad


class Feed:
    """Sends the batches of a load to the sources when they are there; while it is held it only keeps them.

    Attributes
    ----------
    sent
        Last batch that has come.
    """

    def __init__(self, env: Environment, load: BatchedLoad, sources: Sequence[OperatorRun]) -> None:
        self.env, self.load, self.sources = env, load, sources
        self.sent = -1
        self.held = False
        env.process(self._send())

    def replay(self, first: int) -> None:
        """Send again what has come, from a batch on."""
        for number in range(first, self.sent + 1):
            for source in self.sources:
                source.come(number)

    def _send(self) -> ProcessGenerator:
        for number, at_s in enumerate(self.load.at_s.tolist()):
            yield data_timeout(self.env, at_s - self.env.now)
            self.sent = number
            for source in self.sources:
                if self.held:
                    source.arrived = number
                    source.say()
                else:
                    source.come(number)
