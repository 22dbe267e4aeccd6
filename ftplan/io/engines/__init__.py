"""Topologies and clusters from what engines say of their jobs: one importer an engine."""

from __future__ import annotations

from collections.abc import Mapping

#: Engine, and its importer as "module:function"; see :mod:`ftplan.io.engines.draft`.
IMPORTERS: Mapping[str, str] = {
    "flink": "ftplan.io.engines.flink:read",
    "storm": "ftplan.io.engines.storm:read",
    "kafka-streams": "ftplan.io.engines.kafka_streams:read",
    "spark": "ftplan.io.engines.spark:read",
    "risingwave": "ftplan.io.engines.risingwave:read",
}
