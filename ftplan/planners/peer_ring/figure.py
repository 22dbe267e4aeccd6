"""A peer ring: who owns which arc in which zone, how even load is, and how likely data is lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.reports.charts import ROWS, Bar, bars
from ftplan.reports.drawing import Drawing, Figure, Line, Point, Shape, Text, figure, fitted, text_width
from ftplan.reports.numbers import count, figures_in, is_number, number, size
from ftplan.reports.palette import STEPS, step_style
from ftplan.reports.plan_figures import Highlight

#: Most arcs that can be told apart, the widest drawing, and the room for the highest load, in pixels.
ARCS, WIDEST, REACH = 400, 560.0, 46.0
#: The widest name beside the circle, the width of the band of zones, and what lies between two names.
_NAME, _BAND, _LINE = 110.0, 20.0, 14.0


@dataclass(frozen=True)
class Arc:
    """An arc from one token up to the next."""

    #: ``begin``, ``end``: on the circle, in [0, 1); an end at or before the begin goes over 0
    begin: float
    end: float
    name: str
    style: str
    title: str
    level: float | None = None  # load over the fair share, None where unknown

    @property
    def length(self) -> float:
        """Share of the circle; one arc alone is all of it."""
        return (self.end - self.begin) % 1.0 or 1.0

    @property
    def middle(self) -> float:
        """Half way from begin to end."""
        return (self.begin + self.length / 2) % 1.0


def ring(arcs: Sequence[Arc], width: float) -> Drawing:
    """Return the circle with 0 on top and positions growing clockwise; at most :data:`ARCS` arcs."""
    width = min(width, WIDEST)
    names = min(max(text_width(arc.name) for arc in arcs) + 8, _NAME)
    levels = [arc.level for arc in arcs if arc.level is not None]
    reach = REACH if levels else 0.0
    radius = min(150.0, width / 2 - names - reach - _BAND)
    outer = radius + _BAND
    centre = (width / 2, outer + reach + _LINE + 4)
    shapes: list[Shape] = []
    highest = max([*levels, 1.0])
    for arc in arcs:
        shapes.append(Line(_sector(centre, radius, outer, arc), arc.style, title=arc.title))
        if arc.level:
            style = "value" if arc.level <= 1.0 + 1e-9 else "other"
            top = outer + 3 + (reach - 3) * arc.level / highest
            shapes.append(Line(_sector(centre, outer + 3, top, arc), style, title=arc.title))
    if levels:
        shapes.append(Line(_round(centre, outer + 3 + (reach - 3) / highest, 0.0, 1.0), "limit-line"))
    shapes += _names(arcs, centre, outer + reach + 6, names - 4)
    shapes += [Text(centre[0], centre[1] - radius + 16, "0", "small", "middle")]
    shapes += [Text(centre[0], centre[1] + radius - 8, "0.5", "small", "middle")]
    return Drawing(width, centre[1] + outer + reach + _LINE + 6, tuple(shapes))


def _at(centre: Point, radius: float, position: float) -> Point:
    angle = 2.0 * math.pi * position
    return centre[0] + radius * math.sin(angle), centre[1] - radius * math.cos(angle)


def _round(centre: Point, radius: float, begin: float, length: float) -> tuple[Point, ...]:
    """Return points along a stretch of a circle, at most three degrees apart."""
    steps = max(1, math.ceil(length * 120))
    return tuple(_at(centre, radius, begin + length * k / steps) for k in range(steps + 1))


def _sector(centre: Point, inner: float, outer: float, arc: Arc) -> tuple[Point, ...]:
    """Return the outline of a piece of a ring."""
    far = _round(centre, outer, arc.begin, arc.length)
    near = _round(centre, inner, arc.begin, arc.length)
    return (*far, *reversed(near), far[0])


def _names(arcs: Sequence[Arc], centre: Point, radius: float, room: float) -> list[Shape]:
    """Return the names that fit beside the circle, one line apart on each side, in the order of the arcs."""
    shapes: list[Shape] = []
    taken: dict[bool, list[float]] = {True: [], False: []}
    for arc in arcs:
        x, y = _at(centre, radius, arc.middle)
        right = arc.middle < 0.5
        if all(abs(y - other) >= _LINE for other in taken[right]):
            taken[right].append(y)
            shapes.append(Text(x, y + 4, fitted(arc.name, room), "label", "start" if right else "end"))
    return shapes


BEFORE = "the ring in place"
#: Rings that a plan is held against, by what the summary calls them.
OTHERS = {"before": "ring in place", "random": "random tokens", "virtual_nodes": "virtual nodes"}


def tokens(plan: Plan, name: str = "ring") -> Sequence[Mapping[str, Any]]:
    """Return the tokens of a ring in a plan that can be drawn, in ascending order."""
    valid = [item for item in records(plan, name) if is_number(item.get("token")) and 0.0 <= item["token"] < 1.0]
    return sorted(valid, key=lambda item: (item["token"], str(item.get("node"))))


def records(plan: Plan, name: str) -> Sequence[Mapping[str, Any]]:
    """Return what the body lists under a name; nothing where it is no list of records."""
    listed = (plan.plan or {}).get(name)
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, Sequence) else []


def nodes(plan: Plan) -> Sequence[Mapping[str, Any]]:
    """Return what the summary says of each node; where it says nothing, what its tokens add up to."""
    listed = plan.summary.get("nodes")
    if isinstance(listed, Sequence) and listed:
        return [item for item in listed if isinstance(item, Mapping) and "node" in item]
    found: dict[str, dict[str, Any]] = {}
    for item in tokens(plan):
        node = found.setdefault(
            str(item.get("node")), {"node": item.get("node"), "zone": item.get("zone"), "tokens": 0}
        )
        node["tokens"] += 1
        for name in ("load", "key_groups", "state_bytes"):
            if is_number(item.get(name)):
                node[name] = node.get(name, 0) + item[name]
    return [found[name] for name in sorted(found, key=natural_key)]


def failed(plan: Plan) -> set[str]:
    """Return the nodes that fail: as the summary says, else those that have no token afterwards."""
    failure = plan.summary.get("failure")
    listed = failure.get("nodes") if isinstance(failure, Mapping) else None
    if isinstance(listed, list):
        return set(map(str, listed))
    if not isinstance((plan.plan or {}).get("after_failure"), Sequence):
        return set()
    left = {str(item.get("node")) for item in tokens(plan, "after_failure")}
    return {str(item.get("node")) for item in tokens(plan)} - left


def sent(plan: Plan, events: Sequence[str] = ("re-plan", "balance", "scale-out", "scale-in")) -> float | None:
    """Return the bytes that travel for the moves of some events, None where a move does not say."""
    moves = [move for move in records(plan, "moves") if move.get("event") in events]
    stated = [move.get(name) for move in moves for name in ("transfer_bytes", "rereplicate_bytes")]
    known = [value for value in stated if is_number(value)]
    return float(sum(known)) if len(known) == len(stated) else None


def losses(plan: Plan) -> dict[str, float]:
    """Return how likely data is lost in one repair window: by this ring, without its tier, and by other rings."""
    tolerance = (plan.plan or {}).get("tolerance")
    known = tolerance if isinstance(tolerance, Mapping) else {}
    without = known.get("without_tier")
    parts = {
        "this plan": known.get("survival"),
        "without the tier": without.get("survival") if isinstance(without, Mapping) else None,
        **{text: plan.summary.get(name) for name, text in OTHERS.items()},
    }
    stated = {text: figures_in(part).get("loss_probability") for text, part in parts.items()}
    return {text: value for text, value in stated.items() if value is not None and 0.0 <= value <= 1.0}


def lead(plan: Plan) -> Sequence[str]:
    """Return how many nodes stand on the ring, how even it is, where copies lie, and what moves."""
    listed, after = tokens(plan), figures_in(plan.summary.get("after"))
    many = len({item.get("node") for item in listed})
    each = "" if len(listed) == many else f" with {count(len(listed), 'token')} in all"
    said = [f"{count(many, 'node')} {'stands' if many == 1 else 'stand'} on the ring{each}."]
    objective = plan.objective
    if objective is not None and is_number(objective.value):
        least = ""
        if is_number(objective.bound):
            best = objective.value - objective.bound <= 1e-9 * objective.value
            enough = plan.options.get("target_load") is not None
            least = (
                f"; none {'that moves as few bytes ' if enough else ''}can do better"
                if best
                else f"; at best {number(objective.bound)}"
            )
        said.append(f"The most loaded one has {number(objective.value)} times its fair share{least}.")
    violations = after.get("zone_violations")
    if violations == 0:
        said.append("All copies of a key group lie in different zones.")
    elif violations is not None:
        lost = int(after.get("zone_losses") or 0)
        alone = f"one zone alone destroys {lost:,} of them" if lost else "no zone alone destroys any"
        said.append(f"{count(int(violations), 'arc')} of {len(listed):,} have two copies in one zone; {alone}.")
    travel = sent(plan)
    if travel:
        said.append(f"{size(travel)} travel.")
    gone = sorted(failed(plan), key=natural_key)
    if gone:
        shown = ", ".join(gone[:6]) + (f" and {len(gone) - 6:,} more" if len(gone) > 6 else "")
        groups = len(records(plan, "lost"))
        what = f"{count(groups, 'key group')} {'is' if groups == 1 else 'are'} lost" if groups else "nothing is lost"
        said.append(f"If {shown} {'fails' if len(gone) == 1 else 'fail'}, {what}.")
    return said


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return load, survival and bytes."""
    summary = plan.summary
    after = figures_in(summary.get("after"))
    listed = [Highlight("Nodes on the ring", number(len({item.get("node") for item in tokens(plan)})))]
    if "largest_load" in after:
        others = [
            f"{text}: {number(figures_in(summary.get(name))['largest_load'])}"
            for name, text in OTHERS.items()
            if "largest_load" in figures_in(summary.get(name))
        ]
        listed.append(Highlight("Largest load, of the fair share", number(after["largest_load"]), ", ".join(others)))
    if after.get("zone_violations") is not None:
        listed.append(Highlight("Arcs with two copies in one zone", number(after["zone_violations"])))
    likely = losses(plan)
    if "this plan" in likely:
        others = [f"{text}: {chance(value)}" for text, value in likely.items() if text != "this plan"]
        listed.append(Highlight("Loss in one repair window", chance(likely["this plan"]), ", ".join(others)))
    travel = sent(plan)
    if travel is not None and records(plan, "moves"):
        listed.append(Highlight("Sent", size(travel)))
    if failed(plan):
        listed.append(Highlight("Key groups lost", number(len(records(plan, "lost")))))
    return listed


