"""Plans of kind ``recovery-schedule``: made, judged, scored, explained, compared."""
