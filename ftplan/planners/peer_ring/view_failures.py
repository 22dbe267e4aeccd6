"""What failures do to a peer ring, as tables: which sets lose what, who takes over, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.peer_ring.figure import chance, records
from ftplan.planners.views import SHOWN, capped, whole
from ftplan.reports.answer import Table, cell
from ftplan.reports.numbers import count, is_number

#: Nodes of a set that a table names.
MOST_LISTED_NODES = 6
#: Runs of neighbours that a table names: the shortest ones, and the longest.
MOST_LISTED_RUNS = 6


def findings(plan: Plan) -> list[Table]:
    """Return a table of each thing that the plan says of failures, and that there is anything to say of."""
    tolerance = (plan.plan or {}).get("tolerance")
    known: Mapping[str, Any] = tolerance if isinstance(tolerance, Mapping) else {}
    return [*_tolerance(known), *_fatal(known), *_takeovers(plan), *_lost(plan), *_estimates(plan)]


def percent(value: Any) -> str:
    """Return a share in per cent, a dash where it is unknown."""
    return f"{value:.1%}" if is_number(value) else "–"


def _tolerance(known: Mapping[str, Any]) -> list[Table]:
    """Return which failures are harmless, and how likely a loss is, beside the ring without its tier."""
    shown = {"": known, "without the tier": known.get("without_tier")}
    parts = {text: figures for text, figures in shown.items() if isinstance(figures, Mapping) and figures}
    if not parts:
        return []
    rows = [
        (text, *(say(figures) for figures in parts.values()))
        for text, say in _SAID
        if any(say(figures) != "–" for figures in parts.values())
    ]
    return [Table(("when nodes fail together", *("" if len(parts) == 1 else "with the tier", *list(parts)[1:])), rows)]


def _any(known: Mapping[str, Any]) -> str:
    copies = known.get("copies")
    return f"any {count(copies - 1, 'node')}" if isinstance(copies, int) else "–"


def _best(known: Mapping[str, Any]) -> str:
    best = known.get("best_case") or {}
    low, high = best.get("low"), best.get("high")
    if low is None:
        return "–"
    example = f", such as {_names(best['example'])}" if best.get("example") else ""
    most = cell(low) if low == high else f"{cell(low)} to {cell(high)}"
    return f"{most} nodes{example}"


def _sets(known: Mapping[str, Any]) -> str:
    fatal = known.get("fatal_nodes") or {}
    return f"{count(fatal['count'], 'set')} of {count(fatal['size'], 'node')}" if "count" in fatal else "–"


def _zones(known: Mapping[str, Any]) -> str:
    fatal, one = known.get("fatal_zones") or {}, known.get("one_zone") or {}
    if "size" not in fatal:
        return "–"
    if one.get("harmless"):
        return f"no single one, {count(fatal['count'], 'set')} of {fatal['size']:,}"
    worst = [_names(item.get("zones") or ()) for item in fatal.get("heaviest") or ()]
    more = f" and {fatal['count'] - len(worst):,} more" if fatal["count"] > len(worst) else ""
    return f"{', '.join(worst)}{more} alone"


def _after_one(known: Mapping[str, Any]) -> str:
    after = known.get("after_one_loss") or {}
    if "worst" not in after:
        return "–"
    if not after.get("nodes_that_harm"):
        return "as before, whichever node it was"
    return (
        f"after {after['worst']}: the loss of {count(after['fatal_zones'], 'zone')} loses something, "
        f"{count(after['zone_violations'], 'arc')} with two copies in one zone"
    )


def _likely(known: Mapping[str, Any]) -> str:
    found = known.get("survival") or {}
    value, method = found.get("loss_probability"), found.get("method")
    if not is_number(value):
        return "–"
    low, high = found.get("loss_low"), found.get("loss_high")
    window = f"; a window of {cell(found['window_s'])} s" if is_number(found.get("window_s")) else ""
    range_of = f", between {cell(low)} and {cell(high)}" if method != "exact" and is_number(low) else ""
    return f"{chance(value)} ({cell(value)}{range_of}; {method}{window})"


def _expected(known: Mapping[str, Any]) -> str:
    value = (known.get("survival") or {}).get("expected_lost_bytes")
    return f"{cell(value)} bytes" if is_number(value) else "–"


#: What is said of failures, and how.
_SAID = (
    ("nothing is lost with", _any),
    ("at best with", _best),
    ("something is lost by", _sets),
    ("and by whole zones", _zones),
    ("after one failure is taken over", _after_one),
    ("loss within one repair window", _likely),
    ("lost on average in one", _expected),
)


def _names(names: Sequence[Any]) -> str:
    more = f" and {len(names) - MOST_LISTED_NODES:,} more" if len(names) > MOST_LISTED_NODES else ""
    return ", ".join(map(str, names[:MOST_LISTED_NODES])) + more


def _fatal(known: Mapping[str, Any]) -> list[Table]:
    """Return the sets of nodes and of zones whose loss loses most."""
    rows = []
    for name, part in (("fatal_nodes", "nodes"), ("fatal_zones", "zones")):
        for item in (known.get(name) or {}).get("heaviest") or ():
            odds, listed = item.get("probability"), item.get(part) or ()
            kind = "" if part == "nodes" else "zone " if len(listed) == 1 else "zones "
            what = f"{kind}{_names(listed)}"
            figures = (item.get("key_groups"), whole(item.get("state_bytes")), item.get("load"))
            rows.append((what, *figures, chance(odds) if is_number(odds) else "–"))
    columns = ("heaviest losses: all fail", "key groups", "state, bytes", "load/s", "probability")
    return [capped(columns, rows)] if rows else []


def _takeovers(plan: Plan) -> list[Table]:
    """Return who takes over whose arcs after the failure, what comes of that, and who gets copies.

    Where there are too many for a table, the fullest stand first.
    """
    listed = list(records(plan, "takeovers"))
    if len(listed) > SHOWN:
        listed.sort(key=lambda item: (not item.get("arcs"), -(item.get("utilisation") or 0.0)))
    rows = [
        (
            item.get("node"),
            _names(item.get("run") or ()) or "–",
            item.get("key_groups"),
            percent(item.get("utilisation")),
            _when(item, "ready_s"),
            _when(item, "caught_up_s"),
            item.get("replayed_records"),
            whole(item.get("transfer_bytes")),
            whole(item.get("restore_bytes")),
            _restored(item),
            _follows(item),
        )
        for item in listed
    ]
    columns = (
        "after the failure", "takes over from", "key groups", "utilisation", "served again, s", "caught up, s",
        "records replayed", "state sent, bytes", "copies sent to it", "all there, s", "",
    )  # fmt: skip
    return [capped(columns, rows)] if rows else []


def _follows(item: Mapping[str, Any]) -> str:
    """Say what comes of a take-over that overloads a node."""
    if not item.get("overloaded"):
        return ""
    if item.get("follows") == "balance":
        asked = [str(node) for node in item.get("asks") or ()] or ["a neighbour"]
        return f"overloaded: {asked[0]} takes half" + (f", since {asked[-1]} has room" if len(asked) > 1 else "")
    if item.get("follows") == "nothing":
        return "overloaded: all its load is in one place"
    return "overloaded: scale out" if item.get("follows") else "overloaded"


def _restored(item: Mapping[str, Any]) -> str:
    """Say until when all copies are there again: never where too few nodes are left, unknown with their state."""
    return _or_never(item.get("restored_s")) if item.get("restore_bytes") is not None else "–"


def _when(item: Mapping[str, Any], name: str) -> str:
    return _or_never(item.get(name)) if item.get("arcs") else "–"


def _lost(plan: Plan) -> list[Table]:
    """Return the key groups that the failure loses."""
    rows = [
        (
            f"{item.get('operator')}/{item.get('key_group')}",
            item.get("node"),
            whole(item.get("state_bytes")),
            item.get("load"),
        )
        for item in records(plan, "lost")
    ]
    return [capped(("lost by the failure", "of", "state, bytes", "load/s"), rows)] if rows else []


def _estimates(plan: Plan) -> list[Table]:
    """Return what the ring costs while nothing fails, and the node that is worst off when one does."""
    estimates = (plan.plan or {}).get("estimates")
    known: Mapping[str, Any] = estimates if isinstance(estimates, Mapping) else {}
    rows: list[tuple[str, Any]] = [
        (text, whole(known[name]) if "bytes" in name else known[name])
        for name, text in _ESTIMATES.items()
        if known.get(name) is not None
    ]
    worst = known.get("worst") or {}
    rows += [(text, _worst(name, worst[name])) for name, text in _WORST.items() if worst.get(name)]
    runs = [run for run in known.get("runs") or () if run.get("nodes", 0) > 1]
    for run in runs if len(runs) <= MOST_LISTED_RUNS else [*runs[: MOST_LISTED_RUNS - 1], runs[-1]]:
        ready, caught_up = (_or_never(run.get(name)) for name in _TIMES)
        late = f"{ready}, caught up {caught_up} (by {run.get('taker')})"
        rows.append((f"{run['nodes']} neighbours at once: served again on average, s", late))
    return [Table(("estimates", ""), rows)] if rows else []


_ESTIMATES = {
    "interval_s": "between checkpoints, s",
    "touched_share": "share of the state in one, at most",
    "detection_s": "detection, s",
    "eviction_s": "backups keep older records for, s",
    "records_s": "input, records/s",
    "input_bytes_s": "input, bytes/s",
    "sent_bytes_s": "sent to all copies, bytes/s",
    "checkpoint_bytes_s": "checkpoints, bytes/s",
}
_WORST = {
    "memory_bytes": "most memory as a backup, bytes",
    "ready_at_most_s": "longest until served again, s",
    "caught_up_s": "longest mean time until caught up, s",
    "window_s": "longest until all copies are there again, s",
}
_TIMES = ("ready_s", "caught_up_s")
#: Times that are null where they never end.
_ENDLESS = (*_TIMES, "ready_at_most_s")


def _worst(name: str, item: Mapping[str, Any]) -> str:
    value = item.get("value")
    shown = "unknown" if value is None and name not in _ENDLESS else _or_never(value)
    return f"{shown} ({item.get('node')})"


def _or_never(value: Any) -> str:
    return "never" if value is None else cell(float(value) if value < 1e6 else round(value))
