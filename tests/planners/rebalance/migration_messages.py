"""What moving a key group costs in messages, as [Madsen2015], section 4, counts.

The unit is the time of one small message. By table 2 a fast message takes 1, a normal one 1 + C, where the constant C
bounds how long it waits in the receiver's input queue; with data a fast message takes its size, a normal one its size
+ C. Upstream instance j holds beta_j messages for the group in its output buffer; the new node takes gamma for one.
What table 3 says is lost in print; the formulas here follow from the listings and the text around them:

- CPA (algorithm 1). All upstream instances send their buffers at one time, as fast messages with data: the last is
  there after max_j beta_j. The new node works them off one after another: gamma beta_j each. The old node's part,
  1 + C, runs beside it. The group is paused all the while: latency = completion = max_j beta_j + sum_j gamma beta_j.
- CPAL (algorithm 2). The buffers are normal messages: max_j (beta_j + C) until all are there, sum_j gamma beta_j to
  replay them, 1 to say so (fast), 1 + C until the new node has all syncGroup messages (normal), and B for what it put
  aside from the first of them to the last. Until the first the old node works on: latency = C + B at most, since two
  syncGroup messages that are sent at one time come at most C apart.
- Direct. The old node stops, and sends its state: as much as its size, small messages left out. The buffers are empty
  then, so that what follows as in CPA takes next to nothing.

The order of the controller is left out, since all protocols have it; so are records that come in meanwhile: see
:mod:`ftplan.planners.rebalance.migration_costs`, which counts seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class MessageCosts(NamedTuple):
    """How long a key group is paused, and until it is moved, in units of one small message."""

    latency: float
    completion: float


def message_time(queue: float = 0.0, *, size: float | None = None, fast: bool = False) -> float:
    """Return from when a message is sent until it is seen (table 2); *size* is that of its data, None for none."""
    return (1.0 if size is None else size) + (0.0 if fast else queue)


def cpa_costs(buffers: Sequence[float], record_time: float) -> MessageCosts:
    """Return what CPA costs.

    Parameters
    ----------
    buffers
        Messages for the group in the output buffer of each upstream instance: beta_j, shape (J,).
    record_time
        Time that the new node takes for one of them: gamma.
    """
    sent = max((message_time(size=size, fast=True) for size in buffers), default=0.0)
    both = sent + record_time * sum(buffers)
    return MessageCosts(both, both)


def cpal_costs(buffers: Sequence[float], record_time: float, queue: float, held: float = 0.0) -> MessageCosts:
    """Return what CPAL costs at most.

    Parameters
    ----------
    buffers, record_time
        As for :func:`cpa_costs`.
    queue
        Longest wait in an input queue: C.
    held
        Work on the records that are put aside while the nodes are synchronised: B.
    """
    sent = max((message_time(queue, size=size) for size in buffers), default=0.0)
    synchronised = message_time(fast=True) + message_time(queue)
    return MessageCosts(queue + held, sent + record_time * sum(buffers) + synchronised + held)


def direct_costs(state: float) -> MessageCosts:
    """Return what a direct migration costs; *state* is the size of the state, in messages."""
    both = message_time(size=state, fast=True)
    return MessageCosts(both, both)
