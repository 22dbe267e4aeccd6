"""A rule that an answer breaks, with by how much."""

from __future__ import annotations

from typing import Any, NamedTuple


class Breach(NamedTuple):
    """A rule that an answer, or a part of it, breaks.

    ``limit`` is what the rule asks for, ``current`` what the answer has, and ``needed`` the value of the limit with
    which it would keep the rule (None where no value would). ``where`` is a selector: of a key group, task, query, zone
    or node.
    """

    rule: str
    limit: Any
    current: Any
    needed: Any
    where: str | None
    message: str
