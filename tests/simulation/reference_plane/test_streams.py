"""The order of input by itself: a sender that fails after its barrier and sends all again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.oracles.printed_order import PrintedOrder
from tests.simulation.reference_plane.streams import Arrival, Barrier, InputOrder, Message, Records, RepairedOrder


def batch(stream: int, number: int, records: int = 2) -> list[Message]:
    """What a stream brings of a batch of so many records: one by one, and the barrier."""
    first = number * records + 1
    return [
        *(Records(stream, number, first + k, 1, (f"{stream}.{first + k}",)) for k in range(records)),
        Barrier(stream, number),
    ]


def processed(order: InputOrder, messages: list[Message]) -> list[str]:
    names: list[str] = []
    for message in messages:
        order.put(message)
        while (taken := order.take()) is not None:
            names += [str(name) for records in taken for name in records.identities]
    return names


REPLAYED = [*batch(0, 0), *batch(0, 0), *batch(1, 0)]


def test_the_repaired_order_equals_the_run_without_failure() -> None:
    undisturbed = ["0.1", "0.2", "1.1", "1.2"]
    assert processed(RepairedOrder({0: 0, 1: 0}, 0), [*batch(0, 0), *batch(1, 0)]) == undisturbed
    assert processed(RepairedOrder({0: 0, 1: 0}, 0), REPLAYED) == undisturbed


def test_the_printed_order_has_one_stream_twice_and_loses_the_other() -> None:
    assert processed(PrintedOrder({0: 0, 1: 0}, 0), REPLAYED) == ["0.1", "0.2", "0.1", "0.2"]


def test_streams_are_drained_in_the_order_of_their_numbers_whatever_comes_first() -> None:
    order = RepairedOrder({4: 0, 2: 0}, 0)
    assert processed(order, [*batch(4, 0), *batch(2, 0)]) == ["2.1", "2.2", "4.1", "4.2"]


def test_the_next_batch_is_looked_at_after_each_batch() -> None:
    order = RepairedOrder({0: 0, 1: 0}, 0)
    names = processed(order, [*batch(0, 0), *batch(0, 1), *batch(1, 0), *batch(1, 1)])
    assert names == ["0.1", "0.2", "1.1", "1.2", "0.3", "0.4", "1.3", "1.4"]


def test_what_comes_again_is_dropped_and_what_leaves_a_gap_is_lost() -> None:
    order = RepairedOrder({0: 4}, 2)
    assert order.put(Records(0, 1, 3, 2)) == Arrival(duplicate=2)
    assert order.put(Records(0, 3, 7, 2)) == Arrival(early=2)
    order.put(Barrier(0, 3))
    assert order.arrived(0) == 2
    assert order.put(Records(0, 2, 3, 4, ("c", "d", "e", "f"))) == Arrival(queued=2, duplicate=2)
    assert (order.queued(0), order.take()) == (2, None)
    order.put(Barrier(0, 2))
    assert order.take() == [Records(0, 2, 5, 2, ("e", "f"))]
    assert (order.queued(0), order.arrived(0)) == (0, 3)


def test_a_batch_without_records_is_a_barrier() -> None:
    order = RepairedOrder({0: 0, 1: 0}, 0)
    assert processed(order, [Records(0, 0, 1, 0), Barrier(0, 0), *batch(1, 0)]) == ["1.1", "1.2"]


@given(data=st.data(), batches=st.integers(1, 5), sizes=st.lists(st.integers(0, 3), min_size=2, max_size=3))
def test_any_replays_of_prefixes_change_nothing(data: st.DataObject, batches: int, sizes: list[int]) -> None:
    """Streams bring their batches interleaved at random; each may go back to any earlier batch, several times."""
    whole = [[batch(stream, k, size) for k in range(batches)] for stream, size in enumerate(sizes)]
    at = [0] * len(sizes)
    replays = data.draw(st.integers(0, 4))
    messages: list[Message] = []
    while min(at) < batches:
        stream = data.draw(st.sampled_from([s for s, k in enumerate(at) if k < batches]))
        messages += whole[stream][at[stream]]
        at[stream] += 1
        if replays and data.draw(st.booleans()):
            replays -= 1
            back = data.draw(st.integers(0, len(sizes) - 1))
            at[back] = data.draw(st.integers(0, at[back]))
    names = processed(RepairedOrder(dict.fromkeys(range(len(sizes)), 0), 0), messages)
    undisturbed = [message for k in range(batches) for stream in whole for message in stream[k]]
    assert names == [str(r.identities[0]) for r in undisturbed if isinstance(r, Records)]
