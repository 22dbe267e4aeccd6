"""Objectives and yardsticks: the figures of a plan, recomputed from the plan and its inputs alone."""
