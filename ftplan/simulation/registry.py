"""Files of format ``ftplan/simulation``: one model a kind of simulation."""

from __future__ import annotations

from collections.abc import Mapping

#: Kind of simulation, and the model of its documents as "module:class".
KINDS: Mapping[str, str] = {
    "migration": "ftplan.simulation.migration.document:MigrationSimulationModel",
    "scaling": "ftplan.simulation.scaling.document:ScalingSimulationModel",
    "ring": "ftplan.simulation.ring.document:RingSimulationModel",
    "recovery": "ftplan.simulation.recovery.document:RecoverySimulationModel",
    "tentative-output": "ftplan.simulation.tentative_output.document:TentativeOutputModel",
}
