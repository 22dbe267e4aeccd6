"""Which replicas do anything: the others are dropped, which changes no score."""

from __future__ import annotations

import numpy as np

from ftplan.metrics.fidelity import FidelityModel, Level
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray


def needed(model: FidelityModel, live: BoolArray) -> BoolArray:
    """Return the live tasks that are in a complete MC-tree of live tasks which reaches an output with some weight.

    A task has such a tree upstream where some of its output is intact. From the outputs backwards, what feeds a task
    of a complete tree and is itself intact is in one too. Linear in tasks and substreams; full edges count their tasks.
    """
    intact = model.intact(live) > 0.0
    found = np.zeros(len(live), dtype=np.bool_)
    found[model.outputs[model.weight > 0.0]] = True
    found &= intact
    for level in reversed(model.levels):
        _add_senders(level, found, intact)
    return found


def _add_senders(level: Level, found: BoolArray, intact: BoolArray) -> None:
    """Add the intact tasks that feed a found task of a level with some weight."""
    owner = np.repeat(level.task, np.diff(np.append(level.first, level.slots)))
    wanted = found[owner]
    _add(found, intact, level.sender, wanted[level.slot], level.weight)
    if level.gatherings:
        gathering = np.zeros(level.gatherings, dtype=np.bool_)
        gathering[level.spread[wanted[level.spread_slot] & (level.spread_weight > 0.0)]] = True
        _add(found, intact, level.gathered, gathering[level.gathering], level.gather_weight)


def _add(found: BoolArray, intact: BoolArray, sender: np.ndarray, wanted: BoolArray, weight: FloatArray) -> None:
    senders = sender[wanted & (weight > 0.0)]
    found[senders[intact[senders]]] = True
