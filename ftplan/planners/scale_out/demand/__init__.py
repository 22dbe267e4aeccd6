"""Demand."""
