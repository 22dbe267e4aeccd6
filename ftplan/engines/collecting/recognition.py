"""Which engine's endpoint a URL is, where nobody says so."""

from __future__ import annotations

from pathlib import Path

from ftplan.engines.collecting.answers import is_collection
from ftplan.engines.collecting.collection import head_of
from ftplan.engines.collecting.endpoint import Endpoint
from ftplan.engines.registry import collectors
from ftplan.errors import FtplanError


def recognised(endpoint: Endpoint, folder: Path) -> str:
    """Return what answers at an endpoint: as the folder says that is gone on in, else by asking.

    Raises
    ------
    FtplanError
        If nothing answers, or something else does.
    """
    if is_collection(folder):
        return head_of(folder).source
    said = "it answers as none of them"
    for source, sign in collectors().items():
        reply = endpoint.get(sign.page)
        if isinstance(reply.value, dict) and sign.key in reply.value:
            return source
        if not reply.reached or reply.status in (401, 403):
            said = reply.error or said
            break
    raise FtplanError(f"{endpoint.url}: {said}; --from says what should answer: {', '.join(collectors())}")
