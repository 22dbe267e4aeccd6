"""A failure and the recovery from it, batch by batch, under a recovery schedule and a mode. Knows no planner."""
