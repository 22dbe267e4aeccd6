"""Time: what happens at one moment happens control first, then data, and within each in the order of its scheduling.

Simulations share SimPy's environment as their clock. Everything of SimPy's own (timeouts, processes, resources) is
control; what moves data is scheduled by the functions here. ``env.run(until=t)`` lets happen what happens before t.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simpy import Environment, Event
from simpy.events import NORMAL, EventPriority

#: Priority of control: that of SimPy's own events.
CONTROL = NORMAL
#: Priority of data: after all control of the same moment.
DATA = EventPriority(NORMAL + 1)


class DataEvent(Event):
    """An event whose callbacks come after all control of the moment in which it succeeds."""

    def succeed(self, value: Any = None, delay_s: float = 0.0) -> DataEvent:
        """Let the event succeed *delay_s* from now.

        Raises RuntimeError if it has succeeded already.
        """
        if self.triggered:
            raise RuntimeError(f"{self} has already been triggered")
        self._ok = True
        self._value = value
        self.env.schedule(self, DATA, delay_s)
        return self


def data_timeout(env: Environment, delay_s: float, value: Any = None) -> DataEvent:
    """Return an event that succeeds in *delay_s* seconds, after all control of that moment."""
    return DataEvent(env).succeed(value, delay_s)


def after(
    env: Environment, delay_s: float, action: Callable[[], object], priority: EventPriority = DATA
) -> Callable[[], None]:
    """Carry out an action in *delay_s* seconds; return what calls it off.

    What is called off still takes its moment: ``env.run()`` without an end goes on until then.
    """
    waiting = [action]

    def carry_out(_: Event) -> None:
        if waiting:
            waiting.pop()()

    event = Event(env)
    event._ok = True
    event._value = None
    event.callbacks.append(carry_out)
    env.schedule(event, priority, delay_s)
    return waiting.clear
