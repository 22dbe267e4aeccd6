"""Madsen & Zhou's figures 5 and 6, and what their table 3 must have said: one migration, message by message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import repeat

import numpy as np

from ftplan.model.units import MB
from ftplan.planners.rebalance.migration_costs import CPA, CPAL, DIRECT, PROTOCOLS, MigrationSetting, migration_costs
from ftplan.planners.rebalance.problem import Migration
from ftplan.simulation.migration.run import run_moves
from ftplan.simulation.migration.scene import PlannedMove, PlannedMoves, move_settings
from ftplan.simulation.migration.setting import MessageTiming, MoveSetting, RecordTiming
from reproduce.checks import at_most, mean, number, rising
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table
from tests.planners.rebalance.migration_messages import cpa_costs, cpal_costs, direct_costs

#: 8,000 tuples a second over 20 key groups; operator 1 has an instance on each of 20 nodes.
RATE, UPSTREAMS = 8000.0 / 20.0, 20
REPLAYS = (0, 1000, 2000, 4000, 8000, 16000)
STATES_MB = (1, 16, 64)
#: Curves: protocol, state in MB, and whether the new node catches up before it is synchronised.
CURVES = {
    "CPA": (CPA, 1, True),
    "CPAL": (CPAL, 1, True),
    "CPAL as printed": (CPAL, 1, False),
    **{f"direct, {size} MB": (DIRECT, size, True) for size in STATES_MB},
}
#: What is negligible, and how far formulas may be off: this share, and seconds of messages and single records.
NEGLIGIBLE_S, OFF, OFF_S = 0.05, 0.1, 0.05


def setting(replay: int, state_mb: float) -> MigrationSetting:
    """Return what the migrated key group costs to move; arrays of one key group."""
    given = {
        "rate": RATE, "record_time_s": 0.00025, "state_bytes": state_mb * MB, "record_bytes": 100.0,
        "age_s": replay / RATE, "interval_s": 0.0, "bandwidth_mb_s": 50.0, "serialisation_mb_s": 50.0,
        "delay_s": 0.001, "queue_s": 0.002, "restart_s": 0.0, "detection_s": 0.0, "full": 0.0,
    }  # fmt: skip
    return MigrationSetting(**{name: np.array([value]) for name, value in given.items()})


@cache
def measured(quick: bool) -> Table:
    """Return the migration of node 2's key group to node 4 by each curve, means over draws of timing."""
    rows = []
    for name, (protocol, state_mb, catch_up) in CURVES.items():
        for replay in (0, 2000) if quick else REPLAYS:
            costs = migration_costs(cost := setting(replay, state_mb))
            row = PROTOCOLS.index(protocol)
            planned = PlannedMove(0, Migration(0, 4, protocol), 2, 0.0, 0.0, UPSTREAMS, 1)
            moves = PlannedMoves(((planned,),), (0.0,), 0.0, cost, True, replay + 4000, seed=0)
            done = []
            for run in range(1 if quick else 5):
                (move,) = move_settings(moves, (planned,), run)
                done += run_moves([replace(move, catch_up_first=catch_up)])
            latency, completion = (
                mean([getattr(move.figures, column) for move in done]) for column in ("pause_s", "completion_s")
            )
            late = max(move.figures.longest_delay_s for move in done)
            once = not any(move.faults for move in done)
            stated = (float(costs.latency_s[row, 0]), float(costs.completion_s[row, 0]))
            rows.append((name, replay, latency, stated[0], late, completion, stated[1], once))
    columns = (
        "protocol", "replay", "latency_s", "latency_formula_s", "latest_record_s", "completion_s",
        "completion_formula_s", "exactly_once",
    )  # fmt: skip
    return Table(columns, tuple(rows))


def make(column: str, quick: bool) -> Outcome:
    """Return latency or completion time over tuples to replay."""
    table = measured(quick)
    return Outcome(table, lines(table, "replay", [column], "protocol", label="seconds"))


def _rises(column: str, names: tuple[str, ...], table: Table) -> Iterator[Check]:
    for name in names:
        yield rising(name, table.column(column, protocol=name), table.column("replay", protocol=name))


def _negligible(name: str, table: Table) -> Iterator[Check]:
    for replay, latency in zip(
        table.column("replay", protocol=name), table.column("latency_s", protocol=name), strict=True
    ):
        yield at_most(f"{replay} tuples: seconds", latency, NEGLIGIBLE_S)


