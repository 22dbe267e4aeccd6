"""Plans of kind ``checkpoint-allocation``: made, judged, scored, explained, compared."""
