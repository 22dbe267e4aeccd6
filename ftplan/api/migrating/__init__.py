"""Simulated migrations as people ask for them: of a plan's moves message by message, or of adaptation over time."""
