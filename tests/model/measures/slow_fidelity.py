"""Rates and output fidelity as the rules say them: plain dictionaries, one substream at a time."""

from __future__ import annotations

from collections import defaultdict

from ftplan.model.topology import Topology

Task = tuple[int, int]
Substream = tuple[Task, Task, float]


def slow_rates(topology: Topology) -> tuple[dict[Task, float], dict[Task, float], list[Substream]]:
    """Return rate_out and input rate by (operator position, index), and all substreams."""
    out: dict[Task, float] = {}
    into: dict[Task, float] = defaultdict(float)
    streams: list[Substream] = []
    waiting = set(range(len(topology.operators)))
    while waiting:
        i = min(i for i in waiting if not any(e.target == i and e.source in waiting for e in topology.edges))
        waiting.remove(i)
        operator = topology.operators[i]
        leaving = [e for e in topology.edges if e.source == i]
        for task in range(operator.parallelism):
            tables = [e.substreams for e in leaving if e.substreams is not None]
            measured = [
                sum(float(rate) for sender, rate in zip(t.from_index, t.rate, strict=True) if sender == task)
                for t in tables
            ]
            if operator.rate_out is not None:
                out[i, task] = float(operator.rate_out[task])
            elif measured:
                out[i, task] = max(measured)
            elif any(e.target == i for e in topology.edges):
                out[i, task] = operator.selectivity * into[i, task]
            else:
                out[i, task] = 1.0
        for e in leaving:
            receivers = topology.operators[e.target].parallelism
            new: list[Substream] = []
            if e.substreams is not None:
                columns = (e.substreams.from_index, e.substreams.to_index, e.substreams.rate)
                new = [((i, int(a)), (e.target, int(b)), float(r)) for a, b, r in zip(*columns, strict=True)]
                if e.partitioning is not None:
                    listed = {(a, b) for (_, a), (_, b), _ in new}
                    for a in range(operator.parallelism):
                        for b in range(receivers):
                            if _meet(e.partitioning, a, b, operator.parallelism, receivers) and (a, b) not in listed:
                                new.append(((i, a), (e.target, b), 0.0))
            else:
                for task in range(operator.parallelism):
                    reached = [
                        j for j in range(receivers) if _meet(e.partitioning, task, j, operator.parallelism, receivers)
                    ]
                    share = topology.operators[e.target].input_share
                    weight = [1.0 if share is None else float(share[j]) for j in reached]
                    if sum(weight) == 0.0:
                        weight = [1.0] * len(reached)
                    for j, w in zip(reached, weight, strict=True):
                        new.append(((i, task), (e.target, j), out[i, task] * w / sum(weight)))
            for _, receiver, rate in new:
                into[receiver] += rate
            streams += new
    return out, into, streams


def _meet(partitioning: str | None, i: int, j: int, senders: int, receivers: int) -> bool:
    if partitioning == "full":
        return True
    if senders >= receivers:
        return i * receivers // senders == j
    return j * senders // receivers == i


def slow_losses(topology: Topology, live: dict[Task, bool]) -> dict[Task, float]:
    """Return the loss of every task by recursion."""
    _, _, streams = slow_rates(topology)
    entering: dict[Task, dict[int, list[Substream]]] = defaultdict(lambda: defaultdict(list))
    for stream in streams:
        entering[stream[1]][stream[0][0]].append(stream)
    known: dict[Task, float] = {}

    def mean(pairs: list[tuple[float, float]]) -> float:
        total = sum(weight for weight, _ in pairs)
        if total == 0.0:
            return sum(loss for _, loss in pairs) / len(pairs)
        return sum(weight * loss for weight, loss in pairs) / total

    def loss(task: Task) -> float:
        if task not in known:
            inputs = [[(rate, loss(sender)) for sender, _, rate in part] for part in entering[task].values()]
            if not live[task]:
                known[task] = 1.0
            elif not inputs:
                known[task] = 0.0
            elif topology.operators[task[0]].inputs == "correlated":
                kept = 1.0
                for part in inputs:
                    kept *= 1.0 - mean(part)
                known[task] = 1.0 - kept
            else:
                known[task] = mean([(sum(rate for rate, _ in part), mean(part)) for part in inputs])
        return known[task]

    return {task: loss(task) for task in live}


def slow_fidelity(topology: Topology, live: dict[Task, bool]) -> float:
    """Return the output fidelity."""
    out, into, _ = slow_rates(topology)
    outputs = [(i, k) for i, o in enumerate(topology.operators) if o.output for k in range(o.parallelism)]
    if not outputs:
        return 1.0
    losses = slow_losses(topology, live)
    for rate in (out, into, dict.fromkeys(outputs, 1.0)):
        total = sum(rate[task] for task in outputs)
        if total > 0.0:
            return 1.0 - sum(rate[task] * losses[task] for task in outputs) / total
    raise AssertionError
