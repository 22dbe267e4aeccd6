"""Plans of kind ``allocate-checkpoints``: made, judged, scored, explained, compared."""
