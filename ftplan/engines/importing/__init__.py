"""Topologies and clusters from what engines say of their jobs: one importer an engine."""

from __future__ import annotations

from collections.abc import Mapping

#: Engine, and its importer as "module:function"; see :mod:`ftplan.engines.importing.draft`.
IMPORTERS: Mapping[str, str] = {
    "flink": "ftplan.engines.flink.importer:read",
    "storm": "ftplan.engines.storm.importer:read",
    "kafka-streams": "ftplan.engines.kafka_streams.importer:read",
    "spark": "ftplan.engines.spark.importer:read",
    "risingwave": "ftplan.engines.risingwave.importer:read",
}
