"""Plans of kind ``task-replication``: made, judged, scored, explained, compared."""
