"""Simulated scaling from files: a job, its load, and what splits its operators."""
