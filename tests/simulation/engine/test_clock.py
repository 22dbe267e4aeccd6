"""At one moment control comes before data, whoever was scheduled first."""

from __future__ import annotations

import pytest
from simpy import Environment

from ftplan.simulation.engine.clock import CONTROL, DataEvent, after, data_timeout


def test_control_overtakes_data_at_one_moment() -> None:
    env = Environment()
    seen: list[str] = []
    after(env, 1.0, lambda: seen.append("data"))
    data_timeout(env, 1.0).callbacks.append(lambda _: seen.append("more data"))
    after(env, 1.0, lambda: seen.append("control"), CONTROL)
    env.timeout(1.0).callbacks.append(lambda _: seen.append("SimPy's own"))
    env.run(until=1.0)
    assert seen == []
    env.run(until=2.0)
    assert seen == ["control", "SimPy's own", "data", "more data"]


def test_control_that_data_sets_off_comes_before_the_rest_of_the_data() -> None:
    env = Environment()
    seen: list[str] = []
    after(env, 1.0, lambda: after(env, 0.0, lambda: seen.append("control"), CONTROL))
    after(env, 1.0, lambda: seen.append("data"))
    env.run()
    assert seen == ["control", "data"]


def test_what_is_called_off_does_not_happen() -> None:
    env = Environment()
    seen: list[str] = []
    after(env, 1.0, lambda: seen.append("no"))()
    call_off = after(env, 2.0, lambda: seen.append("yes"))
    env.run()
    call_off()
    assert seen == ["yes"]


def test_an_event_succeeds_once_with_its_value() -> None:
    env = Environment()
    event = DataEvent(env)
    event.succeed("value", delay_s=3.0)
    with pytest.raises(RuntimeError, match="already"):
        event.succeed()
    assert env.run(event) == "value"
    assert env.now == 3.0