def _alike(table: Table) -> Iterator[Check]:
    for replay in table.keys("replay"):
        a, b = (table.value("completion_s", protocol=name, replay=replay) for name in ("CPA", "CPAL"))
        most = OFF * max(a, b) + OFF_S
        yield Check(abs(a - b) <= most, f"{replay} tuples: CPA {number(a)} s, CPAL {number(b)} s")


def _faster_than_direct(column: str, table: Table) -> Iterator[Check]:
    for direct in (name for name in table.keys("protocol") if name.startswith("direct")):
        for replay in table.keys("replay"):
            theirs = table.value(column, protocol=direct, replay=replay)
            for name in ("CPA", "CPAL"):
                ours = table.value(column, protocol=name, replay=replay)
                sign = "<" if ours < theirs else ">="
                yield Check(
                    ours < theirs, f"{replay} tuples: {name} {number(ours)} {sign} {number(theirs)} s, {direct}"
                )


def _flat(column: str, table: Table) -> Iterator[Check]:
    last = 0.0
    for direct in (name for name in table.keys("protocol") if name.startswith("direct")):
        values = table.column(column, protocol=direct)
        apart = max(values) - min(values)
        yield Check(apart <= OFF * max(values) + OFF_S and min(values) > last, f"{direct}: {number(mean(values))} s")
        last = max(values)


def _exactly_once(table: Table) -> Iterator[Check]:
    for row in table.rows:
        yield Check(row[-1] is True, f"{row[0]}, {row[1]} tuples: {'yes' if row[-1] is True else 'no'}")


def _as_formulas_say(column: str, table: Table) -> Iterator[Check]:
    for row in table.rows:
        name, replay = row[:2]
        if name == "CPAL as printed":
            continue
        got, stated = (table.value(c, protocol=name, replay=replay) for c in (column, column[:-2] + "_formula_s"))
        yield Check(
            abs(got - stated) <= OFF * stated + OFF_S, f"{name}, {replay} tuples: {number(got)} of {number(stated)} s"
        )


def make_table_3(quick: bool) -> Outcome:
    """Return latency and completion in the paper's units: buffers of equal and of different sizes, nothing comes in."""
    rows = []
    for record_time in (0.1, 1.0):
        for buffers in ((40,), (40,) * 4, (10, 20, 30, 40)):
            for queue in (0.0, 5.0) if quick else (0.0, 5.0, 50.0):
                costs = {
                    CPA: cpa_costs(buffers, record_time),
                    CPAL: cpal_costs(buffers, record_time, queue),
                    DIRECT: direct_costs(500.0),
                }
                for protocol, stated in costs.items():
                    (move,) = run_moves([_in_messages(protocol, buffers, record_time, queue)], shared_links=False)
                    text = "+".join(map(str, buffers))
                    got = (move.figures.pause_s, move.figures.completion_s)
                    rows.append((protocol, record_time, text, queue, got[0], stated.latency, got[1], stated.completion))
    columns = (
        "protocol", "gamma", "buffers", "C", "latency", "latency_formula", "completion", "completion_formula",
    )  # fmt: skip
    table = Table(columns, tuple(rows))
    return Outcome(table, lines(table, "completion_formula", ["completion"], "protocol", label="small messages"))


def _in_messages(protocol: str, buffers: tuple[int, ...], record_time: float, queue: float) -> MoveSetting:
    """Return a move whose buffers are full and to which nothing comes any more, in units of a small message."""

    def records(upstream: int) -> Iterator[RecordTiming]:
        yield from repeat(RecordTiming(0.1, 1.0, queue), buffers[upstream])

    return MoveSetting(
        protocol, 2, 4, len(buffers), records, lambda: MessageTiming(1.0, queue), record_time, 1.0, 500.0, age_s=2000.0,
        bytes_s=1.0,
    )  # fmt: skip


def _bounded(column: str, small: float, table: Table) -> Iterator[Check]:
    """Yield whether a formula is an upper bound, up to so many small messages that it leaves out.

    A migration is not complete before the old node has its last normal message, 1 + C.
    """
    at, formula = (table.columns.index(name) for name in (column, f"{column}_formula"))
    for row in table.rows:
        name = f"{row[0]}, buffers {row[2]}, gamma {row[1]:g}, C {row[3]:g}"
        bound = max(row[formula], 1.0 + row[3]) if column == "completion" else row[formula]
        yield Check(0.0 <= row[at] <= bound + small, f"{name}: {number(row[at])} of {number(row[formula])}")


