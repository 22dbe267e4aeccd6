"""From steps to a schedule: failures, arrivals, nodes."""
