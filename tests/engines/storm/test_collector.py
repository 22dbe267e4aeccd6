"""What Storm's UI is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ftplan.api.collecting import collect
from ftplan.engines.collecting.endpoint import Connection
from ftplan.engines.collecting.polling import Pace
from ftplan.errors import FtplanError
from tests.engines.collecting.server import FakeTime, served

BASE = "/api/v1/topology"
SAID: dict[str, Any] = {
    "/api/v1/cluster/summary": {"stormVersion": "2.6.0", "supervisors": 2},
    "/api/v1/supervisor/summary": {"supervisors": [{"id": "s1", "host": "a"}]},
    f"{BASE}/summary": {
        "topologies": [
            {"id": "words-1-1", "encodedId": "words-1-1", "name": "words"},
            {"id": "a b-2-2", "encodedId": "a+b-2-2", "name": "a b"},
        ]
    },
    f"{BASE}/words-1-1": {
        "spouts": [{"spoutId": "read lines", "encodedSpoutId": "read+lines"}],
        "bolts": [{"boltId": "count", "encodedBoltId": "count"}, {"boltId": "old one"}],
    },
    f"{BASE}/a+b-2-2": {"spouts": None, "bolts": 5},
}


def collected(folder: Path, **options: Any) -> list[str]:
    """Collect once, and return the paths that were asked."""
    time = FakeTime()
    with served(SAID) as endpoint:
        collect(
            endpoint.url, folder, "storm", Pace(60.0, 0.0, time.seconds, time.now, time.sleep), Connection(), options
        )
        return endpoint.paths


def test_everything_is_asked(tmp_path: Path) -> None:
    names = ("visualization", "component/read+lines", "component/count", "component/old%20one")
    pages = [f"{BASE}/words-1-1/{name}?window=600" for name in names]
    other = [f"{BASE}/a+b-2-2", f"{BASE}/a+b-2-2/visualization?window=600"]
    assert collected(tmp_path) == [*list(SAID)[:4], *pages, *other]


def test_only_the_topology_that_is_named(tmp_path: Path) -> None:
    asked = [f"{BASE}/a+b-2-2", f"{BASE}/a+b-2-2/visualization?window=600"]
    assert collected(tmp_path / "a", jobs=["a b"])[3:] == asked
    assert collected(tmp_path / "b", jobs=["a b-2-2"])[3:] == asked
    with pytest.raises(FtplanError, match=r"--job word: .* \(did you mean 'words'\?\): words, a b"):
        collected(tmp_path / "c", jobs=["word"])


def test_metrics_are_flinks(tmp_path: Path) -> None:
    with pytest.raises(FtplanError, match="it goes with --from flink"):
        collected(tmp_path, metrics="x")
