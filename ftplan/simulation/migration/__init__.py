"""Migrations of key groups simulated: message by message, and period by period over load traces."""
