"""Objectives and yardsticks: what a plan is worth, recomputed from the plan alone."""
