"""A task of an operator: its queue of batches, its part of the state, and how busy it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from simpy import Environment, Event
from simpy.events import ProcessGenerator

from ftplan.model.topology import IntArray
from ftplan.simulation.engine.clock import DataEvent, data_timeout
from ftplan.simulation.scaling.keyed_state import Digests, KeyedState
from ftplan.simulation.scaling.setting import BatchedLoad, SimulatedOperator


class ScalableTask:
    """A task that processes the parts from *first* to *last* of every batch that it is sent."""

    def __init__(
        self, env: Environment, operator: SimulatedOperator, load: BatchedLoad, expected: Digests,
        parts: tuple[int, int], put_out: Callable[[ScalableTask, int, int, int], object],
    ) -> None:  # fmt: skip
        self.env, self.operator, self.load, self.expected = env, operator, load, expected
        self.first, self.last = parts
        self.put_out = put_out  # takes the task, a batch, and the first and last part that it has processed of it
        #: Returns for how long the task works on something else before it processes a batch
        self.beforehand: Callable[[ScalableTask, int], float] = lambda task, number: 0.0
        self.state: KeyedState | None = None  # none without keyed state, and until the task is started
        self.done = -1  # last batch that it has processed
        self.stopped = False
        self.left_out: list[int] = []  # batches that did not follow the one before in some key group
        self.wrong: list[int] = []  # batches whose output is not that of an operator that was never split
        self._queue: deque[int] = deque()
        self._idle: DataEvent | None = None
        self._use = operator.use_of(self.first, self.last)
        self._waiting_s = self._busy_s = self._newest_s = 0.0
        self._until_s = env.now
        self._at_work = Event(env)

    def take(self, number: int) -> None:
        """Put a batch into the queue."""
        if not self.stopped:
            self._waiting_s += self._seconds(number)
            self._newest_s = self._seconds(number)
            if self._idle is None:
                self._queue.append(number)
            else:
                idle, self._idle = self._idle, None
                idle.succeed(number)

    def start(self, state: KeyedState | None, done: int = -1) -> None:
        """Begin to work, with a part of the state or, without keyed state, after a batch."""
        self.state, self.done = state, done
        self.env.process(self._serve())

    def stop(self) -> None:
        """Stop for good; what is at work or waits is not processed here."""
        self.stopped = True
        self._queue.clear()
        self._waiting_s = 0.0

    @property
    def waiting_s(self) -> float:
        """For how long it will work on what waits or is at work, but for the newest batch.

        That one stands for input that comes evenly until the next one.
        """
        return max(self._waiting_s + max(self._until_s - self.env.now, 0.0) - self._newest_s, 0.0)

    @property
    def busy_s(self) -> float:
        """For how long it has worked until now."""
        return self._busy_s - max(self._until_s - self.env.now, 0.0)

    def _serve(self) -> ProcessGenerator:
        while not self.stopped:
            number = yield self._next()
            if self.stopped:
                return
            self._waiting_s -= self._seconds(number)
            todo = self._todo(number)
            if todo is None:  # the state has all of it
                continue
            yield self._work(self.beforehand(self, number) + self._seconds(number, todo))
            if self.stopped:
                return
            self._apply(number, todo)

    def _next(self) -> DataEvent:
        """Return an event that succeeds with the first batch of the queue when there is one."""
        taken = DataEvent(self.env)
        if self._queue:
            return taken.succeed(self._queue.popleft())
        self._idle = taken
        return taken

    def _work(self, seconds: float) -> Event:
        self._busy_s += seconds
        self._until_s = self.env.now + seconds
        return data_timeout(self.env, seconds)

    def _seconds(self, number: int, todo: slice | IntArray = slice(None)) -> float:
        use = self._use if isinstance(todo, slice) else float(self.operator.use[self.first + todo].sum())
        return float(self.load.seconds[number]) * use

    def _todo(self, number: int) -> slice | IntArray | None:
        """Return which parts, by position, do not have a batch yet; None for none."""
        if self.state is None:
            return slice(None) if number > self.done else None
        if self.state.number.min() >= number:
            return None
        if self.state.number.max() < number:
            return slice(None)
        return np.flatnonzero(self.state.number < number)

    def _apply(self, number: int, todo: slice | IntArray) -> None:
        """Process a batch and put out what comes of it."""
        if self.state is None:
            if number != self.done + 1:
                self.left_out.append(number)
            self.done = number
            self.put_out(self, number, self.first, self.last)
            return
        if (self.state.number[todo] != number - 1).any():
            self.left_out.append(number)
        self.state.apply(number, todo)
        if not self.state.right(self.expected):
            self.wrong.append(number)
        self.done = number
        if isinstance(todo, slice):
            self.put_out(self, number, self.first, self.last)
            return
        ends = np.flatnonzero(np.diff(todo) > 1) + 1
        for a, b in pairwise((0, *ends.tolist(), len(todo))):
            self.put_out(self, number, self.first + int(todo[a]), self.first + int(todo[b - 1]))
