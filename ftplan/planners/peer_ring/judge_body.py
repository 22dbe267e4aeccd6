"""Is what the body of a peer ring states beside its tokens so?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ftplan.model.plan import Plan, canonical
from ftplan.model.violation import Violation
from ftplan.planners.judging import differences, shown

#: What each part of the body states, and the code where that is not so.
_CODES: Mapping[str, str] = {
    "ring": "WRONG_LOAD",
    "steps": "WRONG_MOVE",
    "moves": "WRONG_MOVE",
    "copies": "WRONG_MOVE",
    "tolerance": "WRONG_TOLERANCE",
    "takeovers": "WRONG_TAKEOVER",
    "after_failure": "WRONG_TAKEOVER",
    "lost": "WRONG_TAKEOVER",
    "estimates": "WRONG_ESTIMATE",
}
#: The same for single fields.
_OF_FIELDS: Mapping[str, str] = {
    "zone": "WRONG_ZONES",
    "backups": "WRONG_COPIES",
    "takeover_bytes": "WRONG_COST",
    "transfer_bytes": "WRONG_COST",
    "rereplicate_bytes": "WRONG_COST",
    "replayed_records": "WRONG_COST",
    "bytes": "WRONG_COST",
}
#: How many false statements of a part are named; the others are counted.
NAMED = 10


def judge_body(plan: Plan, true: Mapping[str, Any]) -> Iterator[Violation]:
    """Hold all that the body states to what follows from its tokens, *true*; what it does not state is no fault."""
    known = canonical(dict(true))
    for name, stated in canonical(dict(plan.plan or {})).items():
        if stated is None or name not in known:
            continue
        if name == "ring":
            stated = sorted(stated, key=lambda item: item["token"])
        wrong = list(differences(_without_unsaid(stated), known[name], name))
        for place, said, is_so in wrong[:NAMED]:
            yield Violation(_code(name, place), _text(place, said, is_so), place)
        if len(wrong) > NAMED:
            text = f"{name} states {len(wrong) - NAMED:,} more things that are not so"
            yield Violation(_CODES[name], text, name)


def _without_unsaid(stated: Any) -> Any:
    """Return a statement without the fields of its entries that say null: these are not stated."""
    if not isinstance(stated, list):
        return stated
    return [{k: v for k, v in item.items() if v is not None} if isinstance(item, dict) else item for item in stated]


def _code(name: str, place: str) -> str:
    field = place.rsplit(".", 1)[-1].split("[")[0]
    if name in ("ring", "moves", "copies"):
        return _OF_FIELDS.get(field, _CODES[name])
    return _CODES[name]


def _text(place: str, said: Any, is_so: Any) -> str:
    if isinstance(said, list) and isinstance(is_so, list) and all(isinstance(item, str) for item in (*said, *is_so)):
        texts = (", ".join(item) or "none" for item in (said, is_so))
        return "{} states {}, it is {}".format(place, *texts)
    return f"{place} states {shown(said)}, it is {shown(is_so)}"
