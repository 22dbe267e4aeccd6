"""Drain schedules: their options, and how they are made, judged, scored, explained and compared."""
