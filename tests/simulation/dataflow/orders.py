"""Random orders to a plane: failures, starts, stalls and the rest, as they are decided on when their time comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from ftplan.simulation.dataflow.compiled import CompiledPlane
from ftplan.simulation.dataflow.job import FlowOptions, StreamJob
from tests.simulation.jobs import jobs

NODES = 3


class Order(NamedTuple):
    """What to do at a time; it holds for those of the *tasks* that it can be meant for then."""

    at_s: float
    what: str
    tasks: tuple[int, ...]
    node: int
    factor: float


class Case(NamedTuple):
    """A job on nodes with so many cores, and orders to it."""

    job: StreamJob
    options: FlowOptions
    cores: tuple[float, ...]
    home: tuple[int, ...]
    orders: tuple[Order, ...]
    until_s: float


def carry_out(plane: CompiledPlane, order: Order) -> None:
    """Carry out an order."""
    processed = plane.processed()
    down = [task for task in order.tasks if processed[task] < 0]
    match order.what:
        case "start":
            for task in down:
                plane.start(task, order.node, plane.own_checkpoint(task))
        case "start all":
            for task in np.flatnonzero(processed < 0).tolist():
                plane.start(task, order.node, plane.own_checkpoint(task))
        case "roll back":
            plane.roll_back(order.tasks, plane.complete())
        case "roll back all":
            plane.roll_back(np.flatnonzero(processed >= 0).tolist(), plane.complete())
            plane.buffer(True)
        case "move":
            plane.move(order.tasks[0], order.node)
        case "pace":
            plane.pace(order.tasks, order.factor)
        case "buffer" | "batch mode":
            (plane.buffer if order.what == "buffer" else plane.batch_mode)(order.factor > 0.5)
        case _:
            {"stop": plane.stop, "stall": plane.stall, "resume": plane.resume}[order.what](order.tasks)


def play(plane: CompiledPlane, case: Case) -> list[list[int]]:
    """Carry out all orders; return what tasks had processed at the time of each, and at the end."""
    for cores in case.cores:
        plane.add_node(cores)
    for task, node in enumerate(case.home):
        plane.start(task, node, 0)
    seen = []
    for order in case.orders:
        plane.advance(order.at_s)
        seen.append(plane.processed().tolist())
        carry_out(plane, order)
    plane.advance(case.until_s)
    return [*seen, plane.processed().tolist()]


WHAT = ("stop", "stop", "start", "start", "start all", "roll back all", "roll back", "stall", "resume", "move", "pace")


@st.composite
def cases(draw: st.DrawFn, what: Sequence[str] = (*WHAT, "buffer", "batch mode")) -> Case:
    """Draw a case. Orders come at odd times, so that no rounding decides what comes first."""
    job = draw(jobs())
    optional = st.booleans()
    options = FlowOptions(
        delay_s=draw(st.sampled_from([0.001, 0.03, 0.25])),
        queue_batches=draw(st.sampled_from([1, 2, 10])),
        checkpoint_s=draw(st.sampled_from([0.2, 0.5, 1.0, np.inf])),
        coordinated=draw(optional),
        phase=np.array(draw(st.lists(st.integers(0, 4), min_size=job.tasks, max_size=job.tasks))),
        bin_s=draw(st.sampled_from([0.1, 0.25, 1.0])),
    )
    gaps = draw(st.lists(st.integers(0, 12), min_size=1, max_size=12))
    tasks = st.lists(st.integers(0, job.tasks - 1), min_size=1, max_size=job.tasks, unique=True).map(tuple)
    orders = tuple(
        Order(
            0.0137 + 0.05 * at,
            draw(st.sampled_from(list(what))),
            draw(tasks),
            draw(st.integers(0, NODES - 1)),
            draw(st.sampled_from([0.3, 0.5, 1.0])),
        )
        for at in np.cumsum(gaps).tolist()
    )
    cores = tuple(draw(st.lists(st.sampled_from([0.7, 1.0, 2.5]), min_size=NODES, max_size=NODES)))
    home = tuple(draw(st.lists(st.integers(0, NODES - 1), min_size=job.tasks, max_size=job.tasks)))
    return Case(job, options, cores, home, orders, orders[-1].at_s + draw(st.sampled_from([0.2, 1.1, 3.0])))
