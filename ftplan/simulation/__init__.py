"""Recovery as it happens: a cluster under repair, and the judge of recovery schedules. Knows no planner."""
