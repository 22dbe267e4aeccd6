"""A job as it runs: its operators, the links between them, and what is measured of it all.

The sources' log sends what has come as it comes, and again from where it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.topology import FloatArray
from ftplan.simulation.engine.clock import data_timeout
from ftplan.simulation.engine.network import Link
from ftplan.simulation.engine.series import LevelSeries, SumSeries
from ftplan.simulation.scaling.keyed_state import KeyedState, expected_digests
from ftplan.simulation.scaling.operator_run import OperatorRun, OperatorSeries
from ftplan.simulation.scaling.setting import BatchedLoad, SimulatedOperator


class JobRun:
    """A job under way."""

    def __init__(
        self,
        env: Environment,
        operators: tuple[SimulatedOperator, ...],
        load: BatchedLoad,
        every_s: float,
        delay_s: float,
    ) -> None:
        count, batches = len(operators), len(load.at_s)
        self.env, self.load, self.every_s = env, load, every_s
        #: ``queue``, ``executors``: records at, and tasks of, each operator
        self.queue, self.executors = LevelSeries(env, every_s, count), LevelSeries(env, every_s, count)
        series = OperatorSeries(self.queue, self.executors)
        #: Records of the input whose last output came, and seconds from when they were there until then, times records
        self.output = SumSeries(env, every_s, 2)
        self.out_s: FloatArray = np.full(batches, np.nan)  # when the last output of each batch came, (B,); nan before
        self.expected = expected_digests(batches)
        self.runs = [
            OperatorRun(env, number, operator, load, self.expected, series) for number, operator in enumerate(operators)
        ]
        for run in self.runs:
            for source in run.operator.inputs:
                self.runs[source].links.append(Link(env, delay_s, partial(run.come_from, source)))
            run.went_on = self._went_out if run.operator.output else run.went_on
            groups = run.operator.key_groups
            even = even_ranges(run.operator.parts, run.operator.parallelism)
            run.begin(even, KeyedState.empty(groups) if groups else None)
        sources = [run for run in self.runs if not run.operator.inputs]
        self.feed = Feed(env, load, sources)
        self.records = load.seconds * sum(run.operator.records_s for run in sources)

    def _went_out(self, number: int) -> None:
        """Count a batch when the last of the outputs has it."""
        if all(number < len(run.released_s) for run in self.runs if run.operator.output):
            self.out_s[number] = self.env.now
            records = float(self.records[number])
            self.output.add(records)
            self.output.add(records * (self.env.now - float(self.load.at_s[number])), 1)


class Feed:
    """Sends the batches of a load to the sources when they are there; while it is held it only keeps them."""

    def __init__(self, env: Environment, load: BatchedLoad, sources: Sequence[OperatorRun]) -> None:
        self.env, self.load, self.sources = env, load, sources
        self.sent = -1  # last batch that has come
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
