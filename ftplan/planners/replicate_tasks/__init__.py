"""Plans of kind ``replicate-tasks``: made, judged, scored, explained, compared."""
