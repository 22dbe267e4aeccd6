"""Key groups that migrate: message by message ([Madsen2015], algorithms 1 and 2). Knows no planner."""