def chance(value: float) -> str:
    """Return a probability as one in so many, where it is small."""
    return "none" if value == 0.0 else f"1 in {number(float(f'{1.0 / value:.3g}'))}" if value < 0.1 else number(value)


def figures(plan: Plan) -> Sequence[Figure]:
    """Return the ring, the ring after the failure, load by node, and how likely data is lost."""
    gone = failed(plan)
    made = [_ring(plan, "ring", "The ring", gone), _load(plan, gone)]
    if gone:
        made.append(_ring(plan, "after_failure", "The ring after the failure", set()))
    made.append(_losses(plan))
    return [item for item in made if item is not None]


def _ring(plan: Plan, name: str, title: str, gone: set[str]) -> Figure | None:
    listed = tokens(plan, name)
    if not listed or len(listed) > ARCS:
        return None
    zones = sorted({str(item["zone"]) for item in listed if item.get("zone") is not None}, key=natural_key)
    style_of = {zone: step_style(k % STEPS) for k, zone in enumerate(zones)}
    share = _shares(plan) if name == "ring" and len(listed) == len(nodes(plan)) else {}
    arcs = []
    for k, item in enumerate(listed):
        node, zone = str(item.get("node")), item.get("zone")
        style = "down" if node in gone else style_of.get(str(zone), "live")
        after = listed[(k + 1) % len(listed)]["token"]
        arcs.append(Arc(item["token"], after, node, style, _told(item, after), share.get(node)))
    key = [(style_of[zone], "", f"zone {zone}") for zone in zones[:STEPS]]
    key += [("down", "", "fails")] if gone else []
    if share:
        key += [("value", "", "load up to the fair share"), ("other", "", "more")]
        key += [("line:limit-line", "", "fair share")]
    said = "Clockwise from 0 on top; an arc belongs to the node at its begin, its copies to the nodes that follow."
    return figure(title, said, lambda width: ring(arcs, width), key=tuple(key))


