"""Files of format ``ftplan/simulation``: one model a kind of simulation."""

from __future__ import annotations

from collections.abc import Mapping

#: Kind of simulation, and the model of its documents as "module:class".
KINDS: Mapping[str, str] = {
    "migration": "ftplan.io.simulations.migration:MigrationSimulationModel",
    "scaling": "ftplan.io.simulations.scaling:ScalingSimulationModel",
    "ring": "ftplan.io.simulations.ring:RingSimulationModel",
    "recovery": "ftplan.io.simulations.recovery:RecoverySimulationModel",
    "tentative-output": "ftplan.io.simulations.tentative_output:TentativeOutputModel",
}