def _exact(table: Table) -> Iterator[Check]:
    """Yield whether CPA with buffers of one size takes what the formula says, and the message that carries data."""
    for row in table.rows:
        if row[0] == CPA and len(set(row[2].split("+"))) == 1:
            yield Check(abs(row[4] - row[5] - 1.0) < 1e-6, f"{row[2]}, gamma {row[1]:g}: {number(row[4])}")


ASSUMED = (
    "operator 1 sends on each tuple; a tuple takes 0.25 ms and 100 bytes; transfers and serialisation at 50 MB/s; a "
    "message takes 0.5 to 1.5 ms and waits up to 2 ms; 5 draws of arrivals, delays and waiting; sizes of states and "
    "replays are ours"
)
PRINTED = (
    "In CPAL the new node works off what waits there before it is synchronised; as printed, algorithm 2 has it "
    "synchronised right after the replay, when what came in meanwhile still waits"
)
ROWS = (
    Row(
        "migration-table-3",
        "Madsen2015",
        "table 3, algorithms 1 and 2",
        "latency and completion time in messages",
        make_table_3,
        (
            Claim(
                "latencies are bounded by the cost model",
                "section 4, analysis of the protocols",
                "simulated latency is at most the formula's and three small messages",
                partial(_bounded, "latency", 3.0),
            ),
            Claim(
                "so are completion times",
                "section 4, analysis of the protocols",
                "the same of completion, or of the old node's 1 + C where that is longer, and the controller's order",
                lambda t: _bounded("completion", 4.0, t),
            ),
            Claim(
                "CPA takes the longest transfer and the sum of what the new node works off",
                "section 4, analysis of CPA",
                "exactly so where all buffers are equal, and one small message that carries them",
                _exact,
            ),
        ),
        "formulas as in tests/planners/rebalance/migration_messages.py: those of the table are lost in print, and "
        "follow from the listings; buffers are sent on links of their own",
    ),
    Row(
        "migration-figure-5",
        "Madsen2015",
        "figure 5",
        "latency of a migration by tuples to replay",
        partial(make, "latency_s"),
        (
            Claim(
                "the latency of CPA depends on the data to replay",
                "section 7.1",
                "it is longer for each larger replay",
                partial(_rises, "latency_s", ("CPA",)),
            ),
            Claim(
                "CPAL does not depend on it, and has negligible latency",
                "section 7.1",
                f"at most {NEGLIGIBLE_S:g} s at each replay",
                partial(_negligible, "CPAL"),
            ),
            Claim(
                "algorithm 2 as printed has a latency that is independent of the replay",
                "section 4",
                f"at most {NEGLIGIBLE_S:g} s at each replay",
                partial(_negligible, "CPAL as printed"),
            ),
            Claim(
                "both outperform direct migration, above all where states are large and replays small",
                "section 7.1",
                "a shorter latency than direct with each state at each replay",
                partial(_faster_than_direct, "latency_s"),
            ),
            Claim(
                "direct migration depends on the size of the state, not on the replay",
                "section 4",
                "longer for larger states, and alike at all replays",
                partial(_flat, "latency_s"),
            ),
            Claim(
                "migrations inherit exactly-once processing",
                "section 4",
                "in all runs each record counts once and in order",
                _exactly_once,
            ),
            Claim(
                "the cost model says how long a group is paused",
                "section 4; here in seconds",
                f"within {OFF:.0%} and {OFF_S:g} s of the formula at each point, but for CPAL as printed",
                partial(_as_formulas_say, "latency_s"),
            ),
        ),
        f"{ASSUMED}. {PRINTED}",
    ),
    Row(
        "migration-figure-6",
        "Madsen2015",
        "figure 6",
        "completion time of a migration by tuples to replay",
        partial(make, "completion_s"),
        (
            Claim(
                "CPA and CPAL have similar completion times",
                "section 7.1",
                f"within {OFF:.0%} and {OFF_S:g} s of each other at each replay",
                _alike,
            ),
            Claim(
                "they depend on the data to replay",
                "section 7.1",
                "longer for each larger replay, both",
                partial(_rises, "completion_s", ("CPA", "CPAL")),
            ),
            Claim(
                "both outperform direct migration, above all where states are large and replays small",
                "section 7.1",
                "a shorter completion time than direct with each state at each replay",
                partial(_faster_than_direct, "completion_s"),
            ),
            Claim(
                "the cost model says how long a migration takes",
                "section 4; here in seconds",
                f"within {OFF:.0%} and {OFF_S:g} s of the formula at each point, but for CPAL as printed",
                partial(_as_formulas_say, "completion_s"),
            ),
        ),
        f"{ASSUMED}. {PRINTED}",
    ),
)
