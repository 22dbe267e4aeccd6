"""Exact models: integer programs, flows, independent units."""
