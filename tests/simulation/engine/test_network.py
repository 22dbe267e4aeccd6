"""Links and channels keep order; links lose what is under way when they are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment, Resource

from ftplan.simulation.engine.clock import CONTROL, after, data_timeout
from ftplan.simulation.engine.network import FifoChannel, Link, transfer


@given(
    st.floats(0.0, 2.0),
    st.lists(st.floats(0.0, 5.0), max_size=20),
    st.lists(st.floats(0.0, 6.0), max_size=3),
)
def test_links_deliver_in_order_what_was_not_cut(delay_s: float, sent_s: list[float], cut_s: list[float]) -> None:
    env = Environment()
    seen: list[tuple[float, int]] = []
    link = Link[int](env, delay_s, lambda number: seen.append((env.now, number)))
    sent_s.sort()
    for number, at_s in enumerate(sent_s):
        after(env, at_s, lambda number=number: link.send(number, 2.0))
    for at_s in cut_s:
        after(env, at_s, link.cut, CONTROL)
    while env.peek() < np.inf:
        env.step()
        assert link.sent == link.delivered + link.lost + link.under_way
        assert link.under_way >= 0.0
    # control comes first: what is sent at the moment of a cut is not lost, what would arrive then is
    kept = [k for k, at_s in enumerate(sent_s) if not any(at_s < cut <= at_s + delay_s for cut in cut_s)]
    assert [number for _, number in seen] == kept
    assert [at_s for at_s, _ in seen] == pytest.approx([sent_s[k] + delay_s for k in kept])
    assert (link.delivered, link.lost) == (2.0 * len(kept), 2.0 * (len(sent_s) - len(kept)))


@given(st.lists(st.tuples(st.floats(0.0, 5.0), st.floats(0.0, 5.0)), max_size=20))
def test_a_channel_delivers_in_the_order_of_sending(messages: list[tuple[float, float]]) -> None:
    """None before its own time is over, and none before those that were sent earlier."""
    env = Environment()
    seen: list[tuple[int, float]] = []
    channel = FifoChannel[int](lambda number: seen.append((number, env.now)))
    messages.sort(key=lambda message: message[0])
    for number, (at_s, takes_s) in enumerate(messages):
        after(env, at_s, lambda number=number, takes_s=takes_s: channel.send(number, data_timeout(env, takes_s)))
    env.run()
    expected = np.maximum.accumulate([at_s + takes_s for at_s, takes_s in messages]) if messages else []
    assert [number for number, _ in seen] == list(range(len(messages)))
    assert [at_s for _, at_s in seen] == pytest.approx(list(expected))


def test_a_transfer_holds_all_its_links_at_once() -> None:
    env = Environment()
    out, first, second = (Resource(env) for _ in range(3))
    done = {}

    def send(name: str, links: list[Resource], seconds: float, delay_s: float = 0.0) -> None:
        under_way = transfer(env, links, seconds, delay_s)
        under_way.callbacks.append(lambda _: done.__setitem__(name, env.now))

    send("into the first", [first], 3.0)
    send("out, into the first", [out, first], 2.0, delay_s=10.0)
    send("out, into the second", [out, second], 1.0)  # the second is free, the link out is not
    send("into the second", [second], 0.5)
    env.run()
    assert done == {
        "into the first": 3.0,
        "out, into the first": 15.0,  # links are free at 5
        "out, into the second": 6.0,
        "into the second": 0.5,
    }
