"""Simulations by the Python face."""
