"""Whether every record counts: the copies of the owners against what mappers sent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.simulation.ring.world import World


class Audit(NamedTuple):
    """What became of all records; shapes (M,) by position, in records.

    Attributes
    ----------
    sent
        By mappers.
    lost
        Counted nowhere, though a copy should have been left.
    excused
        Counted nowhere, since all who had a copy failed.
    twice
        Counted again, each further time.
    unsound
        Whether a backup, which should be able to, could not take the position over without a loss.
    """

    sent: FloatArray
    lost: FloatArray
    excused: FloatArray
    twice: FloatArray
    unsound: BoolArray


def audited(world: World, records: FloatArray) -> Audit:
    """Return what became of all records when everything has been processed.

    Parameters
    ----------
    records
        (M, batches) records of each batch.
    """
    positions, batches = records.shape
    counts = np.zeros((positions, batches), dtype=np.int64)
    for node, peer in enumerate(world.peers):
        at = np.flatnonzero(peer.owns & (world.owner == node))
        counts[at] = world.copies.applied[peer.holdings.row[at]]
        for batch in peer.waiting():
            counts[batch.part.at, batch.number] += 1
    missing = np.where(counts == 0, records, 0.0)
    excused = _excused(world, batches)
    return Audit(
        sent=records.sum(axis=1),
        lost=np.where(excused, 0.0, missing).sum(axis=1),
        excused=np.where(excused, missing, 0.0).sum(axis=1),
        twice=(np.maximum(counts - 1, 0) * records).sum(axis=1),
        unsound=_unsound(world, records, excused),
    )


def _excused(world: World, batches: int) -> BoolArray:
    """Return which batches of which position may be gone: sent before records counted again."""
    never_again = np.isfinite(world.fails_s) & ~np.isfinite(world.again_s)
    again_s = np.where(never_again, np.inf, world.again_s)
    gone = np.isfinite(world.fails_s)[:, None] & (world.emitted_s[None, :batches] <= again_s[:, None])
    return np.asarray(gone)


def _unsound(world: World, records: FloatArray, excused: BoolArray) -> BoolArray:
    """Return the positions of which a copy that is called sound, and what is kept beside it, lack records."""
    wrong = np.zeros(len(records), dtype=np.bool_)
    for peer in world.peers:
        at = np.flatnonzero(peer.backs & peer.holdings.sound)
        if not peer.alive or not at.size:
            continue
        there = np.zeros(records.shape, dtype=np.bool_)
        there[at] = world.copies.applied[peer.holdings.row[at]] > 0
        for batch in peer.kept:
            there[batch.part.at, batch.number] = True
        wrong[at] |= ((records[at] > 0.0) & ~there[at] & ~excused[at]).any(axis=1)
    return wrong
