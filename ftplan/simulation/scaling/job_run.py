"""A job as it runs: its operators, the links between them, the sources' log, and what is measured of it all."""

from __future__ import annotations

from functools import partial

import numpy as np
from simpy import Environment

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.topology import FloatArray
from ftplan.simulation.engine.network import Link
from ftplan.simulation.engine.series import LevelSeries, SumSeries
from ftplan.simulation.scaling.feed import Feed
from ftplan.simulation.scaling.keyed_state import KeyedState, expected_digests
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.setting import BatchedLoad, SimulatedOperator


class JobRun:
    """A job under way.

    Attributes
    ----------
    queue, executors
        Records at, and tasks of, each operator.
    output
        Records of the input whose last output came, and seconds from when they were there until then, times records.
    out_s
        When the last output of each batch came, (B,); nan before.
    """

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
        self.queue, self.executors = LevelSeries(env, every_s, count), LevelSeries(env, every_s, count)
        self.output = SumSeries(env, every_s, 2)
        self.out_s: FloatArray = np.full(batches, np.nan)
        self.expected = expected_digests(batches)
        self.runs = [
            OperatorRun(env, number, operator, load, self.expected, self.queue, self.executors)
            for number, operator in enumerate(operators)
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
