"""All rows, in the order of the report."""

from __future__ import annotations

from reproduce import (
    adaptation_flights,
    adaptation_toy,
    checkpoint_shares,
    checkpoints,
    migrations,
    recovery_plans,
    recovery_proofs,
    recovery_replays,
    recovery_simulated,
    replication_accuracy,
    replication_plans,
    replication_proofs,
    replication_simulated,
    ring_balanced,
    ring_checkpoints,
    ring_failures,
    scaling_alarming,
    scaling_simulated,
)

MODULES = (
    checkpoints,
    checkpoint_shares,
    migrations,
    adaptation_toy,
    adaptation_flights,
    recovery_plans,
    recovery_proofs,
    recovery_replays,
    recovery_simulated,
    replication_plans,
    replication_proofs,
    replication_simulated,
    replication_accuracy,
    scaling_alarming,
    scaling_simulated,
    ring_checkpoints,
    ring_balanced,
    ring_failures,
)
ROWS = tuple(row for module in MODULES for row in module.ROWS)
