"""Bottlenecks."""