def _told(item: Mapping[str, Any], after: float) -> str:
    parts = [f"{item.get('node')}: {number(float(item['token']))} to {number(float(after))}"]
    parts += [f"zone {item['zone']}"] if item.get("zone") is not None else []
    parts += [count(item["key_groups"], "key group")] if isinstance(item.get("key_groups"), int) else []
    parts += [f"load {number(item['load'])}/s"] if is_number(item.get("load")) else []
    parts += [f"copies on {', '.join(map(str, item['backups']))}"] if isinstance(item.get("backups"), list) else []
    return ", ".join(parts)


def _shares(plan: Plan) -> dict[str, float]:
    """Return the load of each node over its fair share, as far as the plan tells."""
    return {str(node["node"]): node["share"] for node in nodes(plan) if is_number(node.get("share"))}


def _load(plan: Plan, gone: set[str]) -> Figure | None:
    share = _shares(plan)
    if not share:
        return None
    order = sorted(share, key=natural_key)
    note = "in the order of their names"
    if len(order) > ROWS:
        order, note = sorted(order, key=lambda name: (-share[name], natural_key(name)))[:ROWS], f"the {ROWS} of most"
    rows = [Bar(name, share[name], number(share[name]), "other" if name in gone else "value") for name in order]
    said = f"Load of each node over its fair share by cores, {note}."
    return figure("Load by node", said, lambda width: bars(rows, width, (1.0, "fair share")))


def _losses(plan: Plan) -> Figure | None:
    """Return how likely data is lost, as powers of ten: a bar twice as long is the square."""
    rows = [
        Bar(name, -math.log10(value), chance(value), "value" if name == "this plan" else "other")
        for name, value in losses(plan).items()
        if value > 0.0
    ]
    if len(rows) < 2:
        return None
    said = "Probability that all copies of some key group fail in one repair window; each unit of length is a tenth."
    return figure("Loss of data", said, lambda width: bars(rows, width))
